/** Where the operations of a bulkWrite go: pure policy, by the rules of single writes. */
import { getField, prependField, DocumentWriter, document, forEachField } from "../../../bson/index.js";
import type { BulkOperation } from "../../../protocol/index.js";
import { CommandError, deleteParts, ErrorCode, updateParts } from "../../../protocol/index.js";
import type { ShardedCollection } from "../../catalog/entries.js";
import type { RouterContext } from "../../context.js";
import { routeInsert } from "../batches.js";
import type { WriteRoute } from "../policy.js";
import { routeDelete, routeUpdate } from "../policy.js";
import type { CommandTerms } from "../terms.js";
import { expressionsOf } from "../terms.js";
import type { Place } from "./places.js";

/** How one operation is carried out. */
export interface BulkRoute {
  readonly kind: "plain" | "careful";
  readonly target: { readonly shards: readonly string[] };
  /** The operation as the shards get it. */
  readonly raw: Uint8Array;
  /** Of an insert into a sharded collection: the document's chunk. */
  readonly chunk?: number;
  /** Of an update or delete on a sharded collection. */
  readonly write?: WriteRoute;
}

/**
 * Routes one operation.
 * @throws CommandError InvalidOptions (72) for a retryable write to many documents, and what the rules refuse
 */
export function routeOperation(
  context: RouterContext,
  operation: BulkOperation,
  place: Place,
  terms: CommandTerms,
): BulkRoute {
  const { kind, args, raw } = operation;
  if (kind !== "insert" && terms.retryable && args.boolean("multi")) {
    throw new CommandError(ErrorCode.InvalidOptions, "Cannot use retryable writes with multi=true");
  }
  const { collection } = place;
  if (!collection) return { kind: "plain", target: { shards: [place.shard] }, raw };
  const { rules } = context;
  if (kind === "insert") return insertRoute(context, operation, collection);
  if (kind === "delete") {
    const { filter, multi, collation } = deleteParts(operation);
    const statement = { raw, q: filter, single: !multi };
    const write = routeDelete(statement, collection, rules, expressionsOf(terms, collection, collation));
    return { kind: write.kind, target: write.target, raw, write };
  }
  const { filter, update, multi, upsert, collation } = updateParts(operation);
  const statement = { raw, q: filter, u: update, multi, upsert };
  const write = routeUpdate(statement, collection, rules, expressionsOf(terms, collection, collation));
  return { kind: write.kind, target: write.target, raw, write };
}

function insertRoute(
  context: RouterContext,
  { args, raw }: BulkOperation,
  collection: ShardedCollection,
): BulkRoute {
  const given = args.requiredDocument("document");
  // An `_id` that is part of the key must be there before the key is looked at.
  const makeId = collection.key.includesId && getField(given, "_id") === undefined;
  const inserted = makeId ? prependField(given, "_id", context.ids.objectId()) : given;
  const chunk = routeInsert(inserted, collection, context.rules);
  const target = { shards: [collection.chunks.ownerOf(chunk)] };
  return { kind: "plain", target, raw: makeId ? withDocument(raw, inserted) : raw, chunk };
}

function withDocument(raw: Uint8Array, inserted: Uint8Array): Uint8Array {
  const writer = new DocumentWriter();
  forEachField(raw, (name, value) => {
    writer.field(name, name === "document" ? document(inserted) : value);
  });
  return writer.finish();
}
