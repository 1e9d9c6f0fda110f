/**
 * What a stage may hold that takes in all documents before it hands any on.
 *
 * MongoDB gives each such stage 100 MB. With `allowDiskUse`, the default since
 * 6.0, it then goes on on the disk. Here there is no disk: everything stays in
 * memory, and nothing more is refused. Where a client forbids the disk, the
 * limit is MongoDB's.
 */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions } from "../expression/context.js";

/** Bytes of one stage. */
export const STAGE_MEMORY_LIMIT = 104_857_600;

/** Counts what a stage holds. */
export class StageMemory {
  #bytes = 0;

  private constructor(private readonly message: string) {}

  /** The counter of a stage, or undefined where it may use the disk. */
  static of(
    stage: string,
    { allowDiskUse = true }: Pick<ExpressionOptions, "allowDiskUse">,
  ): StageMemory | undefined {
    if (allowDiskUse) return undefined;
    return new StageMemory(
      stage === "$sort"
        ? `Sort exceeded memory limit of ${STAGE_MEMORY_LIMIT} bytes, but did not opt in to external sorting.`
        : `Exceeded memory limit for ${stage}, but didn't allow external sort. Pass allowDiskUse:true to opt in.`,
    );
  }

  /** Whether so many bytes more are too many. */
  lacks(bytes: number): boolean {
    return this.#bytes + bytes > STAGE_MEMORY_LIMIT;
  }

  /**
   * The stage holds so many bytes more, or less.
   * @throws CommandError QueryExceededMemoryLimitNoDiskUseAllowed (292)
   */
  hold(bytes: number): void {
    if (this.lacks(bytes)) {
      throw new CommandError(ErrorCode.QueryExceededMemoryLimitNoDiskUseAllowed, this.message);
    }
    this.#bytes += bytes;
  }
}
