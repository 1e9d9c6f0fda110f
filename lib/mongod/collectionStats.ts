/** The figures of a collection as `$collStats`, `collStats` and `dbStats` report them. */
import type { RawValue } from "../bson/index.js";
import {
  asDocument,
  asNumber,
  BsonType,
  date,
  describeValue,
  DocumentWriter,
  getField,
  int64,
  isNumeric,
  isTruthy,
  nameOfType,
} from "../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../protocol/index.js";
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

/** Bytes of a collection with its indexes, as they would be on a disk. */
export function sizeOnDisk(collection: Collection): number {
  const { data, indexes } = diskSizes(collection);
  return data + indexes;
}

/** The same, apart. */
export function diskSizes({ records, indexes }: Collection): { data: number; indexes: number } {
  return {
    data: rounded(records.dataSize),
    indexes: indexes.reduce((sum, index) => sum + rounded(index.byteSize), 0),
  };
}

/**
 * Sizes of a collection.
 * @param scale bytes in one unit of the reported sizes
 */
export function storageStats(collection: Collection, scale = 1): Record<string, unknown> {
  const { records, settings } = collection;
  const { capped } = settings;
  const scaled = (bytes: number): number => Math.floor(bytes / scale);
  const { data: storageSize, indexes: totalIndexSize } = diskSizes(collection);
  const indexSizes = Object.fromEntries(
    collection.indexes.map((index) => [index.spec.name, scaled(rounded(index.byteSize))]),
  );
  return {
    size: scaled(records.dataSize),
    count: records.count,
    ...(records.count > 0 && { avgObjSize: Math.floor(records.dataSize / records.count) }),
    numOrphanDocs: 0,
    storageSize: scaled(storageSize),
    freeStorageSize: 0,
    capped: capped !== undefined,
    ...(capped && { max: int64(capped.max ?? 0), maxSize: int64(Math.floor(capped.size / scale)) }),
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
 * @throws CommandError NamespaceNotFound (26) where figures of a collection are asked for that does not exist;
 *   CommandNotSupportedOnView (166) where a view has none
 */
export function collStatsDocument(server: Server, namespace: string, stage: ParsedStage): Uint8Array {
  if (stage.spec.type !== BsonType.object) {
    throw new CommandError(
      5447000,
      `$collStats must take a nested object but found: $collStats: ${describeValue(stage.spec)}`,
    );
  }
  const args = new Arguments("$collStats", asDocument(stage.spec), COLL_STATS, false);
  const storage = args.document("storageStats");
  const count = args.document("count");
  const latency = args.document("latencyStats");
  const needed = storage ?? count;
  const collection = needed ? server.catalog.findCollection(namespace) : server.catalog.find(namespace);
  if (needed && !collection) {
    throw new CommandError(
      ErrorCode.NamespaceNotFound,
      `Unable to retrieve ${storage ? "storageStats" : "count"} in $collStats stage :: caused by :: ` +
        `Collection [${namespace}] not found.`,
    );
  }
  return encodeTree({
    ns: namespace,
    host: server.host,
    localTime: date(server.environment.now()),
    ...(latency && { latencyStats: latencyStats(server, namespace, latency) }),
    ...(storage &&
      collection && { storageStats: storageStats(collection, scaleOf(getField(storage, "scale"))) }),
    ...(count && collection && { count: collection.records.count }),
  });
}

const COLL_STATS = {
  fields: ["storageStats", "count", "latencyStats"],
  refused: {
    queryExecStats: "$collStats.queryExecStats",
    operationStats: "$collStats.operationStats",
    targetAllNodes: "$collStats.targetAllNodes",
  },
};

/** Operations on a namespace so far, and the microseconds they took. */
function latencyStats(server: Server, namespace: string, spec: Uint8Array): Record<string, unknown> {
  const histograms = getField(spec, "histograms");
  if (histograms && isTruthy(histograms)) throw notSimulated("histograms in $collStats.latencyStats");
  const use = server.statistics.namespaces.get(namespace);
  const sum = (...parts: ({ time: number; count: number } | undefined)[]): Record<string, unknown> => ({
    latency: int64(Math.round(parts.reduce((total, part) => total + (part?.time ?? 0), 0))),
    ops: int64(parts.reduce((total, part) => total + (part?.count ?? 0), 0)),
    queryableEncryptionLatencyMicros: int64(0),
  });
  return {
    reads: sum(use?.queries, use?.getmore),
    writes: sum(use?.insert, use?.update, use?.remove),
    commands: sum(use?.commands),
    transactions: sum(),
  };
}

/**
 * A `scale` argument as a number ≥ 1.
 * @throws CommandError TypeMismatch (14), 51024
 */
export function scaleOf(value: RawValue | undefined): number {
  if (value === undefined) return 1;
  if (!isNumeric(value)) {
    throw new CommandError(
      ErrorCode.TypeMismatch,
      `BSON field 'scale' is the wrong type '${nameOfType(value.type)}', expected types '[long, int, decimal, double]'`,
    );
  }
  const scale = Math.trunc(asNumber(value));
  if (!(scale >= 1)) {
    throw new CommandError(51024, `BSON field 'scale' value must be >= 1, actual value '${scale}'`);
  }
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
