/**
 * Bounds of what an expression may build.
 *
 * A stored document has 16 MB and 200 levels at most, but an expression makes
 * values that are never stored: a `$reduce` that doubles a string forty times,
 * or wraps it in one array more with each step. MongoDB lets intermediate
 * results grow to about 64 MB; so do we, and refuse deeper nesting than any
 * document can have, before something recursive walks it.
 */
import { BsonType, array, asDocument, elements, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionContext, Scope } from "./context.js";

/** Bytes of an intermediate result. */
export const MAX_VALUE_BYTES = 64 * 1024 * 1024;
/** Levels of nesting of any document. */
export const MAX_NESTING = 200;

/** Throws 146 where a result of that many bytes would be too big. */
export function checkSize(bytes: number, operator: string): void {
  if (bytes > MAX_VALUE_BYTES) {
    throw new CommandError(
      ErrorCode.ExceededMemoryLimit,
      `${operator} would use too much memory (${bytes} bytes) and cannot spill to disk. Memory limit: ${MAX_VALUE_BYTES} bytes`,
    );
  }
}

/**
 * Elements that the loops of one document's expression may go through. Three nested loops over 100,000 numbers would
 * never end, and a command occupies the server until it is done.
 */
const MAX_STEPS = 10_000_000;

/**
 * What a loop calls for each element: ends what takes longer than the command's `maxTimeMS`, or than any loop may.
 * @throws CommandError ExceededMemoryLimit (146), and what the server around the pipeline throws
 */
export function stepper(
  scope: Scope,
  operator: string,
): (context: ExpressionContext, steps?: number) => void {
  const { host } = scope.options;
  return (context, steps = 1) => {
    context.steps += steps;
    if (context.steps > MAX_STEPS) {
      throw new CommandError(
        ErrorCode.ExceededMemoryLimit,
        `${operator}: the loops of one expression can go through ${MAX_STEPS} elements and not more`,
      );
    }
    host?.step();
  };
}

/** An array of values, within the bounds. */
export function boundedArray(values: readonly RawValue[], operator: string): RawValue {
  let bytes = 0;
  for (const v of values) bytes += v.end - v.start + 8;
  checkSize(bytes, operator);
  return array(values);
}

/** Throws 15 (Overflow) for a value nested deeper than a document may be. */
export function checkNesting(v: RawValue | undefined, operator: string): void {
  if (v !== undefined && nestsDeeper(v, MAX_NESTING)) {
    throw new CommandError(
      ErrorCode.Overflow,
      `${operator} built a value that exceeds the maximum nesting depth of ${MAX_NESTING}`,
    );
  }
}

function nestsDeeper(v: RawValue, levels: number): boolean {
  if (v.type !== BsonType.object && v.type !== BsonType.array) return false;
  if (levels === 0) return true;
  return elements(asDocument(v)).some((inner) => nestsDeeper(inner, levels - 1));
}
