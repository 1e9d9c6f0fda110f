/**
 * What `explain` through a router looks like: pure assembly of the shards'
 * answers (facts-mongos.md §5).
 *
 *     find …      queryPlanner.winningPlan = { stage, shards: [ {shardName, …the shard's own queryPlanner} ] }
 *                   one shard            SINGLE_SHARD
 *                   several              SHARD_MERGE
 *                   several and a sort   SHARD_MERGE_SORT
 *                   a write              SHARD_WRITE, whatever the number
 *     aggregate   { mergeType, splitPipeline: {shardsPart, mergerPart}, shards: { shardA: {host, …} } }
 *
 * Totals are sums over the shards; with several shards, skip and limit are
 * applied to the number of documents that come out:
 *
 *     limit 5, skip 2   shardA returns 7, shardB returns 4    nReturned = min(max(11 - 2, 0), 5) = 5
 *
 * A shard's own entry shows what that shard did, so it may have returned more
 * than the client gets.
 */
import { Int32, Long } from "bson";
import type { Tree } from "./planTree.js";
import { numberOf, subtree } from "./planTree.js";

/** One shard's explain reply. */
export interface ShardExplain {
  readonly shard: string;
  /** Connection string. */
  readonly host: string;
  readonly reply: Tree;
}

/** What of the command matters for the shape. */
export interface ExplainedCommand {
  readonly isWrite: boolean;
  readonly sorts: boolean;
  readonly skip: number;
  readonly limit: number | undefined;
}

/** A read without sort, skip and limit. */
export const READ: ExplainedCommand = { isWrite: false, sorts: false, skip: 0, limit: undefined };
/** Any write. */
export const WRITE: ExplainedCommand = { ...READ, isWrite: true };

/** The name of the router's stage. */
function routerStage(shards: number, { isWrite, sorts }: ExplainedCommand): string {
  if (isWrite) return "SHARD_WRITE";
  if (shards === 1) return "SINGLE_SHARD";
  return sorts ? "SHARD_MERGE_SORT" : "SHARD_MERGE";
}

/** The `queryPlanner` section. Shards are in ascending order of their ids. */
export function queryPlanner(answers: readonly ShardExplain[], command: ExplainedCommand): Tree {
  const shards = answers.map(({ shard, host, reply }) => ({
    ...(reply.explainVersion !== undefined && { explainVersion: reply.explainVersion }),
    shardName: shard,
    connectionString: host,
    serverInfo: reply.serverInfo,
    ...subtree(reply, "queryPlanner"),
  }));
  return { winningPlan: { stage: routerStage(shards.length, command), shards } };
}

/**
 * The `executionStats` section.
 * @param millis the router's own time
 */
export function executionStats(
  answers: readonly ShardExplain[],
  command: ExplainedCommand,
  millis: number,
): Tree | undefined {
  const stats = answers.map(({ shard, reply }) => ({ shard, section: subtree(reply, "executionStats") }));
  if (stats.some(({ section }) => !section)) return undefined;
  const sum = (name: string): number =>
    stats.reduce((total, { section }) => total + numberOf(section![name]), 0);
  const window = windowOf(answers.length, command);
  const nReturned = applyWindow(sum("nReturned"), window);
  const counted = stats.map(({ section }) => subtree(section, "executionStages")?.nCounted);
  const nCounted = counted.some((n) => n !== undefined)
    ? {
        nCounted: applyWindow(
          counted.reduce((total: number, n) => total + numberOf(n), 0),
          window,
        ),
      }
    : {};
  const shards = stats.map(({ shard, section }) => ({ shardName: shard, ...section! }));
  const totals = {
    executionTimeMillis: millis,
    totalKeysExamined: sum("totalKeysExamined"),
    totalDocsExamined: sum("totalDocsExamined"),
  };
  const everyPlan = stats.every(({ section }) => section!.allPlansExecution !== undefined);
  return {
    nReturned,
    ...totals,
    executionStages: {
      stage: routerStage(answers.length, command),
      nReturned,
      ...nCounted,
      ...(window.limit !== undefined && { limitAmount: window.limit }),
      ...(window.skip > 0 && { skipAmount: window.skip }),
      ...totals,
      totalChildMillis: Long.fromNumber(sum("executionTimeMillis")),
      shards,
    },
    ...(everyPlan && {
      allPlansExecution: stats.map(({ shard, section }) => ({
        shardName: shard,
        allPlans: section!.allPlansExecution,
      })),
    }),
  };
}

/** Skip and limit are the router's only where several shards answer. */
function windowOf(
  shards: number,
  { skip, limit }: ExplainedCommand,
): { skip: number; limit: number | undefined } {
  return shards > 1 ? { skip, limit } : { skip: 0, limit: undefined };
}

function applyWindow(n: number, { skip, limit }: { skip: number; limit: number | undefined }): number {
  return Math.min(Math.max(0, n - skip), limit ?? Infinity);
}

/** The aggregate form's `shards`. */
export function shardsOfAggregate(answers: readonly ShardExplain[]): Tree {
  return Object.fromEntries(
    answers.map(({ shard, host, reply }) => {
      const { explainVersion, queryPlanner: planner, executionStats: stats, stages } = reply;
      return [
        shard,
        {
          host: host.slice(host.indexOf("/") + 1),
          ...(explainVersion !== undefined && { explainVersion }),
          ...(stages !== undefined && { stages }),
          ...(planner !== undefined && { queryPlanner: planner }),
          ...(stats !== undefined && { executionStats: stats }),
        },
      ];
    }),
  );
}

/** `{host, port, version, gitVersion}` of this router. */
export function serverInfo(host: string, version: string): Tree {
  const colon = host.lastIndexOf(":");
  const port = Number(host.slice(colon + 1));
  return {
    host: colon < 0 ? host : host.slice(0, colon),
    port: new Int32(Number.isInteger(port) && colon >= 0 ? port : 27017),
    version,
    gitVersion: "shardlab",
  };
}

/** The plan for a database that does not exist. */
export function nonExistent(ns: string, parsedQuery: Tree = {}): Tree {
  return {
    namespace: ns,
    parsedQuery,
    winningPlan: { queryPlan: { stage: "EOF", planNodeId: new Int32(1), type: "nonExistentNamespace" } },
  };
}
