/** One delete: a statement of the command `delete`, or a delete of `bulkWrite`. */
import type { DeleteParts } from "../../protocol/index.js";
import type { CommandContext } from "../command.js";
import { expressionOptions } from "../expressionOptions.js";
import { planQuery } from "../planner/plan.js";
import type { Query } from "../planner/query.js";
import { compileQuery } from "../planner/query.js";
import type { Collection } from "../storage/collection.js";
import { execute } from "./execution.js";
import { idsOf } from "./matching.js";

/** A delete, compiled. */
export interface DeleteStatement {
  readonly namespace: string;
  readonly collection: Collection | undefined;
  readonly query: Query;
}

/** @throws CommandError CommandNotSupportedOnView (166), and what the filter throws */
export function compileDelete(
  context: CommandContext,
  namespace: string,
  { filter, multi, collation, hint }: DeleteParts,
): DeleteStatement {
  const collection = context.server.catalog.findCollection(namespace);
  const options = expressionOptions(context, collection, { collation });
  return {
    namespace,
    collection,
    query: compileQuery({ filter, hint, limit: multi ? 0 : 1, forWrite: true }, options),
  };
}

/** Removes what a delete is about; returns how many documents those were. */
export function runDelete({ interrupt }: CommandContext, { collection, query }: DeleteStatement): number {
  const plan = planQuery(collection, query, interrupt);
  return execute("delete", () => {
    const ids = idsOf(plan);
    for (const id of ids) {
      interrupt.step();
      collection?.delete(id);
    }
    return ids.length;
  });
}
