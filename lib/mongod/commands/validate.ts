/** validate: checks that the records are sound and that every index says exactly what they say. */
import { uuid, validateDocument } from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import type { Arguments, Command } from "../command.js";
import type { Interrupt } from "../planner/interrupt.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { treeReply } from "../tree.js";

export const validate: Command = {
  name: "validate",
  fields: ["full", "background", "checkBSONConformance", "metadata"],
  lenient: true, // drivers still send `scandata`, an option of old servers
  refused: {
    repair: "validate with repair",
    fixMultikey: "validate with repair",
    enforceFastCount: "enforceFastCount",
    collHash: "validate with hashes",
  },
  run({ server, request, arguments: args, interrupt }) {
    const namespace = collectionNamespace(request);
    checkOptions(args);
    const collection = server.catalog.find(namespace);
    if (!collection) {
      if (server.catalog.findView(namespace))
        throw new CommandError(ErrorCode.CommandNotSupportedOnView, "Cannot validate a view");
      throw new CommandError(
        ErrorCode.NamespaceNotFound,
        `Collection '${namespace}' does not exist to validate.`,
      );
    }
    const { errors, nrecords } = checkRecords(collection, interrupt);
    const keysPerIndex: Record<string, number> = {};
    const indexDetails: Record<string, unknown> = {};
    for (const index of collection.indexes) {
      const problems = checkIndex(collection, index, interrupt);
      errors.push(...problems);
      keysPerIndex[index.spec.name] = index.size;
      indexDetails[index.spec.name] = { valid: problems.length === 0 };
    }
    return treeReply({
      ns: namespace,
      uuid: uuid(collection.uuid),
      nInvalidDocuments: 0,
      nNonCompliantDocuments: 0,
      nrecords,
      nIndexes: collection.indexes.length,
      keysPerIndex,
      indexDetails,
      valid: errors.length === 0,
      repaired: false,
      warnings: [],
      errors,
      extraIndexEntries: [],
      missingIndexEntries: [],
      corruptRecords: [],
    });
  },
};

/** Options that exclude each other. @throws CommandError InvalidOptions (72) */
function checkOptions(args: Arguments): void {
  const [full, background, metadata, conformance] = [
    args.boolean("full"),
    args.boolean("background"),
    args.boolean("metadata"),
    args.boolean("checkBSONConformance"),
  ];
  const refuse = (options: string): CommandError =>
    new CommandError(
      ErrorCode.InvalidOptions,
      `Running the validate command with ${options} is not supported.`,
    );
  if (background && full) throw refuse("both { background: true } and { full: true }");
  if (metadata && (full || background || conformance)) throw refuse("{ metadata: true } and other options");
}

/** Walks over all records: each must be sound BSON, and together they must add up. */
function checkRecords(collection: Collection, interrupt: Interrupt): { errors: string[]; nrecords: number } {
  const { records } = collection;
  const errors: string[] = [];
  let nrecords = 0;
  let bytes = 0;
  for (let id = records.after(0); id !== 0; id = records.after(id)) {
    const document = records.get(id) as Uint8Array;
    interrupt.step();
    nrecords++;
    bytes += document.length;
    try {
      validateDocument(document);
    } catch (error) {
      errors.push(`record ${id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (nrecords !== records.count)
    errors.push(`fast count (${records.count}) does not match number of records (${nrecords})`);
  if (bytes !== records.dataSize)
    errors.push(`data size (${records.dataSize}) does not match the records' (${bytes})`);
  return { errors, nrecords };
}

/** Every key of every record must be in the index, and nothing else, in order. */
function checkIndex(collection: Collection, index: CollectionIndex, interrupt: Interrupt): string[] {
  const { records } = collection;
  const { name } = index.spec;
  const errors: string[] = [];
  let expected = 0;
  for (let id = records.after(0); id !== 0; id = records.after(id)) {
    interrupt.step();
    const keys = index.keysOf(records.get(id) as Uint8Array);
    for (const key of typeof keys === "string" ? [keys] : keys) {
      expected++;
      if (!index.ordered.has(key, id)) errors.push(`index ${name} misses a key of record ${id}`);
    }
  }
  if (expected !== index.size) errors.push(`index ${name} holds ${index.size} keys instead of ${expected}`);
  let found = 0;
  let last = "";
  for (const scan = index.ordered.scan("", ABOVE); scan.next(); found++) {
    const { key } = scan;
    if (key < last) errors.push(`index ${name} is out of order`);
    if (key === last && index.spec.unique) errors.push(`Unique index '${name}' has duplicate key`);
    last = key;
  }
  if (found !== index.size) errors.push(`index ${name} counts ${index.size} keys and has ${found}`);
  return errors;
}

/** Above all keys. */
const ABOVE = "\u00ff";
