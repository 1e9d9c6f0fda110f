/**
 * Time that passes without anything to do: a resharding's five minutes, the pause between two rounds of the balancer.
 *
 *     clock "real"      wait(300 s)  ───── 300 s later ─────►  go on
 *     clock "virtual"   wait(300 s)  ─► go on at once; from now on every clock of the router is 300 s ahead
 *
 * What is reported (`totalOperationTimeElapsedSecs`, times in config.changelog) is read from {@link Waiting.now}, so it
 * says the same under both.
 */
import type { Environment } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

/** How the router waits. */
export type ClockKind = "virtual" | "real";

/** The router's time. */
export class Waiting {
  readonly kind: ClockKind;
  readonly #environment: Environment;
  #skipped = 0;
  readonly #sleepers = new Set<() => void>();
  #closed = false;

  /** A real clock needs an environment with timers. */
  constructor(environment: Environment, kind: ClockKind) {
    this.#environment = environment;
    this.kind = environment.setTimer ? kind : "virtual";
  }

  /** Milliseconds since 1970, what was skipped included. */
  now(): number {
    return this.#environment.now() + this.#skipped;
  }

  /** Milliseconds that were skipped so far; always 0 on a real clock. */
  get skipped(): number {
    return this.#skipped;
  }

  /**
   * Lets time pass.
   * @param milliseconds how long; nothing happens for 0 or less
   * @param wakeUp resolves to end the waiting early
   * @throws CommandError InterruptedAtShutdown (11600) on a real clock when the router closes, or has closed: whoever waits
   * in a loop ends there
   */
  async wait(milliseconds: number, wakeUp?: Promise<unknown>): Promise<void> {
    if (!(milliseconds > 0)) return;
    const { setTimer } = this.#environment;
    if (this.kind === "virtual" || !setTimer) {
      this.#skipped += milliseconds;
      return;
    }
    this.#checkOpen();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        cancel();
        this.#sleepers.delete(done);
        resolve();
      };
      const cancel = setTimer(done, milliseconds);
      this.#sleepers.add(done);
      void wakeUp?.then(done, done);
    });
    this.#checkOpen();
  }

  /** Ends all waiting at once: the router closes. */
  close(): void {
    this.#closed = true;
    for (const wake of [...this.#sleepers]) wake();
  }

  #checkOpen(): void {
    if (this.#closed) throw new CommandError(ErrorCode.InterruptedAtShutdown, "interrupted at shutdown");
  }
}
