/**
 * Explaining a single write that has to search its document first (7.1+; facts-mongos.md §5.1).
 *
 *     SHARD_WRITE  on one shard: the write by `_id`
 *        inputStage  SHARD_MERGE over all targeted shards: the search, one match from each
 *
 * Nothing is searched and nothing is written: which document it would be is not known. So the write phase is
 * explained for an `_id` that no document has, on the first shard, as on a real cluster: the plan is right, and
 * `nWouldModify` is 0. (An upsert says `nWouldUpsert: 1`: that `_id` is not there.)
 */
import type { RawValue } from "../../bson/index.js";
import {
  array,
  asDocument,
  BsonType,
  document,
  DocumentWriter,
  elements,
  EMPTY_DOCUMENT,
  fields,
  getField,
  string,
} from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { forwardedBody } from "../support/forward.js";
import type { WriteRoute } from "../writes/policy.js";
import type { Verbosity } from "./ask.js";
import { askEachShard, filterAll, finish } from "./ask.js";
import type { Tree } from "./planTree.js";
import type { ExplainedCommand } from "./shapes.js";
import { executionStats, queryPlanner, READ, WRITE } from "./shapes.js";

/** Stands for the document that the search would find; what MongoDB takes. */
const ANY_DOCUMENT = string("WriteWithoutShardKey");

/**
 * Explains both phases.
 * @param shardBody the write as a shard would get it, with one statement
 */
export async function explainTwoPhase(
  context: RouterContext,
  inner: Request,
  collection: ShardedCollection,
  { target }: WriteRoute,
  shardBody: Uint8Array,
  verbosity: Verbosity,
): Promise<Reply> {
  const write = partsOf(shardBody);
  const search = searchOf(collection.name, shardBody, write);
  const started = context.environment.now();
  const found = filterAll(
    await askEachShard(context, inner.db, target.shards, search, verbosity),
    collection,
    target,
  );
  const searched = context.environment.now();
  const byId = forwardedBody(shardBody, withFilter(shardBody, write, idFilter(write)));
  const written = await askEachShard(context, inner.db, [target.shards[0]!], byId, verbosity);
  const finished = context.environment.now();

  const reading: ExplainedCommand = { ...READ, sorts: write.sort !== undefined };
  const planner = queryPlanner(written, WRITE);
  (planner.winningPlan as Tree).inputStage = queryPlanner(found, reading);
  const reply: Tree = { queryPlanner: planner };
  if (verbosity !== "queryPlanner") {
    reply.executionStats = {
      ...executionStats(written, WRITE, finished - searched),
      inputStage: executionStats(found, reading, searched - started),
    };
  }
  return finish(context, inner, reply, written[0]?.reply.serverParameters);
}

/** The parts of a write that its phases share. */
interface WriteParts {
  /** `updates` or `deletes`; undefined for findAndModify */
  readonly sequence: "updates" | "deletes" | undefined;
  /** The statement, or the whole findAndModify. */
  readonly statement: Uint8Array;
  readonly filter: Uint8Array;
  readonly sort: Uint8Array | undefined;
}

function partsOf(body: Uint8Array): WriteParts {
  const sequence = getField(body, "updates") ? "updates" : getField(body, "deletes") ? "deletes" : undefined;
  const statement = sequence ? asDocument(elements(asDocument(getField(body, sequence)!))[0]!) : body;
  const sort = documentOf(getField(statement, "sort"));
  return {
    sequence,
    statement,
    filter: documentOf(getField(statement, sequence ? "q" : "query")) ?? EMPTY_DOCUMENT,
    sort: sort && fields(sort).length > 0 ? sort : undefined,
  };
}

/** Phase 1: the first match of every shard. */
function searchOf(collection: string, body: Uint8Array, { statement, filter, sort }: WriteParts): Uint8Array {
  const find = new DocumentWriter().string("find", collection).document("filter", filter);
  if (sort) find.document("sort", sort);
  for (const [name, holder] of [
    ["hint", statement],
    ["collation", statement],
    ["let", body],
  ] as const) {
    const value = getField(holder, name);
    if (value) find.field(name, value);
  }
  // The batch size changes nothing but the plan: a shard with a filter for orphans has no express plan.
  return find.int32("limit", 1).int32("batchSize", 101).finish();
}

/** Phase 2's filter: the document's `_id`, and the whole filter where `$` stands for what it matched. */
function idFilter({ statement, filter }: WriteParts): Uint8Array {
  const byId = new DocumentWriter().field("_id", ANY_DOCUMENT);
  return (needsFilter(statement) ? byId.fieldsOf(withoutId(filter)) : byId).finish();
}

/** Whether the update or the projection is positional: `{$set: {"loans.$": 1}}`. */
function needsFilter(statement: Uint8Array): boolean {
  const paths: string[] = [];
  for (const name of ["u", "update"]) {
    const update = documentOf(getField(statement, name));
    for (const [, argument] of update ? fields(update) : []) {
      paths.push(...fields(documentOf(argument) ?? EMPTY_DOCUMENT).map(([path]) => path));
    }
  }
  paths.push(...fields(documentOf(getField(statement, "fields")) ?? EMPTY_DOCUMENT).map(([path]) => path));
  return paths.some((path) => path.split(".").includes("$"));
}

function withoutId(filter: Uint8Array): Uint8Array {
  return forwardedBody(filter, { _id: undefined });
}

function withFilter(
  body: Uint8Array,
  { sequence, statement }: WriteParts,
  filter: Uint8Array,
): Record<string, RawValue | undefined> {
  // The search has sorted.
  if (!sequence) return { query: document(filter), sort: undefined };
  const changed = forwardedBody(statement, { q: document(filter), sort: undefined });
  return { [sequence]: array([document(changed)]) };
}

function documentOf(value: RawValue | undefined): Uint8Array | undefined {
  return value?.type === BsonType.object ? asDocument(value) : undefined;
}
