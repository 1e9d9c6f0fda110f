import { describe, expect, it } from "vitest";
import { stagesOf, TestMongod } from "./support.js";

async function people(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert(
    "p",
    { _id: 1, name: "Ada", dept: "x", age: 36, tags: ["a", "b"] },
    { _id: 2, name: "bob", dept: "y", age: 25 },
    { _id: 3, name: "Cyd", dept: "x", age: 41, tags: [] },
    { _id: 4, name: "ADA", dept: "y" },
  );
  return t;
}
const ids = (found: { _id?: unknown }[]): unknown[] => found.map(({ _id }) => _id);

describe("find with let", () => {
  it("sees the variables in $expr", async () => {
    const t = await people();
    const filter = { $expr: { $gt: ["$age", "$$least"] } };
    expect(ids(await t.find("p", filter, { let: { least: 30 } }))).toEqual([1, 3]);
    expect(ids(await t.find("p", filter, { let: { least: 40 } }))).toEqual([3]);
  });
});

describe("find with a collation", () => {
  it("matches and sorts by it", async () => {
    const t = await people();
    const collation = { locale: "en", strength: 2 };
    expect(ids(await t.find("p", { name: "ada" }, { collation }))).toEqual([1, 4]);
    expect(ids(await t.find("p", { name: "ada" }))).toEqual([]);
    expect(ids(await t.find("p", {}, { sort: { name: 1, _id: 1 }, collation }))).toEqual([1, 4, 2, 3]);
    // By bytes, capitals come first.
    expect(ids(await t.find("p", {}, { sort: { name: 1 } }))).toEqual([4, 1, 3, 2]);
    expect(await t.run({ count: "p", query: { name: "ada" }, collation })).toMatchObject({ n: 2 });
    expect(await t.run({ distinct: "p", key: "name", collation })).toMatchObject({
      values: ["Ada", "bob", "Cyd"],
    });
  });
});

describe("returnKey", () => {
  it("gives the index key instead of the document, or nothing where no index was used", async () => {
    const t = await people();
    await t.createIndex("p", { dept: 1, tags: 1 });
    expect(await t.find("p", { dept: "x" }, { returnKey: true, hint: { dept: 1, tags: 1 } })).toEqual(
      [
        { dept: "x", tags: null }, // an empty array is stored as undefined
        { dept: "x", tags: "a" },
      ].map((key, i) => (i === 0 ? { dept: "x", tags: undefined } : key)),
    );
    expect(await t.find("p", { age: 25 }, { returnKey: true })).toEqual([{}]);
    expect(await t.find("p", { _id: 2 }, { returnKey: true })).toEqual([{ _id: 2 }]);
    expect(stagesOf(await t.explain({ find: "p", filter: { _id: 2 }, returnKey: true }))).toEqual([
      "RETURN_KEY",
      "IDHACK",
    ]);
    expect(stagesOf(await t.explain({ find: "p", filter: { dept: "x" }, returnKey: true }))).toEqual([
      "RETURN_KEY",
      "IXSCAN",
    ]);
  });
});

describe("showRecordId", () => {
  it("adds $recordId at the end, whatever else is projected", async () => {
    const t = await people();
    expect(await t.find("p", { _id: 2 }, { showRecordId: true, projection: { age: 1 } })).toEqual([
      { _id: 2, age: 25, $recordId: 2 },
    ]);
    const [first] = await t.find("p", {}, { showRecordId: true });
    expect(Object.keys(first!)).toEqual(["_id", "name", "dept", "age", "tags", "$recordId"]);
  });
});

describe("$meta in a projection", () => {
  it("shows the sort key, from a sort and from an index, the record id and the index key", async () => {
    const t = await people();
    const projection = { _id: 1, key: { $meta: "sortKey" }, at: { $meta: "recordId" } };
    const expected = [
      { _id: 2, key: [25], at: 2 },
      { _id: 1, key: [36], at: 1 },
    ];
    const options = { sort: { age: 1 }, projection };
    expect(await t.find("p", { age: { $lt: 40 } }, options)).toEqual(expected);
    await t.createIndex("p", { age: 1 });
    expect(await t.find("p", { age: { $lt: 40 } }, options)).toEqual(expected);
    expect(stagesOf(await t.explain({ find: "p", filter: { age: { $lt: 40 } }, ...options }))).toEqual([
      "PROJECTION_DEFAULT",
      "SORT_KEY_GENERATOR",
      "FETCH",
      "IXSCAN",
    ]);
    const keys = await t.find(
      "p",
      { age: { $lt: 40 } },
      { projection: { _id: 0, age: 1, k: { $meta: "indexKey" } } },
    );
    expect(keys).toEqual([
      { age: 25, k: { age: 25 } },
      { age: 36, k: { age: 36 } },
    ]);
    expect(await t.reply({ find: "p", projection: { k: { $meta: "sortKey" } } })).toMatchObject({ code: 2 });
  });
});

describe("the positional projection", () => {
  it("shows the element that the query matched", async () => {
    const t = await people();
    expect(await t.find("p", { tags: "b" }, { projection: { "tags.$": 1 } })).toEqual([
      { _id: 1, tags: ["b"] },
    ]);
    await t.createIndex("p", { tags: 1 });
    expect(await t.find("p", { tags: "b" }, { projection: { "tags.$": 1 } })).toEqual([
      { _id: 1, tags: ["b"] },
    ]);
  });
});

describe("a tailable cursor", () => {
  async function log(): Promise<TestMongod> {
    const t = new TestMongod();
    await t.run({ create: "log", capped: true, size: 4096, max: 3 });
    await t.insert("log", { _id: 1 }, { _id: 2 });
    return t;
  }

  it("stays open at the end and gives what was inserted since", async () => {
    const t = await log();
    const { cursor } = await t.run({ find: "log", tailable: true });
    expect(cursor.firstBatch).toEqual([{ _id: 1 }, { _id: 2 }]);
    const more = async (): Promise<unknown> =>
      (await t.run({ getMore: BigInt(cursor.id), collection: "log" }))["cursor"].nextBatch;
    expect(await more()).toEqual([]);
    await t.insert("log", { _id: 3 });
    expect(await more()).toEqual([{ _id: 3 }]);
    expect(await more()).toEqual([]);
  });

  it("is for capped collections, in their order, and does not wait", async () => {
    const t = await log();
    await t.insert("plain", { _id: 1 });
    expect(await t.reply({ find: "plain", tailable: true })).toMatchObject({ code: 2 });
    expect(await t.reply({ find: "log", tailable: true, sort: { x: 1 } })).toMatchObject({ code: 2 });
    expect(await t.reply({ find: "log", tailable: true, singleBatch: true })).toMatchObject({ code: 2 });
    expect(await t.reply({ find: "log", awaitData: true })).toMatchObject({ code: 9 });
    expect(await t.reply({ find: "log", tailable: true, awaitData: true })).toMatchObject({ code: 238 });
    expect(Number((await t.run({ find: "none", tailable: true }))["cursor"].id)).toBe(0);
  });
});

describe("distinct", () => {
  it("takes arrays apart, passes by what is missing, and keeps the order in which values came", async () => {
    const t = await people();
    expect(await t.run({ distinct: "p", key: "tags" })).toMatchObject({ values: ["a", "b"] });
    expect(await t.run({ distinct: "p", key: "dept", query: { age: { $gt: 30 } } })).toMatchObject({
      values: ["x"],
    });
    expect(await t.run({ distinct: "p", key: "age" })).toMatchObject({ values: [36, 25, 41] });
  });

  it("looks up one key for each value where an index has them", async () => {
    const t = new TestMongod();
    await t.insert("p", ...Array.from({ length: 60 }, (_, i) => ({ _id: i, dept: `d${i % 3}`, n: i })));
    await t.createIndex("p", { dept: 1, n: 1 });
    expect(await t.run({ distinct: "p", key: "dept" })).toMatchObject({ values: ["d0", "d1", "d2"] });
    const explained = await t.explain({ distinct: "p", key: "dept" });
    expect(explained["queryPlanner"].winningPlan).toMatchObject({
      stage: "PROJECTION_COVERED",
      transformBy: { _id: 0, dept: 1 },
      inputStage: { stage: "DISTINCT_SCAN", indexName: "dept_1_n_1", direction: "forward" },
    });
    expect(explained["executionStats"]).toMatchObject({
      nReturned: 3,
      totalKeysExamined: 3,
      totalDocsExamined: 0,
    });
    // A missing field has the key of null: the scan looks behind it for a null that is really there.
    await t.insert("p", { _id: 100 });
    expect(await t.run({ distinct: "p", key: "dept" })).toMatchObject({ values: ["d0", "d1", "d2"] });
    await t.insert("p", { _id: 101 }, { _id: 102, dept: null });
    expect(await t.run({ distinct: "p", key: "dept" })).toMatchObject({ values: [null, "d0", "d1", "d2"] });
  });

  it("wants a key", async () => {
    const t = await people();
    expect(await t.reply({ distinct: "p" })).toMatchObject({ code: 40414 });
    expect(await t.reply({ distinct: "p", key: 5 })).toMatchObject({ code: 14 });
    expect(await t.reply({ distinct: "p", key: "a\0b" })).toMatchObject({ code: 31032 });
  });
});

describe("count", () => {
  it("skips, limits (a negative limit too) and takes a hint", async () => {
    const t = await people();
    await t.createIndex("p", { tags: 1 }, { sparse: true });
    const n = async (options: object): Promise<unknown> => (await t.run({ count: "p", ...options }))["n"];
    expect(await n({})).toBe(4);
    expect(await n({ skip: 1, limit: 2 })).toBe(2);
    expect(await n({ limit: -3 })).toBe(3);
    expect(await n({ query: { dept: "x" }, skip: 1 })).toBe(1);
    expect(await n({ query: { dept: "x" }, skip: 9 })).toBe(0);
    // The caller gets what the hinted index has: two documents without tags are not in it.
    expect(await n({ hint: "tags_1" })).toBe(2);
    expect(await n({ query: { tags: "b" } })).toBe(1);
    expect(await t.reply({ count: "p", skip: -1 })).toMatchObject({ code: 51024 });
  });
});

describe("a view", () => {
  it("is read by find, count and distinct as the pipeline that it is", async () => {
    const t = await people();
    await t.run({ create: "x", viewOn: "p", pipeline: [{ $match: { dept: "x" } }] });
    expect(ids(await t.find("x", { age: { $gt: 40 } }))).toEqual([3]);
    expect(await t.run({ count: "x" })).toMatchObject({ n: 2 });
    expect(await t.run({ distinct: "x", key: "tags" })).toMatchObject({ values: ["a", "b"] });
    const explained = await t.explain({ find: "x", filter: { age: { $gt: 40 } } });
    expect(explained["queryPlanner"].namespace).toBe("library.p");
  });
});
