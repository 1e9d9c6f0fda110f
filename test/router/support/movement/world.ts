/** A cluster whose servers are slow, the twin that knows what is right, and what was done so far. */
import { EJSON, UUID } from "bson";
import { fromDocument } from "shardlab/bson";
import { Mongod } from "shardlab/mongod";
import { request } from "shardlab/protocol";
import type { RulesVersion } from "shardlab/router";
import type { Doc, TestCluster } from "../cluster.js";
import { seeded, startCluster } from "../cluster.js";
import { Ledger } from "./ledger.js";
import { Turns } from "./turns.js";

export const NS = "db.c";
export const KEYS: readonly Doc[] = [
  { a: 1 },
  { c: "hashed" },
  { a: 1, b: 1 },
  { b: 1, _id: 1 },
  { a: 1, c: "hashed" },
  { _id: "hashed" },
  { c: 1, a: 1, b: 1 },
];

/** What was done in a session. */
export interface Tally {
  writes: number;
  reads: number;
  /** Documents that readers found where they should be. */
  checked: number;
  /** What moved something, by command. */
  moves: Record<string, number>;
  /** What was refused, by command and code. */
  refused: Record<string, number>;
}

export class World {
  readonly ledger = new Ledger();
  readonly tally: Tally = { writes: 0, reads: 0, checked: 0, moves: {}, refused: {} };
  /** What happened, to be read when something is wrong. */
  readonly history: string[] = [];
  readonly #twin: Mongod;

  private constructor(
    readonly cluster: TestCluster,
    readonly turns: Turns,
    readonly random: () => number,
    readonly rules: RulesVersion,
  ) {
    let time = Date.UTC(2026, 0, 1);
    const environment = { now: () => (time += 1), random: seeded(1) };
    this.#twin = new Mongod({ environment, host: "127.0.0.1:27200" });
  }

  /** An empty collection, sharded by one of {@link KEYS}. */
  static async start(seed: number): Promise<World> {
    const random = seeded(seed);
    const turns = new Turns(seeded(seed + 1));
    let isSlow = false;
    const rules = random() < 0.25 ? "5.0" : "8.0";
    const cluster = await startCluster({
      shards: 2 + Math.floor(random() * 3),
      rules,
      seed,
      chunkSizeBytes: 2000,
      between: (server) => {
        const slow = turns.slow(server);
        return { run: (command) => (isSlow ? slow : server).run(command) };
      },
    });
    const world = new World(cluster, turns, random, rules);
    await cluster.admin({ enableSharding: "db", primaryShard: "shardA" });
    await cluster.admin({ shardCollection: NS, key: world.pick(KEYS) });
    isSlow = true;
    return world;
  }

  below(n: number): number {
    return Math.floor(this.random() * n);
  }

  pick<T>(among: readonly T[]): T {
    return among[this.below(among.length)]!;
  }

  /** Runs a command on the twin. */
  async twin(db: string, command: Doc): Promise<Doc> {
    return fromDocument((await this.#twin.run(request(db, command))).body) as Doc;
  }

  /** What the twin has. */
  async twinFind(filter: Doc): Promise<Doc[]> {
    const { cursor } = await this.twin("db", { find: "c", filter, sort: { _id: 1 }, batchSize: 100_000 });
    return (cursor as { firstBatch: Doc[] }).firstBatch;
  }

  /** Notes that a command was refused. @throws Error where that must not happen */
  refused(command: Doc, { code, errmsg }: Doc, allowed: readonly number[]): void {
    const name = `${Object.keys(command)[0]} ${String(code)}`;
    this.tally.refused[name] = (this.tally.refused[name] ?? 0) + 1;
    if (allowed.includes(Number(code))) return;
    throw new Error(`${shown(command)} was refused: ${String(code)} ${String(errmsg)}`);
  }

  /** A session for retryable writes. */
  session(): Doc {
    const bytes = Uint8Array.from({ length: 16 }, () => this.below(256));
    return { id: new UUID(bytes) };
  }
}

/** A command or reply as people read it. */
export function shown(document: Doc): string {
  return EJSON.stringify(document, { relaxed: true });
}
