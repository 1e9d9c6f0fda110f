/**
 * Having shards explain their part, and the frame around the answer.
 */
import { DocumentWriter, getField, string, toDocument } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, okReply, request as makeRequest } from "../../protocol/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { forwardedBody } from "../support/forward.js";
import type { Targeting } from "../targeting/target.js";
import { SERVER_VERSION } from "../version.js";
import type { Tree } from "./planTree.js";
import { subtree, treeOf } from "./planTree.js";
import { queryShapeHash } from "./queryShape.js";
import type { ShardExplain } from "./shapes.js";
import { nonExistent, serverInfo } from "./shapes.js";
import { filterEveryPlan } from "./shardingFilter.js";

/** How much explain tells. */
export type Verbosity = "queryPlanner" | "executionStats" | "allPlansExecution";

/**
 * The shards' explanations of a command, in ascending order of their ids.
 * @throws what the first shard that failed reports
 */
export async function askExplain(
  context: RouterContext,
  db: string,
  shards: readonly string[],
  body: Uint8Array,
  verbosity: Verbosity,
): Promise<ShardExplain[]> {
  const command = new DocumentWriter().document("explain", body).string("verbosity", verbosity).finish();
  const replies = await askShards(context, [...shards].sort(), () => makeRequest(db, command));
  return replies.map(({ shard, reply }) => ({
    shard,
    host: context.shards.get(shard).host,
    reply: treeOf(reply.body),
  }));
}

/**
 * {@link askExplain} for everything but aggregations: a mongos says on which shard explaining failed.
 */
export async function askEachShard(
  context: RouterContext,
  db: string,
  shards: readonly string[],
  body: Uint8Array,
  verbosity: Verbosity,
): Promise<ShardExplain[]> {
  const ids = [...shards].sort();
  const settled = await Promise.allSettled(
    ids.map((shard) => askExplain(context, db, [shard], body, verbosity)),
  );
  return settled.flatMap((result, i) => {
    if (result.status === "rejected") throw explainFailure(result.reason, ids[i]!);
    return result.value;
  });
}

/**
 * Errors that a mongos finds itself, before it asks a shard: the command is malformed. Our router leaves some of
 * that to the shards, so these keep the text of the command itself.
 */
const MALFORMED: ReadonlySet<number> = new Set([
  ErrorCode.FailedToParse,
  ErrorCode.TypeMismatch,
  ErrorCode.IDLFailedToParse,
  ErrorCode.IDLUnknownField,
  ErrorCode.NotImplemented,
]);

function explainFailure(error: unknown, shard: string): unknown {
  if (!(error instanceof CommandError) || MALFORMED.has(error.code)) return error;
  const context = `Explain command on shard ${shard} failed :: caused by :: `;
  const framed = new CommandError(error.code, context + error.message, error.extra);
  if (error.remedy !== undefined) framed.remedy = error.remedy;
  return framed;
}

/** Adds SHARDING_FILTER, unless the filter pins the whole key. */
export function filterAll(
  answers: readonly ShardExplain[],
  collection: ShardedCollection,
  target: Targeting,
): readonly ShardExplain[] {
  if (target.kind === "shardKey") return answers;
  return answers.map((answer) => ({
    ...answer,
    reply: filterEveryPlan(answer.reply, collection.key.fields),
  }));
}

/** The answer about a database that does not exist: nobody is asked but the config server, which hasn't it either. */
export async function explainNonExistent(context: RouterContext, inner: Request, ns: string): Promise<Reply> {
  const body = forwardedBody(inner.body);
  const [answer] = await askExplain(context, inner.db, [CONFIG_SHARD], body, "queryPlanner");
  const parsedQuery = subtree(subtree(answer?.reply, "queryPlanner"), "parsedQuery");
  return finish(
    context,
    inner,
    { queryPlanner: nonExistent(ns, parsedQuery) },
    answer?.reply.serverParameters,
  );
}

/**
 * The reply: what was explained, by whom.
 * @param inner the explained command
 * @param reply the sections before `queryShapeHash`
 */
export function finish(
  context: RouterContext,
  inner: Request,
  reply: Tree,
  serverParameters?: unknown,
): Reply {
  const shape = queryShapeHash(inner);
  return okReply(
    toDocument({
      ...reply,
      ...(shape !== undefined && { queryShapeHash: shape }),
      serverInfo: serverInfo(context.host, SERVER_VERSION),
      ...(serverParameters !== undefined && { serverParameters }),
      command: treeOf(shownCommand(inner)),
    }),
  );
}

/** Fields of the explain command that are as if they had come with the explained one. */
const OF_BOTH: readonly string[] = [
  "maxTimeMS",
  "comment",
  "readConcern",
  "lsid",
  "$clusterTime",
  "$readPreference",
];

/** The explained command with what its explain brought along: session, times, comment. */
export function innerBody(outer: Request, explained: Uint8Array): Uint8Array {
  const writer = new DocumentWriter().fieldsOf(explained);
  for (const name of OF_BOTH) {
    const value = getField(outer.body, name);
    if (value && !getField(explained, name)) writer.field(name, value);
  }
  return writer.finish();
}

function shownCommand({ body, db }: Request): Uint8Array {
  const shown = new DocumentWriter().fieldsOf(body);
  return (getField(body, "$db") ? shown : shown.field("$db", string(db))).finish();
}
