/** What write commands say beside their statements, and where writes end that are not routed by a key. */
import type { Binary } from "bson";
import { UUID } from "bson";
import { toDocument } from "shardlab/bson";
import { request } from "shardlab/protocol";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";
import { layout, session, splitAtZero } from "./support/zeroSplit.js";

const two = (): Doc[] => [-1, 1].map((x) => ({ _id: x, x }));

describe("writeConcern", () => {
  const one = { insert: "c", documents: [{ _id: 1, x: 1 }] };

  test("one that a shard cannot satisfy is reported with the shard's name, and the write has happened", async () => {
    const cluster = await splitAtZero();
    const reply = await cluster.ok("test", { ...one, writeConcern: { w: 2 } });
    expect(reply).toMatchObject({ n: 1, writeConcernError: { code: 100 } });
    expect(String((reply.writeConcernError as Doc).errmsg)).toMatch(/ at shardB$/);
    expect(await layout(cluster)).toEqual({ A: [], B: [1] });
  });

  test("several become one of code 64", async () => {
    const cluster = await splitAtZero();
    const reply = await cluster.ok("test", { insert: "c", documents: two(), writeConcern: { w: 2 } });
    expect(reply).toMatchObject({ n: 2, writeConcernError: { code: 64, codeName: "WriteConcernFailed" } });
    const { errmsg } = reply.writeConcernError as Doc;
    expect(errmsg).toMatch(/^multiple errors reported : .* at shardA :: and :: .* at shardB$/);
  });

  test("reaches the writes that search their document, and those that move it", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: two() });
    const concern = { writeConcern: { w: 2 } };
    const commands: [Doc, Doc][] = [
      [{ update: "c", updates: [{ q: { v: null }, u: { $set: { v: 1 } } }] }, { n: 1 }],
      [{ update: "c", updates: [{ q: { x: -1 }, u: { $set: { x: 9 } } }], ...session(1) }, { n: 1 }],
      [{ findAndModify: "c", query: { v: null }, update: { $set: { v: 2 } } }, { lastErrorObject: { n: 1 } }],
      [{ delete: "c", deletes: [{ q: { v: { $gt: 0 } }, limit: 1 }] }, { n: 1 }],
    ];
    for (const [command, expected] of commands) {
      const reply = await cluster.ok("test", { ...command, ...concern });
      expect(reply, JSON.stringify(Object.keys(command))).toMatchObject({
        ...expected,
        writeConcernError: { errmsg: expect.stringMatching(/ at shard[AB]/) as unknown },
      });
    }
  });

  test("{w: 0} writes all the same", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: two(), writeConcern: { w: 0 } });
    const updates = [{ q: { v: null }, u: { $set: { v: 1 } } }];
    await cluster.ok("test", { update: "c", updates, writeConcern: { w: 0 } });
    expect(await cluster.all("test", { find: "c", filter: { v: 1 } })).toHaveLength(1);
    expect(await layout(cluster)).toEqual({ A: [-1], B: [1] });
  });

  test.each<[unknown, number]>([
    [{ w: -1 }, 9],
    [{ w: 51 }, 9],
    [{ w: true }, 9],
    ["majority", 14],
  ])("%j is refused with %i, and nothing is written", async (writeConcern, code) => {
    const cluster = await splitAtZero();
    expect(await cluster.run("test", { ...one, writeConcern })).toMatchObject({ ok: 0, code });
    expect(await layout(cluster)).toEqual({ A: [], B: [] });
  });
});

describe("sizes", () => {
  test("a document over 16 MB fails by itself; one over the limit of statements fails the command", async () => {
    const cluster = await splitAtZero();
    const large = (bytes: number): Doc => ({ _id: 2, x: 2, pad: "a".repeat(bytes) });
    const limit = 16 * 1024 * 1024;
    const send = (document: Doc): Promise<Doc> =>
      cluster.run(
        "test",
        { insert: "c", ordered: false },
        { documents: [...two(), document].map((d) => toDocument(d)) },
      );
    expect(await send(large(limit))).toMatchObject({ n: 2, writeErrors: [{ index: 2, code: 2 }] });
    const cleared = { delete: "c", deletes: [{ q: {}, limit: 0 }] };
    expect(await cluster.ok("test", cleared)).toMatchObject({ n: 2 });
    expect(await send(large(limit + 20_000))).toMatchObject({ ok: 0, code: 10334 });
    expect(await layout(cluster)).toEqual({ A: [], B: [] });
  });

  test("an update that makes a document too large fails as on its shard (17419)", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: [{ _id: 1, x: 1, pad: "a".repeat(9_000_000) }] });
    const grow = { update: "c", updates: [{ q: { _id: 1, g: null }, u: [{ $set: { more: "$pad" } }] }] };
    expect(await cluster.ok("test", grow)).toMatchObject({ writeErrors: [{ code: 17419 }] });
  });

  test("100,000 statements are one batch; one more is refused (16)", async () => {
    const cluster = await splitAtZero();
    const documents = Array.from({ length: 100_000 }, (_, i) => toDocument({ _id: i, x: (i % 2) - 0.5 }));
    expect(await cluster.ok("test", { insert: "c", ordered: false }, { documents })).toMatchObject({
      n: 100_000,
    });
    expect(await cluster.ok("test", { count: "c", query: { x: { $gt: 0 } } })).toMatchObject({ n: 50_000 });
    // All of them again: as many errors, in a reply that stays small.
    const reply = await cluster.router.run(request("test", { insert: "c", ordered: false }, { documents }));
    expect(reply.body.length).toBeLessThan(16 * 1024 * 1024);
    const again = [...documents, documents[0]!];
    expect(await cluster.run("test", { insert: "c" }, { documents: again })).toMatchObject({
      ok: 0,
      code: 16,
    });
  });
});

describe("unsharded collections and views", () => {
  test.each<[string, Doc]>([
    ["insert", { insert: "c", documents: [{ _id: 1 }] }],
    ["update", { update: "c", updates: [{ q: {}, u: { $set: { v: 1 } } }] }],
    ["delete", { delete: "c", deletes: [{ q: {}, limit: 1 }] }],
    ["findAndModify", { findAndModify: "c", query: {}, remove: true }],
  ])("%s creates its database on the shard with the least data (§1.1)", async (_name, command) => {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "other", primaryShard: "shardA" });
    await cluster.ok("other", { insert: "c", documents: [{ pad: "a".repeat(10_000) }] });
    await cluster.ok("fresh", command);
    expect(await cluster.all("config", { find: "databases", filter: { _id: "fresh" } })).toMatchObject([
      { primary: "shardB" },
    ]);
  });

  test("a write to a view is refused (166)", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { create: "v", viewOn: "c", pipeline: [] });
    const commands: Doc[] = [
      { insert: "v", documents: [{ _id: 1, x: 1 }] },
      { update: "v", updates: [{ q: {}, u: { $set: { v: 1 } } }] },
      { delete: "v", deletes: [{ q: {}, limit: 0 }] },
      { findAndModify: "v", query: {}, remove: true },
    ];
    for (const command of commands) {
      const reply = await cluster.run("test", command);
      const error = reply.writeErrors ? (reply.writeErrors as Doc[])[0]! : reply;
      expect(error, JSON.stringify(command)).toMatchObject({ code: 166 });
    }
    expect(await layout(cluster)).toEqual({ A: [], B: [] });
  });

  test("a write in a transaction is refused before anything happens (238)", async () => {
    const cluster = await splitAtZero();
    const transaction = { ...session(1), startTransaction: true, autocommit: false };
    const commands: [string, Doc][] = [
      ["test", { insert: "c", documents: two() }],
      ["test", { insert: "unsharded", documents: two() }],
      ["test", { findAndModify: "c", query: {}, remove: true }],
      ["admin", { bulkWrite: 1, ops: [{ insert: 0, document: { x: 1 } }], nsInfo: [{ ns: "test.c" }] }],
    ];
    for (const [db, command] of commands)
      expect(await cluster.run(db, { ...command, ...transaction })).toMatchObject({ ok: 0, code: 238 });
    expect(await layout(cluster)).toEqual({ A: [], B: [] });
  });
});

describe("collectionUUID", () => {
  const writes = async (cluster: TestCluster, collectionUUID: unknown): Promise<(number | undefined)[]> => {
    const codes: (number | undefined)[] = [];
    for (const command of [
      { insert: "c", documents: [{ _id: 5, x: 5 }] },
      { update: "c", updates: [{ q: { x: 5 }, u: { $set: { v: 1 } } }] },
      { findAndModify: "c", query: { x: 5 }, update: { $set: { v: 2 } } },
      { delete: "c", deletes: [{ q: { x: 5 }, limit: 1 }] },
    ]) {
      const reply = await cluster.run("test", { ...command, collectionUUID });
      codes.push((reply.writeErrors ? (reply.writeErrors as Doc[])[0]! : reply).code as number | undefined);
    }
    return codes;
  };

  test("the collection's own passes, another is 361, something else 14", async () => {
    const cluster = await splitAtZero();
    const [entry] = await cluster.all("config", { find: "collections", filter: { _id: "test.c" } });
    const own = entry!.uuid as Binary;
    expect(await writes(cluster, own)).toEqual([undefined, undefined, undefined, undefined]);
    expect(await writes(cluster, new UUID())).toEqual([361, 361, 361, 361]);
    expect(await writes(cluster, "text")).toEqual([14, 14, 14, 14]);
    expect(await layout(cluster)).toEqual({ A: [], B: [] });
  });
});

describe("bypassDocumentValidation", () => {
  test("reaches shards and careful writes", async () => {
    const cluster = await splitAtZero();
    for (const shard of ["shardA", "shardB"])
      await cluster.shard(shard, "test", { collMod: "c", validator: { v: { $lt: 5 } } });
    const commands: Doc[] = [
      { insert: "c", documents: [{ _id: 1, x: 1, v: 9 }] },
      { update: "c", updates: [{ q: { g: null }, u: { $set: { v: 10 } } }] },
      { update: "c", updates: [{ q: { x: -5 }, u: { $set: { v: 10, x: 5 } }, upsert: true }], ...session(1) },
    ];
    for (const command of commands) {
      const refused = await cluster.ok("test", command);
      if (refused.writeErrors === undefined) expect(refused).toMatchObject({ n: 0 });
      else expect(refused).toMatchObject({ writeErrors: [{ code: 121 }] });
      expect(await cluster.ok("test", { ...command, bypassDocumentValidation: true })).toMatchObject({
        n: 1,
      });
    }
  });
});

test("an upsert without the key inserts the document that comes with it, where its key belongs", async () => {
  const cluster = await splitAtZero();
  const run = async (more: Doc): Promise<Doc> => {
    const updates = [{ q: { g: 7 }, u: [{ $set: { v: 1 } }], upsert: true, upsertSupplied: true, ...more }];
    return cluster.ok("test", { update: "c", updates });
  };
  const refusal = async (more: Doc): Promise<unknown> =>
    ((await run(more)).writeErrors as Doc[]).map(({ code, errmsg }) => [code, errmsg]);
  expect(await refusal({})).toEqual([
    [9, "the parameter 'upsertSupplied' is set to 'true', but no document was supplied"],
  ]);
  expect(await refusal({ upsert: false })).toEqual([
    [9, "cannot specify 'upsertSupplied: true' for a non-upsert operation"],
  ]);
  expect(await run({ c: { new: { _id: 4, x: 4, given: true } } })).toMatchObject({
    n: 1,
    upserted: [{ index: 0, _id: 4 }],
  });
  expect(await layout(cluster)).toEqual({ A: [], B: [4] });
  expect(await cluster.all("test", { find: "c" })).toEqual([{ _id: 4, x: 4, given: true }]);
});
