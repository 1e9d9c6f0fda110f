/**
 * The reshardings that are going on in this router: what `$currentOp` shows of them, and how commit and abort reach
 * them. Nothing of it has to outlast the router; what has is in config.reshardingOperations (operations.ts).
 */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ReshardingPlan } from "./plan.js";

/** The coordinator's states (facts-mongos.md §8.2), in their order. */
export type CoordinatorState =
  | "initializing"
  | "preparing-to-donate"
  | "cloning"
  | "applying"
  | "blocking-writes"
  | "committing"
  | "aborting"
  | "done";

/** What one shard has done for a resharding so far. */
export interface ShardProgress {
  documentsToCopy: number;
  bytesToCopy: number;
  documentsCopied: number;
  bytesCopied: number;
  /** Changes that came while it copied: fetched from donors, applied on recipients. */
  writesFetched: number;
  writesApplied: number;
}

/** Times of the router's clock, milliseconds; absent until the phase begins or ends. */
export interface PhaseTimes {
  readonly started: number;
  copyStarted?: number;
  copyEnded?: number;
  applyStarted?: number;
  criticalSectionStarted?: number;
}

/** A resharding from its first step to its last. */
export class RunningResharding {
  readonly times: PhaseTimes;
  /** The states it has gone through, and when. */
  readonly phases: { readonly state: CoordinatorState; readonly at: number }[] = [];
  /** By shard. */
  readonly donors = new Map<string, ShardProgress>();
  readonly recipients = new Map<string, ShardProgress>();
  /** Somebody wants it to end: as soon as it can be, or not at all. */
  request: "commit" | "abort" | undefined;
  /** Resolves when it is over, with what went wrong; never rejects. */
  readonly over: Promise<{ readonly error?: unknown }>;
  /** Resolves when {@link request} is set. */
  readonly requested: Promise<void>;
  #end: (outcome: { readonly error?: unknown }) => void = () => undefined;
  #wake: () => void = () => undefined;

  constructor(
    readonly plan: ReshardingPlan,
    now: number,
  ) {
    this.times = { started: now };
    this.enter("initializing", now);
    this.over = new Promise((resolve) => (this.#end = resolve));
    this.requested = new Promise((resolve) => (this.#wake = resolve));
  }

  get state(): CoordinatorState {
    return this.phases.at(-1)!.state;
  }

  /** The next state begins. */
  enter(state: CoordinatorState, now: number): void {
    this.phases.push({ state, at: now });
  }

  /** Asks for the end. An abort outweighs a commit. */
  ask(request: "commit" | "abort"): void {
    if (this.request !== "abort") this.request = request;
    this.#wake();
  }

  /** @throws CommandError ReshardCollectionAborted (341) when somebody has asked for that */
  checkNotAborted(): void {
    if (this.request !== "abort") return;
    throw new CommandError(ErrorCode.ReshardCollectionAborted, `${this.plan.provenance} was aborted`);
  }

  /** Whether it can no longer be aborted. */
  get isDecided(): boolean {
    return this.state === "committing" || this.state === "done";
  }

  end(outcome: { readonly error?: unknown }): void {
    this.#end(outcome);
  }
}

/** All that are going on, by namespace. */
export class RunningReshardings {
  readonly #running = new Map<string, RunningResharding>();

  get isEmpty(): boolean {
    return this.#running.size === 0;
  }

  get all(): RunningResharding[] {
    return [...this.#running.values()];
  }

  get(ns: string): RunningResharding | undefined {
    return this.#running.get(ns);
  }

  add(operation: RunningResharding): void {
    this.#running.set(operation.plan.ns, operation);
  }

  /** @param outcome for whoever waits for its end */
  remove(operation: RunningResharding, outcome: { readonly error?: unknown }): void {
    this.#running.delete(operation.plan.ns);
    operation.end(outcome);
  }
}

/** Nothing done yet. */
export function noProgress(): ShardProgress {
  return {
    documentsToCopy: 0,
    bytesToCopy: 0,
    documentsCopied: 0,
    bytesCopied: 0,
    writesFetched: 0,
    writesApplied: 0,
  };
}
