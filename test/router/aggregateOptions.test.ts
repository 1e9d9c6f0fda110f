/** $sample, and what the options of an aggregation mean on both sides of the cut (facts-mongos.md §6). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";
import type { Explained } from "./support/sixDocuments.js";
import { DOCUMENTS, explainSix, loadSix, stagesOf } from "./support/sixDocuments.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await loadSix(cluster);
});

const all = (pipeline: object[], options: Doc = {}): Promise<Doc[]> =>
  cluster.all("test", { aggregate: "c", pipeline, cursor: {}, ...options });
const explain = (pipeline: object[], options: Doc = {}, on = cluster): Promise<Explained> =>
  explainSix(on, pipeline, options);

describe("$sample", () => {
  test("has the right size and no document twice", async () => {
    for (const size of [1, 3, 6, 50]) {
      const rows = await all([{ $sample: { size } }]);
      expect(rows).toHaveLength(Math.min(size, 6));
      expect(new Set(rows.map(({ _id }) => _id)).size).toBe(rows.length);
      for (const row of rows) expect(row).toEqual(DOCUMENTS[Number(row._id) - 1]);
    }
  });

  test("is fair to shards of different size", async () => {
    await cluster.admin({ shardCollection: "test.uneven", key: { x: 1 } });
    await cluster.admin({ split: "test.uneven", middle: { x: 30 } });
    await cluster.admin({ moveChunk: "test.uneven", find: { x: 30 }, to: "shardB" });
    const documents = Array.from({ length: 300 }, (_, x) => ({ _id: x, x }));
    await cluster.ok("test", { insert: "uneven", documents });
    let small = 0;
    for (let i = 0; i < 40; i++) {
      const rows = await cluster.all("test", {
        aggregate: "uneven",
        pipeline: [{ $sample: { size: 10 } }],
        cursor: {},
      });
      small += rows.filter(({ x }) => Number(x) < 30).length;
    }
    // 400 draws with a tenth of the documents on shardA: 40 expected, deviation 6; half each would give 200.
    expect(small).toBeGreaterThan(10);
    expect(small).toBeLessThan(80);
  });

  test("goes on on the router, and behind a $match on the shards", async () => {
    expect(await all([{ $match: { x: { $gt: 20 } } }, { $sample: { size: 9 } }, { $count: "n" }])).toEqual([
      { n: 4 },
    ]);
    const { splitPipeline } = await explain([
      { $match: { q: 1 } },
      { $sample: { size: 9 } },
      { $count: "n" },
    ]);
    expect(stagesOf(splitPipeline!.shardsPart)).toEqual(["$match", "$sample"]);
  });
});

describe("a collation on the router", () => {
  const loose = { collation: { locale: "en", strength: 2 } };

  test("merges sorts and groups, and rules expressions", async () => {
    const sorted = await all([{ $sort: { k: 1, q: 1 } }, { $project: { _id: 0, k: 1, q: 1 } }], loose);
    expect(sorted.map(({ k, q }) => `${String(k)}${String(q)}`)).toEqual([
      "a1",
      "a3",
      "A6",
      "b2",
      "b4",
      "c5",
    ]);
    const groups = await all([{ $group: { _id: "$k", n: { $sum: 1 } } }, { $sort: { _id: 1 } }], loose);
    expect(groups.map(({ n }) => n)).toEqual([3, 2, 1]);
    const late = await all(
      [{ $sort: { q: 1 } }, { $limit: 6 }, { $match: { k: "A" } }, { $count: "n" }],
      loose,
    );
    expect(late).toEqual([{ n: 3 }]);
    const facet = await all(
      [{ $facet: { a: [{ $match: { $expr: { $eq: ["$k", "A"] } } }, { $count: "n" }] } }],
      loose,
    );
    expect(facet).toEqual([{ a: [{ n: 3 }] }]);
  });

  test("{aggregate: 1} has one too", async () => {
    const pipeline = [{ $documents: [{ k: "a" }, { k: "A" }] }, { $match: { k: "A" } }, { $count: "n" }];
    expect(await cluster.all("test", { aggregate: 1, pipeline, cursor: {}, ...loose })).toEqual([{ n: 2 }]);
  });
});

describe("options", () => {
  test("let, hint, comment and allowDiskUse go to the shards; let holds on the router", async () => {
    await cluster.ok("test", { createIndexes: "c", indexes: [{ key: { q: 1 }, name: "byQ" }] });
    const rows = await all(
      [
        { $match: { $expr: { $gt: ["$q", "$$least"] } } },
        { $sort: { q: 1 } },
        { $limit: 9 },
        { $set: { l: "$$least" } },
      ],
      { let: { least: 4 }, hint: "byQ", comment: "c", allowDiskUse: true },
    );
    expect(rows.map(({ q, l }) => [q, l])).toEqual([
      [5, 4],
      [6, 4],
    ]);
    const bad = { aggregate: "c", pipeline: [{ $sort: { q: 1 } }], cursor: {} };
    expect(await cluster.run("test", { ...bad, hint: "nope" })).toMatchObject({ ok: 0, code: 2 });
    expect(await cluster.run("test", { ...bad, nonsense: 1 })).toMatchObject({ ok: 0, code: 40415 });
    await cluster.ok("test", { dropIndexes: "c", index: "byQ" });
  });

  test("batchSize cuts what the router gives", async () => {
    const { cursor } = (await cluster.ok("test", {
      aggregate: "c",
      pipeline: [{ $sort: { q: 1 } }],
      cursor: { batchSize: 2 },
    })) as { cursor: { id: bigint; firstBatch: Doc[] } };
    expect(cursor.firstBatch.map(({ q }) => q)).toEqual([1, 2]);
    const more = await cluster.ok("test", { getMore: cursor.id, collection: "c", batchSize: 3 });
    expect((more.cursor as { nextBatch: Doc[] }).nextBatch.map(({ q }) => q)).toEqual([3, 4, 5]);
    await cluster.ok("test", { killCursors: "c", cursors: [cursor.id] });
  });

  test("maxTimeMS ends the router's stages (50)", async () => {
    // The test's clock moves on with every look at it, so a millisecond is over at the second.
    const numbers = { $set: { n: { $range: [0, 3000] } } };
    const pipeline = [{ $sort: { q: 1 } }, numbers, { $unwind: "$n" }, { $count: "n" }];
    const command = { aggregate: "c", pipeline, cursor: {} };
    expect(await cluster.run("test", { ...command, maxTimeMS: 1 })).toMatchObject({ ok: 0, code: 50 });
    expect(await cluster.all("test", command)).toEqual([{ n: 18_000 }]);
    // The time between a client's batches does not count.
    const slow = { aggregate: "c", pipeline: pipeline.slice(0, 3), cursor: { batchSize: 0 }, maxTimeMS: 5 };
    const { cursor } = (await cluster.ok("test", slow)) as { cursor: { id: bigint } };
    expect(await cluster.run("test", { getMore: cursor.id, collection: "c" })).toMatchObject({ ok: 1 });
  });
});
