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
      codeName: "DuplicateKey",
      keyPattern: { x: 1 },
      keyValue: { x: 5 },
    });
    const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
    expect(reply["errmsg"]).toMatch(
      new RegExp(
        `^Index build failed: ${uuid}: Collection library\\.c \\( ${uuid} \\) :: caused by :: ` +
          "E11000 duplicate key error collection: library\\.c index: x_1 dup key: { x: 5 }$",
      ),
    );
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
    ["a key that is no object", { key: "y", name: "y_1" }, 14],
    ["a name that is no string", { key: { y: 1 }, name: 1 }, 14],
    ["an empty name", { key: { y: 1 }, name: "" }, 67],
    ["the name of all", { key: { y: 1 }, name: "*" }, 2],
    ["the name of the _id index", { key: { y: 1 }, name: "_id_" }, 2],
    ["a zero direction", { key: { y: 0 }, name: "y_0" }, 67],
    ["no number", { key: { y: NaN }, name: "y_nan" }, 67],
    ["a boolean direction", { key: { y: true }, name: "y_true" }, 67],
    ["an unknown kind", { key: { y: "quick" }, name: "y" }, 67],
    ["a kind without a name", { key: { y: "" }, name: "y" }, 67],
    ["an empty key", { key: {}, name: "y" }, 67],
    ["an empty path component", { key: { "y..z": 1 }, name: "y" }, 67],
    ["a dollar in the path", { key: { $y: 1 }, name: "y" }, 67],
    ["two hashed fields", { key: { y: "hashed", z: "hashed" }, name: "y" }, 31303],
    [
      "33 fields",
      { key: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`f${i}`, 1])), name: "y" },
      13103,
    ],
    ["hashed and unique", { key: { y: "hashed" }, name: "y", unique: true }, 16764],
    ["an unknown option", { key: { y: 1 }, name: "y", quick: true }, 197],
    ["a flag that is text", { key: { y: 1 }, name: "y", unique: "yes" }, 14],
    ["hidden that is a number", { key: { y: 1 }, name: "y", hidden: 1 }, 14],
    ["unique and prepareUnique", { key: { y: 1 }, name: "y", unique: true, prepareUnique: true }, 67],
    ["version 0", { key: { y: 1 }, name: "y", v: 0 }, 67],
    ["an empty collation", { key: { y: 1 }, name: "y", collation: {} }, 2],
    ["an unknown locale", { key: { y: 1 }, name: "y", collation: { locale: "xx" } }, 2],
    ["a descending _id index", { key: { _id: -1 }, name: "_id_-1" }, 2],
    ["an option of the _id index", { key: { _id: 1 }, name: "_id_", unique: true }, 197],
    ["a hidden _id index", { key: { _id: 1 }, name: "_id_", hidden: true }, 197],
    [
      "another collation of the _id index",
      { key: { _id: 1 }, name: "_id_", collation: { locale: "de" } },
      67,
    ],
    ["a text index", { key: { y: "text" }, name: "y" }, 238],
    ["a geospatial index", { key: { y: "2dsphere" }, name: "y" }, 238],
    ["a wildcard index", { key: { "$**": 1 }, name: "y" }, 238],
    ["a wildcard below a field", { key: { "y.$**": 1 }, name: "y" }, 238],
    ["a column store", { key: { "$**": "columnstore" }, name: "y" }, 238],
    ["a clustered index", { key: { _id: 1 }, name: "y", clustered: true, unique: true }, 238],
    [
      "a hashed index with a collation",
      { key: { y: "hashed" }, name: "y", collation: { locale: "de" } },
      238,
    ],
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

describe("createIndexes further", () => {
  it("takes names of any length, dollars in front, and unknown options where it is told to ignore them", async () => {
    const t = new TestMongod();
    const name = `$${"n".repeat(500)}`;
    await t.run({
      createIndexes: "c",
      indexes: [{ key: { x: 1 }, name, quick: true, dropDups: true, ns: "library.c" }],
      ignoreUnknownIndexOptions: true,
    });
    expect(await t.all({ listIndexes: "c" })).toEqual([
      { v: 2, key: { _id: 1 }, name: "_id_" },
      { v: 2, key: { x: 1 }, name },
    ]);
  });

  it("answers to the _id index as to any that exists", async () => {
    const t = new TestMongod();
    expect(await t.createIndex("c", { _id: 1 })).toEqual({
      numIndexesBefore: 1,
      numIndexesAfter: 1,
      createdCollectionAutomatically: true,
      note: "all indexes already exist",
      ok: 1,
    });
    expect(await t.createIndex("c", { _id: "hashed" })).toMatchObject({ numIndexesAfter: 2 });
  });

  it("knows a commit quorum on a member of a replica set only", async () => {
    const alone = new TestMongod();
    const command = { createIndexes: "c", indexes: [{ key: { x: 1 }, name: "x_1" }] };
    expect(await alone.reply({ ...command, commitQuorum: 1 })).toMatchObject({
      code: 2,
      errmsg: "Standalones can't specify commitQuorum",
    });
    const member = new TestMongod({ replSet: "rs" });
    expect(await member.run(command)).toMatchObject({ commitQuorum: "votingMembers" });
    expect(await member.run({ ...command, commitQuorum: "majority" })).toMatchObject({
      commitQuorum: "majority",
    });
    expect(await member.run({ ...command, commitQuorum: 0 })).toMatchObject({ commitQuorum: 1 });
    expect(await member.reply({ ...command, commitQuorum: 2 })).toMatchObject({
      code: 278,
      codeName: "UnsatisfiableCommitQuorum",
    });
    expect(await member.reply({ ...command, commitQuorum: -1 })).toMatchObject({ code: 9 });
    expect(await member.reply({ ...command, commitQuorum: true })).toMatchObject({ code: 9 });
    expect(await member.reply({ ...command, commitQuorum: "all" })).toMatchObject({ code: 79 });
  });

  it("is not for views", async () => {
    const t = new TestMongod();
    await t.run({ create: "v", viewOn: "c", pipeline: [] });
    const [create, list, drop] = [
      await t.reply({ createIndexes: "v", indexes: [{ key: { x: 1 }, name: "x_1" }] }),
      await t.reply({ listIndexes: "v" }),
      await t.reply({ dropIndexes: "v", index: "*" }),
    ];
    for (const reply of [create, list, drop])
      expect(reply).toMatchObject({ code: 166, codeName: "CommandNotSupportedOnView" });
  });

  it("lists options in MongoDB's order, in batches", async () => {
    const t = new TestMongod();
    await t.createIndex(
      "c",
      { x: 1 },
      {
        hidden: true,
        expireAfterSeconds: 60.9,
        partialFilterExpression: { a: { $gt: 1 } },
        unique: 1,
        background: true,
      },
    );
    await t.createIndex("c", { s: -1 }, { collation: { locale: "de", strength: 1 }, sparse: true });
    const first = await t.run({ listIndexes: "c", cursor: { batchSize: 2 } });
    expect(first["cursor"].firstBatch).toHaveLength(2);
    const [, x, s] = await t.all({ listIndexes: "c", cursor: { batchSize: 1 } });
    expect(Object.entries(x as object)).toEqual([
      ["v", 2],
      ["key", { x: 1 }],
      ["name", "x_1"],
      ["background", true],
      ["unique", true],
      ["hidden", true],
      ["partialFilterExpression", { a: { $gt: 1 } }],
      ["expireAfterSeconds", 60],
    ]);
    expect(Object.keys(s as object)).toEqual(["v", "key", "name", "sparse", "collation"]);
    expect(s).toMatchObject({ collation: { locale: "de", caseLevel: false, strength: 1, version: "57.1" } });
    expect(await t.all({ listIndexes: "c", includeIndexBuildInfo: true })).toMatchObject([
      { spec: { name: "_id_" } },
      { spec: { name: "x_1" } },
      { spec: { name: "s_-1" } },
    ]);
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
    expect(await t.reply({ dropIndexes: "c", index: 5 })).toMatchObject({ code: 14 });
    expect(await t.run({ dropIndexes: "c", index: ["*"] })).toMatchObject({
      nIndexesWas: 2,
      msg: "non-_id indexes dropped for collection",
    });
  });

  it("wants a name where a key stands for several indexes", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { a: 1 });
    await t.createIndex("c", { a: 1 }, { name: "u", unique: true });
    expect(await t.reply({ dropIndexes: "c", index: { a: 1 } })).toMatchObject({
      code: 181,
      codeName: "AmbiguousIndexKeyPattern",
      errmsg:
        "2 indexes found for key: { a: 1 }, identify by name instead. Conflicting indexes: " +
        '{ v: 2, key: { a: 1 }, name: "a_1" }, { v: 2, unique: true, key: { a: 1 }, name: "u" }',
    });
    expect(await t.reply({ dropIndexes: "c", index: { a: -1 } })).toMatchObject({
      code: 27,
      errmsg: "can't find index with key: { a: -1 }",
    });
  });
});
