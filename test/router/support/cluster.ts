/**
 * A small cluster in this process: embedded shards, a config server and a router.
 */
import { fromDocument } from "shardlab/bson";
import { Mongod } from "shardlab/mongod";
import type { Endpoint, Reply } from "shardlab/protocol";
import { isOk, request } from "shardlab/protocol";
import type { RoutingTraceEntry, RulesVersion } from "shardlab/router";
import { Router } from "shardlab/router";

export type Doc = Record<string, unknown>;

/** Random numbers in [0, 1) that repeat for a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** An endpoint that counts what it was asked, and can be told to fail. */
export class Watched implements Endpoint {
  readonly asked: string[] = [];
  /** Set to make the next matching command fail as a gone server would. */
  failWhen: ((command: string) => Error | undefined) | undefined;

  /** Raise it to say that connections to the server broke; {@link inner} may be another one by then. */
  breaks = 0;

  constructor(public inner: Endpoint) {}

  run(command: Parameters<Endpoint["run"]>[0]): Promise<Reply> {
    this.asked.push(command.command);
    const failure = this.failWhen?.(command.command);
    return failure ? Promise.reject(failure) : this.inner.run(command);
  }
}

export interface TestCluster {
  readonly router: Router;
  readonly shards: ReadonlyMap<string, Watched>;
  readonly config: Mongod;
  /** Runs a command and gives the decoded reply, whatever it says. */
  run(db: string, command: Doc, sequences?: Record<string, Uint8Array[]>): Promise<Doc>;
  /** Runs a command that must succeed. */
  ok(db: string, command: Doc, sequences?: Record<string, Uint8Array[]>): Promise<Doc>;
  /** Runs a command on the admin database that must succeed. */
  admin(command: Doc): Promise<Doc>;
  /** All documents of a find (or aggregate), over all batches. */
  all(db: string, command: Doc): Promise<Doc[]>;
  /** A command straight to one shard. */
  shard(id: string, db: string, command: Doc): Promise<Doc>;
  /** Trace entries since a number. */
  trace(since?: number): Promise<RoutingTraceEntry[]>;
  /** What the router did with one operation. */
  traced(work: () => Promise<unknown>): Promise<RoutingTraceEntry[]>;
}

/** Starts a cluster with shards `shardA`, `shardB`, … */
export async function startCluster(
  options: {
    shards?: number;
    rules?: RulesVersion;
    seed?: number;
    chunkSizeBytes?: number;
    /** What stands between the router and each server. */
    between?: (server: Endpoint) => Endpoint;
  } = {},
): Promise<TestCluster> {
  const random = seeded(options.seed ?? 1);
  const between = options.between ?? ((server: Endpoint) => server);
  let time = Date.UTC(2026, 0, 1);
  const environment = { now: () => (time += 1), random };
  const shards = new Map<string, Watched>();
  const byHost = new Map<string, Endpoint>();
  const names = Array.from({ length: options.shards ?? 2 }, (_, i) => `shard${String.fromCharCode(65 + i)}`);
  names.forEach((name, i) => {
    const host = `127.0.0.1:${27018 + i}`;
    const shard = new Watched(between(new Mongod({ environment, host, replSet: name })));
    shards.set(name, shard);
    byHost.set(`${name}/${host}`, shard);
  });
  const config = new Mongod({ environment, host: "127.0.0.1:27100", replSet: "config" });
  const router = new Router({
    environment,
    config: between(config),
    rules: options.rules ?? "8.0",
    host: "127.0.0.1:27017",
    chunkSizeBytes: options.chunkSizeBytes,
    connect: (connectionString) => byHost.get(connectionString)!,
  });
  await router.start();
  const on = async (endpoint: Endpoint, db: string, command: Doc, sequences?: Record<string, Uint8Array[]>) =>
    fromDocument((await endpoint.run(request(db, command, sequences))).body) as Doc;
  const must = async (db: string, command: Doc, sequences?: Record<string, Uint8Array[]>): Promise<Doc> => {
    const reply = await router.run(request(db, command, sequences));
    const decoded = fromDocument(reply.body) as Doc;
    if (!isOk(reply))
      throw new Error(`${Object.keys(command)[0]} failed: ${String(decoded.code)} ${String(decoded.errmsg)}`);
    return decoded;
  };
  for (const [connectionString] of byHost) {
    await must("admin", {
      addShard: connectionString,
      name: connectionString.slice(0, connectionString.indexOf("/")),
    });
  }
  const trace = async (since = 1): Promise<RoutingTraceEntry[]> =>
    (await must("admin", { routingTrace: 1, since })).entries as RoutingTraceEntry[];
  return {
    router,
    shards,
    config,
    run: (db, command, sequences) => on(router, db, command, sequences),
    ok: must,
    admin: (command) => must("admin", command),
    async all(db, command) {
      type Cursor = { id: bigint | number; firstBatch?: Doc[]; nextBatch?: Doc[] };
      let cursor = (await must(db, command)).cursor as Cursor;
      const documents = [...(cursor.firstBatch ?? [])];
      const collection = String(Object.values(command)[0]);
      while (BigInt(cursor.id.toString()) !== 0n) {
        cursor = (
          await must(db, {
            getMore: BigInt(cursor.id.toString()),
            collection,
            ...(command.batchSize !== undefined && { batchSize: command.batchSize }),
          })
        ).cursor as Cursor;
        documents.push(...(cursor.nextBatch ?? []));
      }
      return documents;
    },
    shard: (id, db, command) => on(shards.get(id)!.inner, db, command),
    trace,
    async traced(work) {
      const { next } = (await must("admin", { routingTrace: 1 })) as { next: number };
      await work();
      return trace(next);
    },
  };
}

/** A sharded collection's chunks as config.chunks has them, in order. */
export async function chunksOf(
  cluster: TestCluster,
  ns: string,
): Promise<{ min: Doc; max: Doc; shard: string }[]> {
  const [collection] = await cluster.all("config", { find: "collections", filter: { _id: ns } });
  const chunks = await cluster.all("config", {
    find: "chunks",
    filter: { uuid: collection!.uuid },
    sort: { min: 1 },
  });
  return chunks.map(({ min, max, shard }) => ({ min: min as Doc, max: max as Doc, shard: String(shard) }));
}
