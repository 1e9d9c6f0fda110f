/**
 * What collMod does to an index: TTL, hidden, and the two steps to uniqueness.
 *
 *     prepareUnique: true    from now on no write may add a duplicate
 *     unique: true           nothing may be a duplicate any more; then the index is unique
 */
import type { RawValue } from "../bson/index.js";
import {
  array,
  compareDocuments,
  describeDocument,
  document,
  DocumentWriter,
  getField,
  int64,
  NULL,
} from "../bson/index.js";
import { CommandError, ErrorCode } from "../protocol/index.js";
import { Arguments } from "./command.js";
import type { Interrupt } from "./planner/interrupt.js";
import { splitNamespace } from "./storage/catalog.js";
import type { Collection } from "./storage/collection.js";
import type { CollectionIndex } from "./storage/collectionIndex.js";
import { describeIndex, isIdIndex } from "./storage/indexSpec.js";

/** A checked change of an index. */
export interface IndexChange {
  readonly index: CollectionIndex;
  readonly expireAfterSeconds?: number;
  readonly hidden?: boolean;
  readonly unique?: boolean;
  readonly prepareUnique?: boolean;
}

const FIELDS = {
  fields: ["name", "keyPattern", "expireAfterSeconds", "hidden", "unique", "prepareUnique"],
  refused: { forceNonUnique: "collMod forceNonUnique" },
};
/** Largest `expireAfterSeconds`: 2^31 − 1. */
const MAX_EXPIRY = 2_147_483_647;
/** Bytes of `_id`s that a failed conversion lists. */
const MAX_VIOLATIONS = 8 * 1024 * 1024;

/**
 * Reads and checks the `index` of a collMod. Nothing is changed.
 * @param others number of other options that the same command changes
 * @param dryRun only `unique: true` can be tried
 * @throws CommandError InvalidOptions (72), IndexNotFound (27), AmbiguousIndexKeyPattern (181), BadValue (2),
 * CannotConvertIndexToUnique (359) with the violations
 */
export function planIndexChange(
  args: Arguments,
  collection: Collection,
  others: number,
  dryRun: boolean,
  interrupt: Interrupt,
): IndexChange | undefined {
  const spec = args.document("index");
  if (!spec) return undefined;
  const index = new Arguments("collMod.index", spec, FIELDS, false);
  const unique = optionalFlag(index, "unique");
  if (dryRun && !unique) throw invalid("dry run mode requires an index modification with unique: true.");
  const expireAfterSeconds = index.number("expireAfterSeconds");
  const hidden = optionalFlag(index, "hidden");
  const prepareUnique = optionalFlag(index, "prepareUnique");
  checkNaming(index);
  const asked = [expireAfterSeconds, hidden, unique, prepareUnique].filter((one) => one !== undefined).length;
  if (asked === 0) throw invalid("no expireAfterSeconds, hidden, unique, or prepareUnique field");
  if (expireAfterSeconds !== undefined) checkExpiry(expireAfterSeconds);
  const target = findIndex(index, collection);
  const change: IndexChange = {
    index: target,
    ...(expireAfterSeconds !== undefined && expiryChange(target, expireAfterSeconds)),
    ...uniqueChange(target, unique),
    ...hiddenChange(target, collection, hidden),
    ...prepareChange(target, prepareUnique),
  };
  if (change.prepareUnique !== undefined && asked + others > 1)
    throw invalid("prepareUnique cannot be combined with any other modification.");
  if (dryRun && asked + others > 1) {
    throw invalid("unique: true cannot be combined with any other modification in dry run mode.");
  }
  if (unique && !target.spec.unique) checkNoDuplicates(collection, target, interrupt);
  return change;
}

/**
 * Carries out a change.
 * @returns the reply's fields, old values before new ones
 */
export function modifyIndex(collection: Collection, change: IndexChange): Record<string, unknown> {
  const { index, expireAfterSeconds, hidden, unique, prepareUnique } = change;
  const { spec } = index;
  const wasHidden = spec.hidden;
  const wasPrepared = spec.prepareUnique === true;
  const wasExpiring = spec.expireAfterSeconds;
  index.spec = {
    ...spec,
    ...(expireAfterSeconds !== undefined && { expireAfterSeconds }),
    ...(hidden !== undefined && { hidden }),
    ...(prepareUnique !== undefined && { prepareUnique }),
    ...(unique && { unique: true, prepareUnique: false }),
  };
  collection.indexes = [...collection.indexes];
  collection.redefined();
  return {
    ...(expireAfterSeconds !== undefined && {
      ...(wasExpiring !== undefined && { expireAfterSeconds_old: int64(wasExpiring) }),
      expireAfterSeconds_new: int64(expireAfterSeconds),
    }),
    ...(hidden !== undefined && { hidden_old: wasHidden, hidden_new: hidden }),
    ...(unique && { unique_new: true }),
    ...(prepareUnique !== undefined && { prepareUnique_old: wasPrepared, prepareUnique_new: prepareUnique }),
  };
}

function optionalFlag(args: Arguments, name: string): boolean | undefined {
  return args.get(name) ? args.boolean(name) : undefined;
}

function checkNaming(index: Arguments): void {
  const name = index.string("name");
  const keyPattern = index.document("keyPattern");
  if (name !== undefined && keyPattern) throw invalid("Cannot specify both key pattern and name.");
  if (name === undefined && !keyPattern) throw invalid("Must specify either index name or key pattern.");
}

function findIndex(index: Arguments, { indexes, namespace }: Collection): CollectionIndex {
  const name = index.string("name");
  if (name !== undefined) {
    const found = indexes.find(({ spec }) => spec.name === name);
    if (found) return found;
    throw new CommandError(ErrorCode.IndexNotFound, `cannot find index ${name} for ns ${namespace}`);
  }
  const keyPattern = index.requiredDocument("keyPattern");
  const matching = indexes.filter(({ spec }) => compareDocuments(spec.keyPattern, keyPattern) === 0);
  const [first, second] = matching;
  if (!first) {
    throw new CommandError(
      ErrorCode.IndexNotFound,
      `cannot find index ${describeDocument(keyPattern)} for ns ${namespace}`,
    );
  }
  if (!second) return first;
  const describe = ({ spec }: CollectionIndex): string => describeDocument(describeIndex(spec));
  throw new CommandError(
    ErrorCode.AmbiguousIndexKeyPattern,
    `index keyPattern ${describeDocument(keyPattern)} matches ${matching.length} indexes, must use index name. ` +
      `Conflicting indexes:${describe(first)}, ${describe(second)}`,
  );
}

function checkExpiry(seconds: number): void {
  if (seconds >= 0 && seconds <= MAX_EXPIRY) return;
  const range = seconds < 0 ? "cannot be less than 0" : `must be within the range 0 to ${MAX_EXPIRY}`;
  throw invalid(`TTL index 'expireAfterSeconds' option ${range}. Index spec: expireAfterSeconds: ${seconds}`);
}

function expiryChange({ spec }: CollectionIndex, expireAfterSeconds: number): Partial<IndexChange> {
  if (spec.expireAfterSeconds === undefined) {
    if (isIdIndex(spec.fields)) throw invalid("the _id field does not support TTL indexes");
    if (spec.fields.length !== 1) {
      throw invalid("TTL indexes are single-field indexes, compound indexes do not support TTL");
    }
  }
  return { expireAfterSeconds };
}

/** A change to what is so already is none. */
function uniqueChange({ spec }: CollectionIndex, unique: boolean | undefined): Partial<IndexChange> {
  if (unique === undefined) return {};
  if (!unique) throw new CommandError(ErrorCode.BadValue, "Cannot make index non-unique");
  if (spec.unique) return {};
  if (!spec.prepareUnique) {
    throw invalid("Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.");
  }
  return { unique };
}

function hiddenChange(
  { spec }: CollectionIndex,
  { namespace }: Collection,
  hidden: boolean | undefined,
): Partial<IndexChange> {
  if (hidden === undefined) return {};
  if (splitNamespace(namespace).collection.startsWith("system."))
    throw new CommandError(ErrorCode.BadValue, "Can't hide index on system collection");
  if (isIdIndex(spec.fields)) throw new CommandError(ErrorCode.BadValue, "can't hide _id index");
  return spec.hidden === hidden ? {} : { hidden };
}

function prepareChange({ spec }: CollectionIndex, prepareUnique: boolean | undefined): Partial<IndexChange> {
  if (prepareUnique === undefined || spec.unique || (spec.prepareUnique ?? false) === prepareUnique)
    return {};
  return { prepareUnique };
}

/** @throws CommandError CannotConvertIndexToUnique (359) */
function checkNoDuplicates(collection: Collection, index: CollectionIndex, interrupt: Interrupt): void {
  const violations: RawValue[] = [];
  let bytes = 0;
  let key: string | undefined;
  let ids: RawValue[] = [];
  const close = (): void => {
    if (ids.length > 1) violations.push(document(new DocumentWriter().field("ids", array(ids)).finish()));
  };
  const scan = index.ordered.scan("", "\u00ff");
  while (scan.next() && bytes < MAX_VIOLATIONS) {
    interrupt.step();
    if (scan.key !== key) {
      close();
      key = scan.key;
      ids = [];
    }
    const record = collection.records.get(scan.id);
    const id = (record && getField(record, "_id")) ?? NULL;
    ids.push(id);
    if (ids.length > 1) bytes += id.end - id.start;
  }
  close();
  if (violations.length === 0) return;
  const list = array(violations);
  throw new CommandError(
    ErrorCode.CannotConvertIndexToUnique,
    "Cannot convert the index to unique. Please resolve conflicting documents before running collMod again.",
    { violations: list },
  );
}

function invalid(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidOptions, message);
}
