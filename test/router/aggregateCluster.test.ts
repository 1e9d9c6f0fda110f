/** Stages that tell about the cluster, or need no collection (facts-mongos.md §6). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";
import { loadSix } from "./support/sixDocuments.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await loadSix(cluster);
});

const all = (pipeline: object[], options: Doc = {}): Promise<Doc[]> =>
  cluster.all("test", { aggregate: "c", pipeline, cursor: {}, ...options });

describe("stages about the cluster", () => {
  const rows = (db: string, pipeline: object[]): Promise<Doc[]> =>
    cluster.all(db, { aggregate: 1, pipeline, cursor: {} });
  const refused = (db: string, pipeline: object[]): Promise<Doc> =>
    cluster.run(db, { aggregate: 1, pipeline, cursor: {} });

  test("$listClusterCatalog: a database's collections and views with their shards; all of them on admin", async () => {
    await cluster.ok("other", { create: "v", viewOn: "u", pipeline: [] });
    const listed = await rows("test", [
      { $listClusterCatalog: { shards: true } },
      { $match: { ns: "test.c" } },
    ]);
    expect(listed).toMatchObject([
      {
        ns: "test.c",
        db: "test",
        type: "collection",
        sharded: true,
        shardKey: { x: 1 },
        shards: ["shardA", "shardB"],
      },
    ]);
    const views = await rows("admin", [{ $listClusterCatalog: {} }, { $match: { type: "view" } }]);
    expect(views).toMatchObject([{ ns: "other.v", sharded: false, options: { viewOn: "u" } }]);
    expect(views[0]).not.toHaveProperty("shards");
    const [balancing] = await rows("test", [
      { $listClusterCatalog: { balancingConfiguration: true } },
      { $match: { ns: "test.c" } },
    ]);
    expect(balancing).toMatchObject({
      balancingEnabled: true,
      balancingEnabledReason: { enableBalancing: true, allowMigrations: true },
      autoMergingEnabled: true,
      chunkSize: 128,
    });
  });

  test("$currentOp tells of every shard, on admin only", async () => {
    const operations = await rows("admin", [{ $currentOp: {} }]);
    expect(new Set(operations.map(({ shard }) => shard))).toEqual(new Set(["shardA", "shardB"]));
    expect(await refused("test", [{ $currentOp: {} }])).toMatchObject({ code: 73 });
  });

  test("$documents joins like any source, and what it makes can be written", async () => {
    const pipeline = [
      { $documents: [{ q: 1 }, { q: 5 }] },
      { $lookup: { from: "c", localField: "q", foreignField: "q", as: "c" } },
      { $project: { _id: "$q", x: { $first: "$c.x" } } },
    ];
    const made = [
      { _id: 1, x: 10 },
      { _id: 5, x: 70 },
    ];
    expect(await rows("test", pipeline)).toEqual(made);
    expect(await rows("test", [...pipeline, { $merge: "made" }])).toEqual([]);
    expect(await cluster.all("test", { find: "made", sort: { _id: 1 } })).toEqual(made);
  });

  test("what needs a collection, or nothing at all, is refused (73)", async () => {
    expect(await refused("test", [{ $match: {} }])).toMatchObject({ code: 73 });
    expect(await refused("test", [])).toMatchObject({ code: 73 });
    expect(await refused("test", [{ $listLocalSessions: {} }])).toMatchObject({ code: 238 });
    expect(await refused("test", [{ $changeStream: {} }])).toMatchObject({ code: 238 });
    expect(
      await cluster.run("test", { aggregate: "c", pipeline: [{ $changeStream: {} }], cursor: {} }),
    ).toMatchObject({
      code: 238,
    });
  });

  test("$indexStats: a row per index and shard", async () => {
    const stats = await all([
      { $indexStats: {} },
      { $group: { _id: "$name", shards: { $addToSet: "$shard" } } },
    ]);
    for (const { shards } of stats) expect([...(shards as string[])].sort()).toEqual(["shardA", "shardB"]);
    expect(stats.map(({ _id }) => _id).sort()).toEqual(["_id_", "x_1"]);
  });
});
