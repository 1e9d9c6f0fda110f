/** The figures of a collection as `$collStats`, `collStats` and `dbStats` report them. */
import type { RawValue } from "../bson/index.js";
import {
  asDocument,
  asNumber,
  BsonType,
  date,
  DocumentWriter,
  getField,
  int64,
  isNumeric,
} from "../bson/index.js";
import { CommandError, ErrorCode } from "../protocol/index.js";
import type { ParsedStage } from "../query/index.js";
import type { Server } from "./command.js";
import { Arguments } from "./command.js";
import type { Collection } from "./storage/collection.js";
import { describeIndex } from "./storage/indexSpec.js";
import { encodeTree } from "./tree.js";

/** Bytes that a file takes at least: where real storage rounds up, so does the reported size. */
const BLOCK = 4096;

function rounded(bytes: number): number {
  return bytes === 0 ? BLOCK : Math.ceil(bytes / BLOCK) * BLOCK;
}

/**
 * Sizes of a collection.
 * @param scale bytes in one unit of the reported sizes
 */
export function storageStats(collection: Collection, scale = 1): Record<string, unknown> {
  const { records } = collection;
  const scaled = (bytes: number): number => Math.floor(bytes / scale);
  const storageSize = rounded(records.dataSize);
  const indexSizes = Object.fromEntries(
    collection.indexes.map((index) => [index.spec.name, scaled(rounded(index.byteSize))]),
  );
  const totalIndexSize = collection.indexes.reduce((sum, index) => sum + rounded(index.byteSize), 0);
  return {
    size: scaled(records.dataSize),
    count: records.count,
    ...(records.count > 0 && { avgObjSize: Math.round(records.dataSize / records.count) }),
    numOrphanDocs: 0,
    storageSize: scaled(storageSize),
    freeStorageSize: 0,
    capped: false,
    nindexes: collection.indexes.length,
    indexBuilds: [],
    totalIndexSize: scaled(totalIndexSize),
    totalSize: scaled(storageSize + totalIndexSize),
    indexSizes,
    scaleFactor: scale,
  };
}

/**
 * The one document of a `$collStats` stage.
 * @throws CommandError NamespaceNotFound (26) where figures of a collection are asked for that does not exist
 */
export function collStatsDocument(server: Server, namespace: string, stage: ParsedStage): Uint8Array {
  if (stage.spec.type !== BsonType.object)
    throw new CommandError(40642, "$collStats must take a nested object");
  const args = new Arguments("$collStats", asDocument(stage.spec), COLL_STATS, false);
  const collection = server.catalog.find(namespace);
  const storage = args.document("storageStats");
  const count = args.document("count");
  if ((storage || count) && !collection)
    throw new CommandError(ErrorCode.NamespaceNotFound, `Collection [${namespace}] not found.`);
  return encodeTree({
    ns: namespace,
    host: server.host,
    localTime: date(server.environment.now()),
    ...(storage &&
      collection && { storageStats: storageStats(collection, scaleOf(getField(storage, "scale"))) }),
    ...(count && collection && { count: collection.records.count }),
  });
}

const COLL_STATS = {
  fields: ["storageStats", "count"],
  refused: { latencyStats: "$collStats.latencyStats", queryExecStats: "$collStats.queryExecStats" },
};

/** A `scale` argument as a number ≥ 1. */
export function scaleOf(value: RawValue | undefined): number {
  if (value === undefined) return 1;
  const scale = isNumeric(value) ? Math.trunc(asNumber(value)) : 0;
  if (!(scale >= 1)) throw new CommandError(51024, "BSON field 'scale' value must be >= 1");
  return scale;
}

/** The documents of an `$indexStats` stage: one for each index. */
export function indexStatsDocuments(server: Server, collection: Collection | undefined): Uint8Array[] {
  return (collection?.indexes ?? []).map((index) =>
    new DocumentWriter()
      .string("name", index.spec.name)
      .document("key", index.spec.keyPattern)
      .string("host", server.host)
      .document("accesses", encodeTree({ ops: int64(index.accesses), since: date(index.builtAt) }))
      .document("spec", describeIndex(index.spec))
      .finish(),
  );
}
