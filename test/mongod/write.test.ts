import { Long, UUID } from "bson";
import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

async function accounts(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert(
    "a",
    { _id: 1, owner: "ann", n: 1 },
    { _id: 2, owner: "bob", n: 2 },
    { _id: 3, owner: "ann", n: 3 },
  );
  return t;
}

const update = (u: object, rest: object = {}, q: object = {}): object => ({
  update: "a",
  updates: [{ q, u, ...rest }],
});

describe("update", () => {
  it("changes the first match, or all with multi", async () => {
    const t = await accounts();
    expect(await t.run(update({ $inc: { n: 10 } }, {}, { owner: "ann" }))).toEqual({
      n: 1,
      nModified: 1,
      ok: 1,
    });
    expect(await t.run(update({ $inc: { n: 100 } }, { multi: true }, { owner: "ann" }))).toEqual({
      n: 2,
      nModified: 2,
      ok: 1,
    });
    expect((await t.find("a")).map(({ n }) => n)).toEqual([111, 2, 103]);
  });

  it("counts as matched but not modified what was so already", async () => {
    const t = await accounts();
    expect(await t.run(update({ $set: { owner: "ann" } }, { multi: true }))).toEqual({
      n: 3,
      nModified: 1,
      ok: 1,
    });
    expect(await t.run(update({ _id: 1, owner: "ann", n: 1 }, {}, { _id: 1 }))).toEqual({
      n: 1,
      nModified: 0,
      ok: 1,
    });
    // MongoDB compares a replacement as it was sent: without _id it is another document.
    expect(await t.run(update({ owner: "ann", n: 1 }, {}, { _id: 1 }))).toMatchObject({ n: 1, nModified: 1 });
  });

  it("replaces all but _id, which it keeps", async () => {
    const t = await accounts();
    await t.run(update({ fresh: true }, {}, { _id: 2 }));
    expect(await t.find("a", { _id: 2 })).toEqual([{ _id: 2, fresh: true }]);
  });

  it("keeps indexes in step", async () => {
    const t = await accounts();
    await t.createIndex("a", { n: 1 });
    await t.run(update({ $set: { n: 50 } }, {}, { _id: 1 }));
    expect(await t.find("a", { n: 50 }, { hint: "n_1" })).toEqual([{ _id: 1, owner: "ann", n: 50 }]);
    expect(await t.find("a", { n: 1 }, { hint: "n_1" })).toEqual([]);
    expect((await t.run({ validate: "a" }))["valid"]).toBe(true);
  });

  it("keeps an index over an array's elements in step with changes at positions", async () => {
    const t = new TestMongod();
    await t.insert("a", { _id: 1, a: [{ b: 1 }, { b: 2 }], deep: { x: [{ y: { z: 1 } }] } });
    await t.createIndex("a", { "a.b": 1 });
    await t.createIndex("a", { "deep.x.y.z": 1 });
    await t.run(update({ $set: { "a.0.b": 10 } }));
    expect(await t.find("a", { "a.b": 10 }, { hint: "a.b_1" })).toHaveLength(1);
    await t.run(update({ $inc: { "a.$[].b": 100, "deep.x.$[].y.z": 1 } }));
    expect(await t.find("a", { "a.b": 110 }, { hint: "a.b_1" })).toHaveLength(1);
    expect(await t.find("a", { "a.b": 10 }, { hint: "a.b_1" })).toHaveLength(0);
    expect(await t.find("a", { "deep.x.y.z": 2 }, { hint: "deep.x.y.z_1" })).toHaveLength(1);
    expect((await t.run({ validate: "a" }))["valid"]).toBe(true);
  });

  it("meets no document twice when it moves them ahead in the index that finds them", async () => {
    const t = new TestMongod();
    await t.insert("a", ...Array.from({ length: 300 }, (_, i) => ({ _id: i, n: i })));
    await t.createIndex("a", { n: 1 });
    const reply = await t.run(
      update({ $inc: { n: 1000 } }, { multi: true, hint: "n_1" }, { n: { $gte: 0 } }),
    );
    expect(reply).toEqual({ n: 300, nModified: 300, ok: 1 });
    expect((await t.find("a", { _id: 299 }))[0]).toEqual({ _id: 299, n: 1299 });
  });

  it("refuses what a unique index forbids, and then changes nothing", async () => {
    const t = await accounts();
    await t.createIndex("a", { n: 1 }, { unique: true });
    const reply = await t.run(update({ $set: { n: 2 } }, {}, { _id: 1 }));
    expect(reply).toMatchObject({
      n: 0,
      nModified: 0,
      writeErrors: [{ index: 0, code: 11000, keyValue: { n: 2 } }],
    });
    expect(await t.find("a", { _id: 1 })).toEqual([{ _id: 1, owner: "ann", n: 1 }]);
    expect(await t.run(update({ $set: { n: 1, seen: true } }, {}, { _id: 1 }))).toMatchObject({
      nModified: 1,
    });
  });

  it("inserts where nothing matches, when asked to", async () => {
    const t = await accounts();
    const reply = await t.run({
      update: "a",
      updates: [
        { q: { _id: 1 }, u: { $set: { n: 0 } }, upsert: true },
        { q: { _id: 9, owner: "eve" }, u: { $set: { n: 9 }, $setOnInsert: { fresh: 1 } }, upsert: true },
      ],
    });
    expect(reply).toEqual({ n: 2, nModified: 1, upserted: [{ index: 1, _id: 9 }], ok: 1 });
    expect(await t.find("a", { _id: 9 })).toEqual([{ _id: 9, owner: "eve", n: 9, fresh: 1 }]);
  });

  it("refuses to change _id, to replace many, and a result over 16 MiB", async () => {
    const t = await accounts();
    expect(await t.run(update({ $set: { _id: 5 } }, {}, { _id: 1 }))).toMatchObject({
      writeErrors: [{ code: 66 }],
    });
    expect(await t.run(update({ _id: 5, n: 1 }, {}, { _id: 1 }))).toMatchObject({
      writeErrors: [{ code: 66 }],
    });
    expect(await t.run(update({ n: 1 }, { multi: true }))).toMatchObject({ writeErrors: [{ code: 9 }] });
    const big = "x".repeat(9 * 1024 * 1024);
    expect(await t.run(update({ $set: { one: big } }, {}, { _id: 1 }))).toMatchObject({ nModified: 1 });
    expect(await t.run(update({ $set: { two: big } }, {}, { _id: 1 }))).toMatchObject({
      writeErrors: [{ code: 17419 }],
    });
  });

  it("stops at the first error when ordered, goes on when not", async () => {
    const t = await accounts();
    const updates = [
      { q: { _id: 1 }, u: { $nonsense: { n: 1 } } },
      { q: { _id: 2 }, u: { $set: { n: 20 } } },
    ];
    expect(await t.run({ update: "a", updates })).toMatchObject({
      n: 0,
      writeErrors: [{ index: 0, code: 9 }],
    });
    expect(await t.run({ update: "a", updates, ordered: false })).toMatchObject({
      n: 1,
      writeErrors: [{ index: 0 }],
    });
  });
});

describe("delete", () => {
  it("removes the first match with limit 1, all with limit 0", async () => {
    const t = await accounts();
    expect(await t.run({ delete: "a", deletes: [{ q: { owner: "ann" }, limit: 1 }] })).toEqual({
      n: 1,
      ok: 1,
    });
    expect((await t.find("a")).map(({ _id }) => _id)).toEqual([2, 3]);
    expect(await t.run({ delete: "a", deletes: [{ q: {}, limit: 0 }] })).toEqual({ n: 2, ok: 1 });
    expect(await t.run({ count: "a" })).toEqual({ n: 0, ok: 1 });
  });

  it("refuses any other limit", async () => {
    const t = await accounts();
    const reply = await t.run({ delete: "a", deletes: [{ q: {}, limit: 2 }] });
    expect(reply).toMatchObject({ n: 0, writeErrors: [{ index: 0, code: 9 }] });
  });

  it("frees what a unique index held", async () => {
    const t = await accounts();
    await t.createIndex("a", { n: 1 }, { unique: true });
    await t.run({ delete: "a", deletes: [{ q: { _id: 1 }, limit: 1 }] });
    await t.insert("a", { _id: 4, n: 1 });
    expect((await t.run({ validate: "a" }))["valid"]).toBe(true);
  });
});

describe("findAndModify", () => {
  it("answers the document as it was, or as it became with new", async () => {
    const t = await accounts();
    expect(await t.run({ findAndModify: "a", query: { _id: 1 }, update: { $inc: { n: 1 } } })).toEqual({
      lastErrorObject: { n: 1, updatedExisting: true },
      value: { _id: 1, owner: "ann", n: 1 },
      ok: 1,
    });
    const after = await t.run({
      findAndModify: "a",
      query: { _id: 1 },
      update: { $inc: { n: 1 } },
      new: true,
      fields: { n: 1 },
    });
    expect(after["value"]).toEqual({ _id: 1, n: 3 });
  });

  it("takes the first in the wanted order, and removes it when asked to", async () => {
    const t = await accounts();
    const reply = await t.run({ findAndModify: "a", query: { owner: "ann" }, sort: { n: -1 }, remove: true });
    expect(reply).toEqual({ lastErrorObject: { n: 1 }, value: { _id: 3, owner: "ann", n: 3 }, ok: 1 });
    expect(await t.find("a", { _id: 3 })).toEqual([]);
  });

  it("inserts where nothing matches with upsert, and answers null without", async () => {
    const t = await accounts();
    expect(await t.run({ findAndModify: "a", query: { _id: 7 }, update: { $set: { n: 7 } } })).toEqual({
      lastErrorObject: { n: 0, updatedExisting: false },
      value: null,
      ok: 1,
    });
    expect(
      await t.run({
        findAndModify: "a",
        query: { _id: 7 },
        update: { $set: { n: 7 } },
        upsert: true,
        new: true,
      }),
    ).toEqual({
      lastErrorObject: { n: 1, updatedExisting: false, upserted: 7 },
      value: { _id: 7, n: 7 },
      ok: 1,
    });
  });

  it("refuses contradictions, and reports a duplicate key as its own failure", async () => {
    const t = await accounts();
    expect(await t.reply({ findAndModify: "a", query: {}, update: { n: 1 }, remove: true })).toMatchObject({
      code: 9,
    });
    expect(await t.reply({ findAndModify: "a", query: {}, remove: true, new: true })).toMatchObject({
      code: 9,
    });
    expect(await t.reply({ findAndModify: "a", query: {} })).toMatchObject({ code: 9 });
    await t.createIndex("a", { n: 1 }, { unique: true });
    expect(
      await t.reply({ findAndModify: "a", query: { _id: 1 }, update: { $set: { n: 2 } } }),
    ).toMatchObject({
      ok: 0,
      code: 11000,
      codeName: "DuplicateKey",
      keyPattern: { n: 1 },
      keyValue: { n: 2 },
    });
  });
});

describe("retryable writes", () => {
  async function session(): Promise<{ t: TestMongod; retry: (txnNumber: number) => object }> {
    const t = await accounts();
    const id = { id: new UUID("00000000-0000-4000-8000-000000000001") };
    return { t, retry: (txnNumber) => ({ lsid: id, txnNumber: Long.fromNumber(txnNumber) }) };
  }

  it("run once: a repeated insert, update, delete or findAndModify gets its first answer", async () => {
    const { t, retry } = await session();
    const commands = [
      { insert: "a", documents: [{ _id: 10 }, { _id: 11 }], ...retry(1) },
      { ...update({ $inc: { n: 1 } }, {}, { _id: 1 }), ...retry(2) },
      { ...update({ $inc: { n: 1 } }, { upsert: true }, { _id: 77 }), ...retry(3) },
      { delete: "a", deletes: [{ q: { owner: "ann" }, limit: 1 }], ...retry(4) },
      { findAndModify: "a", query: { _id: 2 }, update: { $inc: { n: 1 } }, new: true, ...retry(5) },
    ];
    for (const command of commands) {
      const first = await t.run(command);
      expect(await t.run(command)).toEqual(first);
    }
    expect(await t.find("a")).toEqual([
      { _id: 2, owner: "bob", n: 3 },
      { _id: 3, owner: "ann", n: 3 },
      { _id: 10 },
      { _id: 11 },
      { _id: 77, n: 1 },
    ]);
  });

  it("run those statements again that failed at first", async () => {
    const { t, retry } = await session();
    const command = { insert: "a", documents: [{ _id: 10 }, { _id: 1 }, { _id: 12 }], ...retry(1) };
    expect(await t.run(command)).toMatchObject({ n: 1, writeErrors: [{ index: 1, code: 11000 }] });
    await t.run({ delete: "a", deletes: [{ q: { _id: 1 }, limit: 1 }] });
    expect(await t.run(command)).toEqual({ n: 3, ok: 1 });
    expect((await t.find("a")).map(({ _id }) => _id)).toEqual([2, 3, 10, 1, 12]);
  });

  it("are known by their statement numbers, which a router may pick out of a larger batch", async () => {
    const { t, retry } = await session();
    await t.run({ insert: "a", documents: [{ _id: 10 }, { _id: 12 }], stmtIds: [0, 2], ...retry(1) });
    expect(
      await t.run({ insert: "a", documents: [{ _id: 12 }, { _id: 13 }], stmtIds: [2, 3], ...retry(1) }),
    ).toEqual({ n: 2, ok: 1 });
    expect((await t.find("a", { _id: { $gte: 10 } })).map(({ _id }) => _id)).toEqual([10, 12, 13]);
  });

  it("of an older number are refused, and need a session", async () => {
    const { t, retry } = await session();
    await t.run({ insert: "a", documents: [{ _id: 10 }], ...retry(5) });
    expect(await t.reply({ insert: "a", documents: [{ _id: 11 }], ...retry(4) })).toMatchObject({
      code: 225,
    });
    expect(await t.reply({ insert: "a", documents: [{ _id: 11 }], txnNumber: 1n })).toMatchObject({ ok: 0 });
  });
});
