import { beforeAll, describe, expect, test } from "vitest";
import type { TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

/** Key {x: 1}, cut at 50; each document has an array whose second element is its x. */
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 50 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  const documents = [10, 90, 20, 80].map((x) => ({ _id: x, x, a: [-1, x, 100] }));
  await cluster.ok("test", { insert: "c", documents });
});

describe("projections that the router applies after merging", () => {
  const sorted = (projection: object, more: object = {}) =>
    cluster.all("test", { find: "c", sort: { x: -1 }, projection, ...more });

  test("a.$ is the element that the query matched", async () => {
    expect(
      await sorted({ _id: 0, "a.$": 1 }, { filter: { a: { $elemMatch: { $gte: 20, $lt: 100 } } } }),
    ).toEqual([{ a: [90] }, { a: [80] }, { a: [20] }]);
  });

  test("{$meta: sortKey} is the key of the merge", async () => {
    expect(await sorted({ _id: 1, key: { $meta: "sortKey" } }, { limit: 2 })).toEqual([
      { _id: 90, key: [90] },
      { _id: 80, key: [80] },
    ]);
  });

  test("variables of let are seen", async () => {
    expect(await sorted({ _id: 0, n: { $add: ["$x", "$$more"] } }, { let: { more: 1 }, limit: 1 })).toEqual([
      { n: 91 },
    ]);
  });

  test("and findAndModify on several shards does the same", async () => {
    const reply = await cluster.ok("test", {
      findAndModify: "c",
      query: { a: 80 },
      update: { $set: { "a.$": 81 } },
      fields: { _id: 1, "a.$": 1 },
    });
    expect(reply.value).toEqual({ _id: 80, a: [80] });
    expect(await cluster.all("test", { find: "c", filter: { _id: 80 } })).toEqual([
      { _id: 80, x: 80, a: [-1, 81, 100] },
    ]);
  });
});
