/** The limits of what may be stored. */
import { Timestamp, type Document } from "bson";
import { describe, expect, it } from "vitest";
import { DocumentWriter } from "../../lib/bson/index.js";
import { replyDocument, request, throwIfFailed } from "../../lib/protocol/index.js";
import { TestMongod, toDocument } from "./support.js";

const update = (q: object, u: object, rest: object = {}, command: object = {}): object => ({
  update: "a",
  updates: [{ q, u, ...rest }],
  ...command,
});
const firstError = (reply: Document): Document => reply["writeErrors"][0];

describe("what may be stored", () => {
  const nested = (levels: number): object => {
    let doc: object = { x: 1 };
    for (let i = 1; i < levels; i++) doc = { a: doc };
    return doc;
  };

  it("is nested no deeper than 180 levels", async () => {
    const t = new TestMongod();
    expect(await t.run({ insert: "a", documents: [nested(180)] })).toMatchObject({ n: 1 });
    expect(firstError(await t.run({ insert: "a", documents: [nested(181)] }))).toEqual({
      index: 0,
      code: 15,
      errmsg: "cannot insert document because it exceeds 180 levels of nesting",
    });
    await t.insert("b", { _id: 1 });
    const deepen = (levels: number): object => ({
      update: "b",
      updates: [{ q: {}, u: { $set: { d: nested(levels) } } }],
    });
    expect(await t.run(deepen(179))).toMatchObject({ nModified: 1 });
    expect(firstError(await t.run(deepen(180)))).toMatchObject({ code: 15 });
  });

  it("has one _id", async () => {
    const t = new TestMongod();
    const twice = new Uint8Array([
      23, 0, 0, 0, 16, 95, 105, 100, 0, 1, 0, 0, 0, 16, 95, 105, 100, 0, 2, 0, 0, 0, 0,
    ]);
    const reply = await t.mongod.run(request("library", { insert: "a" }, { documents: [twice] }));
    expect(throwIfFailed(reply)).toMatchObject({
      n: 0,
      writeErrors: [{ code: 2, errmsg: "can't have multiple _id fields in one document" }],
    });
  });

  it("gets the time for empty timestamps of the top level, unless told not to", async () => {
    const t = new TestMongod();
    const empty = new Timestamp({ t: 0, i: 0 });
    const seconds = t.environment.time / 1000;
    await t.insert("a", { _id: empty, one: empty, two: empty, in: { three: empty } });
    expect(await t.find("a")).toEqual([
      {
        _id: empty,
        one: new Timestamp({ t: seconds, i: 1 }),
        two: new Timestamp({ t: seconds, i: 2 }),
        in: { three: empty },
      },
    ]);
    await t.run({ insert: "b", documents: [{ _id: 1, t: empty }], bypassEmptyTsReplacement: true });
    await t.run({ update: "b", updates: [{ q: {}, u: { $set: { u: empty } } }] });
    expect(await t.find("b")).toEqual([{ _id: 1, t: empty, u: empty }]);
    await t.run({ update: "b", updates: [{ q: {}, u: { t: empty } }] });
    // Each write is an event too: 3 is the first insert, 4 and 5 are the next two writes.
    expect(await t.find("b")).toEqual([{ _id: 1, t: new Timestamp({ t: seconds, i: 6 }) }]);
    await t.run({
      update: "b",
      updates: [{ q: {}, u: { $currentDate: { x: { $type: "timestamp" }, y: { $type: "timestamp" } } } }],
    });
    expect(await t.find("b", {}, { projection: { _id: 0, x: 1, y: 1 } })).toEqual([
      { x: new Timestamp({ t: seconds, i: 8 }), y: new Timestamp({ t: seconds, i: 9 }) },
    ]);
  });

  it("is at most 16 MiB after an update (17419) and as an upsert (17420)", async () => {
    const t = new TestMongod();
    const big = "x".repeat(9 * 1024 * 1024);
    await t.insert("a", { _id: 1, big });
    expect(firstError(await t.run(update({ _id: 1 }, { $set: { more: big } })))).toEqual({
      index: 0,
      code: 17419,
      errmsg:
        "Plan executor error during update :: caused by :: Resulting document after update is larger than 16777216",
    });
    const double = [{ $set: { more: "$big" } }] as object;
    expect(firstError(await t.run(update({ _id: 2, big }, double, { upsert: true })))).toMatchObject({
      code: 17420,
    });
  });

  it("comes in a command of at most 16 MiB and 16 KiB, document sequences aside", async () => {
    const t = new TestMongod();
    const half = "x".repeat(8.5 * 1024 * 1024);
    const documents = [toDocument({ _id: 1, half }), toDocument({ _id: 2, half })];
    const body = new DocumentWriter().string("insert", "a").arrayOf("documents", documents).finish();
    expect(replyDocument(await t.mongod.run(request("library", body)))).toMatchObject({
      ok: 0,
      code: 10334,
      codeName: "BSONObjectTooLarge",
      errmsg: `BSONObj size: ${body.length} (0x${body.length.toString(16).toUpperCase()}) is invalid. Size must be between 0 and 16793600(16MB)`,
    });
    const reply = await t.mongod.run(request("library", { insert: "a" }, { documents }));
    expect(throwIfFailed(reply)).toEqual({ n: 2, ok: 1 });
  });

  it("comes in batches of 1 to 100,000", async () => {
    const t = new TestMongod();
    const document = toDocument({});
    const insert = async (n: number): Promise<Document> => {
      const documents = Array.from({ length: n }, () => document);
      return throwIfFailed(await t.mongod.run(request("library", { insert: "a" }, { documents })));
    };
    await expect(insert(100_001)).rejects.toMatchObject({
      code: 16,
      message: "Write batch sizes must be between 1 and 100000. Got 100001 operations.",
    });
    for (const command of [
      { insert: "a", documents: [] },
      { update: "a", updates: [] },
      { delete: "a", deletes: [] },
    ])
      expect(await t.reply(command)).toMatchObject({ code: 16 });
  });
});
