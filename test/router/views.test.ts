/**
 * Views through the router.
 *
 * Two shards; the primary of `test` is shardA. `c` is sharded on {x: 1}, cut at 50;
 * `plain` is unsharded.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const DOCUMENTS = [10, 20, 60, 90].map((x) => ({
  _id: x,
  x,
  g: x % 20 === 0 ? "even" : "odd",
  tags: ["a", `t${x}`],
}));

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 50 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  await cluster.ok("test", { insert: "c", documents: DOCUMENTS });
  await cluster.ok("test", { insert: "plain", documents: DOCUMENTS });
  for (const on of ["c", "plain"]) {
    await cluster.ok("test", {
      create: `${on}View`,
      viewOn: on,
      pipeline: [{ $match: { x: { $gte: 20 } } }, { $set: { double: { $multiply: ["$x", 2] } } }],
    });
    await cluster.ok("test", {
      create: `${on}Nested`,
      viewOn: `${on}View`,
      pipeline: [{ $match: { double: { $lt: 180 } } }, { $project: { x: 1, double: 1 } }],
    });
  }
});

const find = (name: string, options: Doc = {}): Promise<Doc[]> =>
  cluster.all("test", { find: name, ...options });
const run = (command: Doc): Promise<Doc> => cluster.run("test", command);

describe.each(["c", "plain"])("views on %s", (on) => {
  const view = `${on}View`;
  const nested = `${on}Nested`;

  test("find with filter, sort, skip, limit and projection", async () => {
    const rows = await find(view, {
      filter: { double: { $gt: 40 } },
      sort: { x: -1 },
      projection: { _id: 0, x: 1 },
    });
    expect(rows).toEqual([{ x: 90 }, { x: 60 }]);
    expect(await find(view, { sort: { x: 1 }, skip: 1, limit: 1, projection: { _id: 1 } })).toEqual([
      { _id: 60 },
    ]);
  });

  test("a view on a view", async () => {
    expect(await find(nested, { sort: { x: 1 } })).toEqual([
      { _id: 20, x: 20, double: 40 },
      { _id: 60, x: 60, double: 120 },
    ]);
  });

  test("a cursor has the view's name and goes on by it", async () => {
    const first = (await cluster.ok("test", { find: view, sort: { x: 1 }, batchSize: 1 })) as {
      cursor: { ns: string; id: bigint; firstBatch: Doc[] };
    };
    expect(first.cursor.ns).toBe(`test.${view}`);
    const more = await cluster.ok("test", { getMore: first.cursor.id, collection: view });
    expect((more.cursor as { nextBatch: Doc[] }).nextBatch.map(({ _id }) => _id)).toEqual([60, 90]);
  });

  test("count and distinct", async () => {
    expect(await run({ count: view })).toMatchObject({ ok: 1, n: 3 });
    expect(await run({ count: view, query: { g: "even" }, skip: 1 })).toMatchObject({ n: 1 });
    expect(await run({ count: view, query: { x: 10 } })).toMatchObject({ n: 0 });
    const { values } = (await run({ distinct: view, key: "tags" })) as { values: string[] };
    expect([...values].sort()).toEqual(["a", "t20", "t60", "t90"]);
    expect(await run({ distinct: view, key: "x", query: { x: 10 } })).toMatchObject({ ok: 1, values: [] });
  });

  test("aggregate, and views as the other side of a join", async () => {
    const group = { $group: { _id: "$g", sum: { $sum: "$double" } } };
    const rows = await cluster.all("test", {
      aggregate: view,
      pipeline: [group, { $sort: { _id: 1 } }],
      cursor: {},
    });
    expect(rows).toEqual([
      { _id: "even", sum: 160 },
      { _id: "odd", sum: 180 },
    ]);
    const lookup = { from: nested, localField: "x", foreignField: "x", as: "v" };
    const joined = await cluster.all("test", {
      aggregate: "c",
      pipeline: [{ $lookup: lookup }, { $sort: { x: 1 } }, { $project: { v: "$v.double" } }],
      cursor: {},
    });
    expect(joined.map(({ v }) => v)).toEqual([[], [40], [120], []]);
    const union = [{ $match: { x: 10 } }, { $unionWith: nested }, { $count: "n" }];
    expect(await cluster.all("test", { aggregate: "c", pipeline: union, cursor: {} })).toEqual([{ n: 3 }]);
  });

  test("explain is that of the aggregation behind", async () => {
    const explained = await cluster.ok("test", { explain: { find: view, filter: { x: { $gt: 50 } } } });
    const aggregated = await cluster.ok("test", {
      explain: { aggregate: view, pipeline: [{ $match: { x: { $gt: 50 } } }], cursor: {} },
    });
    const shards = on === "c" ? ["shardB"] : ["shardA"];
    expect(Object.keys(aggregated.shards as Doc)).toEqual(shards);
    if (on === "c") expect(Object.keys(explained.shards as Doc)).toEqual(shards);
  });

  test("what no pipeline expresses is refused (168), unknown fields too (40415)", async () => {
    expect(await run({ find: view, min: { x: 1 }, max: { x: 2 }, hint: { x: 1 } })).toMatchObject({
      code: 168,
    });
    expect(await run({ find: view, sort: { $natural: 1 } })).toMatchObject({ code: 168 });
    expect(await run({ count: view, nonsense: 1 })).toMatchObject({ code: 40415 });
  });

  test("writes, indexes and sharding are refused (166)", async () => {
    const insert = await run({ insert: view, documents: [{ _id: 1 }] });
    expect(insert.code ?? (insert.writeErrors as Doc[])[0]!.code).toBe(166);
    for (const command of [
      { update: view, updates: [{ q: {}, u: { $set: { a: 1 } } }] },
      { delete: view, deletes: [{ q: {}, limit: 1 }] },
      { findAndModify: view, query: {}, remove: true },
      { createIndexes: view, indexes: [{ key: { a: 1 }, name: "a" }] },
    ]) {
      const reply = await run(command);
      expect(reply.code ?? (reply.writeErrors as Doc[])[0]!.code).toBe(166);
    }
    expect(await cluster.run("admin", { shardCollection: `test.${view}`, key: { x: 1 } })).toMatchObject({
      ok: 0,
      code: 166,
    });
  });
});

describe("routing", () => {
  test("a view's conditions and the reader's go to the shards together", async () => {
    const [entry, ...others] = await cluster.traced(() => find("cView", { filter: { x: { $lt: 40 } } }));
    expect(others).toEqual([]);
    // 20 ≤ x from the view, x < 40 from the find: the chunk below 50.
    expect(entry).toMatchObject({ ns: "test.c", shards: [{ shard: "shardA", returned: 1 }] });
  });

  test("a view on unsharded collections passes whole to the primary", async () => {
    const asked = cluster.shards.get("shardA")!.asked;
    const before = asked.length;
    await find("plainView");
    expect(asked.slice(before)).toEqual(["find"]);
  });

  test("reading collections costs no round trip for views", async () => {
    const asked = cluster.shards.get("shardA")!.asked;
    const before = asked.length;
    await find("c", { filter: { x: 10 } });
    await find("plain", { filter: { x: 10 } });
    expect(asked.slice(before)).toEqual(["find", "find"]);
  });

  test("a view that reads a sharded collection by $lookup is read by the router", async () => {
    const lookup = { from: "c", localField: "x", foreignField: "x", as: "same" };
    await cluster.ok("test", { create: "joined", viewOn: "plain", pipeline: [{ $lookup: lookup }] });
    // 60 and 90 are on shardB; the primary alone would not find them.
    expect(await run({ count: "joined", query: { "same.0": { $exists: true } } })).toMatchObject({ n: 4 });
  });

  test("a migration under an open cursor on a view loses and doubles nothing", async () => {
    await cluster.admin({ shardCollection: "test.many", key: { x: 1 } });
    await cluster.admin({ split: "test.many", middle: { x: 500 } });
    await cluster.admin({ moveChunk: "test.many", find: { x: 500 }, to: "shardB" });
    // More than a first batch on each shard.
    const documents = Array.from({ length: 1000 }, (_, x) => ({ _id: x, x }));
    await cluster.ok("test", { insert: "many", documents });
    await cluster.ok("test", {
      create: "manyView",
      viewOn: "many",
      pipeline: [{ $match: { x: { $gte: 100 } } }],
    });
    type Cursor = { id: bigint; firstBatch: Doc[]; nextBatch: Doc[] };
    const { cursor } = (await cluster.ok("test", { find: "manyView", batchSize: 10 })) as { cursor: Cursor };
    await cluster.admin({ moveChunk: "test.many", find: { x: 500 }, to: "shardA" });
    const rest = (await cluster.ok("test", { getMore: cursor.id, collection: "manyView" })) as {
      cursor: Cursor;
    };
    const xs = [...cursor.firstBatch, ...rest.cursor.nextBatch].map(({ x }) => Number(x));
    expect(xs.sort((a, b) => a - b)).toEqual(Array.from({ length: 900 }, (_, i) => i + 100));
  });
});

describe("definitions", () => {
  test("are listed, changed and dropped; the router follows", async () => {
    await cluster.ok("test", { create: "v", viewOn: "c", pipeline: [{ $match: { x: 10 } }] });
    const [listed] = await cluster.all("test", { listCollections: 1, filter: { name: "v" } });
    expect(listed).toMatchObject({ name: "v", type: "view", options: { viewOn: "c" } });
    expect(await run({ count: "v" })).toMatchObject({ n: 1 });
    await cluster.ok("test", { collMod: "v", viewOn: "c", pipeline: [{ $match: { x: { $gt: 50 } } }] });
    expect(await run({ count: "v" })).toMatchObject({ n: 2 });
    await cluster.ok("test", { drop: "v" });
    expect(await run({ count: "v" })).toMatchObject({ n: 0 });
    await cluster.ok("test", { insert: "v", documents: [{ _id: 1 }] });
    expect(await run({ count: "v" })).toMatchObject({ n: 1 });
    await cluster.ok("test", { drop: "v" });
  });

  test("a cycle (5), a name that is taken (48) and a writing stage (167) are refused", async () => {
    await cluster.ok("test", { create: "one", viewOn: "two", pipeline: [] });
    expect(await run({ create: "two", viewOn: "one", pipeline: [] })).toMatchObject({ ok: 0, code: 5 });
    expect(await run({ create: "c", viewOn: "plain", pipeline: [] })).toMatchObject({ ok: 0, code: 48 });
    expect(await run({ create: "w", viewOn: "c", pipeline: [{ $out: "o" }] })).toMatchObject({
      ok: 0,
      code: 167,
    });
    await cluster.ok("test", { drop: "one" });
  });

  test("sharding the collection behind a view changes who reads it, not what is read", async () => {
    await cluster.ok("test", {
      insert: "later",
      documents: [
        { _id: 1, x: 1 },
        { _id: 2, x: 2 },
      ],
    });
    await cluster.ok("test", {
      create: "laterView",
      viewOn: "later",
      pipeline: [{ $match: { x: { $gt: 0 } } }],
    });
    expect(await run({ count: "laterView" })).toMatchObject({ n: 2 });
    await cluster.ok("test", { createIndexes: "later", indexes: [{ key: { x: 1 }, name: "x_1" }] });
    await cluster.admin({ shardCollection: "test.later", key: { x: 1 } });
    await cluster.admin({ split: "test.later", middle: { x: 2 } });
    await cluster.admin({ moveChunk: "test.later", find: { x: 2 }, to: "shardB" });
    expect(await run({ count: "laterView" })).toMatchObject({ n: 2 });
  });
});

describe("a view's collation", () => {
  test("holds for all reads of it, and no other may be asked for (167)", async () => {
    const collation = { locale: "en", strength: 2 };
    await cluster.ok("test", { create: "loose", viewOn: "c", pipeline: [], collation });
    expect(await run({ count: "loose", query: { g: "EVEN" } })).toMatchObject({ n: 2 });
    expect(await run({ count: "cView", query: { g: "EVEN" } })).toMatchObject({ n: 0 });
    expect(await run({ count: "loose", query: { g: "EVEN" }, collation })).toMatchObject({ n: 2 });
    expect(await run({ find: "loose", collation: { locale: "fr" } })).toMatchObject({ ok: 0, code: 167 });
    expect(await run({ find: "cView", collation })).toMatchObject({ ok: 0, code: 167 });
    const lookup = { from: "loose", localField: "g", foreignField: "g", as: "l" };
    const join = { aggregate: "c", pipeline: [{ $lookup: lookup }], cursor: {} };
    expect(await run(join)).toMatchObject({ ok: 0, code: 167 });
    expect(await run({ ...join, collation })).toMatchObject({ ok: 1 });
  });
});
