import type { Document } from "bson";
import { describe, expect, it } from "vitest";
import { stagesOf, TestMongod } from "./support.js";

/** A collection with these documents (numbered) and indexes. */
async function collection(
  documents: object[],
  ...indexes: [Record<string, unknown>, object?][]
): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert("c", ...documents.map((document, i) => ({ _id: i, ...document })));
  for (const [key, options] of indexes) await t.createIndex("c", key, options ?? {});
  return t;
}
const many = (n: number, make: (i: number) => object): object[] =>
  Array.from({ length: n }, (_, i) => make(i));
const winner = async (t: TestMongod, command: object): Promise<Document> =>
  (await t.explain({ find: "c", ...command }))["queryPlanner"].winningPlan;
/** The lowest stage of a plan without branches. */
function bottom(plan: Document): Document {
  return plan["inputStage"] ? bottom(plan["inputStage"]) : plan;
}
const ids = async (t: TestMongod, filter: object, options: object = {}): Promise<unknown[]> =>
  (await t.find("c", filter, options)).map(({ _id }) => _id);
const sortedIds = async (t: TestMongod, filter: object): Promise<unknown[]> =>
  (await ids(t, filter)).sort((x, y) => Number(x) - Number(y));

describe("choosing among plans", () => {
  it("tries them side by side: the example of MongoDB's own description, to the last number", async () => {
    // src/mongo/db/query/README_explain.md: 100 documents {a: i, b: i % 2}, find({a: 1, b: 1})
    const t = await collection(
      many(100, (i) => ({ a: i + 1, b: (i + 1) % 2 })),
      [{ a: 1 }],
      [{ b: 1 }],
      [{ a: 1, b: 1 }],
    );
    const { queryPlanner, executionStats } = await t.run({ explain: { find: "c", filter: { a: 1, b: 1 } } });
    expect(queryPlanner.winningPlan).toMatchObject({
      stage: "FETCH",
      inputStage: { indexName: "a_1_b_1", indexBounds: { a: ["[1, 1]"], b: ["[1, 1]"] } },
    });
    expect(
      queryPlanner.rejectedPlans.map((plan: Document) => [plan["inputStage"].indexName, plan["filter"]]),
    ).toEqual([
      ["a_1", { b: { $eq: 1 } }],
      ["b_1", { a: { $eq: 1 } }],
    ]);
    expect(executionStats).toMatchObject({ nReturned: 1, totalKeysExamined: 1, totalDocsExamined: 1 });
    // FETCH was asked once more after its end, by the trial's winner going on.
    expect(executionStats.executionStages).toMatchObject({ works: 3, advanced: 1, needTime: 0, isEOF: 1 });
    expect(executionStats.executionStages.inputStage).toMatchObject({
      works: 2,
      advanced: 1,
      seeks: 1,
      keysExamined: 1,
    });
    const trials = executionStats.allPlansExecution.map((trial: Document) => ({
      index: trial["executionStages"].inputStage.indexName,
      score: trial["score"],
      keys: trial["totalKeysExamined"],
      docs: trial["totalDocsExamined"],
      works: trial["executionStages"].works,
      isEOF: trial["executionStages"].isEOF,
    }));
    expect(trials).toEqual([
      { index: "a_1_b_1", score: 2.5002, keys: 1, docs: 1, works: 2, isEOF: 1 },
      { index: "a_1", score: 2.5002, keys: 1, docs: 1, works: 2, isEOF: 1 },
      { index: "b_1", score: 1.5002, keys: 2, docs: 2, works: 2, isEOF: 0 },
    ]);
  });

  it("keeps what the trial found: nothing is examined twice", async () => {
    const t = await collection(
      many(200, (i) => ({ a: i % 4, b: i % 50 })),
      [{ a: 1 }],
      [{ b: 1 }],
    );
    const explained = await t.explain({ find: "c", filter: { a: 1, b: { $lt: 25 } } });
    expect(explained["executionStats"]).toMatchObject({ totalKeysExamined: 50, totalDocsExamined: 50 });
    expect(await ids(t, { a: 1, b: { $lt: 25 } })).toHaveLength(explained["executionStats"].nReturned);
  });

  it("prefers an index in the wanted order where few results are wanted", async () => {
    const t = await collection(
      many(1000, (i) => ({ a: i % 2, n: i })),
      [{ a: 1 }],
      [{ n: 1 }],
    );
    const few = await t.explain({ find: "c", filter: { a: 1 }, sort: { n: 1 }, limit: 5 });
    expect(stagesOf(few)).toEqual(["LIMIT", "FETCH", "IXSCAN"]);
    expect(few["executionStats"]).toMatchObject({ totalKeysExamined: 10, totalDocsExamined: 10 });
    expect(few["queryPlanner"].rejectedPlans.map(({ stage }: Document) => stage)).toEqual(["SORT"]);
  });

  it("has nothing to choose where an equality is on a unique index", async () => {
    const t = await collection(
      many(10, (i) => ({ u: i, a: 1 })),
      [{ u: 1 }, { unique: true }],
      [{ a: 1 }],
    );
    const explained = await t.explain({ find: "c", filter: { a: 1, u: 3 } });
    expect(bottom(explained["queryPlanner"].winningPlan)).toMatchObject({ indexName: "u_1" });
    expect(explained["queryPlanner"].rejectedPlans).toEqual([]);
    expect(await winner(t, { filter: { u: 3 } })).toMatchObject({
      stage: "EXPRESS_IXSCAN",
      keyPattern: "{ u: 1 }",
      indexName: "u_1",
    });
    // Not unique, but only one result is wanted.
    expect(await winner(t, { filter: { a: 1 }, limit: 1 })).toMatchObject({
      stage: "EXPRESS_IXSCAN",
      indexName: "a_1",
    });
  });
});

describe("equality, sort, range", () => {
  const rows = many(60, (i) => ({ dept: `d${i % 3}`, age: i % 20, name: `n${59 - i}` }));
  const query = { filter: { dept: "d1", age: { $gte: 10 } }, sort: { name: 1 } };

  it("sorts by the index when the sort stands before the range", async () => {
    const t = await collection(rows, [{ dept: 1, name: 1, age: 1 }]);
    const explained = await t.explain({ find: "c", ...query });
    expect(stagesOf(explained)).toEqual(["FETCH", "IXSCAN"]);
    expect(bottom(explained["queryPlanner"].winningPlan)["indexBounds"]).toEqual({
      dept: ['["d1", "d1"]'],
      name: ["[MinKey, MaxKey]"],
      age: ["[10, inf.0]"],
    });
    expect(explained["executionStats"].totalDocsExamined).toBe(explained["executionStats"].nReturned);
  });

  it("sorts in memory when the range stands before it", async () => {
    const t = await collection(rows, [{ dept: 1, age: 1, name: 1 }]);
    // The sort's values are in the keys: documents are fetched after it.
    expect(stagesOf(await t.explain({ find: "c", ...query }))).toEqual(["FETCH", "SORT", "IXSCAN"]);
    expect(await winner(t, query)).toMatchObject({ inputStage: { stage: "SORT", type: "default" } });
  });

  it("merges a scan for each value of an $in", async () => {
    const t = await collection(rows, [{ dept: 1, name: 1 }]);
    const command = { find: "c", filter: { dept: { $in: ["d0", "d2"] } }, sort: { name: -1 }, limit: 4 };
    const explained = await t.explain(command);
    expect(stagesOf(explained)).toEqual(["LIMIT", "FETCH", "SORT_MERGE", "IXSCAN"]);
    const merge = explained["queryPlanner"].winningPlan.inputStage.inputStage;
    expect(merge.sortPattern).toEqual({ name: -1 });
    expect(merge.inputStages.map((scan: Document) => [scan["direction"], scan["indexBounds"].dept])).toEqual([
      ["backward", ['["d0", "d0"]']],
      ["backward", ['["d2", "d2"]']],
    ]);
    // Four results and one key ahead in each scan that was asked again.
    expect(explained["executionStats"]).toMatchObject({
      nReturned: 4,
      totalKeysExamined: 5,
      totalDocsExamined: 4,
    });
    const sorted = await t.find("c", command.filter, { sort: { name: -1 }, hint: { $natural: 1 } });
    expect(await t.find("c", command.filter, { sort: { name: -1 } })).toEqual(sorted);
  });

  it("does not take more than 200 scans for that", async () => {
    const t = await collection(
      many(10, (i) => ({ a: i, b: i })),
      [{ a: 1, b: 1 }],
    );
    const explained = await t.explain({
      find: "c",
      filter: { a: { $in: Array.from({ length: 201 }, (_, i) => i) } },
      sort: { b: 1 },
    });
    expect(stagesOf(explained)).toContain("SORT");
    expect(explained["queryPlanner"].maxScansToExplodeReached).toBe(true);
  });
});

describe("bounds with gaps", () => {
  it("are walked as MongoDB does: keys that led the scan further are examined too", async () => {
    const t = await collection(
      many(6, (i) => ({ a: i + 1 })),
      [{ a: 1 }],
    );
    const explained = await t.explain({ find: "c", filter: { a: { $in: [1, 5] } } });
    // 1, 2 (from there to 5), 5, 6 (the end)
    expect(explained["executionStats"]).toMatchObject({ nReturned: 2, totalKeysExamined: 4 });
    expect(explained["executionStats"].executionStages.inputStage).toMatchObject({
      seeks: 2,
      works: 4,
      needTime: 1,
    });
    const backward = await t.explain({ find: "c", filter: { a: { $in: [1, 5] } }, sort: { a: -1 } });
    expect(bottom(backward["queryPlanner"].winningPlan)).toMatchObject({
      direction: "backward",
      indexBounds: { a: ["[5, 5]", "[1, 1]"] },
    });
    // 5, 4 (from there to 1), 1
    expect(backward["executionStats"].totalKeysExamined).toBe(3);
  });

  it("skip in a later field of the index", async () => {
    const t = await collection(
      many(50, (i) => ({ a: Math.floor(i / 10), b: i % 10 })),
      [{ a: 1, b: -1 }],
    );
    const explained = await t.explain({ find: "c", filter: { a: { $gte: 1, $lte: 3 }, b: { $in: [2, 4] } } });
    expect(bottom(explained["queryPlanner"].winningPlan)["indexBounds"]).toEqual({
      a: ["[1, 3]"],
      b: ["[4, 4]", "[2, 2]"],
    });
    // The first look-up is (1, 4), so for each a: [9,] 4, 3, 2, 1.
    expect(explained["executionStats"]).toMatchObject({ nReturned: 6, totalKeysExamined: 4 + 5 + 5 });
  });
});

describe("arrays in an index", () => {
  const elements = [
    {
      a: [
        { x: 1, y: 9 },
        { x: 8, y: 2 },
      ],
      d: 1,
    },
    { a: [{ x: 1, y: 2 }], d: 2 },
    { a: { x: 1, y: 2 }, d: 3 },
  ];

  it("two conditions on one array may be met by two elements: one of them goes into the bounds", async () => {
    const t = await collection(elements, [{ "a.x": 1, "a.y": 1 }]);
    const scan = bottom(await winner(t, { filter: { "a.x": 1, "a.y": 2 } }));
    expect(scan).toMatchObject({
      isMultiKey: true,
      multiKeyPaths: { "a.x": ["a"], "a.y": ["a"] },
      indexBounds: { "a.x": ["[1, 1]"], "a.y": ["[MinKey, MaxKey]"] },
    });
    expect(await sortedIds(t, { "a.x": 1, "a.y": 2 })).toEqual([0, 1, 2]);
  });

  it("an $elemMatch holds them together", async () => {
    const t = await collection(elements, [{ "a.x": 1, "a.y": 1 }]);
    const filter = { a: { $elemMatch: { x: 1, y: 2 } } };
    expect(bottom(await winner(t, { filter }))["indexBounds"]).toEqual({
      "a.x": ["[1, 1]"],
      "a.y": ["[2, 2]"],
    });
    expect(await ids(t, filter)).toEqual([1]);
  });

  it("two ends of a range are two conditions, each of which makes a plan", async () => {
    const t = await collection([{ n: [1, 9] }, { n: 5 }, { n: [0] }], [{ n: 1 }]);
    const explained = await t.explain({ find: "c", filter: { n: { $gt: 4, $lt: 6 } } });
    const all = [explained["queryPlanner"].winningPlan, ...explained["queryPlanner"].rejectedPlans];
    expect(all.map((plan) => bottom(plan)["indexBounds"].n).sort()).toEqual([
      ["(4, inf.0]"],
      ["[-inf.0, 6)"],
    ]);
    expect(await sortedIds(t, { n: { $gt: 4, $lt: 6 } })).toEqual([0, 1]);
    const together = { n: { $elemMatch: { $gt: 4, $lt: 6 } } };
    expect(bottom(await winner(t, { filter: together }))["indexBounds"]).toEqual({ n: ["(4, 6)"] });
    expect(await ids(t, together)).toEqual([]);
  });

  it("a field without arrays beside it is bounded as ever, and sorted by", async () => {
    const t = await collection(
      many(30, (i) => ({ tags: ["x", `t${i}`], day: 30 - i })),
      [{ tags: 1, day: 1 }],
    );
    const command = { find: "c", filter: { tags: "x", day: { $gte: 10, $lt: 15 } }, sort: { day: 1 } };
    const explained = await t.explain(command);
    expect(stagesOf(explained)).toEqual(["FETCH", "IXSCAN"]);
    expect(bottom(explained["queryPlanner"].winningPlan)).toMatchObject({
      multiKeyPaths: { tags: ["tags"], day: [] },
      indexBounds: { tags: ['["x", "x"]'], day: ["[10, 15)"] },
    });
    expect(explained["executionStats"]).toMatchObject({ totalKeysExamined: 5, totalDocsExamined: 5 });
  });
});

describe("indexes that hold not everything", () => {
  const docs = [{ n: 1, on: true }, { n: 2 }, { n: 3, on: true }, {}];

  it("a partial one serves queries that stay within its filter", async () => {
    const t = await collection(docs, [{ n: 1 }, { partialFilterExpression: { n: { $gt: 1 } } }]);
    expect(bottom(await winner(t, { filter: { n: { $gt: 1 } } }))).toMatchObject({
      stage: "IXSCAN",
      isPartial: true,
    });
    expect(bottom(await winner(t, { filter: { n: 3 } }))).toMatchObject({ stage: "IXSCAN" });
    expect(await winner(t, { filter: { n: { $gt: 0 } } })).toMatchObject({ stage: "COLLSCAN" });
    expect(stagesOf(await t.explain({ find: "c", sort: { n: 1 } }))).toEqual(["SORT", "COLLSCAN"]);
    // Hinted, it gives what it has.
    expect(await ids(t, {}, { hint: "n_1" })).toEqual([1, 2]);
    const branches = { $or: [{ n: { $gt: 2 } }, { n: { $gte: 2, $lt: 9 } }] };
    expect(stagesOf(await t.explain({ find: "c", filter: branches }))).toEqual([
      "SUBPLAN",
      "FETCH",
      "OR",
      "IXSCAN",
    ]);
  });

  it("a sparse one does not find what is missing, and gives no order unless hinted", async () => {
    const t = await collection(docs, [{ n: 1 }, { sparse: true }]);
    expect(await winner(t, { filter: { n: null } })).toMatchObject({ stage: "COLLSCAN" });
    expect(await winner(t, { filter: { n: { $exists: false } } })).toMatchObject({ stage: "COLLSCAN" });
    expect(bottom(await winner(t, { filter: { n: { $exists: true } } }))).toMatchObject({ isSparse: true });
    expect(bottom(await winner(t, { filter: { n: { $gt: 1 } } }))).toMatchObject({ stage: "IXSCAN" });
    expect(bottom(await winner(t, { filter: { n: { $ne: null } } }))).toMatchObject({ stage: "IXSCAN" });
    expect(await ids(t, {}, { sort: { n: 1 } })).toEqual([3, 0, 1, 2]);
    expect(await ids(t, {}, { sort: { n: 1 }, hint: "n_1" })).toEqual([0, 1, 2]);
  });

  it("a hidden one is not seen, not even by a hint", async () => {
    const t = await collection(docs, [{ n: 1 }, { hidden: true }]);
    expect(await winner(t, { filter: { n: 1 } })).toMatchObject({ stage: "COLLSCAN" });
    expect(await t.reply({ find: "c", hint: "n_1" })).toMatchObject({
      code: 2,
      errmsg: expect.stringContaining("hint provided does not correspond to an existing index"),
    });
    await t.run({ collMod: "c", index: { name: "n_1", hidden: false } });
    expect(bottom(await winner(t, { filter: { n: { $gt: 1 } } }))).toMatchObject({ stage: "IXSCAN" });
  });

  it("a hashed one knows equality only", async () => {
    const t = await collection(
      many(40, (i) => ({ h: i % 10, n: i })),
      [{ h: "hashed", n: 1 }],
    );
    const scan = bottom(await winner(t, { filter: { h: 3, n: { $gt: 20 } } }));
    expect(scan).toMatchObject({ keyPattern: { h: "hashed", n: 1 }, indexBounds: { n: ["(20, inf.0]"] } });
    const explained = await t.explain({ find: "c", filter: { h: 3, n: { $gt: 20 } } });
    expect(explained["executionStats"]).toMatchObject({ nReturned: 2, totalKeysExamined: 2 });
    expect(await winner(t, { filter: { h: { $gt: 3 } } })).toMatchObject({ stage: "COLLSCAN" });
    expect(stagesOf(await t.explain({ find: "c", filter: { h: 3 }, projection: { _id: 0, h: 1 } }))).toEqual([
      "PROJECTION_SIMPLE",
      "FETCH",
      "IXSCAN",
    ]);
  });

  it("one with another collation serves what has no strings in it", async () => {
    const german = { locale: "de", strength: 2 };
    const t = await collection(
      [{ s: "Ä" }, { s: "b" }, { s: 5 }, { s: "ä" }],
      [{ s: 1 }, { collation: german }],
    );
    expect(await winner(t, { filter: { s: "b" } })).toMatchObject({ stage: "COLLSCAN" });
    const numbers = await winner(t, { filter: { s: 5 } });
    expect(bottom(numbers)).toMatchObject({ stage: "IXSCAN", collation: { locale: "de", strength: 2 } });
    expect(bottom(await winner(t, { filter: { s: "ä" }, collation: german }))).toMatchObject({
      stage: "IXSCAN",
    });
    expect(await ids(t, { s: "ä" }, { collation: german })).toEqual([0, 3]);
    expect(stagesOf(await t.explain({ find: "c", sort: { s: 1 } }))).toEqual(["SORT", "COLLSCAN"]);
    expect(stagesOf(await t.explain({ find: "c", sort: { s: 1 }, collation: german }))).toEqual([
      "FETCH",
      "IXSCAN",
    ]);
    expect(await ids(t, {}, { sort: { s: 1 }, collation: german })).toEqual([2, 0, 3, 1]);
    // The keys of collated strings are no strings: nothing is covered by them.
    expect(
      stagesOf(
        await t.explain({ find: "c", filter: { s: "ä" }, projection: { _id: 0, s: 1 }, collation: german }),
      ),
    ).toEqual(["PROJECTION_SIMPLE", "FETCH", "IXSCAN"]);
  });
});

describe("covered queries", () => {
  const docs = many(20, (i) => ({ a: i % 5, b: { c: i }, ...(i < 18 && { d: `x${i}` }) }));

  it("read no document; their fields come in the index's order", async () => {
    const t = await collection(docs, [{ d: 1, a: 1 }]);
    const command = { find: "c", filter: { d: "x7" }, projection: { _id: 0, a: 1, d: 1 } };
    const explained = await t.explain(command);
    expect(stagesOf(explained)).toEqual(["PROJECTION_COVERED", "IXSCAN"]);
    expect(explained["executionStats"]).toMatchObject({ totalKeysExamined: 1, totalDocsExamined: 0 });
    const [found] = await t.find("c", command.filter, { projection: command.projection });
    expect(Object.entries(found!)).toEqual([
      ["d", "x7"],
      ["a", 2],
    ]);
  });

  it("rebuild dotted fields; _id must be in the index or left out", async () => {
    const t = await collection(docs, [{ "b.c": 1, a: 1 }]);
    const projection = { _id: 0, "b.c": 1 };
    const explained = await t.explain({ find: "c", filter: { "b.c": 3 }, projection });
    expect(stagesOf(explained)).toEqual(["PROJECTION_DEFAULT", "IXSCAN"]);
    expect(await t.find("c", { "b.c": 3 }, { projection })).toEqual([{ b: { c: 3 } }]);
    expect(stagesOf(await t.explain({ find: "c", filter: { "b.c": 3 }, projection: { "b.c": 1 } }))).toEqual([
      "PROJECTION_DEFAULT",
      "FETCH",
      "IXSCAN",
    ]);
  });

  it("show null for a missing field, which is what the key has", async () => {
    const t = await collection(docs, [{ a: 1, d: 1 }]);
    const found = await t.find("c", { a: 4 }, { projection: { _id: 0, d: 1 } });
    expect(found).toContainEqual({ d: null });
    expect(await t.find("c", { a: 4 }, { projection: { d: 1 }, hint: { $natural: 1 } })).toContainEqual({
      _id: 19,
    });
  });

  it("are not covered where the field has arrays", async () => {
    const t = await collection([...docs, { a: [1, 2], d: "y" }], [{ d: 1, a: 1 }]);
    const one = { find: "c", filter: { d: "y" } };
    expect(stagesOf(await t.explain({ ...one, projection: { _id: 0, a: 1 } }))).toContain("FETCH");
    expect(stagesOf(await t.explain({ ...one, projection: { _id: 0, d: 1 } }))).toEqual([
      "PROJECTION_COVERED",
      "IXSCAN",
    ]);
  });

  it("a projection goes below a sort of everything", async () => {
    const t = await collection(docs);
    expect(stagesOf(await t.explain({ find: "c", sort: { a: 1 }, projection: { a: 1 } }))).toEqual([
      "SORT",
      "PROJECTION_SIMPLE",
      "COLLSCAN",
    ]);
    expect(stagesOf(await t.explain({ find: "c", sort: { a: 1 }, projection: { a: 1 }, limit: 3 }))).toEqual([
      "PROJECTION_SIMPLE",
      "SORT",
      "COLLSCAN",
    ]);
  });
});

describe("predicates on the key", () => {
  it("a regular expression's beginning bounds it; the rest is checked on the key", async () => {
    const t = await collection(
      many(30, (i) => ({ s: `k${i}` })),
      [{ s: 1 }],
    );
    const prefix = await t.explain({ find: "c", filter: { s: /^k1/ } });
    expect(bottom(prefix["queryPlanner"].winningPlan)["indexBounds"]).toEqual({
      s: ['["k1", "k2")', "[/^k1/, /^k1/]"],
    });
    expect(prefix["executionStats"]).toMatchObject({ nReturned: 11, totalDocsExamined: 11 });
    const infix = await t.explain({ find: "c", filter: { s: /7/ } });
    expect(bottom(infix["queryPlanner"].winningPlan)).toMatchObject({ filter: { s: { $regex: "7" } } });
    expect(infix["executionStats"]).toMatchObject({
      nReturned: 3,
      totalKeysExamined: 30,
      totalDocsExamined: 3,
    });
  });

  it("null and missing have one key: the document decides", async () => {
    const t = await collection([{ a: null }, {}, { a: 1 }], [{ a: 1 }]);
    const explained = await t.explain({ find: "c", filter: { a: { $exists: false } } });
    expect(bottom(explained["queryPlanner"].winningPlan)["indexBounds"]).toEqual({ a: ["[null, null]"] });
    expect(explained["executionStats"]).toMatchObject({ nReturned: 1, totalDocsExamined: 2 });
    expect(await ids(t, { a: null })).toEqual([0, 1]);
  });
});

describe("$or", () => {
  it("beside other conditions is one way among others; they narrow its branches", async () => {
    const t = await collection(
      many(100, (i) => ({ a: i % 10, b: i % 25, c: i % 20 })),
      [{ b: 1, a: 1 }],
      [{ c: 1, a: 1 }],
    );
    const explained = await t.explain({ find: "c", filter: { a: 3, $or: [{ b: 3 }, { c: 13 }] } });
    expect(stagesOf(explained)).toEqual(["FETCH", "OR", "IXSCAN"]);
    const or = explained["queryPlanner"].winningPlan.inputStage;
    expect(or.inputStages.map((scan: Document) => scan["indexBounds"])).toEqual([
      { b: ["[3, 3]"], a: ["[3, 3]"] },
      { c: ["[13, 13]"], a: ["[3, 3]"] },
    ]);
    expect(await sortedIds(t, { a: 3, $or: [{ b: 3 }, { c: 13 }] })).toEqual([3, 13, 33, 53, 73, 93]);
  });

  it("with one branch that no index serves reads the collection", async () => {
    const t = await collection([{ a: 1 }, { b: 1 }], [{ a: 1 }]);
    expect(stagesOf(await t.explain({ find: "c", filter: { $or: [{ a: 1 }, { b: 1 }] } }))).toEqual([
      "SUBPLAN",
      "COLLSCAN",
    ]);
  });

  it("in an order that all branches have is merged", async () => {
    const t = await collection(
      many(40, (i) => ({ a: i % 4, b: i % 5, n: 40 - i })),
      [{ a: 1, n: 1 }],
      [{ b: 1, n: 1 }],
    );
    const command = { find: "c", filter: { $or: [{ a: 1 }, { b: 1 }] }, sort: { n: 1 } };
    expect(stagesOf(await t.explain(command))).toEqual(["SUBPLAN", "FETCH", "SORT_MERGE", "IXSCAN"]);
    const scanned = await t.find("c", command.filter, { sort: command.sort, hint: { $natural: 1 } });
    expect(await t.find("c", command.filter, { sort: command.sort })).toEqual(scanned);
  });
});

describe("plan names", () => {
  it("queryHash is the shape's, planCacheKey also depends on the indexes", async () => {
    const t = await collection(
      many(5, (i) => ({ a: i, b: i })),
      [{ a: 1 }],
    );
    const hashes = async (filter: object): Promise<string[]> => {
      const { queryPlanner } = await t.explain({ find: "c", filter });
      expect(queryPlanner.queryHash).toMatch(/^[0-9A-F]{8}$/);
      expect(queryPlanner.planCacheShapeHash).toBe(queryPlanner.queryHash);
      return [queryPlanner.queryHash, queryPlanner.planCacheKey];
    };
    const [hash, planKey] = await hashes({ a: { $gt: 1 } });
    expect(await hashes({ a: { $gt: 2 } })).toEqual([hash, planKey]);
    expect((await hashes({ a: { $lt: 2 } }))[0]).not.toBe(hash);
    await t.createIndex("c", { a: 1, b: 1 });
    const [sameHash, otherKey] = await hashes({ a: { $gt: 1 } });
    expect(sameHash).toBe(hash);
    expect(otherKey).not.toBe(planKey);
  });
});
