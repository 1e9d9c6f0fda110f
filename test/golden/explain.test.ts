/**
 * The same in MongoDB's words: what `explain` says about each kind of routing.
 *
 * Beside each explanation stands the one written by hand (facts-mongos.md §5.1), which is what is asserted; the
 * `.trace` file is for reading.
 */
import { expect, test } from "vitest";
import type { Doc } from "../router/support/cluster.js";
import { startCluster } from "../router/support/cluster.js";
import { layOut, range } from "./scenario.js";

interface Step {
  readonly lesson: string;
  readonly facts: string;
  readonly command: Doc;
  /** The router's stage, then a line for each shard; a search that comes before a write behind it. */
  readonly expected: readonly string[];
}

const step = (lesson: string, facts: string, command: Doc, ...expected: string[]): Step => ({ lesson, facts, command, expected });

// items: x = 0 … 99, g = x mod 3 (17 on each shard for 0; 17 and 16 for 1); x below 50 on shardA.
const STEPS: readonly Step[] = [
  step("The whole key: one shard, and no filter for orphans: it owns the range", "§5.1", { find: "items", filter: { x: 7 } },
    "SINGLE_SHARD returned 1, examined 1 keys 1 documents",
    "shardA FETCH ← IXSCAN x: [7, 7] returned 1"),
  step("A range over both shards: the key is in the index, orphans are dropped before the fetch", "§5.1", { find: "items", filter: { x: { $gte: 48, $lt: 52 } } },
    "SHARD_MERGE returned 4, examined 4 keys 4 documents",
    "shardA FETCH ← SHARDING_FILTER ← IXSCAN x: [48, 52) returned 2",
    "shardB FETCH ← SHARDING_FILTER ← IXSCAN x: [48, 52) returned 2"),
  step("No index: every shard scans, and the work is added up", "§5.1", { find: "items", filter: { g: 0 } },
    "SHARD_MERGE returned 34, examined 0 keys 100 documents",
    "shardA SHARDING_FILTER ← COLLSCAN returned 17",
    "shardB SHARDING_FILTER ← COLLSCAN returned 17"),
  step("A sort with skip and limit: shards return 4 + 3 each, the router keeps 3", "§5.1", { find: "items", sort: { g: 1 }, skip: 4, limit: 3 },
    "SHARD_MERGE_SORT returned 3 limit 3 skip 4, examined 0 keys 100 documents",
    "shardA SORT ← SHARDING_FILTER ← COLLSCAN returned 7",
    "shardB SORT ← SHARDING_FILTER ← COLLSCAN returned 7"),
  step("A count returns no documents but counts them", "§5.1", { count: "items", query: { g: 0 } },
    "SHARD_MERGE returned 0 counted 34, examined 0 keys 100 documents",
    "shardA COUNT ← SHARDING_FILTER ← COLLSCAN returned 0",
    "shardB COUNT ← SHARDING_FILTER ← COLLSCAN returned 0"),
  step("A count of everything asks the record stores, and would count orphans", "§5.1", { count: "items" },
    "SHARD_MERGE returned 0 counted 100, examined 0 keys 0 documents",
    "shardA RECORD_STORE_FAST_COUNT returned 0",
    "shardB RECORD_STORE_FAST_COUNT returned 0"),
  step("A write of many: no filter stage, it looks at owners itself", "§5.1", { update: "items", updates: [{ q: { g: 0 }, u: { $set: { v: 1 } }, multi: true }] },
    "SHARD_WRITE returned 0, examined 0 keys 100 documents",
    "shardA UPDATE ← COLLSCAN returned 0",
    "shardB UPDATE ← COLLSCAN returned 0"),
  step("A write of one without the key: the search below, the write by _id above", "§5.1", { delete: "items", deletes: [{ q: { g: 0 }, limit: 1 }] },
    "SHARD_WRITE returned 0, examined 0 keys 0 documents",
    "shardA EXPRESS_DELETE returned 0",
    "search SHARD_MERGE returned 2, examined 0 keys 3 documents",
    "search shardA LIMIT ← SHARDING_FILTER ← COLLSCAN returned 1",
    "search shardB LIMIT ← SHARDING_FILTER ← COLLSCAN returned 1"),
  step("An unsharded collection: its one shard, without a filter", "§5.1", { find: "plain" },
    "SINGLE_SHARD returned 1, examined 0 keys 1 documents",
    "shardA COLLSCAN returned 1"),
];

test("explain: what the router's stages and the shards' plans say", async () => {
  const cluster = await startCluster({ shards: 2 });
  await layOut(cluster, "test.items", { x: 1 }, [[{ x: 50 }, "B"]]);
  await cluster.ok("test", { insert: "items", documents: range(0, 100).map((x) => ({ _id: x, x, g: x % 3 })) });
  await cluster.ok("test", { insert: "plain", documents: [{ _id: 1 }] });
  const parts = ["# Explain: the same in MongoDB's words (executionStats)"];
  for (const { lesson, facts, command, expected } of STEPS) {
    const reply = await cluster.ok("test", { explain: command, verbosity: "executionStats" });
    const found = told(reply.queryPlanner as Doc, reply.executionStats as Doc);
    expect(found, lesson).toEqual(expected);
    parts.push([`## ${lesson} (${facts})`, JSON.stringify(command), ...found.map((line) => `  ${line}`)].join("\n"));
  }
  expect(await cluster.ok("test", { count: "items", query: { v: 1 } })).toMatchObject({ n: 0 });
  await expect(`${parts.join("\n\n")}\n`).toMatchFileSnapshot("./explain.trace");
});

function told(planner: Doc, stats: Doc, before = ""): string[] {
  const plan = planner.winningPlan as Doc;
  const stage = stats.executionStages as Doc & { shards: Doc[] };
  const shards = plan.shards as (Doc & { shardName: string })[];
  const counts = [
    `returned ${String(stage.nReturned)}`,
    ...(stage.nCounted === undefined ? [] : [`counted ${String(stage.nCounted)}`]),
    ...(stage.limitAmount === undefined ? [] : [`limit ${String(stage.limitAmount)}`]),
    ...(stage.skipAmount === undefined ? [] : [`skip ${String(stage.skipAmount)}`]),
  ];
  const lines = [
    `${before}${String(plan.stage)} ${counts.join(" ")}, examined ${String(stats.totalKeysExamined)} keys ` +
      `${String(stats.totalDocsExamined)} documents`,
    ...shards.map(
      ({ shardName, winningPlan }, i) =>
        `${before}${shardName} ${chain(winningPlan as Doc)} returned ${String(stage.shards[i]!.nReturned)}`,
    ),
  ];
  if (plan.inputStage) lines.push(...told(plan.inputStage as Doc, stats.inputStage as Doc, "search "));
  return lines;
}

function chain(plan: Doc): string {
  const bounds = Object.entries((plan.indexBounds ?? {}) as Record<string, string[]>)
    .map(([field, intervals]) => ` ${field}: ${intervals.join(" ")}`)
    .join(",");
  return `${String(plan.stage)}${bounds}${plan.inputStage ? ` ← ${chain(plan.inputStage as Doc)}` : ""}`;
}
