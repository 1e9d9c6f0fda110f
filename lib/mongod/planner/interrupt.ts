import { CommandError, ErrorCode } from "../../protocol/index.js";

/** Steps of a scan between two looks at the clock. */
const STEPS = 1024;

/**
 * Ends an operation when its `maxTimeMS` is over.
 *
 * Looked at now and then by the stages that may run long: a command occupies
 * the engine until it is done, so nothing else could end it.
 */
export class Interrupt {
  private steps = 0;
  private readonly deadline: number;

  /**
   * @param now the environment's clock, milliseconds
   * @param maxTimeMS 0 or absent: no limit
   */
  constructor(
    private readonly now: () => number,
    maxTimeMS = 0,
  ) {
    this.deadline = maxTimeMS > 0 ? now() + maxTimeMS : Infinity;
  }

  /**
   * Called once for each record or key that is examined.
   * @throws CommandError MaxTimeMSExpired (50)
   */
  step(): void {
    if (++this.steps < STEPS) return;
    this.steps = 0;
    if (this.now() > this.deadline)
      throw new CommandError(ErrorCode.MaxTimeMSExpired, "operation exceeded time limit");
  }
}
