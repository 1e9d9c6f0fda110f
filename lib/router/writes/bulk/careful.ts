/** The operations of a bulkWrite that have to look at their document first (writes/singleDocument.ts). */
import type { BulkOperation } from "../../../protocol/index.js";
import { deleteParts, updateParts } from "../../../protocol/index.js";
import type { ShardedCollection } from "../../catalog/entries.js";
import type { RouterContext } from "../../context.js";
import type { WriteRoute } from "../policy.js";
import { deleteOneAlone, refuseKeyChanges, updateOneAlone, upsertOneAlone } from "../singleDocument.js";
import type { CommandTerms } from "../terms.js";
import { expressionsOf } from "../terms.js";
import type { BulkOutcomes } from "./outcomes.js";
import type { BulkSender } from "./send.js";

/**
 * Carries out one operation. The caller has the collection to itself.
 * @throws CommandError when it fails
 */
export async function carryOutCarefully(
  context: RouterContext,
  operation: BulkOperation,
  index: number,
  collection: ShardedCollection,
  { node, target, pinsKey }: WriteRoute,
  terms: CommandTerms,
  outcomes: BulkOutcomes,
  sender: BulkSender,
): Promise<void> {
  const { variables } = terms;
  if (operation.kind === "delete") {
    const search = { ...deleteParts(operation), node, target, variables };
    const deleted = await deleteOneAlone(context, collection, search, terms);
    outcomes.add(index, { n: deleted ? 1 : 0 });
    return;
  }
  const parts = updateParts(operation);
  const expressions = expressionsOf(terms, collection, parts.collation);
  const search = { ...parts, node, target, pinsKey, variables, expressions };
  const spec = { ...parts, u: parts.update };
  const own = { ...terms, expressions };
  if (parts.multi) {
    const matched = await refuseKeyChanges(context, collection, search, spec, own);
    if (matched || !parts.upsert) {
      const batches = target.shards.map((shard) => ({ shard, documents: [operation.raw], indexes: [index] }));
      return sender.send(batches, false);
    }
  }
  const outcome = await (parts.multi
    ? upsertOneAlone(context, collection, search, spec, own)
    : updateOneAlone(context, collection, search, spec, own));
  switch (outcome.kind) {
    case "notFound":
      return outcomes.add(index, { n: 0 });
    case "updated":
      return outcomes.add(index, { n: 1, nModified: outcome.modified ? 1 : 0 });
    case "upserted":
      return outcomes.add(index, { n: 1, upsertedId: outcome.id });
  }
}
