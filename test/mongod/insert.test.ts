import { ObjectId } from "bson";
import { describe, expect, it } from "vitest";
import {
  DocumentWriter,
  documentLength,
  elements,
  asDocument,
  getField,
  getPath,
  UNDEFINED,
} from "../../lib/bson/index.js";
import { request, throwIfFailed } from "../../lib/protocol/index.js";
import { TestMongod, toDocument } from "./support.js";

describe("insert", () => {
  it("stores documents and gives them back byte for byte, in the order they came", async () => {
    const t = new TestMongod();
    const documents = [
      toDocument({ _id: 2, n: 1.5, nested: { b: [1, "two", null] }, when: new Date(0) }),
      toDocument({ _id: 1, n: 2n, text: "grün" }),
    ];
    const reply = await t.mongod.run(request("library", { insert: "loans" }, { documents }));
    expect(throwIfFailed(reply)).toEqual({ n: 2, ok: 1 });
    const found = await t.mongod.run(request("library", { find: "loans" }));
    const batch = elements(asDocument(getPath(found.body, "cursor.firstBatch")!)).map(asDocument);
    expect(batch).toEqual(documents);
  });

  it("takes documents from an array in the command as well", async () => {
    const t = new TestMongod();
    expect(await t.run({ insert: "loans", documents: [{ _id: 1 }, { _id: 2 }] })).toEqual({ n: 2, ok: 1 });
    expect(await t.find("loans")).toEqual([{ _id: 1 }, { _id: 2 }]);
  });

  it("puts an ObjectId first where _id is missing, and moves _id to the front where it is not first", async () => {
    const t = new TestMongod();
    await t.insert("loans", { title: "Emma" }, { title: "Persuasion", _id: 7 });
    const [first, second] = await t.find("loans");
    expect(Object.keys(first!)).toEqual(["_id", "title"]);
    expect(first!["_id"]).toBeInstanceOf(ObjectId);
    expect((first!["_id"] as ObjectId).getTimestamp()).toEqual(new Date(t.environment.time));
    expect(Object.keys(second!)).toEqual(["_id", "title"]);
    expect(second).toEqual({ _id: 7, title: "Persuasion" });
  });

  it("makes the same ids again from the same seed", async () => {
    const ids = async (): Promise<string> => {
      const t = new TestMongod();
      await t.insert("loans", { n: 1 }, { n: 2 });
      return (await t.find("loans")).map(({ _id }) => String(_id)).join();
    };
    expect(await ids()).toBe(await ids());
  });

  it("stops an ordered batch at its first error and tells which document it was", async () => {
    const t = new TestMongod();
    const reply = await t.run({ insert: "loans", documents: [{ _id: 1 }, { _id: 1 }, { _id: 2 }] });
    expect(reply).toEqual({
      n: 1,
      writeErrors: [
        {
          index: 1,
          code: 11000,
          keyPattern: { _id: 1 },
          keyValue: { _id: 1 },
          errmsg: "E11000 duplicate key error collection: library.loans index: _id_ dup key: { _id: 1 }",
        },
      ],
      ok: 1,
    });
    expect(await t.find("loans")).toEqual([{ _id: 1 }]);
  });

  it("goes on after errors when the batch is unordered", async () => {
    const t = new TestMongod();
    const documents = [{ _id: 1 }, { _id: 1 }, { _id: [2] }, { _id: 3 }];
    const reply = await t.run({ insert: "loans", documents, ordered: false });
    expect(reply["n"]).toBe(2);
    expect(
      reply["writeErrors"].map(({ index, code }: { index: number; code: number }) => [index, code]),
    ).toEqual([
      [1, 11000],
      [2, 53],
    ]);
    expect(await t.find("loans")).toEqual([{ _id: 1 }, { _id: 3 }]);
  });

  it("treats numbers of different types as the same _id", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 });
    const reply = await t.run({ insert: "loans", documents: [{ _id: 1n }] });
    expect(reply["writeErrors"][0].code).toBe(11000);
  });

  it.each([
    ["an array", { _id: [1] }, 53, "The '_id' value cannot be of type array"],
    ["a regular expression", { _id: /a/ }, 53, "The '_id' value cannot be of type regex"],
    [
      "an operator inside",
      { _id: { $a: 1 } },
      52,
      "_id fields may not contain '$'-prefixed fields: $a is not valid for storage.",
    ],
  ])("refuses %s as _id", async (_, document, code, errmsg) => {
    const t = new TestMongod();
    const reply = await t.run({ insert: "loans", documents: [document] });
    expect(reply).toEqual({ n: 0, writeErrors: [{ index: 0, code, errmsg }], ok: 1 });
  });

  it("refuses undefined as _id", async () => {
    const t = new TestMongod();
    const document = new DocumentWriter().field("_id", UNDEFINED).finish();
    const reply = await t.mongod.run(request("library", { insert: "loans" }, { documents: [document] }));
    expect(throwIfFailed(reply)).toMatchObject({ n: 0, writeErrors: [{ code: 53 }] });
  });

  it("refuses a document a little over 16 MiB as a write error, one far over as a command", async () => {
    const t = new TestMongod();
    const sized = (bytes: number): Uint8Array => {
      const document = toDocument({ _id: 1, text: "x".repeat(bytes - 25) });
      expect(documentLength(document)).toBe(bytes);
      return document;
    };
    const insert = async (document: Uint8Array) =>
      (await t.mongod.run(request("library", { insert: "loans" }, { documents: [document] }))).body;
    const mebibytes16 = 16 * 1024 * 1024;
    const little = await insert(sized(mebibytes16 + 1));
    expect(getField(little, "n")).toBeDefined();
    expect((await t.reply({ count: "loans" }))["n"]).toBe(0);
    const errors = elements(asDocument(getField(little, "writeErrors")!)).map(asDocument);
    expect(errors.map((error) => getField(error, "code")!.bytes[getField(error, "code")!.start])).toEqual([
      2,
    ]);
    await expect(
      Promise.resolve(insert(sized(mebibytes16 + 20_000))).then((body) => throwIfFailed({ body })),
    ).rejects.toMatchObject({ code: 10334 });
    expect(throwIfFailed({ body: await insert(sized(mebibytes16)) })).toEqual({ n: 1, ok: 1 });
  });

  it("refuses an empty batch, broken BSON and a bad namespace as commands", async () => {
    const t = new TestMongod();
    expect(await t.reply({ insert: "loans", documents: [] })).toMatchObject({ ok: 0, code: 16 });
    expect(await t.reply({ insert: "", documents: [{ _id: 1 }] })).toMatchObject({ ok: 0, code: 73 });
    const broken = toDocument({ _id: 1, text: "abc" });
    broken[13] = 0x77; // an element type that does not exist
    const reply = await t.mongod.run(
      request("library", { insert: "loans" }, { documents: [toDocument({ _id: 0 }), broken] }),
    );
    expect(() => throwIfFailed(reply)).toThrow(expect.objectContaining({ code: 22 }));
    expect(await t.find("loans")).toEqual([]);
  });

  it("refuses unknown fields and what it does not simulate", async () => {
    const t = new TestMongod();
    expect(await t.reply({ insert: "loans", documents: [{ _id: 1 }], foo: 1 })).toMatchObject({
      code: 40415,
      errmsg: "BSON field 'insert.foo' is an unknown field.",
    });
    expect(
      await t.reply({
        insert: "loans",
        documents: [{ _id: 1 }],
        txnNumber: 1n,
        autocommit: false,
        startTransaction: true,
      }),
    ).toMatchObject({ ok: 0, code: 238, codeName: "NotImplemented" });
    expect(await t.find("loans")).toEqual([]);
  });

  it("reports a write concern that one member cannot satisfy, and keeps the write", async () => {
    const t = new TestMongod();
    const reply = await t.run({ insert: "loans", documents: [{ _id: 1 }], writeConcern: { w: 2 } });
    expect(reply).toMatchObject({ n: 1, ok: 1, writeConcernError: { code: 100 } });
    const unknown = { insert: "loans", documents: [{ _id: 3 }], writeConcern: { w: "nobody" } };
    expect(await t.run(unknown)).toMatchObject({ n: 1, ok: 1, writeConcernError: { code: 79 } });
    expect(
      await t.run({ insert: "loans", documents: [{ _id: 2 }], writeConcern: { w: "majority" } }),
    ).toEqual({ n: 1, ok: 1 });
  });
});
