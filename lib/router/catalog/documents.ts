/**
 * The shapes of catalog documents (facts-mongos.md §3.4), today's shapes under
 * any rules. Each function builds one document of one `config` collection.
 *
 *     config.shards       {_id: "shardA", host: "shardA/127.0.0.1:27018", state: 1, …}
 *     config.databases    {_id: "library", primary: "shardB", version: {uuid, timestamp, lastMod}}
 *     config.collections  {_id: "library.loans", uuid, key: {memberId: 1}, unique: false, …}
 *     config.chunks       {_id: ObjectId, uuid, min: {…}, max: {…}, shard: "shardB", lastmod: Timestamp(1, 0), …}
 *
 * Chunks name their collection by uuid. A chunk's `lastmod` is its version:
 * moving a chunk raises the first number, splitting one the second.
 */
import type { RawValue } from "../../bson/index.js";
import { asTimestamp, date, DocumentWriter, timestamp } from "../../bson/index.js";

/** A chunk's or collection's placement version: the two halves of `lastmod`. */
export interface ChunkVersion {
  readonly major: number;
  readonly minor: number;
}

/** The first version of a new collection's first chunk. */
export const FIRST_VERSION: ChunkVersion = { major: 1, minor: 0 };

/** Reads a `lastmod`. */
export function versionOf(lastmod: RawValue): ChunkVersion {
  const { high, low } = asTimestamp(lastmod);
  return { major: high, minor: low };
}

/** Whether `a` is later than `b`. */
export function isLater(a: ChunkVersion, b: ChunkVersion): boolean {
  return a.major !== b.major ? a.major > b.major : a.minor > b.minor;
}

/** The version as a `lastmod` value. */
export function lastmodOf(version: ChunkVersion): RawValue {
  return timestamp(version.major, version.minor);
}

/**
 * A placement version as MongoDB writes it in config.changelog.
 * @example placementVersion({ major: 1, minor: 3 }, …) // "1|3||65a0…||Timestamp(1767225600, 4)"
 */
export function placementVersion({ major, minor }: ChunkVersion, epoch: RawValue, since: RawValue): string {
  const { high, low } = asTimestamp(since);
  return `${major}|${minor}||${asObjectIdHex(epoch)}||Timestamp(${high}, ${low})`;
}

function asObjectIdHex({ bytes, start, end }: RawValue): string {
  return Array.from(bytes.subarray(start, end), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** config.shards */
export function shardDocument(id: string, host: string, topologyTime: RawValue): Uint8Array {
  return new DocumentWriter()
    .string("_id", id)
    .string("host", host)
    .int32("state", 1)
    .field("topologyTime", topologyTime)
    .int64("replSetConfigVersion", -1n)
    .finish();
}

/** config.databases */
export function databaseDocument(name: string, primary: string, uuid: RawValue, now: RawValue): Uint8Array {
  const version = new DocumentWriter()
    .field("uuid", uuid)
    .field("timestamp", now)
    .int32("lastMod", 1)
    .finish();
  return new DocumentWriter()
    .string("_id", name)
    .string("primary", primary)
    .document("version", version)
    .finish();
}

/** config.collections */
export function collectionDocument(fields: {
  ns: string;
  epoch: RawValue;
  lastmodMs: number;
  timestamp: RawValue;
  uuid: RawValue;
  key: Uint8Array;
  unique: boolean;
  defaultCollation?: Uint8Array | undefined;
}): Uint8Array {
  const writer = new DocumentWriter()
    .string("_id", fields.ns)
    .field("lastmodEpoch", fields.epoch)
    .field("lastmod", date(fields.lastmodMs))
    .field("timestamp", fields.timestamp)
    .field("uuid", fields.uuid)
    .document("key", fields.key);
  if (fields.defaultCollation) writer.document("defaultCollation", fields.defaultCollation);
  return writer.bool("unique", fields.unique).bool("noBalance", false).finish();
}

/** config.chunks */
export function chunkDocument(fields: {
  id: RawValue;
  uuid: RawValue;
  min: Uint8Array;
  max: Uint8Array;
  shard: string;
  version: ChunkVersion;
  since: RawValue;
  /** Older owners, newest first, each `{validAfter, shard}`; absent for a new chunk. */
  history?: readonly Uint8Array[];
}): Uint8Array {
  const history = fields.history ?? [historyEntry(fields.since, fields.shard)];
  return new DocumentWriter()
    .field("_id", fields.id)
    .field("uuid", fields.uuid)
    .document("min", fields.min)
    .document("max", fields.max)
    .string("shard", fields.shard)
    .field("lastmod", lastmodOf(fields.version))
    .field("onCurrentShardSince", fields.since)
    .arrayOf("history", history)
    .finish();
}

/** One entry of a chunk's `history`. */
export function historyEntry(validAfter: RawValue, shard: string): Uint8Array {
  return new DocumentWriter().field("validAfter", validAfter).string("shard", shard).finish();
}
