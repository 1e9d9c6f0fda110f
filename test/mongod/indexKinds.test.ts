import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

describe("a unique index", () => {
  it("counts a missing field as null: only one document may lack it", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { x: 1 }, { unique: true });
    await t.insert("c", { _id: 1 });
    const reply = await t.run({ insert: "c", documents: [{ _id: 2 }] });
    expect(reply["writeErrors"]).toEqual([
      {
        index: 0,
        code: 11000,
        keyPattern: { x: 1 },
        keyValue: { x: null },
        errmsg: "E11000 duplicate key error collection: library.c index: x_1 dup key: { x: null }",
      },
    ]);
  });

  it("that is sparse lets any number of documents lack it", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { x: 1 }, { unique: true, sparse: true });
    await t.insert("c", { _id: 1 }, { _id: 2 }, { _id: 3, x: 1 });
    expect(await t.run({ insert: "c", documents: [{ _id: 4, x: 1 }] })).toMatchObject({
      writeErrors: [{ code: 11000 }],
    });
  });

  it("of several fields tells the whole key", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { a: 1, b: -1 }, { unique: true });
    await t.insert("c", { _id: 1, a: 1, b: "x" });
    const reply = await t.run({ insert: "c", documents: [{ _id: 2, a: 1, b: "x" }] });
    expect(reply["writeErrors"][0]).toMatchObject({
      errmsg: 'E11000 duplicate key error collection: library.c index: a_1_b_-1 dup key: { a: 1, b: "x" }',
      keyPattern: { a: 1, b: -1 },
      keyValue: { a: 1, b: "x" },
    });
  });

  it("over an array holds for its elements across documents, not within one", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { x: 1 }, { unique: true });
    await t.insert("c", { _id: 1, x: [1, 1, 2] });
    const reply = await t.run({ insert: "c", documents: [{ _id: 2, x: [3, 2] }] });
    expect(reply["writeErrors"][0]).toMatchObject({ code: 11000, keyValue: { x: 2 } });
    expect((await t.run({ validate: "c" }))["valid"]).toBe(true);
  });
});

describe("other kinds of index", () => {
  it("refuse parallel arrays (171) and arrays under a hash (16766), as a write error and at a build", async () => {
    const t = new TestMongod();
    await t.createIndex("p", { a: 1, b: 1 });
    expect(await t.run({ insert: "p", documents: [{ _id: 1, a: [1], b: [1] }] })).toMatchObject({
      writeErrors: [{ code: 171 }],
    });
    await t.createIndex("h", { a: "hashed" });
    expect(await t.run({ insert: "h", documents: [{ _id: 1, a: [1] }] })).toMatchObject({
      writeErrors: [{ code: 16766 }],
    });
    await t.insert("late", { _id: 1, a: [1], b: [1] });
    expect(
      await t.reply({ createIndexes: "late", indexes: [{ key: { a: 1, b: 1 }, name: "x" }] }),
    ).toMatchObject({ code: 171 });
    expect(
      await t.reply({ createIndexes: "late", indexes: [{ key: { a: "hashed" }, name: "x" }] }),
    ).toMatchObject({ code: 16766 });
    expect(await t.run({ count: "p" })).toMatchObject({ n: 0 });
  });

  it("find by hash what has that value, one field or compound", async () => {
    const t = new TestMongod();
    await t.insert(
      "c",
      { _id: 1, d: "dev-1", z: 1 },
      { _id: 2, d: "dev-2", z: 1 },
      { _id: 3, d: "dev-1", z: 2 },
    );
    await t.createIndex("c", { d: "hashed" });
    await t.createIndex("c", { z: 1, d: "hashed" });
    expect((await t.find("c", { d: "dev-1" }, { hint: "d_hashed" })).map(({ _id }) => _id).sort()).toEqual([
      1, 3,
    ]);
    expect(await t.find("c", { z: 2, d: "dev-1" }, { hint: "z_1_d_hashed" })).toHaveLength(1);
    expect(await t.find("c", { d: { $gt: "dev-1" } }, { hint: "d_hashed" })).toHaveLength(1);
  });

  it("that are sparse answer only where nothing can be missing from them", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1, x: 1 }, { _id: 2 }, { _id: 3, x: null });
    await t.createIndex("c", { x: 1 }, { sparse: true });
    expect(await t.find("c", { x: null })).toHaveLength(2);
    expect(await t.find("c", {}, { sort: { x: 1 } })).toHaveLength(3);
    expect(await t.find("c", { x: { $exists: false } })).toHaveLength(1);
    const explained = await t.explain({ find: "c", filter: { x: 1 } });
    expect(explained["queryPlanner"].winningPlan.inputStage.indexName).toBe("x_1");
    // Whoever hints gets what the index has.
    expect(await t.find("c", {}, { hint: "x_1" })).toHaveLength(2);
  });

  it("that are hidden are kept but not used", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1, x: 1 });
    await t.createIndex("c", { x: 1 }, { hidden: true, unique: true });
    const explained = await t.explain({ find: "c", filter: { x: 1 } });
    expect(explained["queryPlanner"].winningPlan.stage).toBe("COLLSCAN");
    expect(await t.run({ insert: "c", documents: [{ _id: 2, x: 1 }] })).toMatchObject({
      writeErrors: [{ code: 11000 }],
    });
    expect(await t.reply({ find: "c", hint: "x_1" })).toMatchObject({ code: 2 });
  });
});
