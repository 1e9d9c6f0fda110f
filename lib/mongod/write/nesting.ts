/**
 * How deeply stored documents may be nested.
 *
 * A message may hold 200 levels, a stored document 180: commands and replies
 * wrap documents into some levels of their own.
 */
import { BsonType } from "../../bson/index.js";
import { closingNul, endOfName, endOfValue } from "../../bson/raw.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

/** Levels of a stored document, itself included; an empty object or array at the end does not count. */
export const MAX_NESTING = 180;

/** A level takes at least length, terminator, a type and the NUL of an empty name. */
const SMALLEST_TOO_DEEP = MAX_NESTING * 7;
const EMPTY_BYTES = 5;

/**
 * @param message of the error
 * @throws CommandError Overflow (15)
 */
export function checkNesting(document: Uint8Array, message: string): void {
  if (document.length >= SMALLEST_TOO_DEEP && nestsDeeper(document, MAX_NESTING))
    throw new CommandError(ErrorCode.Overflow, message);
}

/** Whether a document has more levels than that. */
export function nestsDeeper(document: Uint8Array, levels: number): boolean {
  /** Ends of the documents around the one being read. */
  const limits: number[] = [];
  let limit = closingNul(document, 0);
  let at = 4;
  for (;;) {
    if (at >= limit) {
      const outer = limits.pop();
      if (outer === undefined) return false;
      at = limit + 1;
      limit = outer;
      continue;
    }
    const type = document[at] as BsonType;
    const start = endOfName(document, at + 1, limit) + 1;
    const end = endOfValue(document, type, start, limit);
    if ((type === BsonType.object || type === BsonType.array) && end - start > EMPTY_BYTES) {
      if (limits.length + 1 === levels) return true;
      limits.push(limit);
      limit = end - 1;
      at = start + 4;
    } else {
      at = end;
    }
  }
}
