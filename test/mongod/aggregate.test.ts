import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

async function sales(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert(
    "s",
    { _id: 1, shop: "a", amount: 10 },
    { _id: 2, shop: "b", amount: 20 },
    { _id: 3, shop: "a", amount: 30 },
    { _id: 4, shop: "c", amount: 5 },
  );
  return t;
}

describe("aggregate", () => {
  it("matches, groups and sorts", async () => {
    const t = await sales();
    const rows = await t.aggregate("s", [
      { $match: { amount: { $gte: 10 } } },
      { $group: { _id: "$shop", total: { $sum: "$amount" }, n: { $sum: 1 } } },
      { $sort: { total: -1 } },
    ]);
    expect(rows).toEqual([
      { _id: "a", total: 40, n: 2 },
      { _id: "b", total: 20, n: 1 },
    ]);
  });

  it("counts as countDocuments does", async () => {
    const t = await sales();
    expect(
      await t.aggregate("s", [{ $match: { shop: "a" } }, { $group: { _id: 1, n: { $sum: 1 } } }]),
    ).toEqual([{ _id: 1, n: 2 }]);
    expect(await t.aggregate("s", [{ $match: { shop: "a" } }, { $count: "n" }])).toEqual([{ n: 2 }]);
  });

  it("sorts, skips and limits in the order the stages stand", async () => {
    const t = await sales();
    const ids = async (...pipeline: object[]): Promise<number[]> =>
      (await t.aggregate("s", pipeline)).map(({ _id }) => _id);
    expect(await ids({ $sort: { amount: -1 } }, { $skip: 1 }, { $limit: 2 })).toEqual([2, 1]);
    expect(await ids({ $sort: { amount: -1 } }, { $limit: 2 }, { $skip: 1 })).toEqual([2]);
    expect(await ids({ $limit: 2 }, { $sort: { amount: -1 } })).toEqual([2, 1]);
    expect(await ids({ $limit: 2 }, { $match: { shop: "a" } })).toEqual([1]);
    expect(await ids({ $skip: 1 }, { $skip: 1 }, { $limit: 1 })).toEqual([3]);
  });

  it("answers in batches and reads on only when asked", async () => {
    const t = new TestMongod();
    await t.insert("n", ...Array.from({ length: 250 }, (_, i) => ({ _id: i })));
    const command = {
      aggregate: "n",
      pipeline: [{ $project: { twice: { $add: ["$_id", "$_id"] } } }],
      cursor: { batchSize: 10 },
    };
    const { cursor } = await t.run(command);
    expect(cursor.firstBatch).toHaveLength(10);
    const more = await t.run({ getMore: BigInt(cursor.id), collection: "n" });
    expect(more["cursor"].nextBatch).toHaveLength(240);
    expect(more["cursor"].nextBatch[239]).toEqual({ _id: 249, twice: 498 });
  });

  it("refuses unknown stages, a missing cursor, and pipelines without a collection", async () => {
    const t = await sales();
    expect(await t.reply({ aggregate: "s", pipeline: [{ $nonsense: 1 }], cursor: {} })).toMatchObject({
      code: 40324,
    });
    expect(await t.reply({ aggregate: "s", pipeline: [] })).toMatchObject({ code: 9 });
    expect(await t.reply({ aggregate: "s", pipeline: [5], cursor: {} })).toMatchObject({ code: 14 });
    expect(await t.reply({ aggregate: 1, pipeline: [{ $match: {} }], cursor: {} })).toMatchObject({
      code: 73,
      errmsg: "{aggregate: 1} is not valid for '$match'; a collection is required.",
    });
    expect(await t.reply({ aggregate: 1, pipeline: [], cursor: {} })).toMatchObject({ code: 73 });
    expect(await t.reply({ aggregate: "s", pipeline: [{ $documents: [] }], cursor: {} })).toMatchObject({
      code: 73,
      errmsg: "'$documents' can only be run with {aggregate: 1}",
    });
    expect(await t.reply({ aggregate: "s", pipeline: [], cursor: {}, nonsense: 1 })).toMatchObject({
      code: 40415,
    });
  });

  it("says of a failure at work on which collection, of one in the pipeline nothing", async () => {
    const t = await sales();
    const failing = [{ $project: { x: { $divide: ["$amount", 0] } } }];
    expect(await t.reply({ aggregate: "s", pipeline: failing, cursor: {} })).toMatchObject({
      code: 2,
      errmsg:
        "Executor error during aggregate command on namespace: library.s :: caused by :: can't $divide by zero",
    });
    expect(await t.reply({ aggregate: "s", pipeline: [{ $limit: 0 }], cursor: {} })).toMatchObject({
      errmsg: "the limit must be positive",
    });
  });

  it("has variables from let, one $$NOW, and a collation for every comparison", async () => {
    const t = await sales();
    const run = async (command: object) => t.all({ aggregate: "s", cursor: {}, ...command });
    expect(
      await run({
        let: { least: 20, shop: "a" },
        pipeline: [
          { $match: { $expr: { $and: [{ $gte: ["$amount", "$$least"] }, { $eq: ["$shop", "$$shop"] }] } } },
          { $project: { left: { $subtract: ["$amount", "$$least"] } } },
        ],
      }),
    ).toEqual([{ _id: 3, left: 10 }]);
    const [row] = await run({
      pipeline: [
        { $limit: 1 },
        { $lookup: { from: "s", pipeline: [{ $limit: 1 }, { $project: { t: "$$NOW" } }], as: "l" } },
        { $project: { same: { $eq: ["$$NOW", { $first: "$l.t" }] } } },
      ],
    });
    expect(row).toEqual({ _id: 1, same: true });
    expect(
      await run({
        collation: { locale: "en", strength: 2 },
        pipeline: [{ $match: { shop: "A" } }, { $group: { _id: { $eq: ["$shop", "A"] }, n: { $sum: 1 } } }],
      }),
    ).toEqual([{ _id: true, n: 2 }]);
    expect(await t.reply({ aggregate: "s", pipeline: [], cursor: {}, let: { x: "$amount" } })).toMatchObject({
      ok: 0,
      code: 4890500,
    });
  });

  it("takes a hint, and refuses an index that does not exist", async () => {
    const t = await sales();
    await t.createIndex("s", { shop: 1 });
    const command = { aggregate: "s", pipeline: [{ $match: { amount: 5 } }], cursor: {} };
    expect(await t.all({ ...command, hint: "shop_1" })).toEqual([{ _id: 4, shop: "c", amount: 5 }]);
    expect(await t.reply({ ...command, hint: "nope" })).toMatchObject({ code: 2 });
  });

  it("ends after maxTimeMS inside its stages as well", async () => {
    const t = new TestMongod();
    await t.insert("n", { _id: 1, list: Array.from({ length: 1500 }, (_, i) => i) });
    // The clock goes on by one millisecond at each look.
    Object.assign(t.environment, { now: () => t.environment.time++ });
    const pipeline = [
      { $unwind: "$list" },
      { $lookup: { from: "n", localField: "list", foreignField: "_id", as: "x" } },
      { $lookup: { from: "n", localField: "list", foreignField: "_id", as: "y" } },
    ];
    expect(await t.reply({ aggregate: "n", pipeline, cursor: {}, maxTimeMS: 1 })).toMatchObject({ code: 50 });
  });

  it("refuses a result that no client could read", async () => {
    const t = new TestMongod();
    const pad = "x".repeat(1_000_000);
    await t.insert("n", ...Array.from({ length: 20 }, (_, i) => ({ _id: i, pad })));
    const pipeline = [{ $group: { _id: null, all: { $push: "$pad" } } }];
    expect(await t.reply({ aggregate: "n", pipeline, cursor: {} })).toMatchObject({
      code: 10334,
      codeName: "BSONObjectTooLarge",
    });
    // On its way it may be as large.
    expect(await t.aggregate("n", [...pipeline, { $project: { n: { $size: "$all" } } }])).toEqual([
      { _id: null, n: 20 },
    ]);
  });

  it("never changes what is stored", async () => {
    const t = await sales();
    const before = await t.find("s");
    await t.aggregate("s", [{ $set: { amount: 0, "x.y": 1 } }, { $unset: "shop" }, { $project: { _id: 0 } }]);
    expect(await t.find("s")).toEqual(before);
  });

  it("knows the sort key and the record id of a document", async () => {
    const t = await sales();
    expect(
      await t.aggregate("s", [
        { $sort: { amount: -1 } },
        { $limit: 2 },
        { $set: { key: { $meta: "sortKey" }, record: { $meta: "recordId" } } },
        { $project: { shop: 0, amount: 0 } },
      ]),
    ).toEqual([
      { _id: 3, key: [30], record: 3 },
      { _id: 2, key: [20], record: 2 },
    ]);
  });

  it("gives nothing, or what needs no input, for a collection that does not exist", async () => {
    const t = new TestMongod();
    expect(await t.aggregate("none", [{ $match: {} }])).toEqual([]);
    expect(await t.aggregate("none", [{ $count: "n" }])).toEqual([]);
  });
});

describe("count and distinct", () => {
  it("count all, or what matches, with skip and limit", async () => {
    const t = await sales();
    expect(await t.run({ count: "s" })).toEqual({ n: 4, ok: 1 });
    expect(await t.run({ count: "s", query: { shop: "a" } })).toEqual({ n: 2, ok: 1 });
    expect(await t.run({ count: "s", skip: 1, limit: 2 })).toEqual({ n: 2, ok: 1 });
    expect(await t.run({ count: "s", query: { amount: { $gt: 5 } }, skip: 2 })).toEqual({ n: 1, ok: 1 });
    expect(await t.run({ count: "s", limit: -3 })).toEqual({ n: 3, ok: 1 });
    expect(await t.run({ count: "none" })).toEqual({ n: 0, ok: 1 });
  });

  it("list the different values, also inside arrays", async () => {
    const t = new TestMongod();
    await t.insert(
      "c",
      { _id: 1, x: 1, o: [{ y: 1 }, { y: 2 }] },
      { _id: 2, x: [1, 2] },
      { _id: 3, x: 1.0, o: { y: 3 } },
      { _id: 4 },
    );
    expect(await t.run({ distinct: "c", key: "x" })).toEqual({ values: [1, 2], ok: 1 });
    expect(await t.run({ distinct: "c", key: "o.y" })).toEqual({ values: [1, 2, 3], ok: 1 });
    expect(await t.run({ distinct: "c", key: "o.0.y", query: { _id: 1 } })).toEqual({ values: [1], ok: 1 });
    expect(await t.run({ distinct: "none", key: "x" })).toEqual({ values: [], ok: 1 });
    expect(await t.reply({ distinct: "c" })).toMatchObject({ code: 40414 });
  });
});
