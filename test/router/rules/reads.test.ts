/** Pipelines and explain under each release (facts-mongos.md §5.2, §6). */
import type { Doc, TestCluster } from "../support/cluster.js";
import { splitAtZero, tryRow } from "./releases.js";

const aggregate = (pipeline: Doc[], collection: unknown = "c"): Doc => ({
  aggregate: collection,
  pipeline,
  cursor: {},
});

/** Runs a pipeline of the unsharded `test.u`, one document per x of `test.c`; gives the length of every `found`. */
async function joined(cluster: TestCluster, stage: Doc): Promise<unknown> {
  await splitAtZero(cluster);
  await cluster.ok("test", { insert: "u", documents: [-2, -1, 0, 1, 2].map((x) => ({ _id: x, x })) });
  const reply = await cluster.run("test", aggregate([stage, { $sort: { _id: 1 } }], "u"));
  if (reply.code !== undefined) return reply.code;
  const { firstBatch } = reply.cursor as { firstBatch: Doc[] };
  return firstBatch.map(({ found }) => (found as Doc[]).length);
}

tryRow("$lookup in a sharded collection", (cluster) =>
  joined(cluster, { $lookup: { from: "c", localField: "x", foreignField: "x", as: "found" } }),
);

tryRow("$graphLookup in a sharded collection", (cluster) =>
  joined(cluster, {
    $graphLookup: { from: "c", startWith: "$x", connectFromField: "none", connectToField: "x", as: "found" },
  }),
);

tryRow("$shardedDataDistribution", async (cluster) => {
  await splitAtZero(cluster);
  const pipeline = [{ $shardedDataDistribution: {} }, { $match: { ns: "test.c" } }];
  const reply = await cluster.run("admin", aggregate(pipeline, 1));
  if (reply.code !== undefined) return reply.code;
  const { firstBatch } = reply.cursor as { firstBatch: { shards: Doc[] }[] };
  const rows = firstBatch[0]!.shards;
  return Object.fromEntries(
    rows.map(({ shardName, numOwnedDocuments }) => [shardName, BigInt(String(numOwnedDocuments))]),
  );
});

tryRow("name of a merge on the router", async (cluster) => {
  await splitAtZero(cluster);
  const explain = aggregate([{ $group: { _id: "$g", n: { $sum: 1 } } }]);
  return (await cluster.ok("test", { explain, verbosity: "queryPlanner" })).mergeType;
});

tryRow("$listClusterCatalog", async (cluster) => {
  await splitAtZero(cluster);
  const pipeline = [{ $listClusterCatalog: {} }, { $match: { ns: "test.c" } }];
  const reply = await cluster.run("admin", aggregate(pipeline, 1));
  if (reply.code !== undefined) return reply.code;
  return (reply.cursor as { firstBatch: Doc[] }).firstBatch.map(({ ns, sharded }) => [ns, sharded]);
});

tryRow("$group by the shard key", async (cluster) => {
  await splitAtZero(cluster);
  const group = [{ $group: { _id: "$x", n: { $sum: 1 } } }];
  // The answer is the same either way.
  const rows = await cluster.all("test", aggregate([...group, { $sort: { _id: 1 } }]));
  if (JSON.stringify(rows.map(({ _id, n }) => [_id, n])) !== "[[-2,1],[-1,1],[0,1],[1,1],[2,1]]") return rows;
  const explained = await cluster.ok("test", { explain: aggregate(group), verbosity: "queryPlanner" });
  const { mergerPart } = explained.splitPipeline as { mergerPart: Doc[] };
  return mergerPart.some((stage) => "$group" in stage) ? "merged again" : "whole on the shards";
});

tryRow("merge on the shard of a joined collection", async (cluster) => {
  await splitAtZero(cluster);
  await cluster.ok("test", { insert: "u", documents: [{ _id: 1, g: 1 }] });
  const pipeline = [
    { $group: { _id: "$g", n: { $sum: 1 } } },
    { $lookup: { from: "u", localField: "_id", foreignField: "g", as: "found" } },
  ];
  const reply = await cluster.ok("test", { explain: aggregate(pipeline), verbosity: "queryPlanner" });
  return Object.fromEntries(Object.entries(reply).filter(([name]) => name.startsWith("merge")));
});
