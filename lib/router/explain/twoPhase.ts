/**
 * Explaining a single write that has to search its document first.
 */
import {
  array,
  asDocument,
  BsonType,
  document,
  DocumentWriter,
  elements,
  EMPTY_DOCUMENT,
  getField,
} from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { forwardedBody } from "../support/forward.js";
import type { WriteRoute } from "../writes/policy.js";
import { locateOne } from "../writes/singleDocument.js";
import type { Verbosity } from "./ask.js";
import { askExplain, filterAll, finish } from "./ask.js";
import type { Tree } from "./planTree.js";
import { executionStats, queryPlanner, READ, WRITE } from "./shapes.js";

/**
 * A single write without the shard key: the write on the shard that has the
 * document, with the search that comes before it as `inputStage` (§5.1).
 */
export async function explainTwoPhase(
  context: RouterContext,
  inner: Request,
  collection: ShardedCollection,
  { target, node }: WriteRoute,
  shardBody: Uint8Array,
  verbosity: Verbosity,
): Promise<Reply> {
  const filter = filterOfWrite(shardBody);
  const search = new DocumentWriter()
    .string("find", collection.name)
    .document("filter", filter)
    .int32("limit", 1);
  const found = await locateOne(context, collection, { filter, node, target });
  const writeShard = found?.shard ?? target.shards[0]!;
  const byId = found ? new DocumentWriter().field("_id", getField(found.document, "_id")!).finish() : filter;
  const started = context.environment.now();
  const phase1 = filterAll(
    await askExplain(context, inner.db, target.shards, search.finish(), verbosity),
    collection,
    target,
  );
  const searched = context.environment.now();
  const phase2 = await askExplain(context, inner.db, [writeShard], withFilter(shardBody, byId), verbosity);
  const written = context.environment.now();
  const planner = queryPlanner(phase2, WRITE);
  const reading = { ...READ, limit: 1 };
  (planner.winningPlan as Tree).inputStage = queryPlanner(phase1, reading);
  const reply: Tree = { queryPlanner: planner };
  if (verbosity !== "queryPlanner") {
    reply.executionStats = {
      ...executionStats(phase2, WRITE, written - searched),
      inputStage: executionStats(phase1, reading, searched - started),
    };
  }
  return finish(context, inner, reply, phase2[0]?.reply.serverParameters);
}

/** The filter of a write command with one statement. */
function filterOfWrite(body: Uint8Array): Uint8Array {
  const statements = getField(body, "updates") ?? getField(body, "deletes");
  const holder = statements ? asDocument(elements(asDocument(statements))[0]!) : body;
  const filter = getField(holder, statements ? "q" : "query");
  return filter?.type === BsonType.object ? asDocument(filter) : EMPTY_DOCUMENT;
}

/** The same command with another filter. */
function withFilter(body: Uint8Array, filter: Uint8Array): Uint8Array {
  for (const name of ["updates", "deletes"]) {
    const statements = getField(body, name);
    if (!statements) continue;
    const [only] = elements(asDocument(statements));
    return forwardedBody(body, {
      [name]: array([document(forwardedBody(asDocument(only!), { q: document(filter) }))]),
    });
  }
  return forwardedBody(body, { query: document(filter) });
}
