/** What one index can answer: its bounds, with arrays, with documents that it lacks, without the documents. */
import { describe, expect, it } from "vitest";
import { bottom, collection, ids, many, sortedIds, winner } from "./plannerSupport.js";
import { stagesOf } from "./support.js";

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

  it("mix with branches of an $or whose filter looks beyond the key", async () => {
    const t = await collection([{ a: [{ y: 1 }], b: 0 }, {}], [{ "a.y": 1, b: 1 }]);
    const filter = { $or: [{ "a.y": true }, { "a.y": { $gte: 0, $lt: 2 } }] };
    expect(await t.find("c", filter, { projection: { _id: 0, b: 1 } })).toEqual([{ b: 0 }]);
  });

  it("leave a missing field out, although its key is that of null", async () => {
    const t = await collection([...docs, { a: 4, d: null }], [{ a: 1, d: 1 }]);
    const one = { find: "c", filter: { a: 4 }, projection: { _id: 0, d: 1 } };
    expect(stagesOf(await t.explain(one))).toEqual(["PROJECTION_COVERED", "IXSCAN"]);
    const found = await t.find("c", { a: 4 }, { projection: { _id: 0, d: 1 } });
    expect(found.filter(({ d }) => d === undefined || d === null)).toEqual([{}, { d: null }]);
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
