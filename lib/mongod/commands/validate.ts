/** validate: checks that every index agrees with the records. */
import { validateDocument } from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { treeReply } from "../tree.js";

export const validate: Command = {
  name: "validate",
  fields: ["full", "background", "checkBSONConformance"],
  refused: {
    repair: "validate with repair",
    fixMultikey: "validate with repair",
    metadata: "validate metadata",
    enforceFastCount: "enforceFastCount",
  },
  run({ server, request }) {
    const namespace = collectionNamespace(request);
    const collection = server.catalog.find(namespace);
    if (!collection) {
      throw new CommandError(
        ErrorCode.NamespaceNotFound,
        `Collection '${namespace}' does not exist to validate.`,
      );
    }
    const { errors, nrecords } = checkRecords(collection);
    const keysPerIndex: Record<string, number> = {};
    const indexDetails: Record<string, unknown> = {};
    for (const index of collection.indexes) {
      const problems = checkIndex(collection, index);
      errors.push(...problems);
      keysPerIndex[index.spec.name] = index.size;
      indexDetails[index.spec.name] = { valid: problems.length === 0 };
    }
    return treeReply({
      ns: namespace,
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

/** Walks over all records: each must be sound BSON, and together they must add up. */
function checkRecords(collection: Collection): { errors: string[]; nrecords: number } {
  const { records } = collection;
  const errors: string[] = [];
  let nrecords = 0;
  let bytes = 0;
  for (let id = records.after(0); id !== 0; id = records.after(id)) {
    const document = records.get(id) as Uint8Array;
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

/** Every key of every record must be in the index, and nothing else. */
function checkIndex(collection: Collection, index: CollectionIndex): string[] {
  const { records } = collection;
  const errors: string[] = [];
  let expected = 0;
  for (let id = records.after(0); id !== 0; id = records.after(id)) {
    const keys = index.keysOf(records.get(id) as Uint8Array);
    for (const key of typeof keys === "string" ? [keys] : keys) {
      expected++;
      let found = false;
      for (const other of index.idsOf(key)) found ||= other === id;
      if (!found) errors.push(`index ${index.spec.name} misses a key of record ${id}`);
    }
  }
  if (expected !== index.size)
    errors.push(`index ${index.spec.name} holds ${index.size} keys instead of ${expected}`);
  return errors;
}
