import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

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
