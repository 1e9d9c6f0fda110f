/**
 * Stopping a cell without losing the notebook's state.
 *
 * Whoever wants a stop writes a line into the process's control pipe: `cell 7` for
 * the running cell, `all 7` for whatever cells up to that number have left running.
 * A second thread (watchdog.ts) reads it, since this one may be busy in
 * `while (true) {}`, and writes the number and a flag into shared memory. Every loop
 * and function of compiled code reads the flag (guard.ts) and, when it is set, calls
 * {@link Interrupts.stop}, which throws {@link CellInterrupted} if the code belongs to
 * a stopped cell: the async context knows whose code it is, also after an `await`, in
 * a timer, or in a function that another cell defined.
 *
 * After the first stop the flag stays set: what is left of the stopped cell, a loop
 * that waits for a timer, must find it when it wakes up. All guards then take the
 * slower path, which asks whose code they are in (about 5 ns).
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** A cell that is running or has left something running. */
export class CellRun {
  stopped = false;

  /**
   * @param number counts the cells executed by this process, from 1
   * @param name what messages call it
   */
  constructor(
    readonly number: number,
    readonly name: string,
  ) {}
}

/** Whose code is running; outputs and errors are reported on that cell. */
export const currentRun = new AsyncLocalStorage<CellRun>();

/** Thrown inside a cell that is to stop. */
export class CellInterrupted extends Error {
  override readonly name = "Interrupted";
  constructor() {
    super("the cell was stopped");
  }
}

/** What to stop: the running cell of that number, or all that is left of the cells up to it. */
export interface StopRequest {
  readonly scope: "cell" | "all";
  readonly number: number;
}

/** The places in shared memory. */
const FLAG = 0;
const CELL = 1;
const ALL = 2;

/** Writes a request into shared memory, from whatever thread. */
export function post(shared: Int32Array, { scope, number }: StopRequest): void {
  Atomics.store(shared, scope === "cell" ? CELL : ALL, number);
  Atomics.store(shared, FLAG, 1);
}

/** A request as a line of the control pipe, and back. */
export function requestLine({ scope, number }: StopRequest): string {
  return `${scope} ${number}\n`;
}

export function readRequest(line: string): StopRequest | undefined {
  const [, scope, digits] = /^(cell|all) (\d{1,9})$/.exec(line) ?? [];
  return scope === "cell" || scope === "all" ? { scope, number: Number(digits) } : undefined;
}

/** The requests to stop, and what they are about. */
export class Interrupts {
  /** Shared with the watchdog. Compiled code calls it `$$flag`, and reads the first place. */
  readonly shared = new Int32Array(new SharedArrayBuffer(12));
  #running: CellRun | undefined;
  #reject: ((reason: CellInterrupted) => void) | undefined;

  /** Runs a cell's code in its context until it ends or is told to stop; a request may have come before. */
  async run<T>(run: CellRun, code: () => Promise<T>): Promise<T> {
    if (this.#isStopped(run)) throw new CellInterrupted();
    const stopped = new Promise<never>((_, reject) => (this.#reject = reject));
    stopped.catch(() => undefined);
    this.#running = run;
    try {
      const value = await Promise.race([currentRun.run(run, code), stopped]);
      // Code that catches everything, and a chain of callbacks beside the cell's own, may have been stopped unseen.
      if (run.stopped) throw new CellInterrupted();
      return value;
    } finally {
      this.#running = undefined;
      this.#reject = undefined;
    }
  }

  /** Takes a request; ends a cell that is waiting for something. */
  request(request: StopRequest): void {
    post(this.shared, request);
    if (this.#running && this.#isStopped(this.#running)) this.#reject?.(new CellInterrupted());
  }

  /** What a guard calls when the flag is set: throws in a stopped cell, else does nothing. */
  readonly stop = (): void => {
    const run = currentRun.getStore();
    if (run !== undefined && this.#isStopped(run)) throw new CellInterrupted();
  };

  #isStopped(run: CellRun): boolean {
    // Kept with the cell, since the place in memory is for the next request too.
    if (run.number === this.shared[CELL]) run.stopped = true;
    return run.stopped || run.number <= (this.shared[ALL] ?? 0);
  }
}
