/**
 * The balancer, one round at a time: `lab.balancer.step()`.
 *
 * A real balancer works by itself, a round every ten seconds, and a lesson would have to wait and look. Here each round
 * is asked for, and what it did is the answer:
 *
 *     await lab.balancer.step();
 *     library.events  { ts: MinKey } … { ts: 1000 }  shardB → shardA  512 documents  64 KB  (chunksImbalance)
 */
import { inspect } from "node:util";
import type { Document, MongoClient } from "mongodb";

/** One migration of a round. */
export interface BalancerMigration {
  ns: string;
  /** The range that moved: from `min` to `max`, that not included. */
  min: Document;
  max: Document;
  from: string;
  to: string;
  /** Why: a draining shard, a zone, or sizes that differ. */
  reason: string;
  documents: number;
  bytes: number;
  /** What went wrong, where it did. */
  error?: unknown;
}

/** What a round did; shown, it is one line a migration. */
export class BalancerRound {
  /** Ranges that moved, or should have, in order. */
  readonly migrations: readonly BalancerMigration[];
  /** Chunks that were cut, so that each lies in one zone. */
  readonly splits: readonly Document[];

  constructor({ migrations = [], splits = [] }: { migrations?: BalancerMigration[]; splits?: Document[] }) {
    this.migrations = migrations;
    this.splits = splits;
  }

  /** Whether everything is where it should be: the round had nothing to do. */
  get isBalanced(): boolean {
    return this.migrations.length === 0 && this.splits.length === 0;
  }

  toString(): string {
    if (this.isBalanced) return "nothing to move";
    const lines = this.splits.map((split) => `${String(split["ns"])}  split at the bounds of its zones`);
    for (const { ns, min, max, from, to, documents, bytes, reason, error } of this.migrations) {
      const outcome =
        error === undefined ? `${documents} documents  ${bytes} bytes` : `failed: ${cause(error)}`;
      lines.push(`${ns}  ${key(min)} … ${key(max)}  ${from} → ${to}  ${outcome}  (${reason})`);
    }
    return lines.join("\n");
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** The cluster's balancer, moved by hand. */
export class LabBalancer {
  readonly #open: () => MongoClient;

  /** @param open gives the router's client, or throws where the lab is closed */
  constructor(open: () => MongoClient) {
    this.#open = open;
  }

  /**
   * Runs one round now, whether the balancer is on or not: at most one migration a shard, then it returns.
   * @returns what moved, and why
   * @throws MongoServerError where the router is not Shardlab's
   * @example
   * const round = await lab.balancer.step();
   * round.migrations.length; // 0 once everything is balanced
   * @since Shardlab 0.1
   */
  async step(): Promise<BalancerRound> {
    const reply = await this.#open().db("admin").command({ balancerRound: 1 });
    return new BalancerRound(reply as { migrations?: BalancerMigration[]; splits?: Document[] });
  }

  /**
   * Runs rounds until one has nothing left to do, or gets nothing done.
   * @param most rounds at most
   * @returns the rounds that did something
   * @example (await lab.balancer.settle()).length; // rounds that it took
   * @since Shardlab 0.1
   */
  async settle(most = 100): Promise<BalancerRound[]> {
    const rounds: BalancerRound[] = [];
    while (rounds.length < most) {
      const round = await this.step();
      if (round.isBalanced) break;
      rounds.push(round);
      const done = round.splits.length > 0 || round.migrations.some(({ error }) => error === undefined);
      if (!done) break;
    }
    return rounds;
  }
}

/** A bound on one line: `{ ts: MinKey() }`. */
function key(bound: Document): string {
  return inspect(bound, { breakLength: Infinity, depth: 5 }).replace(/\bnew (?=[A-Z])/g, "");
}

function cause(error: unknown): string {
  return typeof error === "object" && error !== null && "errmsg" in error
    ? String(error.errmsg)
    : String(error);
}
