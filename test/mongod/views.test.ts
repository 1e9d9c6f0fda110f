import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

async function shop(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert(
    "orders",
    { _id: 1, who: "ann", sum: 10, tags: ["a", "b"] },
    { _id: 2, who: "bob", sum: 25, tags: ["b"] },
    { _id: 3, who: "ann", sum: 40 },
    { _id: 4, who: "cid", sum: 5, tags: [] },
  );
  await t.run({ create: "big", viewOn: "orders", pipeline: [{ $match: { sum: { $gte: 10 } } }] });
  await t.run({ create: "bigNames", viewOn: "big", pipeline: [{ $project: { who: 1, sum: 1 } }] });
  return t;
}

describe("reading a view", () => {
  it("find: filter, sort, skip, limit, projection; a cursor keeps the view's name", async () => {
    const t = await shop();
    expect(await t.find("big", { who: "ann" }, { sort: { sum: -1 }, limit: 1 })).toEqual([
      { _id: 3, who: "ann", sum: 40 },
    ]);
    expect(await t.find("bigNames", {}, { skip: 1, projection: { _id: 0, who: 1 } })).toEqual([
      { who: "bob" },
      { who: "ann" },
    ]);
    const { cursor } = await t.run({ find: "big", batchSize: 1 });
    expect(cursor).toMatchObject({ ns: "library.big", firstBatch: [{ _id: 1 }] });
    const more = await t.run({ getMore: BigInt(cursor.id), collection: "big" });
    expect(more["cursor"]).toMatchObject({ id: 0, ns: "library.big", nextBatch: [{ _id: 2 }, { _id: 3 }] });
  });

  it("count, distinct and aggregate", async () => {
    const t = await shop();
    expect(await t.run({ count: "big" })).toEqual({ n: 3, ok: 1 });
    expect(await t.run({ count: "big", query: { who: "ann" }, skip: 1 })).toEqual({ n: 1, ok: 1 });
    expect(await t.run({ count: "big", query: { who: "zoe" } })).toEqual({ n: 0, ok: 1 });
    expect(await t.run({ distinct: "big", key: "who" })).toEqual({ values: ["ann", "bob"], ok: 1 });
    expect((await t.run({ distinct: "big", key: "tags" }))["values"].sort()).toEqual(["a", "b"]);
    expect(await t.run({ distinct: "big", key: "nope" })).toEqual({ values: [], ok: 1 });
    expect(
      await t.aggregate("bigNames", [
        { $group: { _id: "$who", n: { $sum: "$sum" } } },
        { $sort: { _id: 1 } },
      ]),
    ).toEqual([
      { _id: "ann", n: 50 },
      { _id: "bob", n: 25 },
    ]);
  });

  it("from $lookup, $unionWith and $graphLookup of another collection", async () => {
    const t = await shop();
    await t.insert("people", { _id: "ann" }, { _id: "cid" });
    expect(
      await t.aggregate("people", [
        { $lookup: { from: "bigNames", localField: "_id", foreignField: "who", as: "o" } },
        { $project: { n: { $size: "$o" } } },
        { $unionWith: { coll: "big", pipeline: [{ $project: { who: 1 } }, { $limit: 1 }] } },
      ]),
    ).toEqual([
      { _id: "ann", n: 2 },
      { _id: "cid", n: 0 },
      { _id: 1, who: "ann" },
    ]);
  });

  it("sees the data as they are now, and an index of the collection underneath", async () => {
    const t = await shop();
    await t.createIndex("orders", { sum: 1 });
    await t.insert("orders", { _id: 5, who: "dan", sum: 99 });
    expect((await t.find("big", { who: "dan" })).length).toBe(1);
    const explained = await t.explain({ find: "big", filter: { who: "dan" } });
    expect(explained["executionStats"]).toMatchObject({ nReturned: 1, totalKeysExamined: 4 });
  });

  it("of a collection that does not exist, or is no collection, gives nothing", async () => {
    const t = new TestMongod();
    await t.run({ create: "v", viewOn: "nothing", pipeline: [] });
    expect(await t.find("v")).toEqual([]);
    expect(await t.run({ count: "v" })).toEqual({ n: 0, ok: 1 });
  });

  it("has the view's collation, and no other", async () => {
    const t = await shop();
    const collation = { locale: "en", strength: 2 };
    await t.run({ create: "folded", viewOn: "orders", pipeline: [], collation });
    expect(await t.find("folded", { who: "ANN" })).toHaveLength(2);
    expect(await t.find("folded", { who: "ANN" }, { collation })).toHaveLength(2);
    expect(await t.reply({ find: "folded", collation: { locale: "fr" } })).toMatchObject({
      code: 167,
      errmsg: "Cannot override a view's default collationlibrary.folded",
    });
    expect(await t.reply({ find: "big", collation })).toMatchObject({ code: 167 });
  });

  it("refuses what no pipeline can say", async () => {
    const t = await shop();
    for (const option of [
      { min: { a: 1 } },
      { returnKey: true },
      { showRecordId: true },
      { tailable: true },
    ]) {
      expect(await t.reply({ find: "big", ...option })).toMatchObject({ code: 168 });
    }
    expect(await t.reply({ find: "big", sort: { $natural: 1 } })).toMatchObject({ code: 168 });
    expect(await t.reply({ find: "big", singleBatch: true })).toMatchObject({ code: 168 });
    expect(await t.find("big", {}, { singleBatch: true, limit: 1 })).toHaveLength(1);
    expect(await t.reply({ aggregate: "big", pipeline: [{ $indexStats: {} }], cursor: {} })).toMatchObject({
      code: 40602,
    });
    expect(
      await t.reply({ aggregate: "big", pipeline: [{ $collStats: { count: {} } }], cursor: {} }),
    ).toMatchObject({ code: 166 });
  });
});
