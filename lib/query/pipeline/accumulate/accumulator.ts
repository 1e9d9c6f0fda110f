/** What an accumulator is: a running result over values. */
import type { RawValue } from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import type { Expression, ExpressionOptions } from "../../expression/context.js";

/** A running result. */
export interface Accumulator {
  /**
   * @param v undefined for a missing value
   * @param doc the document it came from, which `$top` and its like sort by
   */
  add(v: RawValue | undefined, doc: Uint8Array): void;
  result(): RawValue;
}

/** An accumulator with its argument, ready for any number of groups. */
export interface CompiledAccumulator {
  /** What is accumulated of a document. */
  readonly input: Expression;
  /**
   * Begins a group.
   * @param group the group's `_id`: where it is an object, the `n` of `$firstN` and its like may use its fields
   */
  create(group: RawValue): Accumulator;
}

/**
 * Compiles the argument of an accumulator.
 * @param name the accumulator's, for messages
 */
export type AccumulatorCompiler = (
  argument: RawValue,
  options: ExpressionOptions,
  name: string,
) => CompiledAccumulator;

/** A value in bytes of its own, so that keeping it doesn't keep the document it came from. */
export function detach(v: RawValue): RawValue {
  if (v.start === 0 && v.end === v.bytes.length) return v;
  return { type: v.type, bytes: v.bytes.slice(v.start, v.end), start: 0, end: v.end - v.start };
}

/** Bytes that one accumulator may hold. */
const MEMORY_LIMIT = 100 * 1024 * 1024;
/** What a held value costs beyond its bytes, about. */
const OVERHEAD = 16;

/** Counts the bytes that an accumulator holds. Throws 146 beyond the limit. */
export class Memory {
  #bytes = 0;

  constructor(private readonly accumulator: string) {}

  take(v: RawValue): void {
    this.#bytes += v.end - v.start + OVERHEAD;
    if (this.#bytes > MEMORY_LIMIT) {
      throw new CommandError(
        ErrorCode.ExceededMemoryLimit,
        `${this.accumulator} used too much memory and cannot spill to disk. Memory limit: ${MEMORY_LIMIT} bytes`,
      );
    }
  }

  release(v: RawValue): void {
    this.#bytes -= v.end - v.start + OVERHEAD;
  }
}
