/**
 * What a collection or view is, apart from its documents: the options of
 * `create`, checked, and kept twice — as the document that `listCollections`
 * shows, and compiled for use.
 *
 *     {create: "loans", validator: {n: {$gt: 0}}, collation: {locale: "fr"}}
 *       → raw      {validator: {n: {$gt: 0}}, collation: {locale: "fr", caseLevel: false, …}}
 *       → ready    a filter and a collation
 *
 * The document has its fields in MongoDB's order and the collation complete, so
 * two collections have the same options if the documents are equal.
 */
import type { Collation, RawValue } from "../../bson/index.js";
import {
  array,
  asDocument,
  BsonType,
  compareDocuments,
  describeDocument,
  document,
  DocumentWriter,
  elements,
  EMPTY_DOCUMENT,
  fields,
  getField,
  int32,
  int64,
  isEmptyDocument,
  sameCollation,
  toDocument,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions, Filter } from "../../query/index.js";
import { compileFilter, parseCollation } from "../../query/index.js";
import { Arguments } from "../command.js";

/** Which writes a validator looks at. */
export type ValidationLevel = "off" | "moderate" | "strict";

/** What becomes of a write that a validator refuses. */
export type ValidationAction = "error" | "warn" | "errorAndLog";

/** The options of a collection or view. */
export interface CollectionOptions {
  /** The options as `listCollections` shows them. */
  readonly raw: Uint8Array;
  /** A fixed size: the oldest documents go when it is full. `size` in bytes, `max` in documents. */
  readonly capped?: { readonly size: number; readonly max?: number };
  /** What documents must match. */
  readonly validator?: { readonly document: Uint8Array; readonly filter: Filter };
  readonly validationLevel: ValidationLevel;
  readonly validationAction: ValidationAction;
  /** The collation of reads and indexes that name none. */
  readonly collation?: Collation;
  /** A view: `on` is the name of a collection or view of the same database, without the database. */
  readonly view?: { readonly on: string; readonly pipeline: readonly Uint8Array[] };
}

/** A collection nobody said anything special about. */
export const PLAIN_COLLECTION: CollectionOptions = {
  raw: EMPTY_DOCUMENT,
  validationLevel: "strict",
  validationAction: "error",
};

/** The fields of `create`, and what is refused of them. */
export const CREATE_FIELDS = {
  fields: [
    "autoIndexId",
    "capped",
    "collation",
    "flags",
    "idIndex",
    "indexOptionDefaults",
    "max",
    "pipeline",
    "size",
    "storageEngine",
    "temp",
    "validationAction",
    "validationLevel",
    "validator",
    "viewOn",
  ],
  refused: {
    changeStreamPreAndPostImages: "changeStreamPreAndPostImages",
    clusteredIndex: "clustered collections",
    encryptedFields: "queryable encryption",
    expireAfterSeconds: "time series collections",
    recordIdsReplicated: "recordIdsReplicated",
    storageTier: "storageTier",
    timeseries: "time series collections",
  },
} as const;

const LEVELS: readonly ValidationLevel[] = ["off", "strict", "moderate"];
const ACTIONS: readonly ValidationAction[] = ["error", "warn", "errorAndLog"];
/** 1 PB. */
const MAX_CAPPED_BYTES = 2 ** 50;
const MAX_CAPPED_DOCUMENTS = 2 ** 31;

/**
 * Reads the options of `create`.
 * @param create the command, raw; its first field is the command's name
 * @param options of the validator's expressions: the clock
 * @throws CommandError InvalidOptions (72) for options that exclude each other, TypeMismatch (14), BadValue (2), 51024
 * for a number out of range, NotImplemented (238) for kinds of collection that are not simulated
 */
export function parseCollectionOptions(
  create: Uint8Array,
  options: ExpressionOptions = {},
): CollectionOptions {
  const args = new Arguments("create", create, CREATE_FIELDS);
  const capped = readCapped(args);
  if (args.boolean("temp")) throw invalid("the 'temp' field is an invalid option");
  const on = args.string("viewOn");
  if (on === "") throw new CommandError(ErrorCode.BadValue, "'viewOn' cannot be empty");
  const pipeline = readPipeline(args);
  if (pipeline && on === undefined) throw invalid("'pipeline' requires 'viewOn' to also be specified");
  const collation = readCollation(args);
  const validator = args.document("validator");
  checkStorageEngine(args.document("storageEngine"));
  if (on !== undefined) checkViewOptions(args);
  return build({
    ...(capped && { capped }),
    ...(validator && !isEmptyDocument(validator) && { validator: validator.slice() }),
    ...withLevel(args),
    ...withAction(args),
    ...(collation && { collation }),
    ...(on !== undefined && { view: { on, pipeline: pipeline ?? [] } }),
    expressions: options,
  });
}

/** Options about documents of one's own, which a view has none of. */
const NOT_OF_VIEWS = [
  "capped",
  "size",
  "max",
  "validator",
  "validationLevel",
  "validationAction",
  "storageEngine",
  "indexOptionDefaults",
] as const;

/** @throws CommandError InvalidOptions (72), as collMod does */
function checkViewOptions(args: Arguments): void {
  const name = NOT_OF_VIEWS.find((one) => args.get(one) !== undefined);
  if (name !== undefined) throw invalid(`option not supported on a view: ${name}`);
}

/** What of a collection's options `collMod` changes; absent: stays. */
export interface OptionChanges {
  readonly capped?: { readonly size: number; readonly max?: number };
  /** `{}` takes the validator away. */
  readonly validator?: Uint8Array;
  readonly validationLevel?: ValidationLevel;
  readonly validationAction?: ValidationAction;
  readonly view?: { readonly on: string; readonly pipeline: readonly Uint8Array[] };
}

/** The options after a change of some of them. */
export function changedOptions(
  old: CollectionOptions,
  changes: OptionChanges,
  options: ExpressionOptions,
): CollectionOptions {
  const validation =
    changes.validator !== undefined ||
    changes.validationLevel !== undefined ||
    changes.validationAction !== undefined;
  const validator = changes.validator ?? old.validator?.document;
  // Once collMod has touched validation, level and action are part of the options, given or not.
  const spoken = validation || getField(old.raw, "validationLevel") !== undefined;
  const acting = validation || getField(old.raw, "validationAction") !== undefined;
  const capped = changes.capped ?? old.capped;
  const view = changes.view ?? old.view;
  return build({
    ...(capped && { capped }),
    ...(validator && !isEmptyDocument(validator) && { validator: validator.slice() }),
    ...(spoken && { validationLevel: changes.validationLevel ?? old.validationLevel }),
    ...(acting && { validationAction: changes.validationAction ?? old.validationAction }),
    ...(old.collation && { collation: old.collation }),
    ...(view && { view }),
    expressions: options,
  });
}

/** The same collection as a capped one. */
export function cappedOptions(old: CollectionOptions, size: number): CollectionOptions {
  return changedOptions(old, { capped: { size } }, {});
}

/**
 * Reads `validationLevel` and `validationAction` as create and collMod take them.
 * @throws CommandError BadValue (2)
 */
export function readValidation(args: Arguments): Pick<OptionChanges, "validationLevel" | "validationAction"> {
  return { ...withLevel(args), ...withAction(args) };
}

/**
 * Reads a capped size in bytes.
 * @throws CommandError 51024 below 1 or above 1 PB
 */
export function readCappedSize(args: Arguments, name: string): number | undefined {
  const size = args.number(name);
  if (size === undefined) return undefined;
  if (size < 1) throw outOfRange(name, ">= 1", size);
  if (size > MAX_CAPPED_BYTES) throw outOfRange(name, `<= ${MAX_CAPPED_BYTES}`, size);
  return size;
}

/**
 * Reads a capped number of documents; 0 and less mean no limit, which MongoDB writes as 2^31 − 1.
 * @throws CommandError 51024 from 2^31 on
 */
export function readCappedMax(args: Arguments, name: string): number | undefined {
  const max = args.number(name);
  if (max === undefined) return undefined;
  if (max >= MAX_CAPPED_DOCUMENTS) throw outOfRange(name, `< ${MAX_CAPPED_DOCUMENTS}`, max);
  return max < 1 ? MAX_CAPPED_DOCUMENTS - 1 : max;
}

/**
 * Reads the stages of a view.
 * @throws CommandError TypeMismatch (14)
 */
export function readPipeline(args: Arguments): Uint8Array[] | undefined {
  const value = args.get("pipeline");
  if (!value) return undefined;
  if (value.type !== BsonType.array) throw args.wrongType("pipeline", value, "array");
  return elements(asDocument(value)).map((stage, i) => {
    if (stage.type !== BsonType.object) throw args.wrongType(`pipeline.${i}`, stage, "object");
    return asDocument(stage).slice();
  });
}

/** What the two documents are made of. */
interface Parts {
  readonly capped?: { readonly size: number; readonly max?: number };
  readonly validator?: Uint8Array;
  readonly validationLevel?: ValidationLevel;
  readonly validationAction?: ValidationAction;
  readonly collation?: Collation;
  readonly view?: { readonly on: string; readonly pipeline: readonly Uint8Array[] };
  /** Of the validator. */
  readonly expressions: ExpressionOptions;
}

function build(parts: Parts): CollectionOptions {
  const { capped, validator, validationLevel, validationAction, collation, view } = parts;
  const raw = new DocumentWriter();
  if (capped) {
    raw.bool("capped", true).field("size", smallest(capped.size));
    if (capped.max !== undefined) raw.int32("max", capped.max);
  }
  if (validator) raw.document("validator", validator);
  if (validationLevel) raw.string("validationLevel", validationLevel);
  if (validationAction) raw.string("validationAction", validationAction);
  if (collation && !view) raw.document("collation", collation.spec);
  if (view) raw.string("viewOn", view.on).field("pipeline", array(view.pipeline.map(document)));
  // listCollections shows a view's collation behind its pipeline.
  if (collation && view) raw.document("collation", collation.spec);
  const environment = { ...parts.expressions, ...(collation && { collation }) };
  return {
    raw: raw.finish(),
    ...(capped && { capped }),
    ...(validator && { validator: { document: validator, filter: compileFilter(validator, environment) } }),
    validationLevel: validationLevel ?? "strict",
    validationAction: validationAction ?? "error",
    ...(collation && { collation }),
    ...(view && { view }),
  };
}

function smallest(size: number): RawValue {
  return size <= 0x7fffffff ? int32(size) : int64(size);
}

function readCapped(args: Arguments): CollectionOptions["capped"] {
  const capped = args.boolean("capped");
  const size = readCappedSize(args, "size");
  const max = readCappedMax(args, "max");
  if (capped && size === undefined) throw invalid("the 'size' field is required when 'capped' is true");
  if (!capped && (size !== undefined || max !== undefined)) {
    throw invalid("the 'capped' field needs to be true when either the 'size' or 'max' fields are present");
  }
  return size === undefined ? undefined : { size, ...(max !== undefined && { max }) };
}

/** The collation of the collection, with which a given `idIndex` must agree. */
function readCollation(args: Arguments): Collation | undefined {
  const given = args.document("collation");
  if (given && isEmptyDocument(given)) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      "BSON field 'create.collation.locale' is missing but a required field",
    );
  }
  const collation = given && parseCollation(given.slice());
  const idIndex = args.document("idIndex");
  if (!idIndex) return collation;
  if (args.get("viewOn")) {
    throw invalid(`'idIndex' is not allowed with 'viewOn': ${describeDocument(idIndex)}`);
  }
  checkIdIndex(idIndex);
  const own = getField(idIndex, "collation");
  if (own?.type === BsonType.object && !sameCollation(parseCollation(asDocument(own)), collation)) {
    throw new CommandError(ErrorCode.BadValue, "'idIndex' must have the same collation as the collection.");
  }
  return collation;
}

const ID_INDEX_FIELDS: ReadonlySet<string> = new Set(["key", "name", "ns", "v", "collation"]);
const ID_KEY = toDocument({ _id: 1 });

function checkIdIndex(idIndex: Uint8Array): void {
  for (const [name] of fields(idIndex)) {
    if (ID_INDEX_FIELDS.has(name)) continue;
    throw new CommandError(
      ErrorCode.InvalidIndexSpecificationOption,
      `The field '${name}' is not valid for an _id index specification. Specification: ${describeDocument(idIndex)}`,
    );
  }
  const key = getField(idIndex, "key");
  if (key?.type !== BsonType.object) throw missingProperty("key");
  if (getField(idIndex, "name")?.type !== BsonType.string) throw missingProperty("name");
  if (compareDocuments(asDocument(key), ID_KEY) !== 0) {
    throw new CommandError(
      ErrorCode.BadValue,
      `The field 'key' for an _id index must be {_id: 1}, but got ${describeDocument(asDocument(key))}`,
    );
  }
}

function missingProperty(name: string): CommandError {
  return new CommandError(
    ErrorCode.FailedToParse,
    `The '${name}' field is a required property of an index specification`,
  );
}

function withLevel(args: Arguments): { validationLevel?: ValidationLevel } {
  const validationLevel = oneOf(args, "validationLevel", LEVELS);
  return validationLevel ? { validationLevel } : {};
}

function withAction(args: Arguments): { validationAction?: ValidationAction } {
  const validationAction = oneOf(args, "validationAction", ACTIONS);
  return validationAction ? { validationAction } : {};
}

function oneOf<T extends string>(args: Arguments, name: string, values: readonly T[]): T | undefined {
  const given = args.string(name);
  if (given === undefined) return undefined;
  const value = values.find((one) => one === given);
  if (value) return value;
  throw new CommandError(
    ErrorCode.BadValue,
    `Enumeration value '${given}' for field '${args.command}.${name}' is not a valid value.`,
  );
}

/**
 * Checks options for a storage engine: this server has none to give them to.
 * @throws CommandError BadValue (2) for one that is no document, InvalidOptions (72)
 */
function checkStorageEngine(given: Uint8Array | undefined): void {
  for (const [engine, value] of given ? fields(given) : []) {
    if (value.type !== BsonType.object) {
      throw new CommandError(ErrorCode.BadValue, `storageEngine.${engine} has to be an embedded document.`);
    }
    if (!isEmptyDocument(asDocument(value)))
      throw invalid(`${engine} is not a registered storage engine for this server`);
  }
}

function outOfRange(name: string, rule: string, value: number): CommandError {
  return new CommandError(51024, `BSON field '${name}' value must be ${rule}, actual value '${value}'`);
}

function invalid(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidOptions, message);
}
