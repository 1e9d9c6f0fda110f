import { CommandError, ErrorCode } from "../../protocol/index.js";

/** Most steps of a scan between two looks at the clock. */
const MOST_STEPS = 1024;

/** Milliseconds between two looks that are neither too many nor too few. */
const PAUSE = 4;

/**
 * Ends an operation when its `maxTimeMS` is over.
 *
 * Looked at now and then by the stages that may run long: a command occupies
 * the engine until it is done, so nothing else could end it, not even killOp.
 */
export class Interrupt {
  /** Set for explain: the planner then keeps what it decided against. */
  explains = false;
  private steps = 0;
  /** Steps until the next look: as many as took about {@link PAUSE}, for one step may be a long one. */
  private wanted = 1;
  private looked: number;
  private readonly deadline: number;

  /**
   * @param now the environment's clock, milliseconds
   * @param maxTimeMS 0 or absent: no limit
   */
  constructor(
    private readonly now: () => number,
    maxTimeMS = 0,
  ) {
    this.looked = now();
    this.deadline = maxTimeMS > 0 ? this.looked + maxTimeMS : Infinity;
  }

  /**
   * Called once for each record or key that is examined.
   * @throws CommandError MaxTimeMSExpired (50)
   */
  step(): void {
    if (++this.steps < this.wanted) return;
    const before = this.looked;
    this.check();
    const pause = this.looked - before;
    if (pause < PAUSE) this.wanted = Math.min(this.wanted * 2, MOST_STEPS);
    else if (pause > 2 * PAUSE) this.wanted = Math.max(1, this.wanted >> 1);
  }

  /**
   * Looks at the clock now.
   * @throws CommandError MaxTimeMSExpired (50)
   */
  check(): void {
    this.steps = 0;
    this.looked = this.now();
    if (this.looked > this.deadline)
      throw new CommandError(ErrorCode.MaxTimeMSExpired, "operation exceeded time limit");
  }

  /** Milliseconds that are left; Infinity without a limit. */
  get timeLeft(): number {
    return this.deadline - this.now();
  }
}
