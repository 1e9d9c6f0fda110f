/** What collections can be: the options of create, as they are checked, kept and listed. */
import { Long } from "bson";
import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

/** The options that listCollections shows for one collection. */
async function optionsOf(t: TestMongod, name: string): Promise<object> {
  const [listed] = await t.all({ listCollections: 1, filter: { name } });
  return listed!["options"] as object;
}

describe("a capped collection", () => {
  it("needs a size, and is listed with it", async () => {
    const t = new TestMongod();
    await t.run({ create: "log", capped: true, size: 4096, max: 3 });
    expect(await optionsOf(t, "log")).toEqual({ capped: true, size: 4096, max: 3 });
    expect(await t.run({ create: "log", capped: true, size: 4096, max: 3 })).toEqual({ ok: 1 });
    expect(await t.reply({ create: "log", capped: true, size: 8192, max: 3 })).toMatchObject({ code: 48 });
    expect(await t.run({ collStats: "log" })).toMatchObject({ capped: true, max: 3, maxSize: 4096 });
    expect(await t.run({ collStats: "log", scale: 1024 })).toMatchObject({ maxSize: 4, scaleFactor: 1024 });
  });

  // [options, code]
  const bad: [object, number][] = [
    [{ capped: true }, 72],
    [{ size: 4096 }, 72],
    [{ max: 5 }, 72],
    [{ capped: true, size: 0 }, 51024],
    [{ capped: true, size: 2 ** 50 + 1 }, 51024],
    [{ capped: true, size: 4096, max: 2 ** 31 }, 51024],
    [{ capped: true, size: "big" }, 14],
    [{ capped: "yes", size: 1 }, 14],
  ];
  it.each(bad)("with %j is refused", async (options, code) => {
    const t = new TestMongod();
    expect(await t.reply({ create: "log", ...options })).toMatchObject({ code });
    expect(await t.all({ listCollections: 1 })).toEqual([]);
  });

  it("without a limit of documents says so with 2^31 - 1", async () => {
    const t = new TestMongod();
    await t.run({ create: "log", capped: true, size: Long.fromNumber(2 ** 40), max: 0 });
    expect(await optionsOf(t, "log")).toEqual({ capped: true, size: 2 ** 40, max: 2147483647 });
  });
});

describe("a validator", () => {
  it("is listed as it was given; level and action only if they were given", async () => {
    const t = new TestMongod();
    await t.run({ create: "loans", validator: { days: { $gt: 0 } } });
    expect(await optionsOf(t, "loans")).toEqual({ validator: { days: { $gt: 0 } } });
    await t.run({ create: "strict", validator: { a: 1 }, validationAction: "warn", validationLevel: "off" });
    // MongoDB's order of fields, whatever the command's.
    expect(Object.keys(await optionsOf(t, "strict"))).toEqual([
      "validator",
      "validationLevel",
      "validationAction",
    ]);
    await t.run({ create: "open", validator: {} });
    expect(await optionsOf(t, "open")).toEqual({});
  });

  it("is compiled when it is set, not when it is needed", async () => {
    const t = new TestMongod();
    expect(await t.reply({ create: "c", validator: { $nonsense: 1 } })).toMatchObject({ code: 2 });
    expect(await t.reply({ create: "c", validator: { a: { $foo: 1 } } })).toMatchObject({ code: 2 });
    expect(await t.reply({ create: "c", validator: "a" })).toMatchObject({ code: 14 });
    expect(await t.reply({ create: "c", validationLevel: "lax" })).toMatchObject({
      code: 2,
      errmsg: "Enumeration value 'lax' for field 'create.validationLevel' is not a valid value.",
    });
    expect(await t.reply({ create: "c", validationAction: "shout" })).toMatchObject({ code: 2 });
  });

  it("has no place where the server keeps its own data", async () => {
    const t = new TestMongod();
    for (const db of ["admin", "config", "local"])
      expect(await t.reply({ create: "c", validator: { a: 1 } }, db)).toMatchObject({ code: 72 });
  });
});

describe("a collation", () => {
  it("is listed complete, and equal ones are equal however they were given", async () => {
    const t = new TestMongod();
    await t.run({ create: "names", collation: { locale: "en", strength: 2 } });
    const { collation } = (await optionsOf(t, "names")) as { collation: object };
    expect(collation).toMatchObject({ locale: "en", strength: 2, caseLevel: false, numericOrdering: false });
    expect(await t.run({ create: "names", collation: { strength: 2, locale: "en" } })).toEqual({ ok: 1 });
    expect(await t.reply({ create: "names", collation: { locale: "en" } })).toMatchObject({ code: 48 });
    expect(await t.reply({ create: "x", collation: {} })).toMatchObject({ code: 40414 });
    expect(await t.reply({ create: "x", collation: { locale: "nowhere" } })).toMatchObject({ code: 2 });
  });

  it("that is simple leaves nothing behind", async () => {
    const t = new TestMongod();
    await t.run({ create: "names", collation: { locale: "simple" } });
    expect(await optionsOf(t, "names")).toEqual({});
  });
});

describe("idIndex", () => {
  const key = { _id: 1 };
  // [idIndex, code]
  const bad: [object, number][] = [
    [{ key: { x: 1 }, name: "_id_" }, 2],
    [{ key }, 9],
    [{ name: "_id_" }, 9],
    [{ key, name: "_id_", unique: true }, 197],
    [{ key, name: "_id_", collation: { locale: "fr" } }, 2],
  ];
  it.each(bad)("%j is refused", async (idIndex, code) => {
    expect(await new TestMongod().reply({ create: "c", idIndex })).toMatchObject({ code });
  });

  it("may only say what is so anyway", async () => {
    const t = new TestMongod();
    expect(await t.run({ create: "c", idIndex: { key, name: "_id_" } })).toEqual({ ok: 1 });
    expect(await t.run({ create: "d", autoIndexId: true })).toMatchObject({ note: expect.any(String) });
    expect(await t.reply({ create: "e", autoIndexId: false })).toMatchObject({ code: 72 });
  });
});

describe("what is not simulated", () => {
  const kinds: object[] = [
    { timeseries: { timeField: "t" } },
    { clusteredIndex: { key: { _id: 1 }, unique: true } },
    { changeStreamPreAndPostImages: { enabled: true } },
    { encryptedFields: { fields: [{ path: "a", bsonType: "int" }] } },
    { expireAfterSeconds: 60 },
  ];
  it.each(kinds)("%j is refused by name", async (options) => {
    const reply = await new TestMongod().reply({ create: "c", ...options });
    expect(reply).toMatchObject({ code: 238, errmsg: expect.stringMatching(/^not simulated: /) });
  });

  it("and what does not exist, as MongoDB refuses it", async () => {
    const t = new TestMongod();
    expect(await t.reply({ create: "c", foo: 1 })).toMatchObject({ code: 40415 });
    expect(await t.reply({ create: "c", temp: true })).toMatchObject({ code: 72 });
    expect(await t.reply({ create: "c", storageEngine: { rocks: { a: 1 } } })).toMatchObject({ code: 72 });
    expect(await t.reply({ create: "c", storageEngine: { wiredTiger: 5 } })).toMatchObject({ code: 2 });
  });
});
