/**
 * The balancer: when rounds run, and what is known of them.
 *
 *     real clock      every 10 s by a timer, 1 s after a round that moved something; nothing where it is stopped
 *     virtual clock   nothing runs by itself: whoever looks at the balancer (balancerStatus, balancerCollectionStatus, an
 *                     ongoing removeShard) is answered, then a round's time passes and the round runs
 *     on request      {balancerRound: 1}: now, whether it is stopped or not
 *
 * Rounds never overlap. In a cluster the config server's primary runs them; here the router does.
 */
import type { RouterContext } from "../context.js";
import { logRound } from "./actionLog.js";
import { AutoMerger } from "./autoMerge.js";
import type { Round } from "./round.js";
import { runRound } from "./round.js";
import { mayBalance, minuteOf } from "./settings.js";

/** Milliseconds from one round to the next. */
const ROUND_MS = 10_000;
/** The same after a round that moved something. */
const BUSY_ROUND_MS = 1_000;

/** The balancer of one router. */
export class Balancer {
  readonly #merger = new AutoMerger();
  #rounds = 0;
  #running: Promise<unknown> | undefined;
  #movedLast = false;
  #callOff: (() => void) | undefined;
  #closed = false;

  /** Rounds since the router started. */
  get rounds(): number {
    return this.#rounds;
  }

  /** Whether a round is running now. */
  get inRound(): boolean {
    return this.#running !== undefined;
  }

  /** Whether the router has closed: a round that is running comes to its end after the move it is at. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Begins to run rounds by itself, on a real clock. */
  start(context: RouterContext): void {
    const { setTimer } = context.environment;
    if (context.waiting.kind !== "real" || !setTimer || this.#closed) return;
    const next = (): void => {
      const pause = this.#movedLast ? BUSY_ROUND_MS : ROUND_MS;
      this.#callOff = setTimer(() => void this.#tick(context).finally(() => this.#closed || next()), pause);
    };
    next();
  }

  /** Runs no more rounds by itself. */
  close(): void {
    this.#closed = true;
    this.#callOff?.();
  }

  /** Runs a round now, after the one that is running. */
  async step(context: RouterContext): Promise<Round> {
    while (this.#running) await this.#running;
    const round = this.#run(context);
    const running = round.then(
      () => undefined,
      () => undefined,
    );
    this.#running = running;
    try {
      return await round;
    } finally {
      this.#running = undefined;
    }
  }

  /** Waits for the round that is running. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /**
   * Lets the time of one round pass on a virtual clock: the round runs where the balancer is on. Never fails.
   * To be called without any namespace held.
   */
  async turn(context: RouterContext): Promise<void> {
    if (context.waiting.kind !== "virtual" || this.#running) return;
    if (context.catalog.settings.balancerMode !== "full") return;
    await context.waiting.wait(this.#movedLast ? BUSY_ROUND_MS : ROUND_MS);
    await this.#tick(context);
  }

  /** A round, if it is time for one. */
  async #tick(context: RouterContext): Promise<void> {
    const { catalog, waiting } = context;
    this.#movedLast = false;
    if (!mayBalance(catalog.settings, minuteOf(waiting.now()))) return;
    try {
      await this.step(context);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      context.environment.log?.("warn", "a round of the balancer failed", { message });
    }
  }

  async #run(context: RouterContext): Promise<Round> {
    const started = context.waiting.now();
    const round = await runRound(context, this.#rounds);
    this.#rounds += 1;
    this.#movedLast = round.migrations.some(({ error }) => !error);
    if (round.migrations.length === 0) await this.#merger.run(context);
    await logRound(context, round, context.waiting.now() - started);
    return round;
  }
}
