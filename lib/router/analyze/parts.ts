/**
 * Where the documents of a collection under analysis are, and reading them there: of a sharded collection on every
 * owner, of any other on its home.
 */
import type { RawValue } from "../../bson/index.js";
import { DocumentWriter, getField, prependField } from "../../bson/index.js";
import { int64, string } from "../../bson/index.js";
import { CommandError, ErrorCode, readCursorReply, request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { homeOf, isConfigDatabase } from "../context.js";
import { partOnShard } from "../ddl/chunkSize.js";
import type { ShardCollection } from "../ddl/shardCollections.js";
import { describeOn } from "../ddl/shardCollections.js";
import type { Namespace } from "../support/arguments.js";

/** A part of a collection, on one shard. */
export interface Part {
  readonly shard: string;
  readonly documents: number;
  readonly bytes: number;
}

/** A collection to analyze. */
export interface Analyzed extends Namespace {
  readonly sharded: ShardedCollection | undefined;
  readonly uuid: RawValue;
  readonly options: ShardCollection["options"];
  /** The shard that knows its indexes and options. */
  readonly home: string;
  /** All shards that can have documents of it, ascending. */
  readonly shards: readonly string[];
}

/**
 * Looks a collection up. Call it while the namespace is held.
 * @param what the command's purpose, for messages
 * @throws CommandError IllegalOperation (20) for collections of the system and time series, NamespaceNotFound (26),
 * CommandNotSupportedOnView (166)
 */
export async function locate(
  context: RouterContext,
  names: Namespace,
  sharded: ShardedCollection | undefined,
  what: string,
): Promise<Analyzed> {
  if (isConfigDatabase(names.db) || names.name.startsWith("system.")) {
    throw new CommandError(ErrorCode.IllegalOperation, `Cannot ${what} an internal collection`);
  }
  const missing = (): CommandError =>
    new CommandError(ErrorCode.NamespaceNotFound, `Cannot ${what} a non-existing collection`);
  const { shard, exists } = homeOf(context, names.db, names.ns);
  const home = sharded ? sharded.chunks.owningShards()[0]! : shard;
  if (!sharded && !exists) throw missing();
  const found = await describeOn(context, home, names);
  if (found?.type === "view") {
    throw new CommandError(ErrorCode.CommandNotSupportedOnView, "The namespace corresponds to a view");
  }
  if (found?.type === "timeseries") {
    throw new CommandError(ErrorCode.IllegalOperation, `Cannot ${what} a timeseries collection`);
  }
  const uuid = sharded?.uuid ?? found?.uuid;
  if (!found || !uuid) throw missing();
  const shards = sharded ? sharded.chunks.owningShards() : [home];
  return { ...names, sharded, uuid, options: found.options, home, shards };
}

/** The parts that have documents. */
export async function partsOf(context: RouterContext, collection: Analyzed): Promise<Part[]> {
  const parts = await Promise.all(
    collection.shards.map(async (shard) => ({ shard, ...(await partOnShard(context, collection, shard)) })),
  );
  return parts.filter(({ documents }) => documents > 0);
}

/**
 * The rows of a find or aggregate on one shard, batch by batch.
 * @throws CommandError what the shard says
 */
export async function* rowsOn(
  context: RouterContext,
  shard: string,
  { db, name }: Namespace,
  command: Uint8Array,
): AsyncGenerator<Uint8Array> {
  let reply = await context.shards.run(shard, request(db, command));
  for (;;) {
    const { id, batch } = readCursorReply(reply);
    yield* batch;
    if (id === 0n) return;
    const more = new DocumentWriter().field("getMore", int64(id)).string("collection", name).finish();
    reply = await context.shards.run(shard, request(db, more));
  }
}

/** An aggregation of a collection, as a shard gets it. */
export function pipelineOn({ name }: Namespace, stages: readonly Uint8Array[]): Uint8Array {
  return new DocumentWriter()
    .string("aggregate", name)
    .arrayOf("pipeline", stages)
    .document("cursor", new DocumentWriter().finish())
    .bool("allowDiskUse", true)
    .finish();
}

/** A find on a collection, as a shard gets it. */
export function findOn({ name }: Namespace, rest: Uint8Array): Uint8Array {
  return prependField(rest, "find", string(name));
}

/**
 * How many documents each part gives to a sample of n, in proportion to its size: rounded down first, then one more
 * where the largest rests are.
 */
export function shares(parts: readonly Part[], n: number): number[] {
  const total = parts.reduce((sum, { documents }) => sum + documents, 0);
  if (n >= total) return parts.map(({ documents }) => documents);
  const exact = parts.map(({ documents }) => (documents / total) * n);
  const given = exact.map(Math.floor);
  let left = n - given.reduce((sum, each) => sum + each, 0);
  const byRest = exact.map((value, i) => ({ i, rest: value - given[i]! })).sort((a, b) => b.rest - a.rest);
  for (const { i } of byRest) {
    if (left-- <= 0) break;
    given[i]! += 1;
  }
  return given;
}

/** A field of a row that must be there. */
export function must(row: Uint8Array, name: string): RawValue {
  const value = getField(row, name);
  if (value) return value;
  throw new CommandError(ErrorCode.UnknownError, `a shard's answer has no field '${name}'`);
}
