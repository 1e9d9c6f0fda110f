/**
 * Which indexes a sharded collection needs and which it may not have: pure
 * policy (facts-mongos.md §1.3, §1.5).
 *
 * - **Supporting index**: the shard key must be a prefix of the index, field by
 *   field and kind by kind, and the index must hold every document once: not
 *   sparse, not partial, not hidden, simple collation, no array on any of its fields.
 * - **Unique indexes**: a shard can only check its own documents. Uniqueness
 *   holds cluster-wide only where equal index keys must live in one chunk: the
 *   shard key's *field names* are a prefix of the index, or it begins with `_id`.
 *
 *     key {a: 1}            supports          may be unique
 *     {a: 1}                yes               yes
 *     {a: 1, b: -1}         yes               yes
 *     {a: "hashed"}         no (kind)         —
 *     {b: 1}                no                no: 67 / 72
 */
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  describeDocument,
  fields,
  getField,
  isNumeric,
  isTruthy,
} from "../../bson/index.js";
import type { RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";

/** An index as `listIndexes` describes it. */
export interface IndexSpec {
  /** The description as it came. */
  readonly raw: Uint8Array;
  readonly name: string;
  readonly key: Uint8Array;
  readonly unique: boolean;
}

/** Reads one description. */
export function readIndex(raw: Uint8Array): IndexSpec {
  const name = getField(raw, "name");
  const key = getField(raw, "key");
  return {
    raw,
    name: name?.type === BsonType.string ? asString(name) : "",
    key: key?.type === BsonType.object ? asDocument(key) : new Uint8Array([5, 0, 0, 0, 0]),
    unique: isTruthy(getField(raw, "unique")) || isTruthy(getField(raw, "prepareUnique")),
  };
}

/** Whether the shard key, kinds included, is a prefix of the index. */
function hasKeyAsPrefix(index: IndexSpec, key: ShardKeyPattern): boolean {
  const indexFields = fields(index.key);
  return key.fields.every((field, i) => {
    const [path, value] = indexFields[i] ?? ["", undefined];
    return path === field.path && value !== undefined && isKind(value, field.kind);
  });
}

/** Whether the index is on exactly the shard key. */
function isExactly(index: IndexSpec, key: ShardKeyPattern): boolean {
  return hasKeyAsPrefix(index, key) && fields(index.key).length === key.fields.length;
}

function isKind(value: RawValue, kind: 1 | -1 | "hashed"): boolean {
  if (kind === "hashed") return value.type === BsonType.string && asString(value) === "hashed";
  return isNumeric(value) && asNumber(value) === kind;
}

/** Why an index with the right prefix can't support the key; empty when it can. */
export function objections(index: IndexSpec): string[] {
  const seed = getField(index.raw, "seed");
  return [
    ...(isTruthy(getField(index.raw, "sparse")) ? ["Index key is sparse."] : []),
    ...(getField(index.raw, "partialFilterExpression") ? ["Index key is partial."] : []),
    ...(isTruthy(getField(index.raw, "hidden")) ? ["Index is hidden."] : []),
    ...(hasCollation(index) ? ["Index has a non-simple collation."] : []),
    ...(seed && isNumeric(seed) && asNumber(seed) !== 0 ? ["Index has a non-default seed."] : []),
  ];
}

/** The indexes that support a shard key, those with the fewest fields first. */
export function supportingIndexes(indexes: readonly IndexSpec[], key: ShardKeyPattern): IndexSpec[] {
  return indexes
    .filter((index) => hasKeyAsPrefix(index, key) && objections(index).length === 0)
    .sort((a, b) => fields(a.key).length - fields(b.key).length);
}

/** Whether a unique index can be kept on a collection with this shard key. */
export function mayBeUnique(indexKey: Uint8Array, key: ShardKeyPattern): boolean {
  const names = fields(indexKey).map(([name]) => name);
  return names[0] === "_id" || key.paths.every((path, i) => names[i] === path);
}

/**
 * Checks the existing unique indexes of a collection that is to be sharded.
 * @throws CommandError InvalidOptions (72)
 */
export function checkUniqueIndexes(indexes: readonly IndexSpec[], key: ShardKeyPattern): void {
  for (const index of indexes) {
    if (!index.unique || (mayBeUnique(index.key, key) && !hasCollation(index))) continue;
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `can't shard collection with unique index on ${describeDocument(index.key)} and proposed shard key ` +
        `${key.text}. Uniqueness can't be maintained unless shard key is a prefix and has simple collation`,
    );
  }
}

/**
 * Checks that the indexes of a collection support its shard key to be.
 * @returns whether one does; false only where it may be created
 * @throws CommandError InvalidOptions (72), naming why each candidate can't
 */
export function checkSupport(
  indexes: readonly IndexSpec[],
  key: ShardKeyPattern,
  options: {
    unique: boolean;
    enforceUniqueness: boolean;
    empty: boolean;
    /** The indexes that hold documents with arrays. */
    multikey: ReadonlySet<IndexSpec>;
  },
): boolean {
  const candidates = indexes.filter((index) => hasKeyAsPrefix(index, key));
  if (supportingIndexes(indexes, key).some((index) => !options.multikey.has(index))) {
    const unique = indexes.some((index) => isExactly(index, key) && (index.unique || isIdIndex(index)));
    if (options.unique && options.enforceUniqueness && !unique && key.paths[0] !== "_id") {
      throw new CommandError(
        ErrorCode.InvalidOptions,
        `can't shard collection with shard key ${key.text}, index not unique, and unique index explicitly specified`,
      );
    }
    return true;
  }
  if (options.empty && !candidates.some((index) => isExactly(index, key))) return false;
  const reasons = candidates.map((index) => {
    const why = [...objections(index), ...(options.multikey.has(index) ? ["Index key is multikey."] : [])];
    return ` Index ${index.name} cannot be used for sharding because [ ${why.join(" ")} ]`;
  });
  throw new CommandError(
    ErrorCode.InvalidOptions,
    `Please create an index that starts with the proposed shard key before sharding the collection.${reasons.join("")}`,
  );
}

/** The name that MongoDB gives an index: `a_1_b_hashed`. */
export function indexName(key: ShardKeyPattern): string {
  return key.fields.map(({ path, kind }) => `${path}_${kind}`).join("_");
}

function isIdIndex(index: IndexSpec): boolean {
  return index.name === "_id_";
}

function hasCollation(index: IndexSpec): boolean {
  const collation = getField(index.raw, "collation");
  if (collation?.type !== BsonType.object) return false;
  const locale = getField(asDocument(collation), "locale");
  return locale?.type === BsonType.string && asString(locale) !== "simple";
}
