/** Which plan is chosen. */
import type { Document } from "bson";
import { describe, expect, it } from "vitest";
import { bottom, collection, ids, many, sortedIds, winner } from "./plannerSupport.js";
import { stagesOf } from "./support.js";

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
