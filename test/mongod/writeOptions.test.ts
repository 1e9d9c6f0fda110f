/** Options of the write commands. */
import { Double, Long, UUID, type Document } from "bson";
import { describe, expect, it } from "vitest";
import { DocumentWriter } from "../../lib/bson/index.js";
import { runBatch } from "../../lib/mongod/write/batch.js";
import { CommandError, ErrorCode } from "../../lib/protocol/index.js";
import { fromDocument, TestMongod } from "./support.js";

async function accounts(): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert(
    "a",
    { _id: 1, owner: "ann", n: 1 },
    { _id: 2, owner: "bob", n: 2 },
    { _id: 3, owner: "Ann", n: 3 },
  );
  return t;
}

const update = (q: object, u: object, rest: object = {}, command: object = {}): object => ({
  update: "a",
  updates: [{ q, u, ...rest }],
  ...command,
});
const firstError = (reply: Document): Document => reply["writeErrors"][0];

describe("an update statement", () => {
  it("changes the element that its filter matched, found by an index or not", async () => {
    const t = new TestMongod();
    await t.insert("a", { _id: 1, list: [{ k: 1 }, { k: 2 }, { k: 3 }] });
    await t.run(update({ "list.k": 2 }, { $set: { "list.$.hit": 1 } }));
    await t.createIndex("a", { "list.k": 1 });
    await t.run(update({ "list.k": 3 }, { $set: { "list.$.hit": 2 } }, { hint: "list.k_1" }));
    expect(await t.find("a")).toEqual([{ _id: 1, list: [{ k: 1 }, { k: 2, hit: 1 }, { k: 3, hit: 2 }] }]);
    expect(firstError(await t.run(update({ _id: 1 }, { $set: { "list.$.hit": 3 } })))).toEqual({
      index: 0,
      code: 2,
      errmsg:
        "Plan executor error during update :: caused by :: The positional operator did not find the match needed from the query.",
    });
  });

  it("takes the first in the order of sort", async () => {
    const t = await accounts();
    await t.run(update({}, { $set: { hit: true } }, { sort: { n: -1 } }));
    expect(await t.find("a", { hit: true })).toEqual([{ _id: 3, owner: "Ann", n: 3, hit: true }]);
    expect(firstError(await t.run(update({}, { $set: { x: 1 } }, { sort: { n: 1 }, multi: true })))).toEqual({
      index: 0,
      code: 9,
      errmsg: "Cannot specify sort with multi=true",
    });
  });

  it("compares with its collation, or the collection's", async () => {
    const collation = { locale: "en", strength: 2 };
    const t = await accounts();
    expect(
      await t.run(update({ owner: "ANN" }, { $inc: { n: 1 } }, { multi: true, collation })),
    ).toMatchObject({ n: 2 });
    await t.run({ create: "c", collation });
    await t.insert("c", { _id: 1, s: "x", list: ["A"] });
    await t.run({ update: "c", updates: [{ q: { s: "X" }, u: { $addToSet: { list: "a" } } }] });
    expect(await t.find("c")).toEqual([{ _id: 1, s: "x", list: ["A"] }]);
    await t.run({
      update: "c",
      updates: [{ q: { s: "x" }, u: { $addToSet: { list: "a" } }, collation: { locale: "simple" } }],
    });
    expect(await t.find("c")).toEqual([{ _id: 1, s: "x", list: ["A", "a"] }]);
  });

  it("sees let in its filter and pipeline, and c in its pipeline", async () => {
    const t = await accounts();
    await t.run(
      update(
        { $expr: { $eq: ["$_id", "$$which"] } },
        [{ $set: { n: { $add: ["$n", "$$by"] }, how: "$$how" } }] as object,
        { c: { by: 10, how: "$n" } },
        { let: { which: 2, by: 1 } },
      ),
    );
    expect(await t.find("a", { _id: 2 })).toEqual([{ _id: 2, owner: "bob", n: 12, how: "$n" }]);
    expect(firstError(await t.run(update({}, { $set: { a: 1 } }, { c: {} })))).toMatchObject({ code: 51198 });
  });

  it("has one $$NOW for all that it changes", async () => {
    const t = await accounts();
    await t.run(update({}, [{ $set: { at: "$$NOW" } }] as object, { multi: true }));
    const times = (await t.find("a")).map(({ at }) => (at as Date).getTime());
    expect(times).toEqual([t.environment.time, t.environment.time, t.environment.time]);
  });

  it("with upsert inserts what filter and update say, or the document that comes with it", async () => {
    const t = new TestMongod();
    const supplied = { upsert: true, upsertSupplied: true, c: { new: { _id: 7, given: true } } };
    const reply = await t.run(update({ _id: 7 }, [{ $set: { x: 1 } }] as object, supplied));
    expect(reply).toEqual({ n: 1, nModified: 0, upserted: [{ index: 0, _id: 7 }], ok: 1 });
    expect(await t.find("a")).toEqual([{ _id: 7, given: true }]);
    expect(
      firstError(await t.run(update({ _id: 8 }, [] as object, { upsertSupplied: true, c: {} }))),
    ).toMatchObject({ code: 9 });
    expect(firstError(await t.run(update({ $expr: true }, { $set: { a: 1 } }, { upsert: true })))).toEqual({
      index: 0,
      code: 224,
      errmsg: "$expr is not allowed in the query predicate for an upsert",
    });
    expect(firstError(await t.run(update({ "_id.x": 1 }, { a: 1 }, { upsert: true })))).toMatchObject({
      code: 111,
    });
  });

  it("says in its errors whether the statement is wrong or a document", async () => {
    const t = await accounts();
    const parse = await t.run(update({}, { $inc: { n: "x" } }));
    expect(firstError(parse)["errmsg"]).toBe('Cannot increment with non-numeric argument: {n: "x"}');
    const executed = await t.run(update({ _id: 1 }, { $inc: { owner: 1 } }));
    expect(firstError(executed)["errmsg"]).toBe(
      "Plan executor error during update :: caused by :: Cannot apply $inc to a value of non-numeric type. {_id: 1} " +
        "has the field 'owner' of non-numeric type string",
    );
    await t.createIndex("a", { n: 1 }, { unique: true });
    expect(firstError(await t.run(update({ _id: 1 }, { $set: { n: 2 } })))).toEqual({
      index: 0,
      code: 11000,
      errmsg:
        "Plan executor error during update :: caused by :: E11000 duplicate key error collection: library.a index: n_1 dup key: { n: 2 }",
      keyPattern: { n: 1 },
      keyValue: { n: 2 },
    });
  });

  it("changes documents up to the one that fails, and counts none of them", async () => {
    const t = await accounts();
    await t.run(update({ _id: 3 }, { $set: { n: "text" } }));
    expect(await t.run(update({}, { $inc: { n: 1 } }, { multi: true }))).toMatchObject({
      n: 0,
      nModified: 0,
      writeErrors: [{ code: 14 }],
    });
    expect((await t.find("a")).map(({ n }) => n)).toEqual([2, 3, "text"]);
  });

  it("counts as modified what MongoDB counts, even where no byte changes", async () => {
    const t = new TestMongod();
    await t.insert("a", { _id: 1, list: [1, 2], nul: [null] });
    const modified = async (u: object): Promise<number> =>
      (await t.run(update({}, u)))["nModified"] as number;
    expect(await modified({ $push: { list: { $each: [], $sort: 1 } } })).toBe(1);
    expect(await modified({ $push: { list: { $each: [] } } })).toBe(0);
    expect(await modified({ $unset: { "nul.0": "" } })).toBe(1);
    expect(await modified({ $addToSet: { list: 2 } })).toBe(0);
    expect(await modified({ $set: { list: [1, new Double(2)] } })).toBe(1);
    expect(await modified({ $set: { list: [1, new Double(2)] } })).toBe(0);
  });
});

describe("findAndModify", () => {
  it("projects the element that the query matched, of the old document only", async () => {
    const t = new TestMongod();
    await t.insert("a", { _id: 1, list: [{ k: 1 }, { k: 2 }], z: 0 });
    const command = {
      findAndModify: "a",
      query: { "list.k": 2 },
      update: { $set: { "list.$.hit": 1 } },
      fields: { "list.$": 1 },
    };
    expect(await t.run(command)).toEqual({
      lastErrorObject: { n: 1, updatedExisting: true },
      value: { _id: 1, list: [{ k: 2 }] },
      ok: 1,
    });
    expect(await t.reply({ ...command, new: true })).toMatchObject({ ok: 0, code: 2 });
    expect(await t.find("a")).toEqual([{ _id: 1, list: [{ k: 1 }, { k: 2, hit: 1 }], z: 0 }]);
  });

  it("takes arrayFilters, let, collation, hint and pipelines", async () => {
    const t = await accounts();
    expect(
      await t.run({
        findAndModify: "a",
        query: { owner: "ANN", $expr: { $gt: ["$n", "$$min"] } },
        update: [{ $set: { n: { $multiply: ["$n", "$$by"] } } }],
        let: { min: 2, by: 5 },
        collation: { locale: "en", strength: 2 },
        hint: "_id_",
        new: true,
      }),
    ).toMatchObject({ value: { _id: 3, n: 15 } });
    await t.insert("a", { _id: 9, list: [1, 5] });
    expect(
      await t.run({
        findAndModify: "a",
        query: { _id: 9 },
        update: { $set: { "list.$[x]": 0 } },
        arrayFilters: [{ x: { $gt: 2 } }],
        new: true,
      }),
    ).toMatchObject({ value: { _id: 9, list: [1, 0] } });
  });

  it.each([
    [{}, "Either an update or remove=true must be specified"],
    [{ remove: true, update: {} }, "Cannot specify both an update and remove=true"],
    [{ remove: true, upsert: true }, "Cannot specify both upsert=true and remove=true "],
    [
      { remove: true, new: true },
      "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
    ],
    [{ remove: true, arrayFilters: [] }, "Cannot specify arrayFilters and remove=true"],
    [{ update: [], arrayFilters: [] }, "Cannot specify arrayFilters and a pipeline update"],
  ])("refuses %j", async (options, errmsg) => {
    const t = await accounts();
    expect(await t.reply({ findAndModify: "a", query: {}, ...options })).toMatchObject({
      ok: 0,
      code: 9,
      errmsg,
    });
    expect(await t.run({ count: "a" })).toMatchObject({ n: 3 });
  });

  it("says in its errors that it was it", async () => {
    const t = await accounts();
    expect(
      await t.reply({ findAndModify: "a", query: { _id: 1 }, update: { $push: { owner: 1 } } }),
    ).toMatchObject({
      code: 2,
      errmsg:
        "Plan executor error during findAndModify :: caused by :: The field 'owner' must be an array but is of type string in document {_id: 1}",
    });
  });

  it("upserts with and without a new document to show", async () => {
    const t = new TestMongod();
    const command = { findAndModify: "a", query: { k: 1 }, update: { $setOnInsert: { n: 1 } }, upsert: true };
    const before = await t.run({ ...command, fields: { _id: 0 } });
    expect(before).toMatchObject({ lastErrorObject: { n: 1, updatedExisting: false }, value: null });
    expect(before["lastErrorObject"].upserted).toBeDefined();
    expect(await t.run({ ...command, query: { k: 2 }, new: true, fields: { _id: 0 } })).toMatchObject({
      value: { k: 2, n: 1 },
    });
  });
});

describe("views and capped collections", () => {
  it("refuse and allow writes: a view none (166), a capped collection all", async () => {
    const t = await accounts();
    await t.run({ create: "v", viewOn: "a" });
    const refusal = { code: 166, errmsg: "Namespace library.v is a view, not a collection" };
    expect(firstError(await t.run({ insert: "v", documents: [{}] }))).toMatchObject(refusal);
    expect(firstError(await t.run({ update: "v", updates: [{ q: {}, u: {} }] }))).toMatchObject(refusal);
    expect(firstError(await t.run({ delete: "v", deletes: [{ q: {}, limit: 0 }] }))).toMatchObject(refusal);
    expect(await t.reply({ findAndModify: "v", remove: true })).toMatchObject(refusal);

    await t.run({ create: "c", capped: true, size: 100_000 });
    await t.insert("c", { _id: 1 }, { _id: 2 });
    const grow = { update: "c", updates: [{ q: { _id: 1 }, u: { $set: { text: "longer" } } }] };
    expect(await t.run(grow)).toMatchObject({ nModified: 1 });
    expect(await t.run({ delete: "c", deletes: [{ q: { _id: 2 }, limit: 1 }] })).toMatchObject({ n: 1 });
    expect(await t.find("c")).toEqual([{ _id: 1, text: "longer" }]);
  });
});

describe("retryable writes", () => {
  it("forget large results of findAndModify rather than grow without bound, and then refuse to run twice", async () => {
    const t = new TestMongod();
    const text = "x".repeat(8 * 1024 * 1024);
    await t.insert("a", { _id: 1, text, n: 0 });
    const command = (session: number): object => ({
      findAndModify: "a",
      query: { _id: 1 },
      update: { $inc: { n: 1 } },
      lsid: { id: new UUID(`00000000-0000-4000-8000-00000000000${session}`) },
      txnNumber: Long.fromNumber(1),
    });
    for (let session = 0; session < 9; session++) await t.run(command(session));
    expect(await t.reply(command(0))).toMatchObject({ ok: 0, code: 217 });
    expect(await t.run(command(8))).toMatchObject({ value: { n: 8 } });
    expect(await t.find("a", {}, { projection: { n: 1 } })).toEqual([{ _id: 1, n: 9 }]);
  });
});

describe("what a command must bring", () => {
  it.each<[object, number, string]>([
    [{ insert: "a" }, 40414, "BSON field 'insert.documents' is missing but a required field"],
    [{ update: "a" }, 40414, "BSON field 'update.updates' is missing but a required field"],
    [{ delete: "a" }, 40414, "BSON field 'delete.deletes' is missing but a required field"],
    [{ createIndexes: "a" }, 40414, "BSON field 'createIndexes.indexes' is missing but a required field"],
    [{ findAndModify: "a", update: 1 }, 9, "Update argument must be either an object or an array"],
    [
      { getMore: 5, collection: "a" },
      14,
      "BSON field 'getMore.getMore' is the wrong type 'int', expected type 'long'",
    ],
  ])("%j", async (command, code, errmsg) => {
    expect(await new TestMongod().reply(command)).toMatchObject({ ok: 0, code, errmsg });
  });

  it("bulkWrite: the namespaces too", async () => {
    const command = { bulkWrite: 1, ops: [{ insert: 0, document: {} }] };
    expect(await new TestMongod().reply(command, "admin")).toMatchObject({ code: 40414 });
  });
});

describe("a batch of which everything fails", () => {
  it("says less of the later errors once the reply is large", () => {
    const errInfo = new DocumentWriter().string("text", "x".repeat(1024 * 1024)).finish();
    const errors = runBatch(100, false, () => {
      throw new CommandError(ErrorCode.DocumentValidationFailure, "Document failed validation", { errInfo });
    }).map((error) => fromDocument(error));
    expect(errors.length).toBe(100);
    expect(errors.filter((error) => error["errInfo"] !== undefined).length).toBe(8);
    expect(errors[99]).toEqual({ index: 99, code: 121, errmsg: "" });
  });
});
