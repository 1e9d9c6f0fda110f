/**
 * Before the first document is copied: the collections that will be filled, `db.system.resharding.<uuid>` on every
 * recipient, with the options of the old one; and after the last: its indexes.
 */
import { BsonType, DocumentWriter, getField, asDocument } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import type { IndexSpec } from "../ddl/indexRules.js";
import { indexName, supportingIndexes } from "../ddl/indexRules.js";
import type { ShardCollection } from "../ddl/shardCollections.js";
import {
  createIndexesOn,
  createOn,
  describeOn,
  dropOn,
  indexesOn,
  SIMPLE_COLLATION,
} from "../ddl/shardCollections.js";
import type { ReshardingOperation } from "./operations.js";
import type { ReshardingPlan } from "./plan.js";

/** What the old collection is, as one of its shards describes it. */
export interface Definition {
  readonly description: ShardCollection | undefined;
  /** Its indexes, and one for the new key where it has none. */
  readonly indexes: readonly IndexSpec[];
}

/** The shard that knows the old collection's definition. */
export function definingShard(context: RouterContext, { ns, source }: ReshardingPlan): string {
  if ("shard" in source) return source.shard;
  const primary = context.catalog.database(ns.slice(0, ns.indexOf(".")))?.primary;
  return primary ?? source.collection.chunks.ownerOf(0);
}

/** Reads the definition of the collection. */
export async function readDefinition(context: RouterContext, plan: ReshardingPlan): Promise<Definition> {
  const { ns, key } = plan;
  const dot = ns.indexOf(".");
  const names = { db: ns.slice(0, dot), name: ns.slice(dot + 1) };
  const shard = definingShard(context, plan);
  const description = await describeOn(context, shard, names);
  const indexes = await indexesOn(context, shard, names);
  if (plan.unsplittable || supportingIndexes(indexes, key).length > 0) return { description, indexes };
  const raw = new DocumentWriter().document("key", key.document).string("name", indexName(key));
  if (defaultCollationOf(description)) raw.document("collation", SIMPLE_COLLATION);
  const index = { raw: raw.finish(), name: indexName(key), key: key.document, unique: false };
  return { description, indexes: [...indexes, index] };
}

/** The collection's own collation, where it has one that is not simple. */
export function defaultCollationOf(description: ShardCollection | undefined): Uint8Array | undefined {
  const collation = description && getField(description.options, "collation");
  return collation?.type === BsonType.object ? asDocument(collation) : undefined;
}

/** Creates the empty collections. */
export async function createTemporary(
  context: RouterContext,
  { db, temporary, recipients }: ReshardingOperation,
  { description }: Definition,
): Promise<void> {
  for (const shard of recipients) {
    // What is there is an earlier attempt's.
    await dropOn(context, shard, { db, name: temporary });
    await createOn(context, shard, { db, name: temporary }, description?.options);
  }
}

/**
 * Builds the indexes on all recipients.
 * @param isLast the documents are complete: a unique index that can't be built now fails
 * @returns the indexes that have to be tried again
 * @throws CommandError what a shard says
 */
export async function buildIndexes(
  context: RouterContext,
  { db, temporary, recipients }: ReshardingOperation,
  indexes: readonly IndexSpec[],
  isLast: boolean,
): Promise<IndexSpec[]> {
  const later: IndexSpec[] = [];
  const names = { db, name: temporary };
  const plain = indexes.filter(({ unique }) => !unique);
  await Promise.all(recipients.map((shard) => createIndexesOn(context, shard, names, plain)));
  for (const index of indexes.filter(({ unique }) => unique)) {
    try {
      for (const shard of recipients) await createIndexesOn(context, shard, names, [index]);
    } catch (error) {
      // The copy is of no single moment yet: two documents may seem to have one value.
      if (isLast || !(error instanceof CommandError) || error.code !== ErrorCode.DuplicateKey) throw error;
      later.push(index);
    }
  }
  return later;
}
