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

describe("the conflicts of a wanted index", () => {
  // jstests/core/index: index_create_with_nul…, indexes with the same key pattern and other options; manual,
  // "Create multiple indexes on the same key with different collations" and partial indexes "differ only in the filter"
  const base = { key: { x: 1 }, name: "x_1" };
  it.each([
    ["the same again", base, 0],
    ["the same, spelt with another number type", { key: { x: 1.5 - 0.5 }, name: "x_1" }, 0],
    ["the same, with the default said aloud", { ...base, collation: { locale: "simple" }, unique: false }, 0],
    ["another number in the key", { key: { x: 2 }, name: "x_2" }, 1],
    ["unique, under another name", { ...base, name: "u", unique: true }, 1],
    ["sparse, under another name", { ...base, name: "s", sparse: true }, 1],
    ["with a collation, under another name", { ...base, name: "c", collation: { locale: "de" } }, 1],
    ["with a filter, under another name", { ...base, name: "p", partialFilterExpression: { a: 1 } }, 1],
    ["unique, under the same name", { ...base, unique: true }, 86],
    ["sparse, under the same name", { ...base, sparse: true }, 86],
    ["with a collation, under the same name", { ...base, collation: { locale: "de" } }, 86],
    ["with a filter, under the same name", { ...base, partialFilterExpression: { a: 1 } }, 86],
    ["with an expiry, under the same name", { ...base, expireAfterSeconds: 1 }, 85],
    ["with an expiry, under another name", { ...base, name: "t", expireAfterSeconds: 1 }, 85],
    ["hidden, under another name", { ...base, name: "h", hidden: true }, 85],
    ["the same, under another name", { ...base, name: "again" }, 85],
  ])("%s", async (_, index, outcome) => {
    const t = new TestMongod();
    await t.run({ createIndexes: "c", indexes: [base] });
    const reply = await t.reply({ createIndexes: "c", indexes: [index] });
    if (outcome > 1) expect(reply).toMatchObject({ ok: 0, code: outcome });
    else expect(reply).toMatchObject({ ok: 1, numIndexesBefore: 2, numIndexesAfter: 2 + outcome });
  });

  it("are told with both specifications", async () => {
    const t = new TestMongod();
    await t.run({ createIndexes: "c", indexes: [base] });
    const errmsg = async (index: object): Promise<string> =>
      (await t.reply({ createIndexes: "c", indexes: [index] }))["errmsg"];
    expect(await errmsg({ ...base, unique: true })).toBe(
      "An existing index has the same name as the requested index. When index names are not specified, they are " +
        "auto generated and can cause conflicts. Please refer to our documentation. Requested index: " +
        '{ v: 2, unique: true, key: { x: 1 }, name: "x_1" }, existing index: { v: 2, key: { x: 1 }, name: "x_1" }',
    );
    expect(await errmsg({ ...base, expireAfterSeconds: 5 })).toBe(
      "An equivalent index already exists with the same name but different options. Requested index: " +
        '{ v: 2, key: { x: 1 }, name: "x_1", expireAfterSeconds: 5 }, existing index: { v: 2, key: { x: 1 }, name: "x_1" }',
    );
    expect(await errmsg({ ...base, name: "y" })).toBe("Index already exists with a different name: x_1");
    expect(await errmsg({ key: { x: 0 }, name: "z" })).toBe(
      'Error in specification { key: { x: 0 }, name: "z" } :: caused by :: Values in the index key pattern cannot be 0.',
    );
  });

  it("know two filters as the same whatever the order of their conditions", async () => {
    const t = new TestMongod();
    const index = (partialFilterExpression: object): object => ({ ...base, partialFilterExpression });
    await t.run({ createIndexes: "c", indexes: [index({ a: 1, b: { $gt: 2 } })] });
    expect(await t.run({ createIndexes: "c", indexes: [index({ b: { $gt: 2 }, a: 1 })] })).toMatchObject({
      note: "all indexes already exist",
    });
    expect(await t.reply({ createIndexes: "c", indexes: [index({ b: { $gt: 3 }, a: 1 })] })).toMatchObject({
      code: 86,
    });
  });

  it("of one command count as if they came one after the other", async () => {
    const t = new TestMongod();
    const twice = [base, { key: { y: 1 }, name: "x_1" }];
    expect(await t.reply({ createIndexes: "c", indexes: twice })).toMatchObject({ code: 86 });
    expect(await t.run({ createIndexes: "c", indexes: [base, base] })).toEqual({
      numIndexesBefore: 1,
      numIndexesAfter: 2,
      createdCollectionAutomatically: true,
      note: "index already exists",
      ok: 1,
    });
  });

  it("end at 64 indexes", async () => {
    const t = new TestMongod();
    const indexes = Array.from({ length: 63 }, (_, i) => ({ key: { [`f${i}`]: 1 }, name: `f${i}` }));
    expect(await t.run({ createIndexes: "c", indexes })).toMatchObject({ numIndexesAfter: 64 });
    expect(await t.reply({ createIndexes: "c", indexes: [base] })).toMatchObject({
      code: 67,
      errmsg: "add index fails, too many indexes for library.c key:{ x: 1 }",
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
