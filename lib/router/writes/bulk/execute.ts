/**
 * Carrying out a bulkWrite: many kinds of writes on many collections, each
 * routed as if it had come alone.
 *
 *     ops     #0 insert loans   #1 update books   #2 delete loans   #3 insert logs (unsharded)
 *     routes      → A               → B               → A               → the primary, A
 *
 *     unordered   A: #0 #2 #3,  B: #1           at once
 *     ordered     A: #0, then B: #1, then A: #2 #3
 *
 * @since MongoDB 8.0
 */
import { array, document, DocumentWriter } from "../../../bson/index.js";
import type { BulkOperation, BulkTarget, Request } from "../../../protocol/index.js";
import { CommandError, request as makeRequest, updateParts } from "../../../protocol/index.js";
import type { RouterContext } from "../../context.js";
import { checkSameUuid } from "../../support/collectionUuid.js";
import { checkConfigWrite } from "../../support/configWrites.js";
import type { ShardWork } from "../../trace.js";
import type { Routed } from "../carryOut.js";
import { carryOut } from "../carryOut.js";
import type { CommandTerms } from "../terms.js";
import { carryOutCarefully } from "./careful.js";
import type { BulkOutcomes } from "./outcomes.js";
import type { Place, Places } from "./places.js";
import { withPlaces } from "./places.js";
import type { BulkRoute } from "./routes.js";
import { routeOperation } from "./routes.js";
import { BulkSender } from "./send.js";
import { BulkTrace } from "./trace.js";

/** One bulkWrite while it runs. */
export interface Bulk {
  readonly context: RouterContext;
  readonly request: Request;
  readonly operations: readonly BulkOperation[];
  readonly ordered: boolean;
  readonly terms: CommandTerms;
  readonly outcomes: BulkOutcomes;
}

/**
 * Carries out the operations that have no outcome yet.
 * @throws CommandError what concerns the whole command: a database that cannot be created
 */
export async function executeBulk(bulk: Bulk): Promise<void> {
  const { context, operations } = bulk;
  const targets = [...new Set(operations.map(({ target }) => target))];
  const alone = new Set<string>();
  let done = false;
  while (!done) {
    done = await withPlaces(context, targets, alone, async (places) => {
      const routes = await routeAll(bulk, places);
      // A careful write needs its collection alone: give everything back, and take it so.
      const held = alone.size;
      for (const [index, route] of routes.entries()) {
        if (isCareful(route)) alone.add(operations[index]!.target.namespace);
      }
      if (alone.size > held) return false;
      await run(bulk, routes, places);
      return true;
    });
  }
  if (targets.some(({ db }) => db === "config")) await context.catalog.tryLoad();
}

function isCareful(route: Routed<BulkRoute>): boolean {
  return route !== undefined && !(route instanceof CommandError) && route.kind === "careful";
}

async function routeAll(bulk: Bulk, places: Places): Promise<Routed<BulkRoute>[]> {
  const { context, operations, terms, outcomes } = bulk;
  const checked = new Map<BulkTarget, CommandError | undefined>();
  const routes: Routed<BulkRoute>[] = [];
  for (const [index, operation] of operations.entries()) {
    if (outcomes.has(index)) {
      routes.push(undefined);
      continue;
    }
    const { target } = operation;
    const place = places.get(target.namespace)!;
    if (!checked.has(target)) checked.set(target, refusalOf(context, target, place));
    try {
      const refusal = checked.get(target);
      if (refusal) throw refusal;
      if (target.db === "config") await checkConfigWrite(context, asCommand(operation));
      routes.push(routeOperation(context, operation, place, terms));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      routes.push(error);
    }
  }
  return routes;
}

/** Why nothing may be written to this entry of `nsInfo`, if so. */
function refusalOf(
  context: RouterContext,
  { args }: BulkTarget,
  { collection }: Place,
): CommandError | undefined {
  const uuid = args.get("collectionUUID");
  if (!uuid || !collection) return undefined;
  try {
    checkSameUuid(context, uuid, collection, () => args.wrongType("collectionUUID", uuid, "binData"));
    return undefined;
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}

/** The operation as a command of its own, for what looks at commands. */
function asCommand(operation: BulkOperation): Request {
  const { db, collection } = operation.target;
  if (operation.kind === "insert") {
    const documents = [operation.args.requiredDocument("document")];
    return makeRequest(db, { insert: collection }, { documents });
  }
  if (operation.kind === "delete") return makeRequest(db, { delete: collection });
  const { filter, update, multi, upsert, arrayFilters } = updateParts(operation);
  const statement = new DocumentWriter().document("q", filter).field("u", update);
  statement.bool("multi", multi).bool("upsert", upsert);
  if (arrayFilters) statement.field("arrayFilters", array(arrayFilters.map(document)));
  return makeRequest(db, { update: collection }, { updates: [statement.finish()] });
}

async function run(bulk: Bulk, routes: readonly Routed<BulkRoute>[], places: Places): Promise<void> {
  const { context, request, operations, ordered, terms, outcomes } = bulk;
  const sender = new BulkSender(context, request, operations, places, outcomes, terms.concernErrors);
  const trace = new BulkTrace(context, places);
  const steps = new Map<number, ShardWork[]>();
  await carryOut(routes, ordered, {
    get failed() {
      return outcomes.failed;
    },
    raw: (_index, route) => route.raw,
    begin: (index, route) => {
      const work = trace.add(operations[index]!, route);
      if (route.kind === "careful") steps.set(index, work);
    },
    send: (batches, inOrder) => sender.send(batches, inOrder),
    async careful(index, { write }) {
      const operation = operations[index]!;
      const { collection } = places.get(operation.target.namespace)!;
      if (!collection || !write) throw new Error("only writes to sharded collections are careful");
      const own = { ...terms, work: steps.get(index) };
      await carryOutCarefully(context, operation, index, collection, write, own, outcomes, sender);
    },
    refuse: (index, error) => outcomes.fail(index, error),
  });
  trace.finish();
}
