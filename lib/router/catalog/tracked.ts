/**
 * Unsharded collections that the catalog knows: those that were moved away from their database's primary shard, or back
 * to it (facts-mongos.md §8.3, 8.0+).
 *
 *     config.collections   {_id: "library.books", key: {_id: 1}, unsplittable: true, uuid, …}
 *     config.chunks        {uuid, min: {_id: MinKey}, max: {_id: MaxKey}, shard: "shardB"}
 *
 * They are unsharded all the same: one shard has the whole collection and answers for it. Others live on their
 * database's primary shard, and the catalog says nothing about them.
 */
import type { RawValue } from "../../bson/index.js";
import { asString, DocumentWriter, getField } from "../../bson/index.js";
import { detached } from "../support/values.js";
import type { ConfigServer } from "./configServer.js";

/** An unsharded collection and where it lives. */
export interface TrackedCollection {
  readonly ns: string;
  readonly db: string;
  /** Name within the database. */
  readonly name: string;
  readonly uuid: RawValue;
  readonly shard: string;
}

/** Tracked collections by namespace. */
export type TrackedCollections = Map<string, TrackedCollection>;

/** config.collections with `unsplittable`, and the shard of each one's only chunk. */
export async function readTracked(config: ConfigServer): Promise<TrackedCollections> {
  const tracked: TrackedCollections = new Map();
  for await (const entry of config.find("collections", { unsplittable: true })) {
    const uuid = getField(entry, "uuid");
    const chunk = uuid && (await config.findOne("chunks", new DocumentWriter().field("uuid", uuid).finish()));
    const shard = chunk && getField(chunk, "shard");
    if (!shard) continue;
    const ns = asString(getField(entry, "_id")!);
    const dot = ns.indexOf(".");
    tracked.set(ns, {
      ns,
      db: ns.slice(0, dot),
      name: ns.slice(dot + 1),
      uuid: detached(uuid),
      shard: asString(shard),
    });
  }
  return tracked;
}

/** Forgets a tracked collection: it was dropped, or gave its name up. */
export async function removeTracked(config: ConfigServer, { ns, uuid }: TrackedCollection): Promise<void> {
  await config.bulk([
    { remove: "collections", filter: new DocumentWriter().string("_id", ns).finish() },
    { remove: "chunks", filter: new DocumentWriter().field("uuid", uuid).finish() },
  ]);
}
