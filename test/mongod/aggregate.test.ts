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
    expect(await t.reply({ aggregate: 1, pipeline: [{ $match: {} }], cursor: {} })).toMatchObject({ ok: 0 });
    expect(await t.reply({ aggregate: "s", pipeline: [], cursor: {}, let: { x: 1 } })).toMatchObject({
      code: 238,
    });
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
