import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

async function days(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert(
    "days",
    { _id: 1, day: "mon", n: 2 },
    { _id: 2, day: "tue", n: 3 },
    { _id: 3, day: "mon", n: 5 },
  );
  return t;
}

const TOTALS = { $group: { _id: "$day", n: { $sum: "$n" } } };
const write = (pipeline: object[], more: object = {}) => ({
  aggregate: "days",
  pipeline,
  cursor: {},
  ...more,
});

describe("$out", () => {
  it("answers nothing, and replaces the collection with its indexes kept", async () => {
    const t = await days();
    await t.insert("totals", { _id: "old", n: 0 });
    await t.createIndex("totals", { n: 1 }, { unique: true });
    expect(await t.run(write([TOTALS, { $out: "totals" }]))).toEqual({
      cursor: { firstBatch: [], id: 0, ns: "library.days" },
      ok: 1,
    });
    expect(await t.find("totals", {}, { sort: { _id: 1 } })).toEqual([
      { _id: "mon", n: 7 },
      { _id: "tue", n: 3 },
    ]);
    const { cursor } = await t.run({ listIndexes: "totals" });
    expect(cursor.firstBatch.map(({ name }: { name: string }) => name)).toEqual(["_id_", "n_1"]);
  });

  it("changes nothing when the pipeline or a write fails, and leaves nothing behind", async () => {
    const t = await days();
    await t.insert("totals", { _id: "old", n: 0 });
    await t.createIndex("totals", { n: 1 }, { unique: true });
    const failing = [{ $project: { x: { $divide: [1, { $subtract: ["$n", 5] }] } } }, { $out: "totals" }];
    expect(await t.reply(write(failing))).toMatchObject({ code: 2 });
    const twice = [{ $project: { n: { $literal: 1 } } }, { $out: "totals" }];
    expect(await t.reply(write(twice))).toMatchObject({ code: 11000 });
    expect(await t.find("totals")).toEqual([{ _id: "old", n: 0 }]);
    const { cursor } = await t.run({ listCollections: 1, nameOnly: true });
    expect(cursor.firstBatch.map(({ name }: { name: string }) => name)).toEqual(["days", "totals"]);
  });

  it("may read and replace the same collection, and write to another database", async () => {
    const t = await days();
    await t.run(write([{ $match: { day: "mon" } }, { $out: "days" }]));
    expect((await t.find("days")).map(({ _id }) => _id)).toEqual([1, 3]);
    await t.run(write([{ $out: { db: "archive", coll: "days" } }]));
    expect((await t.run({ count: "days" }, "archive"))["n"]).toBe(2);
  });

  it("refuses views, capped and system collections before it reads anything", async () => {
    const t = await days();
    await t.run({ create: "v", viewOn: "days", pipeline: [] });
    await t.run({ create: "c", capped: true, size: 4096 });
    expect(await t.reply(write([{ $out: "v" }]))).toMatchObject({ code: 166 });
    expect(await t.reply(write([{ $out: "c" }]))).toMatchObject({
      code: 17152,
      errmsg: "namespace 'library.c' is capped so it can't be used for $out",
    });
    expect(await t.reply(write([{ $out: "system.x" }]))).toMatchObject({ code: 17385 });
    expect(await t.reply(write([{ $out: { db: "config", coll: "x" } }]))).toMatchObject({ code: 31321 });
    expect(await t.reply(write([{ $out: "a$b" }]))).toMatchObject({ code: 73 });
  });

  it("keeps to a validator, unless told to bypass it", async () => {
    const t = await days();
    await t.run({ create: "checked", validator: { n: { $gt: 2 } } });
    expect(await t.reply(write([{ $out: "checked" }]))).toMatchObject({ code: 121 });
    await t.run(write([{ $out: "checked" }], { bypassDocumentValidation: true }));
    expect(await t.find("checked")).toHaveLength(3);
  });

  it("is not run by explain", async () => {
    const t = await days();
    const explained = await t.explain({ aggregate: "days", pipeline: [TOTALS, { $out: "x" }], cursor: {} });
    expect(Object.keys(explained["stages"].at(-1))[0]).toBe("$out");
    expect(await t.find("x")).toEqual([]);
  });
});

describe("$merge", () => {
  const merge = async (t: TestMongod, spec: object) =>
    t.run(write([TOTALS, { $merge: { into: "totals", ...spec } }]));
  const totals = async (t: TestMongod) => t.find("totals", {}, { sort: { _id: 1 } });

  it.each([
    [
      {},
      [
        { _id: "mon", old: true, n: 7 },
        { _id: "tue", n: 3 },
      ],
    ],
    [
      { whenMatched: "replace" },
      [
        { _id: "mon", n: 7 },
        { _id: "tue", n: 3 },
      ],
    ],
    [
      { whenMatched: "keepExisting" },
      [
        { _id: "mon", old: true },
        { _id: "tue", n: 3 },
      ],
    ],
    [{ whenNotMatched: "discard" }, [{ _id: "mon", old: true, n: 7 }]],
    [
      { whenMatched: [{ $set: { was: "$old", n: { $add: ["$$new.n", 100] } } }] },
      [
        { _id: "mon", old: true, was: true, n: 107 },
        { _id: "tue", n: 3 },
      ],
    ],
  ])("%j", async (spec, expected) => {
    const t = await days();
    await t.insert("totals", { _id: "mon", old: true });
    await merge(t, spec);
    expect(await totals(t)).toEqual(expected);
  });

  it("finds the counterpart by other fields, which a unique index must cover", async () => {
    const t = await days();
    await t.insert("totals", { _id: 1, a: "mon", b: 1, old: true }, { _id: 2, a: "mon", b: 2, old: true });
    const pipeline = [
      { $project: { _id: 0, a: "$day", b: { $literal: 2 }, n: 1 } },
      { $merge: { into: "totals", on: ["b", "a"] } },
    ];
    expect(await t.reply(write(pipeline))).toMatchObject({
      code: 51183,
      errmsg: "Cannot find index to verify that join fields will be unique",
    });
    await t.createIndex("totals", { a: 1, b: 1 }, { unique: true });
    await t.run(write(pipeline));
    const rows = await t.find(
      "totals",
      {},
      { projection: { a: 1, b: 1, n: 1, old: 1 }, sort: { a: 1, b: 1 } },
    );
    expect(rows).toMatchObject([
      { _id: 1, a: "mon", b: 1, old: true },
      { _id: 2, a: "mon", b: 2, old: true, n: 5 },
      { a: "tue", b: 2, n: 3 },
    ]);
    // The _id of the target stays; a document that brings another one is refused.
    const other = [
      { $project: { a: "$day", b: { $literal: 2 } } },
      { $merge: { into: "totals", on: ["a", "b"] } },
    ];
    expect(await t.reply(write(other))).toMatchObject({ code: 66 });
    const list = [
      { $project: { _id: 0, a: ["$day"], b: { $literal: 2 } } },
      { $merge: { into: "totals", on: ["a", "b"] } },
    ];
    expect(await t.reply(write(list))).toMatchObject({ code: 51185 });
  });

  it("writes into the collection that it reads, what it read before", async () => {
    const t = await days();
    await t.run(write([{ $set: { _id: { $add: ["$_id", 10] } } }, { $merge: "days" }]));
    expect((await t.find("days")).map(({ _id }) => _id)).toEqual([1, 2, 3, 11, 12, 13]);
  });

  it("writes nothing for a pipeline that fails", async () => {
    const t = await days();
    const failing = [{ $project: { x: { $divide: [1, { $subtract: ["$n", 5] }] } } }, { $merge: "totals" }];
    expect(await t.reply(write(failing))).toMatchObject({ code: 2 });
    expect(await totals(t)).toEqual([]);
  });

  it("refuses views, and keeps to a validator", async () => {
    const t = await days();
    await t.run({ create: "v", viewOn: "days", pipeline: [] });
    expect(await t.reply(write([{ $merge: "v" }]))).toMatchObject({ code: 166 });
    await t.run({ create: "totals", validator: { n: { $lt: 5 } } });
    expect(await t.reply(write([TOTALS, { $merge: "totals" }]))).toMatchObject({ code: 121 });
  });
});

describe("a pipeline that writes is a write", () => {
  const out = [TOTALS, { $out: "totals" }];
  const reading = [TOTALS];

  it("reports a write concern that one member cannot satisfy, and keeps what it wrote", async () => {
    const t = await days();
    const reply = await t.run(write(out, { writeConcern: { w: 2 } }));
    expect(reply).toMatchObject({ ok: 1, writeConcernError: { code: 100 } });
    expect(await t.find("totals")).toHaveLength(2);
    expect(await t.run(write(reading, { writeConcern: { w: 2 } }))).not.toHaveProperty("writeConcernError");
  });

  it("is refused by a member that is not primary, where reading may be allowed", async () => {
    const t = new TestMongod({ replSet: "rs", initiated: false });
    const more = { $readPreference: { mode: "nearest" } };
    expect(await t.reply(write(out, more))).toMatchObject({ ok: 0, code: 10107 });
    expect(await t.reply(write(reading, more))).toMatchObject({ ok: 0, code: 13436 });
  });
});
