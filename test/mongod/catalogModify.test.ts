/** collMod: what of a collection, an index or a view can be changed. */
import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

async function optionsOf(t: TestMongod, name: string): Promise<object> {
  const [listed] = await t.all({ listCollections: 1, filter: { name } });
  return listed!["options"] as object;
}

async function indexOf(t: TestMongod, name: string): Promise<object> {
  const listed = await t.all({ listIndexes: "loans" });
  return listed.find((index) => index["name"] === name) as object;
}

/** A collection `loans` with an index `n_1` over n = 1, 2, 2. */
async function withIndex(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert("loans", { _id: 1, n: 1 }, { _id: 2, n: 2 }, { _id: 3, n: 2 });
  await t.createIndex("loans", { n: 1 });
  return t;
}

describe("collMod of a collection", () => {
  it("changes the validator; level and action are spoken of from then on", async () => {
    const t = new TestMongod();
    await t.run({ create: "loans", validator: { a: 1 } });
    expect(await t.run({ collMod: "loans", validator: { b: 1 } })).toEqual({ ok: 1 });
    expect(await optionsOf(t, "loans")).toEqual({
      validator: { b: 1 },
      validationLevel: "strict",
      validationAction: "error",
    });
    await t.run({ collMod: "loans", validationLevel: "moderate" });
    await t.run({ collMod: "loans", validator: {}, validationAction: "warn" });
    expect(await optionsOf(t, "loans")).toEqual({ validationLevel: "moderate", validationAction: "warn" });
  });

  it("changes the size of a capped one, and keeps what is not mentioned", async () => {
    const t = new TestMongod();
    await t.run({ create: "log", capped: true, size: 4096, max: 10, collation: { locale: "fr" } });
    await t.run({ collMod: "log", cappedSize: 8192 });
    expect(await optionsOf(t, "log")).toMatchObject({ capped: true, size: 8192, max: 10 });
    await t.run({ collMod: "log", cappedMax: 5 });
    expect(await optionsOf(t, "log")).toMatchObject({
      size: 8192,
      max: 5,
      collation: { locale: "fr" },
    });
    expect(await t.reply({ collMod: "log", cappedSize: 0 })).toMatchObject({ code: 51024 });
    await t.run({ create: "loans" });
    expect(await t.reply({ collMod: "loans", cappedSize: 8192 })).toMatchObject({
      code: 72,
      errmsg: "Collection must be capped.",
    });
  });

  it("without anything to change is no error; of nothing it is", async () => {
    const t = new TestMongod();
    await t.run({ create: "loans" });
    expect(await t.run({ collMod: "loans" })).toEqual({ ok: 1 });
    expect(await t.reply({ collMod: "none" })).toMatchObject({ code: 26, errmsg: "ns does not exist" });
    expect(await t.reply({ collMod: "loans", foo: 1 })).toMatchObject({ code: 40415 });
    expect(await t.reply({ collMod: "loans", viewOn: "x" })).toMatchObject({
      code: 72,
      errmsg: "option only supported on a view: viewOn",
    });
    expect(await t.reply({ collMod: "loans", validator: { $foo: 1 } })).toMatchObject({ code: 2 });
    expect(await t.reply({ collMod: "loans", expireAfterSeconds: 5 })).toMatchObject({ code: 238 });
    expect(await t.reply({ collMod: "loans", validator: { a: 1 } }, "admin")).toMatchObject({ code: 26 });
  });

  it("is for exactly the collection with the given UUID, where one is given", async () => {
    const t = new TestMongod();
    await t.run({ create: "loans" });
    await t.run({ create: "books" });
    const [books, loans] = await t.all({ listCollections: 1 });
    const uuid = loans!["info"].uuid as unknown;
    expect(await t.run({ collMod: "loans", collectionUUID: uuid })).toEqual({ ok: 1 });
    expect(await t.reply({ collMod: "loans", collectionUUID: books!["info"].uuid as unknown })).toMatchObject(
      {
        code: 361,
        db: "library",
        expectedCollection: "loans",
        actualCollection: "books",
      },
    );
    expect(await t.reply({ drop: "gone", collectionUUID: uuid })).toMatchObject({
      code: 361,
      expectedCollection: "gone",
      actualCollection: "loans",
    });
  });
});

describe("collMod of an index", () => {
  it("hides it, and answers what was", async () => {
    const t = await withIndex();
    const index = { name: "n_1", hidden: true };
    expect(await t.run({ collMod: "loans", index })).toEqual({ hidden_old: false, hidden_new: true, ok: 1 });
    expect(await indexOf(t, "n_1")).toMatchObject({ hidden: true });
    // Asking for what is so already changes nothing, and says nothing.
    expect(await t.run({ collMod: "loans", index })).toEqual({ ok: 1 });
    expect(await t.run({ collMod: "loans", index: { keyPattern: { n: 1 }, hidden: false } })).toEqual({
      hidden_old: true,
      hidden_new: false,
      ok: 1,
    });
    expect(await indexOf(t, "n_1")).not.toHaveProperty("hidden");
  });

  it("makes it unique in two steps, and tells what is in the way", async () => {
    const t = await withIndex();
    const unique = { collMod: "loans", index: { name: "n_1", unique: true } };
    expect(await t.reply(unique)).toMatchObject({
      code: 72,
      errmsg: "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.",
    });
    expect(await t.run({ collMod: "loans", index: { name: "n_1", prepareUnique: true } })).toEqual({
      prepareUnique_old: false,
      prepareUnique_new: true,
      ok: 1,
    });
    for (const dryRun of [{ dryRun: true }, {}]) {
      expect(await t.reply({ ...unique, ...dryRun })).toMatchObject({
        code: 359,
        codeName: "CannotConvertIndexToUnique",
        violations: [{ ids: [2, 3] }],
      });
    }
    await t.run({ delete: "loans", deletes: [{ q: { _id: 3 }, limit: 1 }] });
    expect(await t.run({ ...unique, dryRun: true })).toEqual({ ok: 1 });
    expect(await indexOf(t, "n_1")).not.toHaveProperty("unique");
    expect(await t.run(unique)).toEqual({ unique_new: true, ok: 1 });
    expect(await indexOf(t, "n_1")).toMatchObject({ unique: true });
    expect(await t.run(unique)).toEqual({ ok: 1 });
    const insert = await t.reply({ insert: "loans", documents: [{ _id: 9, n: 2 }] });
    expect(insert["writeErrors"]).toMatchObject([{ code: 11000 }]);
  });

  it("sets when documents expire", async () => {
    const t = await withIndex();
    const expire = (seconds: number): object => ({
      collMod: "loans",
      index: { name: "n_1", expireAfterSeconds: seconds },
    });
    expect(await t.run(expire(60))).toEqual({ expireAfterSeconds_new: 60, ok: 1 });
    expect(await t.run(expire(90))).toEqual({
      expireAfterSeconds_old: 60,
      expireAfterSeconds_new: 90,
      ok: 1,
    });
    expect(await t.reply(expire(-1))).toMatchObject({ code: 72 });
    expect(await t.reply(expire(2 ** 31))).toMatchObject({ code: 72 });
  });

  // [index, code]
  const bad: [object, number][] = [
    [{ hidden: true }, 72],
    [{ name: "n_1", keyPattern: { n: 1 }, hidden: true }, 72],
    [{ name: "n_1" }, 72],
    [{ name: "none_1", hidden: true }, 27],
    [{ keyPattern: { none: 1 }, hidden: true }, 27],
    [{ name: "_id_", hidden: true }, 2],
    [{ name: "_id_", expireAfterSeconds: 1 }, 72],
    [{ name: "n_1", unique: false }, 2],
    [{ name: "n_1", hidden: "yes" }, 14],
    [{ name: "n_1", prepareUnique: true, hidden: true }, 72],
    [{ name: "n_1", forceNonUnique: true }, 238],
    [{ name: "n_1", foo: 1 }, 40415],
  ];
  it.each(bad)("%j is refused", async (index, code) => {
    const t = await withIndex();
    expect(await t.reply({ collMod: "loans", index })).toMatchObject({ code });
    expect(await indexOf(t, "n_1")).toEqual({ v: 2, key: { n: 1 }, name: "n_1" });
  });

  it("changes nothing when another part of the command is wrong", async () => {
    const t = await withIndex();
    const index = { name: "n_1", hidden: true };
    expect(await t.reply({ collMod: "loans", index, validator: { $foo: 1 } })).toMatchObject({ code: 2 });
    expect(await indexOf(t, "n_1")).not.toHaveProperty("hidden");
  });
});

describe("collMod of a view", () => {
  it("changes what it is on, what it does, or both", async () => {
    const t = new TestMongod();
    await t.run({ create: "v", viewOn: "a", pipeline: [{ $limit: 1 }] });
    await t.run({ collMod: "v", viewOn: "b" });
    expect(await optionsOf(t, "v")).toEqual({ viewOn: "b", pipeline: [{ $limit: 1 }] });
    await t.run({ collMod: "v", pipeline: [] });
    expect(await optionsOf(t, "v")).toEqual({ viewOn: "b", pipeline: [] });
    expect(await t.reply({ collMod: "v", pipeline: [{ $out: "x" }] })).toMatchObject({ code: 167 });
    expect(await t.reply({ collMod: "v", viewOn: "" })).toMatchObject({ code: 2 });
    expect(await optionsOf(t, "v")).toEqual({ viewOn: "b", pipeline: [] });
  });
});
