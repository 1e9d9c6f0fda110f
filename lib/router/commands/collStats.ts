/**
 * `collStats`: the owning shards' statistics, added up, and each of them under `shards` (facts-mongos.md §6).
 *
 *     {sharded: true, capped: false, ns, count, size, …, nindexes, nchunks, shards: {shardA: {…}, shardB: {…}}, ok: 1}
 *     {sharded: false, primary: "shardA", …, nchunks: 1, shards: {shardA: {…}}, ok: 1}
 */
import {
  asDocument,
  asNumber,
  BsonType,
  DocumentWriter,
  forEachField,
  getField,
  isNumeric,
  isTruthy,
} from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command } from "../context.js";
import { homeOf } from "../context.js";
import type { ShardReply } from "../merging/scatter.js";
import { askShards } from "../merging/scatter.js";
import { withCollection } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";

/** Numbers that add up over shards. */
const SUMMED = [
  "count",
  "size",
  "numOrphanDocs",
  "storageSize",
  "freeStorageSize",
  "totalIndexSize",
  "totalSize",
];

export const collStats: Command = {
  name: "collStats",
  aliases: ["collstats"],
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollection(context, ns, async (collection) => {
      const { shard, exists } = homeOf(context, request.db, ns);
      if (!exists) throw new CommandError(ErrorCode.NamespaceNotFound, `database ${request.db} not found`);
      const shards = collection ? collection.chunks.owningShards() : [shard];
      const command = forwardedRequest(request);
      return merged(ns, collection, shard, await askShards(context, shards, () => command));
    });
  },
};

function merged(
  ns: string,
  collection: ShardedCollection | undefined,
  primary: string,
  replies: readonly ShardReply[],
): Reply {
  const bodies = replies.map(({ reply }) => reply.body);
  const sum = (name: string): number => bodies.reduce((total, body) => total + numberIn(body, name), 0);
  const most = (name: string): number => Math.max(...bodies.map((body) => numberIn(body, name)));
  const answer = new DocumentWriter().bool("sharded", collection !== undefined);
  if (!collection) answer.string("primary", primary);
  answer
    .bool(
      "capped",
      bodies.some((body) => isTruthy(getField(body, "capped"))),
    )
    .string("ns", ns);
  for (const name of SUMMED) answer.int64(name, BigInt(Math.trunc(sum(name))));
  // Not from `size`, which a `scale` has divided.
  const bytes = bodies.reduce(
    (total, body) => total + numberIn(body, "avgObjSize") * numberIn(body, "count"),
    0,
  );
  const count = sum("count");
  answer
    .document("indexSizes", indexSizes(bodies))
    .double("avgObjSize", count > 0 ? bytes / count : 0)
    .int64("maxSize", BigInt(Math.trunc(most("maxSize"))))
    .int32("nindexes", most("nindexes"))
    .int32("scaleFactor", most("scaleFactor"))
    .int32("nchunks", collection ? collection.chunks.size : 1);
  const perShard = new DocumentWriter();
  for (const { shard, reply } of replies) perShard.document(shard, reply.body);
  return okReply(answer.document("shards", perShard.finish()).finish());
}

function indexSizes(bodies: readonly Uint8Array[]): Uint8Array {
  const sizes = new Map<string, number>();
  for (const body of bodies) {
    const own = getField(body, "indexSizes");
    if (own?.type !== BsonType.object) continue;
    forEachField(asDocument(own), (name, value) => {
      if (isNumeric(value)) sizes.set(name, (sizes.get(name) ?? 0) + asNumber(value));
    });
  }
  const writer = new DocumentWriter();
  for (const [name, size] of sizes) writer.int64(name, BigInt(Math.trunc(size)));
  return writer.finish();
}

function numberIn(body: Uint8Array, name: string): number {
  const value = getField(body, name);
  return value && isNumeric(value) ? asNumber(value) : 0;
}
