/**
 * Having shards explain their part, and the frame around the answer.
 */
import { DocumentWriter, string, toDocument } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { okReply, request as makeRequest } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { forwardedBody } from "../support/forward.js";
import type { Targeting } from "../targeting/target.js";
import { SERVER_VERSION } from "../version.js";
import type { Tree } from "./planTree.js";
import { treeOf } from "./planTree.js";
import type { ShardExplain } from "./shapes.js";
import { serverInfo } from "./shapes.js";
import { filterEveryPlan } from "./shardingFilter.js";

/** How much explain tells. */
export type Verbosity = "queryPlanner" | "executionStats" | "allPlansExecution";

/** The shards' explanations of a command, in ascending order of their ids. */
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

/** Adds SHARDING_FILTER, unless the filter pins the whole key. */
export function filterAll(
  answers: readonly ShardExplain[],
  collection: ShardedCollection,
  target: Targeting,
): readonly ShardExplain[] {
  if (target.kind === "shardKey") return answers;
  return answers.map((answer) => ({ ...answer, reply: filterEveryPlan(answer.reply, collection.key.paths) }));
}

/** The reply: what was explained, by whom. */
export function finish(
  context: RouterContext,
  inner: Request,
  reply: Tree,
  serverParameters?: unknown,
): Reply {
  const command = new DocumentWriter()
    .fieldsOf(forwardedBody(inner.body))
    .field("$db", string(inner.db))
    .finish();
  return okReply(
    toDocument({
      ...reply,
      serverInfo: serverInfo(context.host, SERVER_VERSION),
      ...(serverParameters !== undefined && { serverParameters }),
      command: treeOf(command),
    }),
  );
}
