import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

describe("createIndexes", () => {
  it("creates the collection where needed and says how many indexes there are", async () => {
    const t = new TestMongod();
    expect(await t.createIndex("c", { x: 1 })).toEqual({
      numIndexesBefore: 1,
      numIndexesAfter: 2,
      createdCollectionAutomatically: true,
      ok: 1,
    });
    expect(await t.createIndex("c", { x: 1 })).toEqual({
      numIndexesBefore: 2,
      numIndexesAfter: 2,
      note: "all indexes already exist",
      ok: 1,
    });
  });

  it("lists them with their options, _id_ first", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { x: 1, "y.z": -1 }, { unique: true });
    await t.createIndex("c", { d: "hashed" });
    await t.createIndex("c", { s: 1 }, { sparse: true, hidden: true });
    expect(await t.all({ listIndexes: "c" })).toEqual([
      { v: 2, key: { _id: 1 }, name: "_id_" },
      { v: 2, key: { x: 1, "y.z": -1 }, name: "x_1_y.z_-1", unique: true },
      { v: 2, key: { d: "hashed" }, name: "d_hashed" },
      { v: 2, key: { s: 1 }, name: "s_1", sparse: true, hidden: true },
    ]);
    expect(await t.reply({ listIndexes: "none" })).toMatchObject({
      code: 26,
      errmsg: "ns does not exist: library.none",
    });
  });

  it("builds all or nothing over what is stored", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1, x: 5 }, { _id: 2, x: 5 });
    const reply = await t.reply({
      createIndexes: "c",
      indexes: [
        { key: { y: 1 }, name: "y_1" },
        { key: { x: 1 }, name: "x_1", unique: true },
      ],
    });
    expect(reply).toMatchObject({
      ok: 0,
      code: 11000,
      errmsg: "E11000 duplicate key error collection: library.c index: x_1 dup key: { x: 5 }",
      keyPattern: { x: 1 },
      keyValue: { x: 5 },
    });
    expect(await t.all({ listIndexes: "c" })).toHaveLength(1);
    await t.insert("c", { _id: 3, x: 5 });
  });

  it("leaves no collection behind when it fails", async () => {
    const t = new TestMongod();
    await t.reply({
      createIndexes: "c",
      indexes: [
        { key: { x: 1 }, name: "same" },
        { key: { y: 1 }, name: "same" },
      ],
    });
    expect(await t.all({ listCollections: 1 })).toEqual([]);
  });

  it.each([
    ["the same key under another name", { key: { x: 1 }, name: "other" }, 85],
    ["another key under the same name", { key: { y: 1 }, name: "x_1" }, 86],
    ["other uniqueness under the same name", { key: { x: 1 }, name: "x_1", unique: true }, 86],
    ["only hidden differs", { key: { x: 1 }, name: "x_1", hidden: true }, 85],
    ["no name", { key: { y: 1 } }, 9],
    ["no key", { name: "y_1" }, 9],
    ["a zero direction", { key: { y: 0 }, name: "y_0" }, 67],
    ["an unknown kind", { key: { y: "quick" }, name: "y" }, 67],
    ["an empty key", { key: {}, name: "y" }, 67],
    ["two hashed fields", { key: { y: "hashed", z: "hashed" }, name: "y" }, 31303],
    ["hashed and unique", { key: { y: "hashed" }, name: "y", unique: true }, 16764],
    ["an unknown option", { key: { y: 1 }, name: "y", quick: true }, 197],
    ["a TTL", { key: { y: 1 }, name: "y", expireAfterSeconds: 5 }, 238],
    ["a partial index", { key: { y: 1 }, name: "y", partialFilterExpression: { a: 1 } }, 238],
    ["a text index", { key: { y: "text" }, name: "y" }, 238],
    ["a wildcard index", { key: { "$**": 1 }, name: "y" }, 238],
    ["a collation", { key: { y: 1 }, name: "y", collation: { locale: "de" } }, 238],
  ])("refuses %s", async (_, index, code) => {
    const t = new TestMongod();
    await t.createIndex("c", { x: 1 });
    expect(await t.reply({ createIndexes: "c", indexes: [index] })).toMatchObject({ ok: 0, code });
    expect(await t.all({ listIndexes: "c" })).toHaveLength(2);
  });

  it("keeps a unique and a plain index on the same key side by side under two names", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { x: 1 });
    expect(await t.createIndex("c", { x: 1 }, { name: "x_unique", unique: true })).toMatchObject({
      numIndexesAfter: 3,
    });
  });
});

describe("dropIndexes", () => {
  it("drops by name, by key, by list and all at once", async () => {
    const t = new TestMongod();
    for (const field of ["a", "b", "c", "d", "e"]) await t.createIndex("c", { [field]: 1 });
    expect(await t.run({ dropIndexes: "c", index: "a_1" })).toEqual({ nIndexesWas: 6, ok: 1 });
    await t.run({ dropIndexes: "c", index: { b: 1 } });
    await t.run({ dropIndexes: "c", index: ["c_1", "d_1"] });
    expect((await t.all({ listIndexes: "c" })).map(({ name }) => name)).toEqual(["_id_", "e_1"]);
    expect(await t.run({ dropIndexes: "c", index: "*" })).toMatchObject({ nIndexesWas: 2 });
    expect(await t.all({ listIndexes: "c" })).toHaveLength(1);
  });

  it("refuses _id, unknown names and keys, and drops nothing then", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { a: 1 });
    expect(await t.reply({ dropIndexes: "c", index: "_id_" })).toMatchObject({ code: 72 });
    expect(await t.reply({ dropIndexes: "c", index: "x" })).toMatchObject({
      code: 27,
      errmsg: "index not found with name [x]",
    });
    expect(await t.reply({ dropIndexes: "c", index: ["a_1", "x"] })).toMatchObject({ code: 27 });
    expect(await t.reply({ dropIndexes: "c", index: { x: 1 } })).toMatchObject({ code: 27 });
    expect(await t.all({ listIndexes: "c" })).toHaveLength(2);
    expect(await t.reply({ dropIndexes: "none", index: "*" })).toMatchObject({ code: 26 });
  });
});

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
