/**
 * Taking a shard out of the cluster: what removeShard and the four commands of 8.3 have in common (facts-mongos.md §8.4).
 *
 *     in use ──start──► draining ──chunks go by the balancer, databases by movePrimary──► empty ──commit──► gone
 *        ◄────stop────────┘
 */
import { asString, DocumentWriter, getField, string } from "../../bson/index.js";
import { CommandError, ErrorCode, readCursorReply, request } from "../../protocol/index.js";
import { CONFIG_SHARD, SHARD_LIST } from "../catalog/shards.js";
import type { RouterContext } from "../context.js";
import { checkNothingResharding } from "../resharding/guard.js";
import { partOnShard } from "./chunkSize.js";

/** What is still on a shard. */
export interface Remaining {
  readonly chunks: number;
  readonly jumboChunks: number;
  /** Databases whose primary shard it is, ascending. */
  readonly dbs: readonly string[];
  /** Unsharded collections on it, ascending; empty under rules that don't list them. */
  readonly collections: readonly string[];
}

/** @throws CommandError ShardNotFound (70) */
export function checkShardExists({ shards }: RouterContext, id: string): void {
  if (!shards.has(id)) throw new CommandError(ErrorCode.ShardNotFound, `Shard ${id} does not exist`);
}

/** @throws CommandError IllegalOperation (20): a dedicated config server is no shard */
export function checkNotConfig(id: string, command: string): void {
  if (id !== CONFIG_SHARD) return;
  throw new CommandError(ErrorCode.IllegalOperation, `${command} cannot be run on the config server`);
}

/** @throws CommandError ShardNotFound (70), IllegalOperation (20), ZoneStillInUse (163) */
export async function checkRemovable(context: RouterContext, id: string): Promise<void> {
  const { shards, catalog } = context;
  checkShardExists(context, id);
  if (shards.available.every((other) => other === id)) {
    throw new CommandError(
      ErrorCode.IllegalOperation,
      "Operation not allowed because it would remove the last shard",
    );
  }
  for (const zone of shards.get(id).zones) {
    if (shards.all.some((other) => other.id !== id && other.zones.includes(zone))) continue;
    if (!(await catalog.config.findOne("tags", { tag: zone }))) continue;
    throw new CommandError(
      ErrorCode.ZoneStillInUse,
      `Operation not allowed because it would remove the only shard for zone ${zone} which has a chunk range is associated with it`,
    );
  }
}

/**
 * What has to leave the shard before it can go.
 * @throws CommandError when the shard is asked for its collections and does not answer
 */
export async function remainingOn(context: RouterContext, id: string): Promise<Remaining> {
  const { catalog, rules } = context;
  let chunks = 0;
  let jumboChunks = 0;
  for (const { chunks: map, jumbo } of catalog.collections) {
    for (let index = 0; index < map.size; index++) {
      if (map.ownerOf(index) !== id) continue;
      chunks += 1;
      if (jumbo.has(map.beginOf(index))) jumboChunks += 1;
    }
  }
  const dbs = catalog.databases.filter(({ primary }) => primary === id).map(({ name }) => name);
  const collections: string[] = [];
  if (rules.removeShardListsCollections) {
    for (const db of dbs) collections.push(...(await unshardedOn(context, id, db)));
  }
  for (const { ns, db, shard } of catalog.trackedIn()) {
    if (shard === id && !dbs.includes(db)) collections.push(ns);
  }
  return { chunks, jumboChunks, dbs: dbs.sort(), collections: collections.sort() };
}

/** Whether nothing is left. */
export function isEmpty({ chunks, dbs, collections }: Remaining): boolean {
  return chunks === 0 && dbs.length === 0 && collections.length === 0;
}

/** The unsharded collections of a database on its primary shard; what MongoDB keeps for itself is none of them. */
async function unshardedOn({ shards, catalog }: RouterContext, id: string, db: string): Promise<string[]> {
  const names: string[] = [];
  const list = { listCollections: 1, nameOnly: true, filter: { type: "collection" } };
  let reply = { body: await shards.must(id, db, list) };
  for (;;) {
    const cursor = readCursorReply(reply);
    for (const document of cursor.batch) {
      const name = getField(document, "name");
      if (name) names.push(asString(name));
    }
    if (cursor.id === 0n) break;
    const collection = "$cmd.listCollections";
    reply = await shards.run(id, request(db, { getMore: cursor.id, collection }));
  }
  return names
    .filter((name) => !name.startsWith("system.") && !catalog.collection(`${db}.${name}`))
    .map((name) => `${db}.${name}`);
}

/** Bytes of sharded collections that are still on the shard. */
export async function bytesOn(context: RouterContext, id: string): Promise<number> {
  let bytes = 0;
  for (const collection of context.catalog.collections) {
    if (!collection.chunks.owningShards().includes(id)) continue;
    bytes += (await partOnShard(context, collection, id)).bytes;
  }
  return bytes;
}

/** Marks a shard as draining. The caller holds {@link SHARD_LIST} alone. */
export async function startDraining(context: RouterContext, id: string): Promise<void> {
  checkNothingResharding(context);
  const { catalog } = context;
  await catalog.log("removeShard.start", "", { shard: id });
  await catalog.startDraining(id);
}

/**
 * Runs `work` with the shard list and all collections alone, so that nothing can come to the shard between the look and
 * the removal.
 */
export function whileNothingMoves<T>(context: RouterContext, work: () => Promise<T>): Promise<T> {
  return context.locks.whileExclusive(SHARD_LIST, () => {
    const namespaces = context.catalog.collections.map(({ ns }) => ns);
    return context.locks.whileAllExclusive(namespaces, work);
  });
}

/** Forgets an empty shard. */
export async function completeRemoval({ catalog }: RouterContext, id: string): Promise<void> {
  await catalog.removeShard(id);
  await catalog.log("removeShard", "", { shard: id });
}

/** `remaining` of an answer. */
export function remainingDocument(
  { rules }: RouterContext,
  { chunks, jumboChunks, dbs, collections }: Remaining,
  bytes?: number,
): Uint8Array {
  const writer = new DocumentWriter()
    .int64("chunks", BigInt(chunks))
    .int64("dbs", BigInt(dbs.length))
    .int64("jumboChunks", BigInt(jumboChunks));
  if (rules.removeShardListsCollections) writer.int64("collectionsToMove", BigInt(collections.length));
  return (bytes === undefined ? writer : writer.int64("estimatedRemainingBytes", BigInt(bytes))).finish();
}

/** What somebody has to do by hand. */
export function addWhatToMove(
  { rules }: RouterContext,
  answer: DocumentWriter,
  { dbs, collections }: Remaining,
): DocumentWriter {
  const withCollections = rules.removeShardListsCollections;
  answer
    .string(
      "note",
      withCollections
        ? "you need to call moveCollection for collectionsToMove and afterwards movePrimary for the dbsToMove"
        : "you need to drop or movePrimary these databases",
    )
    .values("dbsToMove", dbs.map(string));
  return withCollections ? answer.values("collectionsToMove", collections.map(string)) : answer;
}
