/** Stages that read other collections, through the router (facts-mongos.md §6). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";
import { ITEMS, ORDERS, loadJoined } from "./support/joined.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await loadJoined(cluster);
});

const all = (coll: string, pipeline: object[], options: Doc = {}): Promise<Doc[]> =>
  cluster.all("test", { aggregate: coll, pipeline, cursor: {}, ...options });
const run = (coll: string, pipeline: object[], options: Doc = {}): Promise<Doc> =>
  cluster.run("test", { aggregate: coll, pipeline, cursor: {}, ...options });
const byId = (documents: Doc[]): Doc[] =>
  [...documents].sort((a, b) => (String(a._id) < String(b._id) ? -1 : 1));

/** Every source with every foreign collection: sharded, or whole on the primary. */
const SIDES: [source: string, foreign: string][] = [
  ["orders", "items"],
  ["orders", "plainItems"],
  ["plainOrders", "items"],
  ["plainOrders", "plainItems"],
];

describe.each(SIDES)("%s joined with %s", (source, from) => {
  test("by equal fields", async () => {
    const rows = await all(source, [
      { $lookup: { from, localField: "sku", foreignField: "sku", as: "item" } },
      { $project: { price: "$item.price" } },
    ]);
    expect(byId(rows)).toEqual([
      { _id: 1, price: [5] },
      { _id: 2, price: [7] },
      { _id: 3, price: [5] },
    ]);
  });

  test("by a pipeline with variables, behind a constant condition", async () => {
    const pipeline = [{ $match: { price: { $lt: 9 } } }, { $match: { $expr: { $ne: ["$sku", "$$mine"] } } }];
    const rows = await all(source, [
      { $lookup: { from, let: { mine: "$sku" }, pipeline, as: "others" } },
      { $project: { others: "$others.sku" } },
    ]);
    expect(byId(rows)).toEqual([
      { _id: 1, others: ["b"] },
      { _id: 2, others: ["a"] },
      { _id: 3, others: ["b"] },
    ]);
  });

  test("by fields and a pipeline, unwound and grouped", async () => {
    const rows = await all(source, [
      {
        $lookup: {
          from,
          localField: "sku",
          foreignField: "sku",
          pipeline: [{ $project: { _id: 0, price: 1 } }],
          as: "item",
        },
      },
      { $unwind: "$item" },
      { $group: { _id: "$sku", sum: { $sum: "$item.price" } } },
    ]);
    expect(byId(rows)).toEqual([
      { _id: "a", sum: 10 },
      { _id: "b", sum: 7 },
    ]);
  });

  test("without variables, the shards having aggregated the foreign side", async () => {
    const rows = await all(source, [
      { $lookup: { from, pipeline: [{ $group: { _id: null, n: { $sum: "$price" } } }], as: "all" } },
      { $project: { total: { $first: "$all.n" } } },
    ]);
    expect(byId(rows)).toEqual([
      { _id: 1, total: 21 },
      { _id: 2, total: 21 },
      { _id: 3, total: 21 },
    ]);
  });

  test("$unionWith, with and without a pipeline", async () => {
    const names = await all(source, [{ $unionWith: from }, { $group: { _id: "$sku", n: { $sum: 1 } } }]);
    expect(byId(names)).toEqual([
      { _id: "a", n: 3 },
      { _id: "b", n: 2 },
      { _id: "c", n: 1 },
    ]);
    const dear = await all(source, [
      { $unionWith: { coll: from, pipeline: [{ $match: { price: { $gt: 5 } } }] } },
      { $match: { price: { $exists: true } } },
    ]);
    expect(byId(dear).map(({ _id }) => _id)).toEqual(["i2", "i3"]);
  });

  test("a join inside a join", async () => {
    const rows = await all(source, [
      { $match: { sku: "b" } },
      {
        $lookup: {
          from,
          let: { sku: "$sku" },
          pipeline: [
            { $match: { $expr: { $eq: ["$sku", "$$sku"] } } },
            { $lookup: { from: source, localField: "sku", foreignField: "sku", as: "back" } },
            { $project: { _id: 0, back: "$back.x" } },
          ],
          as: "item",
        },
      },
      { $project: { _id: 0, item: 1 } },
    ]);
    expect(rows).toEqual([{ item: [{ back: [60] }] }]);
  });

  test("in a $facet", async () => {
    const rows = await all(source, [
      {
        $facet: {
          joined: [
            { $lookup: { from, localField: "sku", foreignField: "sku", as: "i" } },
            { $group: { _id: null, n: { $sum: { $size: "$i" } } } },
          ],
          plain: [{ $count: "n" }],
        },
      },
    ]);
    expect(rows).toEqual([{ joined: [{ _id: null, n: 3 }], plain: [{ n: 3 }] }]);
  });
});

describe.each(["staff", "plainStaff"])("$graphLookup over %s", (from) => {
  test("walks from shard to shard", async () => {
    const rows = await all("staff", [
      { $match: { name: "ann" } },
      {
        $graphLookup: {
          from,
          startWith: "$boss",
          connectFromField: "boss",
          connectToField: "name",
          depthField: "depth",
          as: "chain",
        },
      },
      { $unwind: "$chain" },
      { $sort: { "chain.depth": 1 } },
      { $project: { _id: 0, name: "$chain.name" } },
    ]);
    expect(rows).toEqual([{ name: "bob" }, { name: "cid" }]);
  });
});

describe("who runs a join", () => {
  const join = { $lookup: { from: "plainItems", localField: "sku", foreignField: "sku", as: "item" } };

  test("one shard, where it has both sides (§6)", async () => {
    // x = 10 is on shardA, the primary, where plainItems is: the pipeline goes there whole.
    const [entry, ...others] = await cluster.traced(() => all("orders", [{ $match: { x: 10 } }, join]));
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ op: "aggregate", ns: "test.orders", shards: [{ shard: "shardA" }] });
  });

  test("the router, where the one shard lacks the other side", async () => {
    // x = 60 is on shardB: the foreign collection is fetched from shardA first.
    const entries = await cluster.traced(async () => {
      const rows = await all("orders", [{ $match: { x: 60 } }, join]);
      expect(rows).toEqual([{ ...ORDERS[1], item: [ITEMS[1]] }]);
    });
    expect(entries.map(({ ns, shards }) => [ns, shards.map(({ shard }) => shard)])).toEqual([
      ["test.plainItems", ["shardA"]],
      ["test.orders", ["shardB"]],
    ]);
  });

  test("a constant condition of the inner pipeline routes what is fetched", async () => {
    const lookup = {
      from: "orders",
      let: { sku: "$sku" },
      pipeline: [{ $match: { x: 10 } }, { $match: { $expr: { $eq: ["$sku", "$$sku"] } } }],
      as: "o",
    };
    const [fetched] = await cluster.traced(() => all("items", [{ $lookup: lookup }]));
    expect(fetched).toMatchObject({ ns: "test.orders", shards: [{ shard: "shardA", returned: 1 }] });
  });

  test("a collection is fetched once, however many stages read it", async () => {
    const entries = await cluster.traced(() =>
      all("orders", [join, { ...join }, { $unionWith: "plainItems" }]),
    );
    expect(entries.map(({ ns }) => ns)).toEqual(["test.plainItems", "test.orders"]);
  });

  test("the sort key in front of a join is known behind it", async () => {
    // All of x > 50 is on shardB; the join is the router's, and so is the $sort whose key is asked for.
    const rows = await all("orders", [
      { $match: { x: { $gt: 50 } } },
      { $sort: { x: -1 } },
      join,
      { $project: { _id: 0, key: { $meta: "sortKey" } } },
    ]);
    expect(rows).toEqual([{ key: [90] }, { key: [60] }]);
  });

  test("what does not exist is empty", async () => {
    const rows = await all("orders", [
      { $lookup: { from: "nowhere", localField: "sku", foreignField: "sku", as: "item" } },
      { $match: { item: [] } },
      { $count: "n" },
    ]);
    expect(rows).toEqual([{ n: 3 }]);
  });

  test("$documents in front joins nothing", async () => {
    const rows = await all("orders", [
      { $match: { x: { $gt: 50 } } },
      { $lookup: { pipeline: [{ $documents: [{ n: 1 }] }], as: "d" } },
      { $unionWith: { pipeline: [{ $documents: [{ _id: 9 }] }] } },
      { $project: { d: "$d.n" } },
    ]);
    expect(byId(rows)).toEqual([{ _id: 2, d: [1] }, { _id: 3, d: [1] }, { _id: 9 }]);
  });
});

describe("under a collation", () => {
  test("a join compares as the command says, whatever the foreign collection's own collation", async () => {
    await cluster.ok("test", { create: "loose", collation: { locale: "en", strength: 2 } });
    await cluster.ok("test", { insert: "loose", documents: [{ _id: 1, sku: "A" }] });
    const pipeline = [
      { $lookup: { from: "loose", localField: "sku", foreignField: "sku", as: "l" } },
      { $match: { "l.0": { $exists: true } } },
      { $count: "n" },
    ];
    expect(await all("orders", pipeline)).toEqual([]);
    expect(await all("orders", pipeline, { collation: { locale: "en", strength: 2 } })).toEqual([{ n: 2 }]);
  });

  test("the source's own collation holds where the router joins", async () => {
    await cluster.ok("test", { create: "looseOrders", collation: { locale: "en", strength: 2 } });
    await cluster.ok("test", { insert: "looseOrders", documents: [{ _id: 1, sku: "A" }] });
    const pipeline = [{ $lookup: { from: "items", localField: "sku", foreignField: "sku", as: "i" } }];
    expect(await all("looseOrders", pipeline)).toEqual([{ _id: 1, sku: "A", i: [ITEMS[0]] }]);
    expect(await all("looseOrders", pipeline, { collation: { locale: "simple" } })).toEqual([
      { _id: 1, sku: "A", i: [] },
    ]);
  });
});

describe("before 5.1 (§6)", () => {
  test("$lookup and $graphLookup refuse a sharded collection with 28769, $unionWith takes it", async () => {
    const old = await startCluster({ rules: "5.0" });
    await loadJoined(old);
    const reply = (coll: string, stage: object): Promise<Doc> =>
      old.run("test", { aggregate: coll, pipeline: [stage], cursor: {} });
    const lookup = (from: string): object => ({
      $lookup: { from, localField: "sku", foreignField: "sku", as: "i" },
    });
    for (const source of ["orders", "plainOrders"]) {
      expect(await reply(source, lookup("items"))).toMatchObject({
        ok: 0,
        code: 28769,
        errmsg: "test.items cannot be sharded",
      });
      expect(await reply(source, lookup("plainItems"))).toMatchObject({ ok: 1 });
      expect(await reply(source, { $unionWith: "items" })).toMatchObject({ ok: 1 });
      expect(await reply(source, { $facet: { a: [lookup("items")] } })).toMatchObject({ code: 28769 });
    }
    const graph = {
      from: "staff",
      startWith: "$a",
      connectFromField: "boss",
      connectToField: "name",
      as: "g",
    };
    expect(await reply("orders", { $graphLookup: graph })).toMatchObject({ code: 28769 });
  });
});

describe("what goes wrong in a join", () => {
  test("is told as one server tells it", async () => {
    expect(await run("orders", [{ $lookup: { from: "items", as: "i" } }])).toMatchObject({ code: 9 });
    expect(await run("orders", [{ $unionWith: { coll: "items", pipeline: [{ $nope: 1 }] } }])).toMatchObject({
      code: 40324,
    });
    const out = [{ $lookup: { from: "items", pipeline: [{ $out: "o" }], as: "i" } }];
    expect(await run("orders", out)).toMatchObject({ code: 51047 });
    const divide = { $lookup: { from: "items", pipeline: [{ $set: { y: { $divide: [1, 0] } } }], as: "i" } };
    expect(await run("orders", [divide])).toMatchObject({ code: 2 });
  });
});
