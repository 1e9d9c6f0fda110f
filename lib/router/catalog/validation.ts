/**
 * Which documents of `config` the router can read.
 *
 * The catalog is ordinary documents that any client may write, and one that
 * cannot be read would stop every later reload. So a write through the router is
 * checked before it happens, and a document that came another way is named when
 * a reload meets it:
 *
 *     config.shards { _id: 1 }: field '_id' must be a string
 *     config.settings { _id: "chunksize" }: field 'value' must be a number of megabytes above 0
 *
 * MongoDB guards config.settings the same way, by a validator; hence the code.
 * Only fields that the router reads are checked. Others are the client's.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  describeDocument,
  describeValue,
  elements,
  getField,
  isNumeric,
  isTruthy,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";

/** What a field must be. */
interface Rule {
  readonly is: string;
  readonly fits: (value: RawValue) => boolean;
  readonly optional?: boolean;
}

const ofType =
  (...types: number[]) =>
  ({ type }: RawValue): boolean =>
    types.includes(type);

const STRING: Rule = {
  is: "a string that is not empty",
  fits: (value) => value.type === BsonType.string && asString(value) !== "",
};
const UUID: Rule = { is: "a UUID", fits: ofType(BsonType.binary) };
const OBJECT: Rule = { is: "a document", fits: ofType(BsonType.object) };
const COLLATION: Rule = { is: "a collation", fits: ofType(BsonType.object), optional: true };
const TIMESTAMP: Rule = { is: "a timestamp", fits: ofType(BsonType.timestamp), optional: true };

const NAMESPACE: Rule = {
  is: "a namespace, database.collection",
  fits: (value) => value.type === BsonType.string && /^[^.]+\../.test(asString(value)),
};
const KEY: Rule = {
  is: "a shard key",
  fits: (value) => value.type === BsonType.object && isShardKey(asDocument(value)),
};
const BOOL: Rule = { is: "a bool", fits: ofType(BsonType.bool), optional: true };
const HISTORY: Rule = {
  is: "an array of documents",
  fits: (value) => value.type === BsonType.array && elements(asDocument(value)).every(OBJECT.fits),
  optional: true,
};
const TAGS: Rule = {
  is: "an array of strings",
  fits: (value) =>
    value.type === BsonType.array && elements(asDocument(value)).every(ofType(BsonType.string)),
  optional: true,
};
const MEGABYTES: Rule = {
  is: "a number of megabytes above 0",
  fits: (value) => isNumeric(value) && asNumber(value) > 0 && asNumber(value) < Infinity,
};
const SWITCH: Rule = {
  is: "a bool or number",
  fits: (v) => v.type === BsonType.bool || isNumeric(v),
  optional: true,
};
const MODE: Rule = {
  is: '"full", "autoSplitOnly" or "off"',
  fits: (value) =>
    value.type === BsonType.string && ["full", "autoSplitOnly", "off"].includes(asString(value)),
  optional: true,
};

const WINDOW: Rule = {
  is: 'a document with two different times of day, start and stop, as "23:00"',
  fits: (value) => value.type === BsonType.object && isWindow(asDocument(value)),
  optional: true,
};

type Shape = Readonly<Record<string, Rule>>;

const SHARD: Shape = { _id: STRING, host: STRING, draining: BOOL, tags: TAGS };
const DATABASE: Shape = { _id: STRING, primary: STRING };
const COLLECTION: Shape = { _id: NAMESPACE, uuid: UUID, key: KEY, unique: BOOL, defaultCollation: COLLATION };
const CHUNK: Shape = {
  uuid: UUID,
  min: OBJECT,
  max: OBJECT,
  shard: STRING,
  lastmod: TIMESTAMP,
  onCurrentShardSince: TIMESTAMP,
  history: HISTORY,
};
const TAG: Shape = { ns: NAMESPACE, min: OBJECT, max: OBJECT, tag: STRING };
const SETTINGS: Shape = { _id: STRING };
const CHUNK_SIZE: Shape = { value: MEGABYTES };
const BALANCER: Shape = { mode: MODE, stopped: SWITCH, activeWindow: WINDOW };
const AUTO_MERGE: Shape = { enabled: SWITCH };

/**
 * Checks a document of `config`.
 * @param collection name within `config`; one that the router does not read has no rules
 * @throws CommandError DocumentValidationFailure (121), naming document and field
 */
export function checkCatalogDocument(collection: string, document: Uint8Array): void {
  for (const [field, rule] of Object.entries(shapeOf(collection, document))) {
    const value = getField(document, field);
    if (value ? rule.fits(value) : rule.optional) continue;
    throw unreadable(collection, document, `field '${field}' must be ${rule.is}`);
  }
}

/** The error of a document of `config` that the router cannot read. */
export function unreadable(collection: string, document: Uint8Array, why: string): CommandError {
  const id = getField(document, "_id");
  const name = id ? `{ _id: ${describeValue(id)} }` : describeDocument(document);
  const error = new CommandError(
    ErrorCode.DocumentValidationFailure,
    `config.${collection} ${name}: ${why}, or the router cannot read its catalog`,
  );
  error.remedy = `correct or delete the document in config.${collection}`;
  return error;
}

function shapeOf(collection: string, document: Uint8Array): Shape {
  switch (collection) {
    case "shards":
      return SHARD;
    case "databases":
      return DATABASE;
    case "collections":
      return isTruthy(getField(document, "unsplittable")) ? { _id: NAMESPACE } : COLLECTION;
    case "chunks":
      return CHUNK;
    case "tags":
      return TAG;
    case "settings":
      return settingsShape(getField(document, "_id"));
    default:
      return {};
  }
}

function settingsShape(id: RawValue | undefined): Shape {
  const name = id?.type === BsonType.string ? asString(id) : "";
  if (name === "automerge") return AUTO_MERGE;
  return name === "chunksize" ? CHUNK_SIZE : name === "balancer" ? BALANCER : SETTINGS;
}

function isWindow(document: Uint8Array): boolean {
  const [start, stop] = ["start", "stop"].map((name) => {
    const value = getField(document, name);
    return value?.type === BsonType.string ? minutesOfDay(asString(value)) : undefined;
  });
  return start !== undefined && stop !== undefined && start !== stop;
}

/** Minutes since midnight of a time of day, `HH:MM`; undefined for anything else. */
export function minutesOfDay(text: string): number | undefined {
  const match = /^(\d{1,2}):(\d{2})$/.exec(text);
  if (!match) return undefined;
  const [hours, minutes] = [Number(match[1]), Number(match[2])];
  return hours < 24 && minutes < 60 ? hours * 60 + minutes : undefined;
}

function isShardKey(pattern: Uint8Array): boolean {
  try {
    ShardKeyPattern.parse(pattern);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}
