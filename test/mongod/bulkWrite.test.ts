import { Long, UUID } from "bson";
import fc from "fast-check";
import { MongoClient, MongoClientBulkWriteError } from "mongodb";
import { describe, expect, it } from "vitest";
import { serve } from "../../lib/net/index.js";
import { request, throwIfFailed } from "../../lib/protocol/index.js";
import { TestMongod, toDocument } from "./support.js";

const NS = [{ ns: "library.a" }, { ns: "library.b" }];
const bulk = (ops: object[], rest: object = {}): object => ({ bulkWrite: 1, ops, nsInfo: NS, ...rest });
const run = (t: TestMongod, ops: object[], rest: object = {}) => t.run(bulk(ops, rest), "admin");
const reply = (t: TestMongod, ops: object[], rest: object = {}) => t.reply(bulk(ops, rest), "admin");

describe("bulkWrite", () => {
  it("runs inserts, updates and deletes in any mixture and namespace, and answers one document each", async () => {
    const t = new TestMongod();
    const answer = await run(t, [
      { insert: 0, document: { _id: 1, n: 1 } },
      { insert: 1, document: { _id: 1, n: 10 } },
      { update: 0, filter: { _id: 1 }, updateMods: { $inc: { n: 1 } } },
      { update: 1, filter: { _id: 7 }, updateMods: { $set: { n: 7 } }, upsert: true },
      { update: 1, filter: {}, updateMods: [{ $set: { m: "$n" } }], multi: true },
      { delete: 0, filter: { n: 2 } },
      { delete: 0, filter: { n: 2 }, multi: true },
    ]);
    expect(answer).toEqual({
      cursor: {
        id: 0,
        ns: "admin.$cmd.bulkWrite",
        firstBatch: [
          { ok: 1, idx: 0, n: 1 },
          { ok: 1, idx: 1, n: 1 },
          { ok: 1, idx: 2, n: 1, nModified: 1 },
          { ok: 1, idx: 3, n: 1, nModified: 0, upserted: { _id: 7 } },
          { ok: 1, idx: 4, n: 2, nModified: 2 },
          { ok: 1, idx: 5, n: 1 },
          { ok: 1, idx: 6, n: 0 },
        ],
      },
      nErrors: 0,
      nInserted: 2,
      nMatched: 3,
      nModified: 3,
      nUpserted: 1,
      nDeleted: 1,
      ok: 1,
    });
    expect(await t.find("a")).toEqual([]);
    expect(await t.find("b")).toEqual([
      { _id: 1, n: 10, m: 10 },
      { _id: 7, n: 7, m: 7 },
    ]);
  });

  it("takes its operations and namespaces as document sequences, as drivers send them", async () => {
    const t = new TestMongod();
    const sequences = {
      ops: [toDocument({ insert: 0, document: { _id: 1 } })],
      nsInfo: [toDocument({ ns: "library.a" })],
    };
    const answer = await t.mongod.run(request("admin", { bulkWrite: 1 }, sequences));
    expect(throwIfFailed(answer)).toMatchObject({ nInserted: 1, nErrors: 0 });
    expect(await t.find("a")).toEqual([{ _id: 1 }]);
  });

  it("understands arrayFilters, hint, collation, sort, constants and let of each operation", async () => {
    const t = new TestMongod();
    await t.insert("a", { _id: 1, s: "a", list: [1, 5] }, { _id: 2, s: "A", list: [] }, { _id: 3, s: "b" });
    await t.createIndex("a", { s: 1 });
    const collation = { locale: "en", strength: 2 };
    const answer = await run(
      t,
      [
        {
          update: 0,
          filter: { _id: 1 },
          updateMods: { $set: { "list.$[big]": 0 } },
          arrayFilters: [{ big: { $gt: 2 } }],
          hint: "_id_",
        },
        { update: 0, filter: { s: "a" }, updateMods: { $set: { hit: 1 } }, multi: true, collation },
        { update: 0, filter: {}, sort: { s: -1 }, updateMods: { $set: { last: true } } },
        {
          update: 0,
          filter: { $expr: { $eq: ["$_id", "$$three"] } },
          updateMods: [{ $set: { x: "$$k" } }],
          constants: { k: 9 },
        },
        { delete: 0, filter: { s: "nobody" }, hint: { nosuch: 1 } },
      ],
      { let: { three: 3 } },
    );
    expect(answer).toMatchObject({ nMatched: 5, nModified: 5, nErrors: 1 });
    expect(answer["cursor"].firstBatch[4]).toMatchObject({ ok: 0, idx: 4, code: 2, n: 0 });
    expect(await t.find("a")).toEqual([
      { _id: 1, s: "a", list: [1, 0], hit: 1 },
      { _id: 2, s: "A", list: [], hit: 1 },
      { _id: 3, s: "b", last: true, x: 9 },
    ]);
  });

  it("stops at its first error when ordered, and goes on when not", async () => {
    const ops = [
      { insert: 0, document: { _id: 1 } },
      { insert: 0, document: { _id: 1 } },
      { update: 0, filter: {}, updateMods: { $inc: { _id: 1 } } },
      { insert: 0, document: { _id: 2 } },
    ];
    const t = new TestMongod();
    const ordered = await run(t, ops);
    expect(ordered).toMatchObject({ nErrors: 1, nInserted: 1 });
    expect(ordered["cursor"].firstBatch).toEqual([
      { ok: 1, idx: 0, n: 1 },
      {
        ok: 0,
        idx: 1,
        code: 11000,
        errmsg: "E11000 duplicate key error collection: library.a index: _id_ dup key: { _id: 1 }",
        keyPattern: { _id: 1 },
        keyValue: { _id: 1 },
        n: 0,
      },
    ]);
    const other = new TestMongod();
    const unordered = await run(other, ops, { ordered: false });
    expect(unordered).toMatchObject({ nErrors: 2, nInserted: 2, nMatched: 0, nModified: 0 });
    expect(unordered["cursor"].firstBatch[2]).toEqual({
      ok: 0,
      idx: 2,
      code: 66,
      errmsg:
        "Plan executor error during update :: caused by :: Performing an update on the path '_id' would modify the " +
        "immutable field '_id'",
      n: 0,
      nModified: 0,
    });
    expect(await other.find("a")).toEqual([{ _id: 1 }, { _id: 2 }]);
  });

  it("answers errors only when asked to", async () => {
    const t = new TestMongod();
    const quiet = await run(t, [{ insert: 0, document: { _id: 1 } }], { errorsOnly: true });
    expect(quiet).toMatchObject({ cursor: { id: 0, firstBatch: [] }, nInserted: 1, nErrors: 0 });
    const failing = await run(
      t,
      [
        { insert: 0, document: { _id: 1 } },
        { insert: 0, document: { _id: 2 } },
      ],
      { errorsOnly: true, ordered: false },
    );
    expect(failing["cursor"].firstBatch).toHaveLength(1);
    expect(failing["cursor"].firstBatch[0]).toMatchObject({ ok: 0, idx: 0, code: 11000 });
    expect(failing).toMatchObject({ nInserted: 1, nErrors: 1 });
  });

  it("gives large answers in batches", async () => {
    const t = new TestMongod();
    const ops = Array.from({ length: 5 }, (_, i) => ({ insert: 0, document: { _id: i } }));
    const { cursor } = await run(t, ops, { cursor: { batchSize: 2 } });
    expect(cursor.firstBatch.map(({ idx }: { idx: number }) => idx)).toEqual([0, 1]);
    const next = await t.run({ getMore: BigInt(cursor.id), collection: "$cmd.bulkWrite" }, "admin");
    expect(next["cursor"].nextBatch.map(({ idx }: { idx: number }) => idx)).toEqual([2, 3, 4]);
    expect(next["cursor"].id).toBe(0);
  });

  it.each([
    ["no operation", [], {}, 16],
    ["an operation that does not exist", [{ replace: 0, filter: {} }], {}, 40415],
    ["an unknown field", [{ insert: 0, document: {}, foo: 1 }], {}, 40415],
    ["a missing document", [{ insert: 0 }], {}, 40414],
    ["a missing filter", [{ update: 0, updateMods: {} }], {}, 40414],
    ["a missing change", [{ update: 0, filter: {} }], {}, 40414],
    ["a change that is a number", [{ update: 0, filter: {}, updateMods: 1 }], {}, 9],
    ["a namespace that nsInfo lacks", [{ insert: 2, document: {} }], {}, 2],
    ["a negative namespace", [{ insert: -1, document: {} }], {}, 51024],
    ["a bad namespace", [{ insert: 0, document: {} }], { nsInfo: [{ ns: "library." }] }, 73],
    ["a namespace without a database", [{ insert: 0, document: {} }], { nsInfo: [{ ns: "library" }] }, 73],
    ["an unknown option", [{ insert: 0, document: {} }], { foo: 1 }, 40415],
    ["a transaction", [{ insert: 0, document: {} }], { startTransaction: true, autocommit: false }, 238],
  ])("refuses %s before anything runs", async (_, ops, rest, code) => {
    const t = new TestMongod();
    const first = ops.length > 0 ? [{ insert: 0, document: { _id: "first" } }] : [];
    expect(await reply(t, [...first, ...ops], rest)).toMatchObject({ ok: 0, code });
    expect(await t.find("a")).toEqual([]);
  });

  it("runs in the admin database only", async () => {
    const t = new TestMongod();
    expect(await t.reply(bulk([{ insert: 0, document: {} }]))).toMatchObject({ ok: 0, code: 13 });
  });

  it("reports what single operations refuse as their errors", async () => {
    const t = new TestMongod();
    await t.run({ create: "v", viewOn: "a" });
    const nsInfo = [{ ns: "library.a" }, { ns: "library.v" }, { ns: "library.system.profile" }];
    const answer = await run(
      t,
      [
        { insert: 1, document: { _id: 1 } },
        { update: 1, filter: {}, updateMods: { $set: { a: 1 } } },
        { delete: 1, filter: {} },
        { insert: 2, document: { _id: 1 } },
        { update: 0, filter: {}, updateMods: { a: 1 }, multi: true },
        { update: 0, filter: {}, updateMods: { $set: { a: 1 } }, multi: true, sort: { a: 1 } },
        { update: 0, filter: { $expr: true }, updateMods: { $set: { a: 1 } }, upsert: true },
        { insert: 0, document: { _id: [1] } },
      ],
      { nsInfo, ordered: false },
    );
    expect(answer["cursor"].firstBatch.map(({ code }: { code: number }) => code)).toEqual([
      166, 166, 166, 73, 9, 9, 224, 53,
    ]);
    expect(answer).toMatchObject({ nErrors: 8, nInserted: 0 });
  });

  it("is retryable: a repeated number gets the first answer, and nothing runs twice", async () => {
    const t = new TestMongod();
    const lsid = { id: new UUID("00000000-0000-4000-8000-000000000001") };
    const retry = (n: number): object => ({ lsid, txnNumber: Long.fromNumber(n) });
    const ops = [
      { insert: 0, document: { _id: 1, n: 0 } },
      { update: 0, filter: { _id: 1 }, updateMods: { $inc: { n: 1 } } },
      { update: 0, filter: { _id: 9 }, updateMods: { $inc: { n: 1 } }, upsert: true },
      { delete: 0, filter: { _id: 9 } },
    ];
    const first = await run(t, ops, retry(1));
    expect(await run(t, ops, retry(1))).toEqual(first);
    expect(await t.find("a")).toEqual([{ _id: 1, n: 1 }]);
    expect(await reply(t, ops, retry(0))).toMatchObject({ ok: 0, code: 225 });
    const many = await run(
      t,
      [{ update: 0, filter: {}, updateMods: { $inc: { n: 1 } }, multi: true }],
      retry(2),
    );
    expect(many["cursor"].firstBatch[0]).toMatchObject({
      ok: 0,
      code: 72,
      errmsg: "Cannot use retryable writes with multi=true",
    });
    expect(await t.find("a")).toEqual([{ _id: 1, n: 1 }]);
  });

  it("explains one update or delete", async () => {
    const t = new TestMongod();
    await t.insert("a", { _id: 1 });
    const explain = (op: object) => t.reply({ explain: bulk([op]), verbosity: "queryPlanner" }, "admin");
    expect(await explain({ update: 0, filter: {}, updateMods: { $set: { a: 1 } } })).toMatchObject({
      queryPlanner: { namespace: "library.a", winningPlan: { stage: "UPDATE" } },
    });
    expect(await explain({ delete: 0, filter: {} })).toMatchObject({
      queryPlanner: { winningPlan: { stage: "DELETE" } },
    });
    expect(await explain({ insert: 0, document: {} })).toMatchObject({ ok: 0, code: 20 });
    expect(await t.find("a")).toEqual([{ _id: 1 }]);
  });
});

describe("the driver", () => {
  it("writes with client.bulkWrite, retries included, and reads what a partial failure says", async () => {
    const t = new TestMongod({ replSet: "shardA" });
    const server = await serve(t.mongod);
    const client = new MongoClient(`mongodb://127.0.0.1:${server.port}/?directConnection=true`);
    try {
      const result = await client.bulkWrite(
        [
          { namespace: "library.a", name: "insertOne", document: { _id: 1 as never, n: 1 } },
          { namespace: "library.a", name: "updateOne", filter: { n: 1 }, update: { $inc: { n: 1 } } },
          {
            namespace: "library.b",
            name: "replaceOne",
            filter: { k: 1 },
            replacement: { k: 2 },
            upsert: true,
          },
          { namespace: "library.a", name: "updateMany", filter: {}, update: [{ $set: { m: "$n" } }] },
          { namespace: "library.b", name: "deleteMany", filter: { k: 3 } },
        ],
        { verboseResults: true },
      );
      expect(result).toMatchObject({
        insertedCount: 1,
        matchedCount: 2,
        modifiedCount: 2,
        upsertedCount: 1,
        deletedCount: 0,
      });
      expect(result.updateResults?.get(2)?.upsertedId).toBeDefined();
      const failure: unknown = await client
        .bulkWrite([{ namespace: "library.a", name: "insertOne", document: { _id: 1 as never } }])
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(MongoClientBulkWriteError);
      expect((failure as MongoClientBulkWriteError).writeErrors.get(0)?.code).toBe(11000);
    } finally {
      await client.close();
      await server.close();
    }
  });
});

describe("bulkWrite and the single commands", () => {
  const id = fc.integer({ min: 0, max: 4 });
  const change = fc.oneof(
    fc.integer({ min: -2, max: 2 }).map((n) => ({ $inc: { n } })),
    fc.integer({ min: 0, max: 2 }).map((n) => ({ $set: { u: n } })),
    fc.constant({ $push: { list: 1 } }),
    fc.constant({ $unset: { n: "" } }),
    fc.constant([{ $set: { n: { $ifNull: ["$n", 1] } } }]),
    fc.integer({ min: 0, max: 2 }).map((u) => ({ u })),
    fc.constant({ $set: { _id: 9 } }),
  );
  const operation = fc.oneof(
    fc.record({ kind: fc.constant("insert" as const), id }),
    fc.record({
      kind: fc.constant("update" as const),
      id,
      change,
      multi: fc.boolean(),
      upsert: fc.boolean(),
      all: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("delete" as const), id, multi: fc.boolean(), all: fc.boolean() }),
  );
  type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
  const filterOf = ({ all, id: of }: { all: boolean; id: number }): object =>
    all ? { n: { $gte: 0 } } : { _id: of };

  const asBulk = (op: Operation): object => {
    if (op.kind === "insert") return { insert: 0, document: { _id: op.id, n: 0 } };
    const filter = filterOf(op);
    if (op.kind === "delete") return { delete: 0, filter, multi: op.multi };
    return { update: 0, filter, updateMods: op.change, multi: op.multi, upsert: op.upsert && !op.all };
  };
  const asCommand = (op: Operation): object => {
    if (op.kind === "insert") return { insert: "a", documents: [{ _id: op.id, n: 0 }] };
    const q = filterOf(op);
    if (op.kind === "delete") return { delete: "a", deletes: [{ q, limit: op.multi ? 0 : 1 }] };
    return {
      update: "a",
      updates: [{ q, u: op.change, multi: op.multi, upsert: op.upsert && !op.all }],
    };
  };

  it("have the same results and leave the same documents", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 12 }), async (operations) => {
        const together = new TestMongod();
        const apart = new TestMongod();
        for (const t of [together, apart]) await t.createIndex("a", { u: 1 }, { unique: true, sparse: true });
        const { cursor } = await run(together, operations.map(asBulk), { ordered: false });
        for (const [i, op] of operations.entries()) {
          const single = await apart.run(asCommand(op));
          const { code, errmsg, n, nModified, upserted } = cursor.firstBatch[i];
          const error = single["writeErrors"]?.[0];
          expect({ code, errmsg }).toEqual({ code: error?.code, errmsg: error?.errmsg });
          expect(n).toBe(single["n"]);
          if (op.kind === "update") expect(nModified).toBe(single["nModified"]);
          expect(upserted?._id).toEqual(single["upserted"]?.[0]._id);
        }
        expect(await together.find("a")).toEqual(await apart.find("a"));
      }),
      { numRuns: 60 },
    );
  });
});
