import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

/** The `_id`s that an index gives to whoever hints at it. */
async function held(t: TestMongod, hint: string): Promise<unknown[]> {
  const count = (await t.run({ validate: "c" }))["keysPerIndex"][hint];
  const found = await t.find("c", { _id: { $exists: true } }, { hint });
  expect(count).toBe(found.length);
  return found.map(({ _id }) => _id).sort();
}

describe("a partial index", () => {
  it("holds the documents that match, and follows them in and out as they change", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1, x: 1, a: 5 }, { _id: 2, x: 2, a: 50 }, { _id: 3, x: 3 });
    await t.createIndex("c", { x: 1 }, { partialFilterExpression: { a: { $gt: 10 } } });
    const matching = async (): Promise<unknown[]> =>
      (await t.find("c", { x: { $gt: 0 }, a: { $gt: 10 } }, { hint: "x_1" })).map(({ _id }) => _id);
    const keys = async (): Promise<number> => (await t.run({ validate: "c" }))["keysPerIndex"].x_1;
    expect([await matching(), await keys()]).toEqual([[2], 1]);
    await t.run({ update: "c", updates: [{ q: { _id: 1 }, u: { $set: { a: 11 } } }] });
    expect([await matching(), await keys()]).toEqual([[1, 2], 2]);
    await t.run({ update: "c", updates: [{ q: { _id: 2 }, u: { $unset: { a: 1 } } }] });
    expect([await matching(), await keys()]).toEqual([[1], 1]);
    await t.run({ update: "c", updates: [{ q: { _id: 1 }, u: { $inc: { x: 10 } } }] });
    await t.run({ delete: "c", deletes: [{ q: { _id: 1 }, limit: 1 }] });
    expect([await matching(), await keys()]).toEqual([[], 0]);
    expect((await t.run({ validate: "c" }))["valid"]).toBe(true);
  });

  it("is unique among the documents it holds only", async () => {
    // Manual, "Partial Index with Unique Constraint"
    const t = new TestMongod();
    await t.insert("c", { _id: 1, user: "david", age: 29 }, { _id: 2, user: "amanda", age: 35 });
    await t.createIndex("c", { user: 1 }, { unique: true, partialFilterExpression: { age: { $gte: 21 } } });
    await t.insert("c", { _id: 3, user: "david", age: 20 }, { _id: 4, user: "amanda" });
    expect(await t.run({ insert: "c", documents: [{ _id: 5, user: "david", age: 27 }] })).toMatchObject({
      writeErrors: [{ code: 11000, keyValue: { user: "david" } }],
    });
    // Growing up would make it a duplicate.
    expect(
      await t.run({ update: "c", updates: [{ q: { _id: 3 }, u: { $set: { age: 21 } } }] }),
    ).toMatchObject({
      writeErrors: [{ code: 11000 }],
    });
    expect(await t.find("c", { _id: 3 })).toEqual([{ _id: 3, user: "david", age: 20 }]);
  });

  it.each([
    ["comparisons", { a: 1, b: { $gt: 1, $lte: 5 }, c: { $eq: null } }],
    ["$exists: true and $type", { a: { $exists: true }, b: { $type: "string" } }],
    ["$and, $or and $in", { $or: [{ a: { $in: [1, 2] } }, { $and: [{ b: 1 }, { c: { $lt: 5 } }] }] }],
  ])("may use %s", async (_, partialFilterExpression) => {
    const t = new TestMongod();
    expect(await t.createIndex("c", { x: 1 }, { partialFilterExpression })).toMatchObject({ ok: 1 });
  });

  it.each([
    ["$exists: false", { a: { $exists: false } }, 67],
    ["$ne", { a: { $ne: 1 } }, 67],
    ["$nin", { a: { $nin: [1] } }, 67],
    ["$not", { a: { $not: { $gt: 1 } } }, 67],
    ["$nor", { $nor: [{ a: 1 }] }, 67],
    ["a regular expression", { a: /x/ }, 67],
    ["$mod", { a: { $mod: [2, 0] } }, 67],
    ["$size", { a: { $size: 1 } }, 67],
    ["$elemMatch", { a: { $elemMatch: { b: 1 } } }, 67],
    ["$bitsAllSet", { a: { $bitsAllSet: 1 } }, 67],
    ["$expr", { $expr: { $gt: ["$a", 1] } }, 224],
    ["$jsonSchema, deep down", { $and: [{ $jsonSchema: {} }] }, 224],
    [
      "five levels",
      {
        $or: [
          { a: 1 },
          { $and: [{ $or: [{ b: 1 }, { $and: [{ c: 1 }, { $or: [{ d: 1 }, { e: 1 }] }] }] }, { f: 1 }] },
        ],
      },
      67,
    ],
    ["something unknown", { a: { $quick: 1 } }, 2],
    ["no document", 5, 14],
  ])("may not use %s", async (_, partialFilterExpression, code) => {
    const t = new TestMongod();
    const index = { key: { x: 1 }, name: "x_1", partialFilterExpression };
    expect(await t.reply({ createIndexes: "c", indexes: [index] })).toMatchObject({ ok: 0, code });
  });

  it("cannot be sparse, nor be the _id index, and names what it cannot use", async () => {
    const t = new TestMongod();
    const refused = async (index: object): Promise<unknown> =>
      (await t.reply({ createIndexes: "c", indexes: [index] }))["errmsg"];
    const partialFilterExpression = { a: 1 };
    expect(await refused({ key: { x: 1 }, name: "x", sparse: true, partialFilterExpression })).toContain(
      'cannot mix "partialFilterExpression" and "sparse" options',
    );
    expect(await refused({ key: { _id: 1 }, name: "_id_", partialFilterExpression })).toContain(
      "The field 'partialFilterExpression' is not valid for an _id index specification",
    );
    expect(await refused({ key: { x: 1 }, name: "x", partialFilterExpression: { a: { $ne: 5 } } })).toContain(
      "Expression not supported in partial index: $not\n    a $eq 5\n",
    );
  });
});

describe("a sparse index of several fields", () => {
  it("holds every document that has one of them", async () => {
    // Manual, "Sparse Compound Indexes"
    const t = new TestMongod();
    await t.insert("c", { _id: 1, a: 1, b: 1 }, { _id: 2, a: 1 }, { _id: 3, b: null }, { _id: 4 });
    await t.createIndex("c", { a: 1, b: -1 }, { sparse: true, unique: true });
    expect(await held(t, "a_1_b_-1")).toEqual([1, 2, 3]);
    await t.insert("c", { _id: 5 }, { _id: 6 });
    expect(await t.run({ insert: "c", documents: [{ _id: 7, a: 1, b: null }] })).toMatchObject({
      writeErrors: [{ code: 11000, keyValue: { a: 1, b: null } }],
    });
  });
});

describe("an index that meets arrays", () => {
  it("remembers for each field where, for ever", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { "a.b": 1, c: 1 });
    const paths = async (): Promise<unknown> => {
      const { queryPlanner } = await t.run({
        explain: { find: "c", filter: { "a.b": 1 }, hint: "a.b_1_c_1" },
        verbosity: "queryPlanner",
      });
      const { isMultiKey, multiKeyPaths } = queryPlanner.winningPlan.inputStage;
      return [isMultiKey, multiKeyPaths];
    };
    await t.insert("c", { _id: 1, a: { b: 1 }, c: 1 });
    expect(await paths()).toEqual([false, { "a.b": [], c: [] }]);
    await t.insert("c", { _id: 2, a: { b: [] }, c: 1 });
    expect(await paths()).toEqual([true, { "a.b": ["a.b"], c: [] }]);
    await t.insert("c", { _id: 3, a: [{ b: 1 }, { b: 2 }], c: 1 }, { _id: 4, a: { b: 1 }, c: [7] });
    await t.run({ delete: "c", deletes: [{ q: {}, limit: 0 }] });
    expect(await paths()).toEqual([true, { "a.b": ["a", "a.b"], c: ["c"] }]);
  });

  it("does not become multikey by an array whose position the path names", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { "a.0": 1 });
    await t.insert("c", { _id: 1, a: [5, 6] }, { _id: 2, a: [] });
    const { queryPlanner } = await t.explain({ find: "c", filter: { "a.0": 5 }, hint: "a.0_1" });
    expect(queryPlanner.winningPlan.inputStage.multiKeyPaths).toEqual({ "a.0": ["a"] });
    expect((await t.find("c", { "a.0": 5 }, { hint: "a.0_1" })).map(({ _id }) => _id)).toEqual([1]);
  });

  it("refuses two arrays side by side in whatever order they come, and changes nothing", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { a: 1, b: 1, n: 1 });
    await t.insert("c", { _id: 1, a: [1, 2], b: 3 });
    const change = { $set: { b: [4] }, $inc: { n: 1 } };
    expect(await t.run({ update: "c", updates: [{ q: { _id: 1 }, u: change }] })).toMatchObject({
      writeErrors: [{ code: 171, errmsg: expect.stringContaining("cannot index parallel arrays [b] [a]") }],
    });
    expect(await t.find("c", { a: 2, b: 3 }, { hint: "a_1_b_1_n_1" })).toEqual([{ _id: 1, a: [1, 2], b: 3 }]);
  });
});

describe("a hashed index", () => {
  it("refuses arrays anywhere on its paths and says where", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { z: 1, "a.b": "hashed" });
    const failure = async (document: object): Promise<unknown> =>
      (await t.run({ insert: "c", documents: [document] }))["writeErrors"]?.[0];
    const message = "Error: hashed indexes do not currently support array values. Found array at path: ";
    expect(await failure({ a: [{ b: 1 }] })).toMatchObject({ code: 16766, errmsg: `${message}a` });
    expect(await failure({ a: { b: [1] } })).toMatchObject({ code: 16766, errmsg: `${message}a.b` });
    expect(await failure({ z: [1], a: { b: 1 } })).toMatchObject({ code: 16766, errmsg: `${message}z` });
    expect(await failure({ z: 1, a: { b: 1 } })).toBeUndefined();
  });
});

describe("an index with a collation", () => {
  it("orders and compares strings by it, wherever they are in a value", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { s: 1 }, { collation: { locale: "de", strength: 1 }, unique: true });
    await t.insert(
      "c",
      { _id: 1, s: "Zeder" },
      { _id: 2, s: "äpfel" },
      { _id: 3, s: "Birne" },
      { _id: 4, s: 5 },
    );
    await t.insert("c", { _id: 5, s: { name: "Ulme" } });
    const collation = { locale: "de", strength: 1 };
    expect((await t.find("c", {}, { sort: { s: 1 }, collation, hint: "s_1" })).map(({ _id }) => _id)).toEqual(
      [4, 2, 3, 1, 5],
    );
    for (const s of ["APFEL", { name: "ülme" }])
      expect(await t.run({ insert: "c", documents: [{ s }] })).toMatchObject({
        writeErrors: [{ code: 11000 }],
      });
    await t.insert("c", { _id: 6, s: "Apfelbaum" });
    expect((await t.run({ validate: "c" }))["valid"]).toBe(true);
  });

  it("tells of a duplicate in its own words", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { s: 1, n: 1 }, { collation: { locale: "en", strength: 2 }, unique: true });
    await t.insert("c", { _id: 1, s: "Ann", n: 1 });
    const reply = await t.run({ insert: "c", documents: [{ _id: 2, s: "ann", n: 1 }] });
    const [error] = reply["writeErrors"];
    expect(error).toMatchObject({
      code: 11000,
      keyPattern: { s: 1, n: 1 },
      keyValue: { s: expect.stringMatching(/^CollationKey\(0x[0-9a-f]+\)$/), n: 1 },
      collation: { locale: "en", strength: 2 },
      hexEncoded: [true, false],
    });
    expect(error.errmsg).toMatch(
      /^E11000 duplicate key error collection: library\.c index: s_1_n_1 collation: \{ locale: "en", caseLevel: false, caseFirst: "off", strength: 2, .*version: "57\.1" \} dup key: \{ s: "CollationKey\(0x[0-9a-f]+\)", n: 1 \}$/,
    );
  });

  it("inherits the collection's, the _id index too, unless it names another", async () => {
    const t = new TestMongod();
    await t.run({ create: "c", collation: { locale: "fr" } });
    await t.createIndex("c", { a: 1 });
    await t.createIndex("c", { b: 1 }, { collation: { locale: "simple" } });
    const specs = await t.all({ listIndexes: "c" });
    expect(specs.map(({ name, collation }) => [name, collation?.locale])).toEqual([
      ["_id_", "fr"],
      ["a_1", "fr"],
      ["b_1", undefined],
    ]);
    expect(
      await t.reply({
        createIndexes: "c",
        indexes: [{ key: { _id: 1 }, name: "_id_", collation: { locale: "de" } }],
      }),
    ).toMatchObject({ code: 67 });
    expect(await t.createIndex("c", { _id: 1 }, { collation: { locale: "fr" } })).toMatchObject({
      note: "all indexes already exist",
    });
  });

  it("of an _id makes ids equal that differ in letters only", async () => {
    const t = new TestMongod();
    await t.run({ create: "c", collation: { locale: "en", strength: 1 } });
    await t.insert("c", { _id: "Ann" });
    expect(await t.run({ insert: "c", documents: [{ _id: "ann" }] })).toMatchObject({
      writeErrors: [{ code: 11000 }],
    });
    expect(await t.find("c", { _id: "ANN" })).toEqual([{ _id: "Ann" }]);
  });
});

describe("prepareUnique", () => {
  it("lets duplicates stay and takes no more of them", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1, x: 1 }, { _id: 2, x: 1 }, { _id: 3, x: 2 });
    await t.createIndex("c", { x: 1 }, { prepareUnique: true });
    expect((await t.all({ listIndexes: "c" }))[1]).toEqual({
      v: 2,
      key: { x: 1 },
      name: "x_1",
      prepareUnique: true,
    });
    expect(await t.run({ insert: "c", documents: [{ x: 1 }] })).toMatchObject({
      writeErrors: [{ code: 11000 }],
    });
    expect(await t.run({ update: "c", updates: [{ q: { _id: 3 }, u: { $set: { x: 1 } } }] })).toMatchObject({
      writeErrors: [{ code: 11000 }],
    });
    expect(
      await t.run({ update: "c", updates: [{ q: { _id: 2 }, u: { $set: { y: 1, x: 3 } } }] }),
    ).toMatchObject({
      nModified: 1,
    });
    await t.run({ collMod: "c", index: { name: "x_1", unique: true } });
    expect((await t.run({ validate: "c" }))["valid"]).toBe(true);
  });
});
