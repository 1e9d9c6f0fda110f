/**
 * What a resharding writes to config.* (facts-mongos.md §8.2): the new chunks long before the commit, under the new UUID,
 * which no collection has yet; the commit is one update of the collection's document.
 *
 *     config.chunks       old uuid: 2 chunks   new uuid: 90 chunks
 *     config.collections  {_id: "library.loans", uuid: old, key: {memberId: 1}}
 *                     ──► {_id: "library.loans", uuid: new, key: {branch: 1, memberId: 1}}
 */
import type { RawValue } from "../../bson/index.js";
import { compareValues, date, DocumentWriter, getField } from "../../bson/index.js";
import type { ReshardingOperation } from "../resharding/operations.js";
import type { ChunkMap } from "./chunkMap.js";
import type { ChunkWriter } from "./chunkWrites.js";
import { ofCollection } from "./chunkWrites.js";
import { chunkDocument } from "./documents.js";

/** Writes the chunks of a collection to be, versions 1|0, 1|1, …. */
export async function writeNewChunks(
  { config, clock, ids }: ChunkWriter,
  uuid: RawValue,
  chunks: ChunkMap,
): Promise<void> {
  const since = clock.tick();
  const documents: Uint8Array[] = [];
  for (const chunk of chunks.chunks()) {
    const version = { major: 1, minor: chunk.index };
    documents.push(chunkDocument({ ...chunk, id: ids.objectId(), uuid, version, since }));
  }
  await config.insert("chunks", documents);
}

/**
 * Makes the new chunks the collection's. Doing it twice does no harm.
 * @param now milliseconds since 1970
 */
export async function writeResharded(
  { config, clock, ids }: ChunkWriter,
  operation: ReshardingOperation,
  now: number,
): Promise<void> {
  const { ns, uuid, sourceUuid, zones } = operation;
  const stored = await config.findOne("collections", { _id: ns });
  const present = stored && getField(stored, "uuid");
  if (!present || compareValues(present, uuid) !== 0) {
    const fields = new DocumentWriter()
      .field("lastmodEpoch", ids.objectId())
      .field("lastmod", date(now))
      .field("timestamp", clock.tick())
      .field("uuid", uuid)
      .document("key", operation.key)
      .bool("unique", false);
    if (operation.defaultCollation) fields.document("defaultCollation", operation.defaultCollation);
    if (operation.unsplittable) fields.bool("unsplittable", true);
    const update = new DocumentWriter().document("$set", fields.finish());
    if (!operation.unsplittable) {
      update.document("$unset", new DocumentWriter().string("unsplittable", "").finish());
    }
    update.document("$setOnInsert", new DocumentWriter().bool("noBalance", false).finish());
    await config.update("collections", { _id: ns }, update.finish(), { upsert: true });
  }
  await config.remove("chunks", ofCollection(sourceUuid).finish());
  if (!zones) return;
  await config.remove("tags", { ns });
  const tags = zones.map(({ min, max, zone }) =>
    new DocumentWriter()
      .field("_id", ids.objectId())
      .string("ns", ns)
      .document("min", min)
      .document("max", max)
      .string("tag", zone)
      .finish(),
  );
  if (tags.length > 0) await config.insert("tags", tags);
}
