/**
 * What `createIndexes` may ask for.
 *
 * A specification is checked twice, as in MongoDB: by itself, field by field,
 * and then against its collection (`_id` index, collation). Both kinds of
 * failure say which specification they are about:
 *
 *     Error in specification { key: { x: 0 }, name: "x" } :: caused by :: Values in the index key pattern cannot be 0.
 */
import type { Collation, RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  describeDocument,
  describeValue,
  fields,
  getField,
  isNumeric,
  isTruthy,
  sameCollation,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { parseCollation, typeName } from "../../query/index.js";
import type { IndexSpec } from "./indexSpec.js";
import { idIndexSpec } from "./indexSpec.js";
import { cannotCreate, isIdPattern, parseKeyPattern } from "./keyPattern.js";
import type { PartialFilter } from "./partialFilter.js";
import { parsePartialFilter } from "./partialFilter.js";

/** Where a specification is to be an index. */
export interface SpecContext {
  /** The collection's collation, which an index inherits that names none. */
  readonly collation?: Collation | undefined;
  /** Leave out fields that no index has instead of refusing them. */
  readonly ignoreUnknown?: boolean;
}

/** Fields that say something here. */
const KNOWN: ReadonlySet<string> = new Set([
  "v",
  "key",
  "name",
  "unique",
  "sparse",
  "hidden",
  "background",
  "collation",
  "storageEngine",
  "partialFilterExpression",
  "expireAfterSeconds",
  "prepareUnique",
]);
/** Fields of the past, which are taken and dropped. */
const DROPPED: ReadonlySet<string> = new Set(["ns", "dropDups", "_id"]);
const REFUSED: Readonly<Record<string, string>> = {
  wildcardProjection: "wildcard indexes",
  clustered: "clustered indexes",
  originalSpec: "time series collections",
  weights: "text indexes",
  default_language: "text indexes",
  language_override: "text indexes",
  textIndexVersion: "text indexes",
  "2dsphereIndexVersion": "geospatial indexes",
  coarsestIndexedLevel: "geospatial indexes",
  finestIndexedLevel: "geospatial indexes",
  bits: "geospatial indexes",
  min: "geospatial indexes",
  max: "geospatial indexes",
  bucketSize: "geospatial indexes",
};
const FLAGS: ReadonlySet<string> = new Set(["unique", "sparse", "background", "dropDups", "prepareUnique"]);
/** Fields that the specification of `_id_` may have. */
const ID_FIELDS: ReadonlySet<string> = new Set(["collation", "name", "v", "key", "ns", "_id"]);
const MAX_INT32 = 0x7fffffff;

/**
 * Reads one index specification.
 * @throws CommandError with the code MongoDB has for what is wrong (2, 9, 14, 67, 197, 16764, 31303 …), or 238 for kinds
 *   of index that are not simulated
 */
export function parseIndexSpec(raw: Uint8Array, context: SpecContext = {}): IndexSpec {
  const spec = context.ignoreUnknown ? withoutUnknown(raw) : fields(raw);
  inContext(`Error in specification ${describeDocument(raw)}`, () => checkFields(raw, spec));
  const value = (name: string): RawValue | undefined => spec.find(([field]) => field === name)?.[1];
  const keyPattern = asDocument(value("key") as RawValue).slice();
  const name = asString(value("name") as RawValue);
  const isId = isIdPattern(keyPattern);
  if (isId) checkIdSpec(raw, spec, keyPattern);
  else checkName(name, keyPattern);
  const expireAfterSeconds = expiry(raw, value("expireAfterSeconds"));
  const keyFields = parseKeyPattern(keyPattern);
  if (expireAfterSeconds !== undefined && keyFields.length !== 1) {
    throw cannotCreate(
      `TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: ${describeDocument(raw)}`,
    );
  }
  return inContext(`Error in specification ${describeDocument(raw)}`, () => {
    const given = value("collation");
    // The collection's collation as an object of its own: keys of two indexes must not meet.
    const collation = parseCollation(given ? asDocument(given) : context.collation?.spec);
    if (isId) {
      if (given && !sameCollation(collation, context.collation))
        throw cannotCreate("_id index must have the collection default collation");
      return idIndexSpec(context.collation);
    }
    if (name === "") throw cannotCreate("index name cannot be empty");
    if (name.includes("\0")) throw cannotCreate("index name cannot contain NUL bytes");
    const flag = (field: string): boolean => isTruthy(value(field));
    const hashed = keyFields.some((field) => field.kind === "hashed");
    if (hashed && (flag("unique") || flag("prepareUnique"))) {
      throw new CommandError(
        16764,
        "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.",
      );
    }
    if (hashed && collation) throw notSimulated("hashed indexes with a collation");
    const partialFilter = partial(value("partialFilterExpression"), flag("sparse"), collation);
    const background = value("background");
    const storageEngine = engineOptions(value("storageEngine"));
    return {
      name,
      keyPattern,
      fields: keyFields,
      unique: flag("unique"),
      sparse: flag("sparse"),
      hidden: flag("hidden"),
      ...(flag("prepareUnique") && { prepareUnique: true }),
      ...(partialFilter && { partialFilter }),
      ...(expireAfterSeconds !== undefined && { expireAfterSeconds }),
      ...(collation && { collation }),
      ...(value("v") && asNumber(value("v") as RawValue) === 1 && { version: 1 }),
      ...(background && { background: isTruthy(background) }),
      ...(storageEngine && { storageEngine }),
    };
  });
}

function withoutUnknown(raw: Uint8Array): [string, RawValue][] {
  return fields(raw).filter(([name]) => KNOWN.has(name) || DROPPED.has(name) || name in REFUSED);
}

/** The checks that need no collection, in the order of the specification's fields. */
function checkFields(raw: Uint8Array, spec: readonly (readonly [string, RawValue])[]): void {
  const here = describeDocument(raw);
  for (const [name] of spec) {
    if (KNOWN.has(name) || DROPPED.has(name) || Object.hasOwn(REFUSED, name)) continue;
    throw new CommandError(
      ErrorCode.InvalidIndexSpecificationOption,
      `The field '${name}' is not valid for an index specification. Specification: ${here}`,
    );
  }
  for (const [name, value] of spec) checkField(here, name, value);
  for (const [name] of spec) {
    const refused = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
    if (refused !== undefined) throw notSimulated(refused);
  }
  for (const name of ["key", "name"]) {
    if (getField(raw, name)) continue;
    throw new CommandError(
      ErrorCode.FailedToParse,
      `The '${name}' field is a required property of an index specification`,
    );
  }
  const invalid = (why: string): CommandError =>
    cannotCreate(`Invalid index specification ${here}; cannot create an index with the ${why}`);
  const v = getField(raw, "v");
  if (getField(raw, "collation") && v && asNumber(v) < 2) throw invalid("'collation' option and v=1");
  if (isTruthy(getField(raw, "unique")) && isTruthy(getField(raw, "prepareUnique")))
    throw invalid("'unique' option and the 'prepareUnique' option");
}

function checkField(here: string, name: string, value: RawValue): void {
  const expected = (what: string): CommandError =>
    new CommandError(
      ErrorCode.TypeMismatch,
      `The field '${name}' must be ${what}, but got ${typeName(value)}`,
    );
  if (FLAGS.has(name)) {
    if (isNumeric(value) || value.type === BsonType.bool) return;
    throw new CommandError(
      ErrorCode.TypeMismatch,
      `The field '${name} has value ${name}: ${describeValue(value)}, which is not convertible to bool`,
    );
  }
  switch (name) {
    case "key":
      if (value.type !== BsonType.object) throw expected("an object");
      parseKeyPattern(asDocument(value));
      return;
    case "name":
      if (value.type !== BsonType.string) throw expected("a string");
      return;
    case "hidden":
      if (value.type !== BsonType.bool) throw expected("a bool");
      return;
    case "partialFilterExpression":
      if (value.type !== BsonType.object) throw expected("an object");
      return;
    case "collation":
      if (value.type !== BsonType.object) throw expected("an object");
      if (asDocument(value).length === 5)
        throw new CommandError(ErrorCode.BadValue, "The field 'collation' cannot be an empty object.");
      return;
    case "v":
      if (!isNumeric(value)) throw expected("a number");
      checkVersion(here, value);
  }
}

function checkVersion(here: string, value: RawValue): void {
  const version = asNumber(value);
  if (!Number.isInteger(version) || Math.abs(version) > MAX_INT32) {
    throw new CommandError(
      ErrorCode.BadValue,
      `Index version must be representable as a 32-bit integer, but got ${describeValue(value)}`,
    );
  }
  if (version !== 1 && version !== 2)
    throw cannotCreate(`Invalid index specification ${here}; cannot create an index with v=${version}`);
}

function checkIdSpec(
  raw: Uint8Array,
  spec: readonly (readonly [string, RawValue])[],
  keyPattern: Uint8Array,
): void {
  for (const [name] of spec) {
    if (ID_FIELDS.has(name)) continue;
    throw new CommandError(
      ErrorCode.InvalidIndexSpecificationOption,
      `The field '${name}' is not valid for an _id index specification. Specification: ${describeDocument(raw)}`,
    );
  }
  if (asNumber(getField(keyPattern, "_id") as RawValue) !== 1) {
    throw new CommandError(
      ErrorCode.BadValue,
      `The field 'key' for an _id index must be {_id: 1}, but got ${describeDocument(keyPattern)}`,
    );
  }
}

function checkName(name: string, keyPattern: Uint8Array): void {
  if (name === "_id_") {
    throw new CommandError(
      ErrorCode.BadValue,
      `The index name '_id_' is reserved for the _id index, which must have key pattern {_id: 1}, found key: ${describeDocument(keyPattern)}`,
    );
  }
  if (name === "*") throw new CommandError(ErrorCode.BadValue, "The index name '*' is not valid.");
}

/** `expireAfterSeconds`: whole seconds from 0 to 2^31 − 1; fractions are cut off. */
function expiry(raw: Uint8Array, value: RawValue | undefined): number | undefined {
  if (!value) return undefined;
  const refuse = (why: string): CommandError =>
    cannotCreate(
      `. Index spec: ${describeDocument(raw)} :: caused by :: TTL index 'expireAfterSeconds' ${why}`,
    );
  if (!isNumeric(value)) throw refuse(`option must be numeric, but received a type of '${typeName(value)}'`);
  const seconds = Math.trunc(asNumber(value));
  if (Number.isNaN(seconds)) throw refuse("option must not be NaN");
  if (seconds > MAX_INT32 || seconds < -MAX_INT32 - 1)
    throw refuse("must be within the range of a 32-bit integer");
  if (seconds < 0) throw refuse("option cannot be less than 0");
  return seconds;
}

function partial(
  value: RawValue | undefined,
  sparse: boolean,
  collation: Collation | undefined,
): PartialFilter | undefined {
  if (!value) return undefined;
  if (sparse) throw cannotCreate('cannot mix "partialFilterExpression" and "sparse" options');
  return parsePartialFilter(asDocument(value), collation);
}

function engineOptions(value: RawValue | undefined): Uint8Array | undefined {
  if (!value) return undefined;
  if (value.type !== BsonType.object)
    throw cannotCreate('"storageEngine" options must be a document if present');
  const options = asDocument(value);
  if (options.length === 5) {
    throw cannotCreate(
      'Empty "storageEngine" options are invalid. Please remove the field or include valid options.',
    );
  }
  return options.slice();
}

/** Runs a check; its failure says what it was about. What is not simulated needs no telling. */
function inContext<T>(context: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === ErrorCode.NotImplemented) throw error;
    throw new CommandError(error.code, `${context} :: caused by :: ${error.message}`);
  }
}
