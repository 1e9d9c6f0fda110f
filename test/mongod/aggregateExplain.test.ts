import type { Document } from "bson";
import { describe, expect, it } from "vitest";
import { stagesOf, TestMongod } from "./support.js";

async function shop(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert("c", ...Array.from({ length: 20 }, (_, i) => ({ _id: i, a: i % 5, b: i })));
  await t.insert("o", { _id: 1, x: 1 }, { _id: 2, x: 6 }, { _id: 3, x: 1 });
  await t.createIndex("c", { a: 1 });
  return t;
}

const explained = async (t: TestMongod, pipeline: object[], more: object = {}): Promise<Document> =>
  t.explain({ aggregate: "c", pipeline, cursor: {}, ...more });

/** Names of the stages of an explain, with the plan in front of them. */
const names = ({ stages }: Document): string[] => [
  ...stagesOf(stages[0].$cursor),
  ...stages.slice(1).map((stage: Document) => Object.keys(stage)[0]),
];

describe("explain of an aggregation", () => {
  it("is that of a find, where a find can do all of it", async () => {
    const t = await shop();
    const reply = await explained(t, [
      { $sort: { b: -1 } },
      { $match: { a: 1 } },
      { $limit: 2 },
      { $project: { b: 1 } },
    ]);
    expect(reply["stages"]).toBeUndefined();
    expect(stagesOf(reply)).toEqual(["PROJECTION_SIMPLE", "SORT", "FETCH", "IXSCAN"]);
    expect(reply["executionStats"]).toMatchObject({
      nReturned: 2,
      totalKeysExamined: 4,
      totalDocsExamined: 4,
    });
  });

  it("shows the plan as $cursor, then the stages with the documents that each handed on", async () => {
    const t = await shop();
    const reply = await explained(t, [
      { $match: { a: { $lte: 1 } } },
      { $group: { _id: "$b" } },
      { $sort: { _id: -1 } },
      { $limit: 3 },
      { $set: { x: 1 } },
    ]);
    expect(names(reply)).toEqual(["PROJECTION_SIMPLE", "FETCH", "IXSCAN", "$group", "$sort", "$set"]);
    expect(reply["stages"].map(({ nReturned }: Document) => nReturned)).toEqual([8, 8, 3, 3]);
    expect(reply["stages"][2].$sort).toEqual({ sortKey: { _id: -1 }, limit: 3 });
    expect(reply["stages"][0].$cursor.executionStats).toMatchObject({
      totalKeysExamined: 8,
      totalDocsExamined: 8,
    });
  });

  it("fetches nothing where the index has all that is needed, or only the number counts", async () => {
    const t = await shop();
    const covered = await explained(t, [{ $match: { a: { $gt: 3 } } }, { $group: { _id: "$a" } }]);
    expect(names(covered)).toEqual(["PROJECTION_COVERED", "IXSCAN", "$group"]);
    expect(covered["stages"][0].$cursor.executionStats).toMatchObject({ totalDocsExamined: 0 });
    const counted = await explained(t, [{ $match: { a: 2 } }, { $count: "n" }]);
    expect(names(counted)).toEqual(["COUNT_SCAN", "$group", "$project"]);
    expect(counted["stages"][0].$cursor.executionStats).toMatchObject({ nReturned: 4, totalDocsExamined: 0 });
  });

  it("shows stages that stand for others as what they stand for", async () => {
    const t = await shop();
    for (const [stage, expected] of [
      [{ $sortByCount: "$a" }, ["$group", "$sort"]],
      [{ $bucket: { groupBy: "$a", boundaries: [0, 3], default: 9 } }, ["$group", "$sort"]],
      [{ $count: "n" }, ["$group", "$project"]],
    ] as const) {
      expect(names(await explained(t, [stage])).filter((name) => name.startsWith("$"))).toEqual(expected);
    }
  });

  it("says how $lookup found its documents, and that it did the $unwind", async () => {
    const t = await shop();
    const join = { $lookup: { from: "o", localField: "_id", foreignField: "x", as: "r" } };
    const last = async () =>
      (await explained(t, [{ $match: { a: 1 } }, join, { $unwind: "$r" }]))["stages"].at(-1);
    expect(await last()).toMatchObject({
      $lookup: { unwinding: { preserveNullAndEmptyArrays: false } },
      nReturned: 3,
      totalDocsExamined: 3,
      collectionScans: 1,
      indexesUsed: [],
    });
    await t.createIndex("o", { x: 1 });
    expect(await last()).toMatchObject({ nReturned: 3, collectionScans: 0, indexesUsed: ["x_1"] });
  });

  it("of a view is that of the collection, with the view's stages in front", async () => {
    const t = await shop();
    await t.run({ create: "v", viewOn: "c", pipeline: [{ $match: { a: 1 } }] });
    const reply = await t.explain({ aggregate: "v", pipeline: [{ $match: { b: 6 } }], cursor: {} });
    expect(reply["queryPlanner"].namespace).toBe("library.c");
    expect(stagesOf(reply)).toEqual(["FETCH", "IXSCAN"]);
    const counted = await t.run({ explain: { count: "v" }, verbosity: "queryPlanner" });
    expect(names(counted)).toEqual(["COUNT_SCAN", "$group", "$project"]);
  });

  it("runs nothing at queryPlanner, also as {aggregate, explain: true}", async () => {
    const t = await shop();
    const failing = [{ $project: { x: { $divide: ["$a", 0] } } }];
    const reply = await t.run({ aggregate: "c", pipeline: failing, explain: true });
    expect(reply["stages"][0].$cursor).not.toHaveProperty("executionStats");
    expect(reply["stages"][1]).toEqual(failing[0]);
    expect(await t.reply({ explain: { aggregate: "c", pipeline: failing, cursor: {} } })).toMatchObject({
      code: 2,
    });
  });
});
