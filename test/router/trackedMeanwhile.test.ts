/**
 * What is going on while an unsharded collection moves to another shard (facts §8.3): cursors that read it under another
 * name, and readers that never see a part of it. trackedFailures.full.test.ts has the same with servers that fail.
 */
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

/** `library.members` and `library.books` on shardA, 30 documents each; `library.old` is a view on books. */
async function library(): Promise<TestCluster> {
  const cluster = await startCluster({ shards: 3 });
  await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
  const thirty = Array.from({ length: 30 }, (_, _id) => ({ _id }));
  await cluster.ok("library", { insert: "books", documents: thirty });
  await cluster.ok("library", { insert: "members", documents: thirty });
  await cluster.ok("library", { create: "old", viewOn: "books", pipeline: [] });
  return cluster;
}

interface Cursor {
  id: bigint;
  firstBatch?: Doc[];
  nextBatch?: Doc[];
}

const rest = async (cluster: TestCluster, opened: Doc, collection: string): Promise<number> => {
  const first = opened.cursor as Cursor;
  let { id } = first;
  let n = first.firstBatch!.length;
  while (BigInt(id.toString()) !== 0n) {
    const { cursor } = await cluster.ok("library", { getMore: BigInt(id.toString()), collection });
    id = (cursor as Cursor).id;
    n += (cursor as Cursor).nextBatch!.length;
  }
  return n;
};

describe("a cursor that is open when a collection moves", () => {
  test.each<[string, Doc, number]>([
    ["of a find", { find: "books", batchSize: 2 }, 30],
    ["of a view", { find: "old", batchSize: 2 }, 30],
    [
      "of a $unionWith",
      { aggregate: "members", pipeline: [{ $unionWith: "books" }], cursor: { batchSize: 2 } },
      60,
    ],
    [
      "of a $unionWith of a view",
      { aggregate: "members", pipeline: [{ $unionWith: "old" }], cursor: { batchSize: 2 } },
      60,
    ],
    [
      "of a $lookup per document",
      {
        aggregate: "members",
        pipeline: [
          {
            $lookup: {
              from: "books",
              let: { id: "$_id" },
              pipeline: [{ $match: { $expr: { $eq: ["$_id", "$$id"] } } }],
              as: "b",
            },
          },
          { $unwind: "$b" },
        ],
        cursor: { batchSize: 2 },
      },
      30,
    ],
    [
      "of a $lookup not yet begun",
      {
        aggregate: "members",
        pipeline: [
          { $lookup: { from: "books", localField: "_id", foreignField: "_id", as: "b" } },
          { $unwind: "$b" },
        ],
        cursor: { batchSize: 0 },
      },
      30,
    ],
  ])("%s goes on", async (_what, command, n) => {
    const cluster = await library();
    const opened = await cluster.ok("library", command);
    await cluster.admin({ moveCollection: "library.books", toShard: "shardB" });
    expect(await rest(cluster, opened, String(Object.values(command)[0]))).toBe(n);
  });
});

describe("readers all the while", () => {
  const READS: readonly [string, Doc][] = [
    ["find on a view", { find: "old" }],
    ["count on a view", { count: "old" }],
    ["aggregate on a view", { aggregate: "old", pipeline: [{ $match: {} }], cursor: {} }],
    [
      "$lookup",
      {
        aggregate: "members",
        pipeline: [
          { $lookup: { from: "old", localField: "_id", foreignField: "_id", as: "b" } },
          { $unwind: "$b" },
        ],
        cursor: {},
      },
    ],
  ];

  test.each(READS)("%s: thirty, before, during and after", async (_what, command) => {
    const cluster = await library();
    let moving = true;
    let reads = 0;
    const read = async (): Promise<void> => {
      while (moving) {
        const reply = await cluster.ok("library", command);
        expect(reply.n ?? (reply.cursor as Cursor).firstBatch!.length).toBe(30);
        reads += 1;
      }
    };
    const readers = [read(), read(), read()];
    try {
      for (const toShard of ["shardB", "shardA", "shardC", "shardA"]) {
        await cluster.admin({ moveCollection: "library.books", toShard });
      }
      await cluster.admin({ movePrimary: "library", to: "shardB" });
    } finally {
      moving = false;
    }
    await Promise.all(readers);
    expect(reads).toBeGreaterThan(10);
  });

  test("a capped collection keeps its order and its cap", async () => {
    const cluster = await library();
    await cluster.ok("library", { create: "log", capped: true, size: 4096, max: 3 });
    for (const _id of [5, 3, 9, 1]) await cluster.ok("library", { insert: "log", documents: [{ _id }] });
    await cluster.admin({ moveCollection: "library.log", toShard: "shardB" });
    await cluster.ok("library", { insert: "log", documents: [{ _id: 0 }] });
    expect(await cluster.all("library", { find: "log" })).toEqual([{ _id: 9 }, { _id: 1 }, { _id: 0 }]);
  });

  test("a cursor that joins goes on when the primary shard changes", async () => {
    const cluster = await library();
    await cluster.admin({ shardCollection: "library.loans", key: { _id: 1 } });
    const loans = Array.from({ length: 30 }, (_, _id) => ({ _id }));
    await cluster.ok("library", { insert: "loans", documents: loans });
    const join = { $lookup: { from: "books", localField: "_id", foreignField: "_id", as: "b" } };
    const pipeline = [join, { $unwind: "$b" }];
    const opened = await cluster.ok("library", { aggregate: "loans", pipeline, cursor: { batchSize: 0 } });
    await cluster.admin({ movePrimary: "library", to: "shardC" });
    expect(await rest(cluster, opened, "loans")).toBe(30);
  });
});

describe("a catalog that a client would damage", () => {
  test.each<[string, Doc]>([
    ["no shard", { $unset: { shard: "" } }],
    ["a shard that is no string", { $set: { shard: 5 } }],
    ["no UUID", { $set: { uuid: 7 } }],
  ])("%s: refused (121), the collection is read as before", async (_what, u) => {
    const cluster = await library();
    await cluster.admin({ moveCollection: "library.books", toShard: "shardB" });
    expect(await cluster.run("config", { update: "chunks", updates: [{ q: {}, u }] })).toMatchObject({
      code: 121,
    });
    expect(await cluster.all("library", { find: "books" })).toHaveLength(30);
  });

  test("a shard that is not there: 70 for what lives there, nothing for others", async () => {
    const cluster = await library();
    await cluster.admin({ moveCollection: "library.books", toShard: "shardB" });
    const updates = [{ q: {}, u: { $set: { shard: "shardX" } } }];
    await cluster.ok("config", { update: "chunks", updates });
    expect(await cluster.run("library", { find: "books" })).toMatchObject({ ok: 0, code: 70 });
    expect(await cluster.all("library", { find: "members" })).toHaveLength(30);
  });
});
