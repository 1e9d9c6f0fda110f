import { Long } from "bson";
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

/** Key {x: 1}, cut at 50; 10 and 20 on shardA, 80 and 90 on shardB. */
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 50 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  const documents = [10, 90, 20, 80].map((x) => ({ _id: x, x }));
  await cluster.ok("test", { insert: "c", documents });
});

const all = (...pipeline: object[]): Promise<Doc[]> =>
  cluster.all("test", { aggregate: "c", pipeline, cursor: {} });
const reply = (...pipeline: object[]): Promise<Doc> =>
  cluster.run("test", { aggregate: "c", pipeline, cursor: {} });
const MOST = Long.MAX_VALUE;

describe("a pipeline that is cut", () => {
  test("is checked as a whole, as on one server", async () => {
    expect(await reply({ $sortByCount: 5 })).toMatchObject({ code: 40149 });
    expect(await reply({ $sortByCount: "x" })).toMatchObject({ code: 40148 });
    expect(await reply({ $sortByCount: { a: 1 } })).toMatchObject({ code: 40147 });
    expect(await reply({ $documents: [{ a: 1 }] })).toMatchObject({
      code: 73,
      errmsg: "'$documents' can only be run with {aggregate: 1}",
    });
    expect(await reply({ $match: {} }, { $documents: [{ a: 1 }] })).toMatchObject({ code: 40602 });
    expect(await reply({ $match: {} }, { $collStats: {} })).toMatchObject({ code: 40602 });
    expect(await reply({ $collStats: {} }, { $documents: [] })).toMatchObject({ code: 40602 });
    expect(await reply({ $out: "o" }, { $match: {} })).toMatchObject({ code: 40601 });
    expect(await reply({ $currentOp: {} })).toMatchObject({ code: 73 });
  });

  test("behind the router's own source too", async () => {
    const pipeline = [{ $shardedDataDistribution: {} }, { $documents: [{ a: 1 }] }];
    expect(await cluster.run("admin", { aggregate: 1, pipeline, cursor: {} })).toMatchObject({ code: 40602 });
  });

  test("knows the sort key behind a merge sort", async () => {
    expect(
      await all({ $sort: { x: -1 } }, { $limit: 3 }, { $project: { _id: 0, key: { $meta: "sortKey" } } }),
    ).toEqual([{ key: [90] }, { key: [80] }, { key: [20] }]);
    expect(
      await all({ $sort: { x: 1 } }, { $group: { _id: null, keys: { $push: { $meta: "sortKey" } } } }),
    ).toEqual([{ _id: null, keys: [[10], [20], [80], [90]] }]);
  });

  test("refuses metadata that stays on the shards", async () => {
    for (const name of ["recordId", "indexKey"]) {
      expect(await reply({ $sort: { x: 1 } }, { $set: { n: { $meta: name } } })).toMatchObject({ code: 238 });
    }
    expect(await all({ $match: { x: 10 } }, { $project: { _id: 0, n: { $meta: "recordId" } } })).toHaveLength(
      1,
    );
  });

  test("takes limits and skips whose sum is no 64-bit integer", async () => {
    expect(await all({ $sort: { x: 1 } }, { $skip: 3 }, { $limit: MOST })).toEqual([{ _id: 90, x: 90 }]);
    expect(await all({ $skip: MOST }, { $limit: MOST })).toEqual([]);
  });

  test("has one $$NOW on the router", async () => {
    const rows = await all({ $sort: { x: 1 } }, { $project: { now: "$$NOW" } });
    expect(new Set(rows.map(({ now }) => Number(now))).size).toBe(1);
  });
});
