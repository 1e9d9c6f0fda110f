/** Making capped collections of others. */
import { CommandError, ErrorCode } from "../protocol/index.js";
import type { Arguments } from "./command.js";
import type { Catalog } from "./storage/catalog.js";
import { splitNamespace } from "./storage/catalog.js";
import type { Collection } from "./storage/collection.js";
import { cappedOptions } from "./storage/collectionOptions.js";

/**
 * The `size` of convertToCapped and cloneCollectionAsCapped.
 * @throws CommandError InvalidOptions (72)
 */
export function cappedSize(args: Arguments): number {
  const size = args.number("size") ?? 0;
  if (size > 0) return size;
  throw new CommandError(ErrorCode.InvalidOptions, "Capped collection size must be greater than zero");
}

/**
 * Refuses collections of the system: their documents mean something to the server.
 * @throws CommandError InvalidNamespace (73)
 */
export function checkOrdinary(namespace: string): void {
  if (!splitNamespace(namespace).collection.startsWith("system.")) return;
  throw new CommandError(ErrorCode.InvalidNamespace, `Invalid system namespace: ${namespace}`);
}

/**
 * Copies documents in their order into a new capped collection; where they are too many, the latest stay. Options
 * come along, indexes don't.
 * @throws CommandError BadValue (2) for a document that is larger than all of it; there is no copy then
 */
export function copyCapped(catalog: Catalog, source: Collection, to: string, size: number): Collection {
  const target = catalog.create(to, cappedOptions(source.settings, size));
  copyDocuments(catalog, source, target);
  return target;
}

/** Copies all documents, or, where one fails, drops the new collection again. */
export function copyDocuments(catalog: Catalog, source: Collection, target: Collection): void {
  const { records } = source;
  try {
    for (let id = records.after(0); id !== 0; id = records.after(id))
      target.insert(records.get(id) as Uint8Array);
  } catch (error) {
    catalog.drop(target.namespace);
    throw error;
  }
}
