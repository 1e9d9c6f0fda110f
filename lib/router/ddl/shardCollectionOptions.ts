/**
 * The arguments of shardCollection and what is wrong with them by themselves:
 * pure reading (facts-mongos.md §1.3).
 */
import {
  asDocument,
  asString,
  BsonType,
  describeDocument,
  DocumentWriter,
  getField,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { bodyField, CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { flag, missingField, optionalCount, wrongType } from "../context.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { Rules } from "../rules.js";
import type { Namespace } from "../support/arguments.js";
import { namespaceArgument } from "../support/arguments.js";

/** What a shardCollection asks for. */
export interface ShardCollectionOptions extends Namespace {
  readonly key: ShardKeyPattern;
  readonly unique: boolean;
  readonly numInitialChunks: number | undefined;
  readonly presplitHashedZones: boolean;
  /** The options as they were given, for config.changelog. */
  readonly given: Uint8Array;
  /** `collation: {locale: "simple"}` was given. */
  readonly collationGiven: boolean;
  readonly implicitlyCreateIndex: boolean;
  readonly enforceUniqueness: boolean;
}

/**
 * Reads and checks the arguments.
 * @throws CommandError with the codes of §1.3
 */
export function readShardCollection(request: Request, rules: Rules): ShardCollectionOptions {
  const namespace = namespaceArgument(request);
  checkMayBeSharded(namespace);
  const pattern = bodyField(request, "key");
  if (!pattern) throw missingField(request, "key");
  if (pattern.type !== BsonType.object) throw wrongType(request, "key", "object");
  const key = ShardKeyPattern.parse(asDocument(pattern), rules);
  const unique = flag(request, "unique");
  if (unique && key.isHashed) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      "Hashed shard keys cannot be declared unique. It's possible to ensure uniqueness on the hashed field by " +
        "declaring an additional (non-hashed) unique index on the field.",
    );
  }
  if (bodyField(request, "timeseries")) throw notSimulated("shardCollection of a time-series collection");
  // 0 is the default and the same as absent.
  const numInitialChunks = optionalCount(request, "numInitialChunks") || undefined;
  return {
    ...namespace,
    key,
    unique,
    numInitialChunks,
    presplitHashedZones: flag(request, "presplitHashedZones"),
    given: givenOptions(request),
    collationGiven: checkCollation(request),
    implicitlyCreateIndex: flag(request, "implicitlyCreateIndex", true),
    enforceUniqueness: flag(request, "enforceUniquenessCheck", true),
  };
}

const OPTIONS = [
  "unique",
  "numInitialChunks",
  "presplitHashedZones",
  "collation",
  "implicitlyCreateIndex",
  "enforceUniquenessCheck",
];

function givenOptions(request: Request): Uint8Array {
  const writer = new DocumentWriter();
  for (const name of OPTIONS) {
    const value = bodyField(request, name);
    if (value) writer.field(name, value);
  }
  return writer.finish();
}

/** Most initial chunks of one shard, and of all of them: what they cost in memory is somebody else's (§1.3). */
const MAX_CHUNKS_PER_SHARD = 8192;
const MAX_CHUNKS = 1_000_000;

/**
 * `numInitialChunks` where it is honoured (up to 7.1).
 * @throws CommandError InvalidOptions (72)
 */
export function checkNumInitialChunks(
  { numInitialChunks, key }: ShardCollectionOptions,
  rules: Rules,
  { empty, shards }: { empty: boolean; shards: number },
): void {
  if (numInitialChunks === undefined || rules.numInitialChunks === "ignored") return;
  const most = shards * MAX_CHUNKS_PER_SHARD;
  if (numInitialChunks > most || numInitialChunks > MAX_CHUNKS) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `numInitialChunks cannot be more than either: ${most}, ${MAX_CHUNKS_PER_SHARD} * number of shards; or ${MAX_CHUNKS}`,
    );
  }
  if (empty && key.isHashed) return;
  throw new CommandError(
    ErrorCode.InvalidOptions,
    "numInitialChunks is only supported when the collection is empty and has a hashed field in the shard key pattern",
  );
}

function checkMayBeSharded({ ns, db, name }: Namespace): void {
  if (name.startsWith("system.buckets.")) {
    throw new CommandError(5731501, "Sharding a buckets collection is not allowed");
  }
  if (/^enxcol_\..+\.(esc|ecc|ecoc)$/.test(name)) {
    throw new CommandError(6464401, "Sharding a Queryable Encryption state collection is not allowed");
  }
  const internal = db === "admin" || db === "local" || (db === "config" && name !== "system.sessions");
  if (internal || (name.startsWith("system.") && db !== "config")) {
    throw new CommandError(
      ErrorCode.IllegalOperation,
      `Special collection '${ns}' can't be registered in the sharding catalog`,
    );
  }
  if (db === "config") throw notSimulated("sharding config.system.sessions");
}

function checkCollation(request: Request): boolean {
  const collation = bodyField(request, "collation");
  if (!collation) return false;
  if (collation.type !== BsonType.object) throw wrongType(request, "collation", "object");
  const locale = getField(asDocument(collation), "locale");
  if (locale?.type === BsonType.string && asString(locale) === "simple") return true;
  throw new CommandError(
    ErrorCode.BadValue,
    "The collation for shardCollection must be {locale: 'simple'}, but found: " +
      describeDocument(asDocument(collation)),
  );
}
