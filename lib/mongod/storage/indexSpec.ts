/**
 * Index specifications: what `createIndexes` may ask for, and when two of them clash.
 *
 * An index is identified twice: by its name, and by its *signature* (key
 * pattern, `unique`, `sparse`). Asking for what exists already is no error;
 * the same signature under another name is IndexOptionsConflict (85), the same
 * name with another signature IndexKeySpecsConflict (86).
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  describeDocument,
  describeValue,
  DocumentWriter,
  fields,
  getField,
  isNumeric,
  isTruthy,
  toDocument,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { KeyField } from "../../query/index.js";

/** What an index is, apart from its entries. */
export interface IndexSpec {
  readonly name: string;
  /** The key pattern as it was given, e.g. `{region: 1, device: "hashed"}`. */
  readonly keyPattern: Uint8Array;
  readonly fields: readonly KeyField[];
  readonly unique: boolean;
  readonly sparse: boolean;
  /** Kept up to date and unique, but invisible to the planner. @since MongoDB 4.4 */
  readonly hidden: boolean;
}

/** Special index kinds of MongoDB that the engine does not have. */
const OTHER_KINDS: ReadonlySet<string> = new Set([
  "text",
  "2d",
  "2dsphere",
  "geoHaystack",
  "columnstore",
  "queryable_encrypted_range",
]);

const ACCEPTED: ReadonlySet<string> = new Set([
  "v",
  "key",
  "name",
  "ns",
  "background",
  "unique",
  "sparse",
  "hidden",
  "collation",
  "storageEngine",
]);

const REFUSED: Readonly<Record<string, string>> = {
  expireAfterSeconds: "TTL indexes (expireAfterSeconds)",
  partialFilterExpression: "partial indexes (partialFilterExpression)",
  wildcardProjection: "wildcard indexes",
  columnstoreProjection: "columnstore indexes",
  prepareUnique: "prepareUnique",
  clustered: "clustered indexes",
  weights: "text indexes",
  default_language: "text indexes",
  language_override: "text indexes",
  textIndexVersion: "text indexes",
  "2dsphereIndexVersion": "geospatial indexes",
  bits: "geospatial indexes",
  min: "geospatial indexes",
  max: "geospatial indexes",
  bucketSize: "geospatial indexes",
};

/** The index that every collection has. */
export function idIndexSpec(): IndexSpec {
  return {
    name: "_id_",
    keyPattern: toDocument({ _id: 1 }),
    fields: [{ path: "_id", kind: 1 }],
    unique: true,
    sparse: false,
    hidden: false,
  };
}

/**
 * Reads one index specification of `createIndexes`.
 * @throws CommandError with the code MongoDB has for what is wrong (2, 9, 67, 197, 16764, 31303), or 238 for kinds of index that are not simulated.
 */
export function parseIndexSpec(spec: Uint8Array): IndexSpec {
  for (const [name, value] of fields(spec)) checkOption(spec, name, value);
  const key = getField(spec, "key");
  if (key?.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      "The 'key' field is a required property of an index specification",
    );
  }
  const name = getField(spec, "name");
  if (name?.type !== BsonType.string) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      "The 'name' field is a required property of an index specification",
    );
  }
  const keyPattern = asDocument(key).slice();
  const keyFields = parseKeyPattern(keyPattern);
  const unique = flag(spec, "unique");
  if (asString(name) === "")
    throw new CommandError(ErrorCode.CannotCreateIndex, "index name cannot be empty");
  if (unique && keyFields.some((field) => field.kind === "hashed")) {
    throw new CommandError(
      16764,
      "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.",
    );
  }
  if (isIdIndex(keyFields)) return idIndexSpec();
  if (asString(name) === "_id_") {
    throw new CommandError(
      ErrorCode.BadValue,
      "The index name '_id_' is reserved for the _id index, which must have key pattern {_id: 1}",
    );
  }
  return {
    name: asString(name),
    keyPattern,
    fields: keyFields,
    unique,
    sparse: flag(spec, "sparse"),
    hidden: flag(spec, "hidden"),
  };
}

/** Whether these are the fields of `_id_`. */
export function isIdIndex(keyFields: readonly KeyField[]): boolean {
  return keyFields.length === 1 && keyFields[0]?.path === "_id" && keyFields[0].kind === 1;
}

/**
 * Reads a key pattern like `{region: 1, device: "hashed"}`.
 * @throws CommandError CannotCreateIndex (67), 31303, or 238 for kinds that are not simulated.
 */
export function parseKeyPattern(pattern: Uint8Array): KeyField[] {
  const result: KeyField[] = [];
  for (const [path, value] of fields(pattern)) {
    checkPath(path);
    if (result.some((field) => field.path === path))
      throw cannotCreate(
        `The field '${path}' appears multiple times in the index key pattern ${describeDocument(pattern)}`,
      );
    result.push({ path, kind: parseKind(pattern, value) });
  }
  if (result.length === 0) throw cannotCreate("Index keys cannot be an empty object");
  if (result.length > 32)
    throw new CommandError(13103, `too many compound keys ${describeDocument(pattern)}`);
  const hashed = result.filter((field) => field.kind === "hashed").length;
  if (hashed > 1) {
    throw new CommandError(
      31303,
      `A maximum of one index field is allowed to be hashed but found ${hashed} for 'key' ${describeDocument(pattern)}`,
    );
  }
  return result;
}

function parseKind(pattern: Uint8Array, value: RawValue): KeyField["kind"] {
  if (isNumeric(value)) {
    const direction = asNumber(value);
    if (direction === 0 || Number.isNaN(direction))
      throw cannotCreate("Values in the index key pattern cannot be 0.");
    return direction > 0 ? 1 : -1;
  }
  if (value.type !== BsonType.string) {
    throw cannotCreate(
      `Values in v:2 index key pattern cannot be of type ${typeName(value.type)}. Only numbers > 0, numbers < 0, and strings are allowed.`,
    );
  }
  const kind = asString(value);
  if (kind === "hashed") return "hashed";
  if (OTHER_KINDS.has(kind)) throw notSimulated(`${kind} indexes`);
  throw cannotCreate(`Unknown index plugin '${kind}' in index ${describeDocument(pattern)}`);
}

function checkPath(path: string): void {
  if (path === "$**" || path.endsWith(".$**")) throw notSimulated("wildcard indexes");
  for (const part of path.split(".")) {
    if (part === "") throw cannotCreate("Index keys cannot contain an empty field.");
    if (part.startsWith("$") && part !== "$id" && part !== "$ref" && part !== "$db")
      throw cannotCreate("Index key contains an illegal field name: field name starts with '$'.");
  }
}

function checkOption(spec: Uint8Array, name: string, value: RawValue): void {
  const refused = REFUSED[name];
  if (refused) throw notSimulated(refused);
  if (!ACCEPTED.has(name)) {
    throw new CommandError(
      ErrorCode.InvalidIndexSpecificationOption,
      `The field '${name}' is not valid for an index specification. Specification: ${describeDocument(spec)}`,
    );
  }
  if (name === "collation" && value.type === BsonType.object) {
    const locale = getField(asDocument(value), "locale");
    if (locale?.type !== BsonType.string || asString(locale) !== "simple")
      throw notSimulated("indexes with a collation");
  }
  if (name === "v" && !(isNumeric(value) && (asNumber(value) === 1 || asNumber(value) === 2))) {
    throw cannotCreate(
      `Invalid index specification ${describeDocument(spec)}; cannot create an index with v=${describeValue(value)}`,
    );
  }
  if (
    (name === "unique" || name === "sparse" || name === "hidden") &&
    !isNumeric(value) &&
    value.type !== BsonType.bool
  ) {
    throw new CommandError(
      ErrorCode.TypeMismatch,
      `The field '${name}' has value ${name}: ${describeValue(value)}, which is not convertible to bool`,
    );
  }
}

function flag(spec: Uint8Array, name: string): boolean {
  const value = getField(spec, name);
  return value !== undefined && isTruthy(value);
}

function cannotCreate(message: string): CommandError {
  return new CommandError(ErrorCode.CannotCreateIndex, message);
}

function typeName(type: number): string {
  return Object.entries(BsonType).find(([, number]) => number === type)?.[0] ?? String(type);
}

/** The specification as `listIndexes` shows it: `{v: 2, key: {x: 1}, name: "x_1", unique: true}`. */
export function describeIndex(spec: IndexSpec): Uint8Array {
  const writer = new DocumentWriter()
    .int32("v", 2)
    .document("key", spec.keyPattern)
    .string("name", spec.name);
  // The _id index is unique by nature; MongoDB does not say so in its specification.
  if (spec.unique && !isIdIndex(spec.fields)) writer.bool("unique", true);
  if (spec.sparse) writer.bool("sparse", true);
  if (spec.hidden) writer.bool("hidden", true);
  return writer.finish();
}

/** Whether two key patterns have the same fields of the same kinds in the same order. */
export function sameKey(a: readonly KeyField[], b: readonly KeyField[]): boolean {
  return (
    a.length === b.length && a.every((field, i) => field.path === b[i]?.path && field.kind === b[i]?.kind)
  );
}

/**
 * Compares a wanted index with the existing ones.
 * @returns true when it exists already exactly so
 * @throws CommandError IndexOptionsConflict (85), IndexKeySpecsConflict (86)
 */
export function alreadyExists(wanted: IndexSpec, existing: Iterable<IndexSpec>): boolean {
  const sameSignature = (other: IndexSpec): boolean =>
    sameKey(other.fields, wanted.fields) && other.unique === wanted.unique && other.sparse === wanted.sparse;
  for (const other of existing) {
    const both = `Requested index: ${describeDocument(describeIndex(wanted))}, existing index: ${describeDocument(describeIndex(other))}`;
    if (other.name === wanted.name) {
      if (!sameSignature(other)) {
        throw new CommandError(
          ErrorCode.IndexKeySpecsConflict,
          `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. ${both}`,
        );
      }
      if (other.hidden === wanted.hidden) return true;
      throw new CommandError(
        ErrorCode.IndexOptionsConflict,
        `An equivalent index already exists with the same name but different options. ${both}`,
      );
    }
    if (sameSignature(other)) {
      throw new CommandError(
        ErrorCode.IndexOptionsConflict,
        `Index already exists with a different name: ${other.name}`,
      );
    }
  }
  return false;
}
