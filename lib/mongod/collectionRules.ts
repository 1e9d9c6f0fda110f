/** Rules about which collections may have or be what, and how messages describe a collection. */
import type { Collation } from "../bson/index.js";
import { describeDocument, DocumentWriter, sameCollation, uuid } from "../bson/index.js";
import { CommandError, ErrorCode, isReshardingName } from "../protocol/index.js";
import type { View } from "./storage/catalog.js";
import { splitNamespace } from "./storage/catalog.js";
import { Collection } from "./storage/collection.js";
import type { CollectionOptions } from "./storage/collectionOptions.js";

/** Whether a collection is the server's own; the ones that a resharding fills are like any other. */
export function isOfSystem(collection: string): boolean {
  return collection.startsWith("system.") && !isReshardingName(collection);
}

/** Databases of the server's own. */
const INTERNAL_DATABASES: ReadonlySet<string> = new Set(["admin", "local", "config"]);

/**
 * Refuses a validator where the server itself writes.
 * @throws CommandError InvalidOptions (72)
 */
export function checkValidatorNamespace(namespace: string): void {
  const { db, collection } = splitNamespace(namespace);
  if (isOfSystem(collection)) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `Document validators not allowed on system collection ${namespace}`,
    );
  }
  if (INTERNAL_DATABASES.has(db)) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `Document validators are not allowed on collection ${namespace} in the ${db} internal database`,
    );
  }
}

/** Why `create` fails for a name that is taken by something else. */
export function describeExisting(
  namespace: string,
  existing: Collection | View,
  wanted: CollectionOptions,
): string {
  const start = `namespace ${namespace} already exists, but`;
  if (existing instanceof Collection) return `${start} with different options: ${describeOptions(existing)}`;
  const { db } = splitNamespace(namespace);
  const on = `${db}.${wanted.view?.on ?? ""}`;
  if (existing.on !== on) return `${start} is a view on ${existing.on} rather than ${on}`;
  if (sameCollation(existing.collation, wanted.collation)) {
    const pipeline = (stages: readonly Uint8Array[]): string =>
      `[${stages.map(describeDocument).join(", ")}]`;
    return `${start} with pipeline ${pipeline(existing.pipeline)} rather than ${pipeline(wanted.view?.pipeline ?? [])}`;
  }
  return `${start} with collation: ${describeCollation(existing)} rather than ${describeCollation(wanted)}`;
}

function describeCollation({ collation }: { readonly collation?: Collation }): string {
  return collation ? describeDocument(collation.spec) : '{ locale: "simple" }';
}

/** The options with the UUID in front: `{ uuid: UUID("…"), capped: true, size: 4096 }`. */
function describeOptions({ uuid: id, settings }: Collection): string {
  return describeDocument(new DocumentWriter().field("uuid", uuid(id)).fieldsOf(settings.raw).finish());
}
