import { describe, expect, it } from "vitest";
import { stagesOf, TestMongod } from "./support.js";

/** 100 documents: device dev-0 … dev-9 ten times each, n from 0 to 99. */
async function readings(): Promise<TestMongod> {
  const t = new TestMongod();
  const documents = Array.from({ length: 100 }, (_, i) => ({
    _id: i,
    device: `dev-${i % 10}`,
    n: i,
    even: i % 2 === 0,
  }));
  await t.insert("r", ...documents);
  return t;
}

describe("explain", () => {
  it("shows a collection scan with what it examined", async () => {
    const t = await readings();
    const explained = await t.explain({ find: "r", filter: { n: { $lt: 5 } } });
    expect(explained["explainVersion"]).toBe("1");
    expect(explained["queryPlanner"]).toMatchObject({
      namespace: "library.r",
      parsedQuery: { n: { $lt: 5 } },
      winningPlan: { stage: "COLLSCAN", direction: "forward" },
      rejectedPlans: [],
    });
    expect(explained["executionStats"]).toMatchObject({
      executionSuccess: true,
      nReturned: 5,
      totalKeysExamined: 0,
      totalDocsExamined: 100,
      executionStages: { stage: "COLLSCAN", nReturned: 5, docsExamined: 100 },
    });
    expect(explained["serverInfo"]).toMatchObject({ host: "127.0.0.1", port: 27018 });
    expect(explained["command"]).toMatchObject({ find: "r" });
  });

  it("shows an index scan with its bounds; keys and documents counted truly", async () => {
    const t = await readings();
    await t.createIndex("r", { device: 1, n: -1 });
    const explained = await t.explain({ find: "r", filter: { device: "dev-3", n: { $gte: 50 } } });
    expect(stagesOf(explained)).toEqual(["FETCH", "IXSCAN"]);
    expect(explained["queryPlanner"].winningPlan.inputStage).toEqual({
      stage: "IXSCAN",
      keyPattern: { device: 1, n: -1 },
      indexName: "device_1_n_-1",
      isMultiKey: false,
      multiKeyPaths: { device: [], n: [] },
      isUnique: false,
      isSparse: false,
      isPartial: false,
      indexVersion: 2,
      direction: "forward",
      indexBounds: { device: ['["dev-3", "dev-3"]'], n: ["[inf.0, 50]"] },
    });
    expect(explained["executionStats"]).toMatchObject({
      nReturned: 5,
      totalKeysExamined: 5,
      totalDocsExamined: 5,
    });
  });

  it("checks a later field of the index on the key, and skips to where it can be right", async () => {
    const t = await readings();
    await t.createIndex("r", { n: 1, device: 1 });
    const explained = await t.explain({ find: "r", filter: { n: { $lt: 50 }, device: "dev-3" } });
    // Each n has one device, so every key below 50 is met, and the one that ends the scan.
    expect(explained["executionStats"]).toMatchObject({
      nReturned: 5,
      totalKeysExamined: 51,
      totalDocsExamined: 5,
    });
  });

  it("chooses the index that examines least", async () => {
    const t = await readings();
    await t.createIndex("r", { even: 1 });
    await t.createIndex("r", { device: 1 });
    const explained = await t.explain({ find: "r", filter: { even: true, device: "dev-4" } });
    expect(explained["queryPlanner"].winningPlan.inputStage.indexName).toBe("device_1");
    expect(explained["executionStats"].totalKeysExamined).toBe(10);
  });

  it("finds by _id alone in one step", async () => {
    const t = await readings();
    const explained = await t.explain({ find: "r", filter: { _id: 42 } });
    expect(explained["queryPlanner"].winningPlan).toMatchObject({
      stage: "EXPRESS_IXSCAN",
      keyPattern: "{ _id: 1 }",
      indexName: "_id_",
    });
    expect(explained["executionStats"]).toMatchObject({
      nReturned: 1,
      totalKeysExamined: 1,
      totalDocsExamined: 1,
    });
    expect(stagesOf(await t.explain({ find: "r", filter: { _id: { $gt: 90 } } }))).toEqual([
      "FETCH",
      "IXSCAN",
    ]);
  });

  it("sorts in memory, unless an index has the order", async () => {
    const t = await readings();
    const command = { find: "r", filter: { device: "dev-1" }, sort: { n: -1 }, skip: 1, limit: 2 };
    expect(stagesOf(await t.explain(command))).toEqual(["SKIP", "SORT", "COLLSCAN"]);
    await t.createIndex("r", { device: 1, n: 1 });
    const explained = await t.explain(command);
    // What is skipped is never fetched.
    expect(stagesOf(explained)).toEqual(["LIMIT", "FETCH", "SKIP", "IXSCAN"]);
    const scan = explained["queryPlanner"].winningPlan.inputStage.inputStage.inputStage;
    expect(scan).toMatchObject({
      direction: "backward",
      indexBounds: { device: ['["dev-1", "dev-1"]'], n: ["[MaxKey, MinKey]"] },
    });
    expect(explained["executionStats"]).toMatchObject({
      nReturned: 2,
      totalKeysExamined: 3,
      totalDocsExamined: 2,
    });
  });

  it("takes an order from a multikey index only if all of it is read, from a hashed one never", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1, a: [1, 5], b: 1 }, { _id: 2, a: 3, b: 2 });
    await t.createIndex("c", { a: 1 });
    await t.createIndex("c", { b: "hashed" });
    expect(stagesOf(await t.explain({ find: "c", sort: { a: 1 } }))).toEqual(["FETCH", "IXSCAN"]);
    expect((await t.find("c", {}, { sort: { a: 1 } })).map(({ _id }) => _id)).toEqual([1, 2]);
    // [1, 5] sorts by its 1 although only its 5 is within the bounds: there the index gives no order.
    const bounded = await t.explain({ find: "c", filter: { a: { $gt: 2 } }, sort: { a: 1 } });
    expect(bounded["queryPlanner"].rejectedPlans[0]).toMatchObject({
      stage: "SORT",
      inputStage: { inputStage: { indexBounds: { a: ["(2, inf.0]"] } } },
    });
    expect((await t.find("c", { a: { $gt: 2 } }, { sort: { a: 1 } })).map(({ _id }) => _id)).toEqual([1, 2]);
    expect(stagesOf(await t.explain({ find: "c", sort: { b: 1 } }))).toEqual(["SORT", "COLLSCAN"]);
    expect((await t.find("c", {}, { sort: { a: -1 } })).map(({ _id }) => _id)).toEqual([1, 2]);
  });

  it("joins index scans for $or, each document once", async () => {
    const t = await readings();
    await t.createIndex("r", { device: 1 });
    await t.createIndex("r", { n: 1 });
    const explained = await t.explain({
      find: "r",
      filter: { $or: [{ device: "dev-1" }, { n: { $lt: 10 } }] },
    });
    expect(stagesOf(explained)).toEqual(["SUBPLAN", "FETCH", "OR", "IXSCAN"]);
    const or = explained["queryPlanner"].winningPlan.inputStage.inputStage;
    expect(or.inputStages.map(({ indexName }: { indexName: string }) => indexName)).toEqual([
      "device_1",
      "n_1",
    ]);
    expect(explained["executionStats"]).toMatchObject({
      nReturned: 19,
      totalKeysExamined: 20,
      totalDocsExamined: 19,
    });
  });

  it("shows projection and count stages", async () => {
    const t = await readings();
    await t.createIndex("r", { n: 1 });
    expect(stagesOf(await t.explain({ find: "r", projection: { n: 1 } }))).toEqual([
      "PROJECTION_SIMPLE",
      "COLLSCAN",
    ]);
    expect(stagesOf(await t.explain({ count: "r" }))).toEqual(["RECORD_STORE_FAST_COUNT"]);
    const counted = await t.explain({ count: "r", query: { n: { $lt: 30 } } });
    expect(stagesOf(counted)).toEqual(["COUNT", "COUNT_SCAN"]);
    // COUNT_SCAN counts the key that ends it too.
    expect(counted["executionStats"]).toMatchObject({
      nReturned: 0,
      totalKeysExamined: 31,
      totalDocsExamined: 0,
      executionStages: { nCounted: 30 },
    });
    expect(stagesOf(await t.explain({ count: "r", query: { device: "dev-1" } }))).toEqual([
      "COUNT",
      "COLLSCAN",
    ]);
  });

  it("says what a write would do, and does not do it", async () => {
    const t = await readings();
    const updated = await t.explain({
      update: "r",
      updates: [{ q: { n: { $lt: 3 } }, u: { $set: { even: true } }, multi: true }],
    });
    expect(updated["executionStats"]).toMatchObject({
      totalDocsExamined: 100,
      executionStages: { stage: "UPDATE", nMatched: 3, nWouldModify: 1, nWouldUpsert: 0 },
    });
    expect(Object.entries(updated["executionStats"].executionStages).slice(0, 13).flat().join(" ")).toBe(
      "isCached false stage UPDATE nReturned 0 executionTimeMillisEstimate 0 works 101 advanced 0 needTime 100 " +
        "needYield 0 saveState 0 restoreState 0 isEOF 1 nMatched 3 nWouldModify 1",
    );
    const deleted = await t.explain({ delete: "r", deletes: [{ q: { n: { $lt: 3 } }, limit: 0 }] });
    expect(deleted["executionStats"].executionStages).toMatchObject({ stage: "DELETE", nWouldDelete: 3 });
    // A write stops at one document by itself: no LIMIT in its plan.
    const single = await t.explain({ delete: "r", deletes: [{ q: { n: 5 }, limit: 1 }] });
    expect(stagesOf(single)).toEqual(["DELETE", "COLLSCAN"]);
    // As an 8.0 server's profiler showed it: one work for each document looked at.
    expect(single["executionStats"].executionStages).toMatchObject({
      works: 6,
      needTime: 5,
      isEOF: 1,
      nWouldDelete: 1,
      inputStage: { works: 6, needTime: 5, isEOF: 0 },
    });
    const modified = await t.explain({ findAndModify: "r", query: { n: 5 }, remove: true });
    expect(modified["queryPlanner"].winningPlan.stage).toBe("DELETE");
    expect(modified["executionStats"].executionStages).toMatchObject({ nReturned: 1, advanced: 1 });
    expect(modified["command"]).toEqual({
      findAndModify: "r",
      query: { n: 5 },
      remove: true,
      $db: "library",
    });
    expect(await t.run({ count: "r", query: { even: true } })).toEqual({ n: 50, ok: 1 });
    expect(await t.run({ count: "r" })).toEqual({ n: 100, ok: 1 });
  });

  it("names the writes of one document by _id as 8.x does", async () => {
    const t = await readings();
    const update = { update: "r", updates: [{ q: { _id: 3 }, u: { $set: { n: 0 } } }] };
    const updated = await t.explain(update);
    expect(updated["queryPlanner"].winningPlan).toMatchObject({
      stage: "EXPRESS_UPDATE",
      keyPattern: "{ _id: 1 }",
      indexName: "_id_",
    });
    expect(updated["executionStats"].executionStages).toMatchObject({
      stage: "EXPRESS_UPDATE",
      keysExamined: 1,
      docsExamined: 1,
      nWouldModify: 1,
    });
    const deleted = await t.explain({ delete: "r", deletes: [{ q: { _id: 3 }, limit: 1 }] });
    // An upsert may have to insert, and findAndModify gives the document back: those are two stages.
    const upsert = { update: "r", updates: [{ q: { _id: 3 }, u: { $set: { n: 0 } }, upsert: true }] };
    expect(stagesOf(await t.explain(upsert))).toEqual(["UPDATE", "IDHACK"]);
    expect(stagesOf(await t.explain({ findAndModify: "r", query: { _id: 3 }, remove: true }))).toEqual([
      "DELETE",
      "IDHACK",
    ]);
    const or = { q: { $or: [{ _id: 3 }, { _id: { $gt: 98 } }] }, limit: 1 };
    expect(stagesOf(await t.explain({ delete: "r", deletes: [or] }))).toEqual([
      "DELETE",
      "SUBPLAN",
      "FETCH",
      "OR",
      "IXSCAN",
    ]);
    expect(deleted["executionStats"].executionStages).toMatchObject({
      stage: "EXPRESS_DELETE",
      nWouldDelete: 1,
    });
    expect(await t.run({ count: "r", query: { _id: 3, n: 3 } })).toMatchObject({ n: 1 });
  });

  it("of a huge $in leaves out bounds that no client could read", async () => {
    const t = await readings();
    await t.createIndex("r", { n: 1 });
    const filter = { n: { $in: Array.from({ length: 60_000 }, (_, i) => i * 2) } };
    const explained = await t.explain({ find: "r", filter });
    expect(explained["queryPlanner"].winningPlan.inputStage).toMatchObject({ warning: expect.any(String) });
    expect(explained["executionStats"]).toMatchObject({ nReturned: 50, totalKeysExamined: 100 });
  });

  it("plans only, unless execution is asked for", async () => {
    const t = await readings();
    const explained = await t.run({ explain: { find: "r" }, verbosity: "queryPlanner" });
    expect(explained["executionStats"]).toBeUndefined();
    expect((await t.run({ explain: { find: "r" } }))["executionStats"].allPlansExecution).toEqual([]);
  });

  it("of a pipeline is that of a find where a find can do it all, else in stages", async () => {
    const t = await readings();
    await t.createIndex("r", { n: 1 });
    const whole = await t.explain({
      aggregate: "r",
      pipeline: [{ $match: { n: { $lt: 10 } } }, { $limit: 2 }],
      cursor: {},
    });
    expect(stagesOf(whole)).toEqual(["LIMIT", "FETCH", "IXSCAN"]);
    const staged = await t.explain({
      aggregate: "r",
      pipeline: [{ $match: { n: { $lt: 10 } } }, { $group: { _id: "$device", n: { $sum: 1 } } }],
      cursor: {},
    });
    expect(staged["stages"][0].$cursor.executionStats).toMatchObject({
      nReturned: 10,
      totalKeysExamined: 10,
    });
    expect(staged["stages"][1]).toMatchObject({ $group: { _id: "$device" }, nReturned: 10 });
  });

  it("shows the end of file for a collection that does not exist", async () => {
    const t = new TestMongod();
    expect(stagesOf(await t.explain({ find: "none" }))).toEqual(["EOF"]);
  });

  it("refuses what it cannot explain", async () => {
    const t = new TestMongod();
    expect(await t.reply({ explain: { nonsense: 1 } })).toMatchObject({ code: 59 });
    expect(await t.reply({ explain: { ping: 1 } })).toMatchObject({ code: 20 });
    expect(await t.reply({ explain: { find: "c" }, verbosity: "all" })).toMatchObject({ code: 2 });
    expect(await t.reply({ explain: { find: "c", foo: 1 } })).toMatchObject({ code: 40415 });
  });
});
