/**
 * What a client may say with find, count and distinct, on a collection over two
 * shards: the merge must not show (facts-mongos.md §6), and what is wrong is
 * refused alike wherever the collection lives.
 *
 * Key {x: 1}, cut at 50. Each row: x, and v, which the sorts are about.
 */
import { Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from "bson";
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await shard("c");
  const documents = [10, 90, 20, 80].map((x) => ({ _id: x, x, a: [-1, x, 100], g: x < 50 ? "low" : "high" }));
  await cluster.ok("test", { insert: "c", documents });
  await cluster.ok("test", { createIndexes: "c", indexes: [{ key: { g: 1, x: 1 }, name: "g_1_x_1" }] });
  await cluster.ok("test", { insert: "plain", documents: [{ _id: 1 }] });
});

/** A sharded collection with x < 50 on shardA and the rest on shardB. */
async function shard(name: string): Promise<void> {
  await cluster.admin({ shardCollection: `test.${name}`, key: { x: 1 } });
  await cluster.admin({ split: `test.${name}`, middle: { x: 50 } });
  await cluster.admin({ moveChunk: `test.${name}`, find: { x: 50 }, to: "shardB" });
}

const find = (command: Doc): Promise<Doc[]> => cluster.all("test", { find: "c", ...command });

describe("sort", () => {
  test("mixed types: BSON order, whichever shard has which", async () => {
    await shard("types");
    // In BSON order; every second one on the other shard.
    const ordered: unknown[] = [
      new MinKey(),
      null,
      -5,
      Long.fromNumber(1),
      Decimal128.fromString("1.5"),
      2,
      "",
      "a",
      { a: 1 },
      new ObjectId("000000000000000000000001"),
      false,
      true,
      new Date(0),
      new Timestamp({ t: 1, i: 1 }),
      /x/,
      new MaxKey(),
    ];
    const documents = ordered.map((v, i) => ({ _id: i, x: i % 2 === 0 ? i : 50 + i, v }));
    await cluster.ok("test", { insert: "types", documents: [...documents].reverse() });
    const ids = async (direction: 1 | -1): Promise<unknown[]> =>
      (await cluster.all("test", { find: "types", sort: { v: direction }, batchSize: 3 })).map(
        ({ _id }) => _id,
      );
    const upwards = ordered.map((_, i) => i);
    expect(await ids(1)).toEqual(upwards);
    expect(await ids(-1)).toEqual(upwards.reverse());
  });

  test("arrays: by the least element upwards, by the greatest downwards; missing as null", async () => {
    await shard("arrays");
    await cluster.ok("test", {
      insert: "arrays",
      documents: [
        { _id: "a", x: 1, v: [5, 1] },
        { _id: "b", x: 51, v: 2 },
        { _id: "c", x: 2, v: [3, 9] },
        { _id: "d", x: 52, v: [] },
        { _id: "e", x: 3 },
        { _id: "f", x: 53, v: [4] },
      ],
    });
    const ids = async (sort: Doc): Promise<string> =>
      (await cluster.all("test", { find: "arrays", sort })).map(({ _id }) => String(_id)).join("");
    // The empty array is below null: d, e, then 1, 2, 3, 4.
    expect(await ids({ v: 1 })).toBe("deabcf");
    // 9, 5, 4, 2, null, nothing.
    expect(await ids({ v: -1 })).toBe("cafbed");
    expect(await ids({ "v.0": -1, _id: 1 })).toBe("afcbde");
  });

  test("$natural is a hint and no order; random order loses nothing", async () => {
    expect(await find({ sort: { $natural: -1 } })).toHaveLength(4);
    const random = await find({ sort: { r: { $meta: "randVal" } } });
    expect(random.map(({ x }) => x).sort()).toEqual([10, 20, 80, 90]);
    expect(await cluster.run("test", { find: "c", sort: { s: { $meta: "textScore" } } })).toMatchObject({
      ok: 0,
      code: 40218,
    });
  });

  test("limit and skip that no 64-bit number holds", async () => {
    const most = Long.MAX_VALUE;
    for (const command of [
      { find: "c", skip: most, limit: most },
      { count: "c", skip: most, limit: most },
    ]) {
      expect(await cluster.run("test", command)).toMatchObject({ ok: 0, code: 15 });
    }
    expect(await find({ skip: 2, limit: Long.fromString("9007199254740993"), sort: { x: 1 } })).toHaveLength(
      2,
    );
    // A sum of 2^63 - 1 is one that a 64-bit number holds.
    expect(await find({ limit: most })).toHaveLength(4);
    expect(await cluster.ok("test", { count: "c", limit: most })).toMatchObject({ n: 4 });
    expect(await cluster.run("test", { find: "c", skip: 1, limit: most })).toMatchObject({
      code: 15,
      errmsg:
        "sum of limit and skip cannot be represented as a 64-bit integer, limit: 9223372036854775807, skip: 1",
    });
  });

  test("numbers that are no integers become the nearest 64-bit ones", async () => {
    // Source: jstests/sharding, cluster_count overflow: {skip: Infinity, limit: 20} fails with Overflow.
    for (const command of [
      { find: "c", skip: Infinity, limit: 20 },
      { count: "c", skip: Infinity, limit: 20 },
    ]) {
      expect(await cluster.run("test", command)).toMatchObject({ ok: 0, code: 15 });
    }
    expect(await find({ limit: Infinity })).toHaveLength(4);
    expect(await find({ limit: NaN, skip: NaN })).toHaveLength(4);
    expect(await find({ skip: Infinity })).toHaveLength(0);
    expect(await cluster.run("test", { find: "c", limit: -Infinity })).toMatchObject({ code: 51024 });
    expect(
      await cluster.all("test", {
        aggregate: "c",
        pipeline: [{ $sort: { x: 1 } }],
        cursor: { batchSize: NaN },
      }),
    ).toHaveLength(4);
  });
});

describe("projections behind a merge", () => {
  test("$sortKey is the router's own field", async () => {
    for (const projection of [{ $sortKey: 1 }, { $sortKey: { $meta: "sortKey" } }])
      for (const collection of ["c", "plain", "nothing"]) {
        const reply = await cluster.run("test", { find: collection, projection, sort: { x: 1 } });
        expect(reply).toMatchObject({ ok: 0, code: 2 });
        expect(reply.errmsg).toMatch(/^Projection contains illegal field '\$sortKey'/);
      }
    expect(
      await find({ sort: { x: 1 }, limit: 1, projection: { _id: 0, a: 0, g: 0, key: { $meta: "sortKey" } } }),
    ).toEqual([{ x: 10, key: [10] }]);
  });

  test("$recordId: the record's number on its own shard, whoever projects", async () => {
    // Two documents on each shard, in the order of insertion: 10 and 20, 90 and 80.
    expect(await find({ sort: { x: 1 }, projection: { x: 1, _id: 0 }, showRecordId: true })).toEqual([
      { x: 10, $recordId: 1 },
      { x: 20, $recordId: 2 },
      { x: 80, $recordId: 2 },
      { x: 90, $recordId: 1 },
    ]);
    expect(await find({ sort: { x: 1 }, limit: 2, projection: { _id: 1 }, showRecordId: true })).toEqual([
      { _id: 10, $recordId: 1 },
      { _id: 20, $recordId: 2 },
    ]);
    expect(
      await find({ sort: { x: -1 }, limit: 1, projection: { _id: 1, at: { $meta: "recordId" } } }),
    ).toEqual([{ _id: 90, at: 1 }]);
  });

  test("index keys: returnKey and {$meta: indexKey}, merged by a sort", async () => {
    const byIndex = { hint: "g_1_x_1", sort: { x: -1 }, limit: 2 };
    expect(await find({ ...byIndex, projection: { _id: 1, key: { $meta: "indexKey" } } })).toEqual([
      { _id: 90, key: { g: "high", x: 90 } },
      { _id: 80, key: { g: "high", x: 80 } },
    ]);
    expect(await find({ ...byIndex, returnKey: true })).toEqual([
      { g: "high", x: 90 },
      { g: "high", x: 80 },
    ]);
    // Without an index there is no key.
    expect(await find({ returnKey: true, hint: { $natural: 1 } })).toEqual([{}, {}, {}, {}]);
  });
});

describe("options that shards carry out", () => {
  test("hint, min and max", async () => {
    const between = { hint: { x: 1 }, min: { x: 20 }, max: { x: 90 } };
    expect((await find({ ...between, sort: { x: 1 } })).map(({ x }) => x)).toEqual([20, 80]);
    expect(await cluster.run("test", { find: "c", hint: "nothing" })).toMatchObject({ ok: 0, code: 2 });
    expect(await cluster.run("test", { find: "c", min: { x: 20 } })).toMatchObject({ ok: 0, code: 51173 });
  });

  test("a tailable cursor needs a capped collection, and no sharded one is capped", async () => {
    expect(await cluster.run("test", { find: "c", tailable: true })).toMatchObject({
      ok: 0,
      code: 2,
      errmsg: expect.stringContaining("tailable cursor requested on non capped collection") as string,
    });
    expect(await cluster.run("test", { find: "c", tailable: true, sort: { x: 1 } })).toMatchObject({
      code: 2,
    });
  });

  test("resume tokens are places in one server's storage", async () => {
    for (const token of [{ $_requestResumeToken: true }, { $_resumeAfter: { $recordId: 1 } }])
      expect(await cluster.run("test", { find: "c", hint: { $natural: 1 }, ...token })).toMatchObject({
        ok: 0,
        code: 2,
        errmsg: "Queries on mongoS may not request or provide a resume token",
      });
  });
});

describe("what is wrong is refused alike: over shards, on one, and where nothing is", () => {
  test.each<[Doc, number, string]>([
    [
      { find: "?", filter: "x" },
      14,
      "BSON field 'find.filter' is the wrong type 'string', expected type 'object'",
    ],
    [{ find: "?", sort: 1 }, 14, "BSON field 'find.sort' is the wrong type 'int', expected type 'object'"],
    [
      { find: "?", projection: [] },
      14,
      "BSON field 'find.projection' is the wrong type 'array', expected type 'object'",
    ],
    [
      { find: "?", limit: "1" },
      14,
      "BSON field 'find.limit' is the wrong type 'string', expected type 'long'",
    ],
    [{ find: "?", skip: true }, 14, "BSON field 'find.skip' is the wrong type 'bool', expected type 'long'"],
    [{ find: "?", limit: -3 }, 51024, "BSON field 'limit' value must be >= 0, actual value '-3'"],
    [{ find: "?", skip: -1 }, 51024, "BSON field 'skip' value must be >= 0, actual value '-1'"],
    [{ find: "?", batchSize: -1 }, 51024, "BSON field 'batchSize' value must be >= 0, actual value '-1'"],
    [
      { find: "?", singleBatch: "yes" },
      14,
      "BSON field 'find.singleBatch' is the wrong type 'string', expected type 'bool'",
    ],
    [
      { find: "?", showRecordId: {} },
      14,
      "BSON field 'find.showRecordId' is the wrong type 'object', expected type 'bool'",
    ],
    [{ find: "?", let: 5 }, 14, "BSON field 'find.let' is the wrong type 'int', expected type 'object'"],
    [
      { find: "?", collation: 5 },
      14,
      "BSON field 'find.collation' is the wrong type 'int', expected type 'object'",
    ],
    [{ find: "?", nonsense: 1 }, 40415, "BSON field 'find.nonsense' is an unknown field."],
    [
      { count: "?", query: 5 },
      14,
      "BSON field 'count.query' is the wrong type 'int', expected type 'object'",
    ],
    [
      { count: "?", limit: "x" },
      14,
      "BSON field 'count.limit' is the wrong type 'string', expected type 'long'",
    ],
    [{ count: "?", skip: -1 }, 51024, "BSON field 'skip' value must be >= 0, actual value '-1'"],
    [{ count: "?", nonsense: 1 }, 40415, "BSON field 'count.nonsense' is an unknown field."],
    [{ distinct: "?" }, 40414, "BSON field 'distinct.key' is missing but a required field"],
    [
      { distinct: "?", key: 5 },
      14,
      "BSON field 'distinct.key' is the wrong type 'int', expected type 'string'",
    ],
    [
      { distinct: "?", key: "a", query: 5 },
      14,
      "BSON field 'distinct.query' is the wrong type 'int', expected type 'object'",
    ],
  ])("%j → %i", async (command, code, errmsg) => {
    const [name] = Object.keys(command) as [string];
    for (const [db, collection] of [
      ["test", "c"],
      ["test", "plain"],
      ["test", "nothing"],
      ["nowhere", "c"],
    ] as const) {
      expect(await cluster.run(db, { ...command, [name]: collection }), `${db}.${collection}`).toMatchObject({
        ok: 0,
        code,
        errmsg,
      });
    }
  });

  test("null asks for nothing", async () => {
    expect(
      await find({ filter: null, sort: null, projection: null, limit: null, skip: null, singleBatch: null }),
    ).toHaveLength(4);
    expect(await cluster.ok("test", { count: "c", query: null, limit: null, skip: null })).toMatchObject({
      n: 4,
    });
  });
});

test("count on shards: each counts up to limit + skip (§6)", async () => {
  // shardA has 2, shardB has 2; limit 1 and skip 2 ask both for 3.
  const [entry] = await cluster.traced(() => cluster.ok("test", { count: "c", limit: 1, skip: 2 }));
  expect(entry).toMatchObject({
    shards: [
      { shard: "shardA", returned: 2 },
      { shard: "shardB", returned: 2 },
    ],
    merge: { kind: "count", skip: 2, limit: 1 },
  });
  expect(await cluster.ok("test", { count: "c", limit: 1, skip: 2 })).toMatchObject({ n: 1 });
  expect(await cluster.ok("test", { count: "c", skip: 3 })).toMatchObject({ n: 1 });
  expect(await cluster.ok("test", { count: "c", limit: -3 })).toMatchObject({ n: 3 });
  expect(await cluster.ok("test", { count: "c", skip: 9 })).toMatchObject({ n: 0 });
});

test("distinct over arrays and missing fields, sorted and without repetitions (§6)", async () => {
  expect(await cluster.ok("test", { distinct: "c", key: "a" })).toMatchObject({
    values: [-1, 10, 20, 80, 90, 100],
  });
  expect(await cluster.ok("test", { distinct: "c", key: "g" })).toMatchObject({ values: ["high", "low"] });
  expect(await cluster.ok("test", { distinct: "c", key: "nothing" })).toMatchObject({ values: [] });
  // One shard: sorted all the same, though a shard lists what it meets first.
  expect(await cluster.ok("test", { distinct: "c", key: "a", query: { x: 10 } })).toMatchObject({
    values: [-1, 10, 100],
  });
});

describe("views", () => {
  test("find, count and distinct on a view over a sharded collection, and on one that a shard reads alone", async () => {
    await cluster.ok("test", { create: "high", viewOn: "c", pipeline: [{ $match: { g: "high" } }] });
    await cluster.ok("test", { create: "ones", viewOn: "plain", pipeline: [{ $match: { _id: 1 } }] });
    expect(await cluster.all("test", { find: "high", sort: { x: 1 }, projection: { x: 1, _id: 0 } })).toEqual(
      [{ x: 80 }, { x: 90 }],
    );
    expect(await cluster.ok("test", { count: "high" })).toMatchObject({ n: 2 });
    expect(await cluster.ok("test", { distinct: "high", key: "x" })).toMatchObject({
      values: expect.arrayContaining([80, 90]) as number[],
    });
    expect(await cluster.all("test", { find: "ones" })).toEqual([{ _id: 1 }]);
    expect(await cluster.ok("test", { count: "ones" })).toMatchObject({ n: 1 });
  });
});
