/**
 * What any command may carry, asked of the router and of a shard: the same
 * malformed request must get the same answer from both.
 */
import { Long } from "bson";
import { fromDocument, toDocument } from "shardlab/bson";
import { request } from "shardlab/protocol";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const insert: Doc = { insert: "c", documents: [{ _id: 1 }] };
const lsid = { id: new Uint8Array(16).fill(7) };
const txnNumber = Long.fromNumber(1);
const increment = { q: { _id: 1 }, u: { $inc: { n: 1 } } };

type Case = readonly [what: string, command: Doc, code: number];

const SESSIONS: readonly Case[] = [
  ["txnNumber without lsid", { ...insert, txnNumber }, 72],
  ["txnNumber that is an int32", { ...insert, lsid, txnNumber: 1 }, 14],
  ["txnNumber that is negative", { ...insert, lsid, txnNumber: Long.fromNumber(-1) }, 72],
  ["lsid that is a number", { ...insert, lsid: 1 }, 14],
  ["lsid with a string for id", { find: "c", lsid: { id: "x" } }, 14],
  ["lsid without id", { find: "c", lsid: {} }, 40414],
  ["txnNumber on find", { find: "c", lsid, txnNumber }, 50768],
  ["txnNumber on ping", { ping: 1, lsid, txnNumber }, 50768],
  ["txnNumber with multi", { update: "c", updates: [{ ...increment, multi: true }], lsid, txnNumber }, 72],
  ["txnNumber with limit 0", { delete: "c", deletes: [{ q: {}, limit: 0 }], lsid, txnNumber }, 72],
  ["too few stmtIds", { ...insert, documents: [{}, {}], stmtIds: [0], lsid, txnNumber }, 16],
  ["stmtId and stmtIds", { ...insert, stmtId: 0, stmtIds: [0], lsid, txnNumber }, 72],
  ["a transaction", { ...insert, lsid, txnNumber, startTransaction: true, autocommit: false }, 238],
];

const GENERIC: readonly Case[] = [
  ["readConcern 1", { find: "c", readConcern: 1 }, 14],
  ["readConcern of an unknown level", { find: "c", readConcern: { level: "best" } }, 2],
  ["apiVersion 9", { ping: 1, apiVersion: "9" }, 322],
  ["apiVersion that is a number", { ping: 1, apiVersion: 1 }, 14],
  ["apiStrict without apiVersion", { ping: 1, apiStrict: true }, 4886600],
  ["writeConcern 1", { ...insert, writeConcern: 1 }, 14],
  ["w: true", { ...insert, writeConcern: { w: true } }, 9],
  ["w: -1", { ...insert, writeConcern: { w: -1 } }, 9],
];

const NAMES: readonly Case[] = [
  ["insert into system.x", { insert: "system.x", documents: [{}] }, 73],
  ["update of system.x", { update: "system.x", updates: [{ ...increment, upsert: true }] }, 73],
  ["delete in system.x", { delete: "system.x", deletes: [{ q: {}, limit: 0 }] }, 73],
  ["findAndModify in system.x", { findAndModify: "system.x", query: {}, remove: true }, 73],
  ["create of system.q", { create: "system.q" }, 73],
  ["an index on system.q", { createIndexes: "system.q", indexes: [{ key: { a: 1 }, name: "a_1" }] }, 73],
  ["a view by hand", { insert: "system.views", documents: [{ _id: "test.v" }] }, 238],
  ["explain of an unknown command", { explain: { foo: 1 } }, 59],
  ["explain of insert", { explain: insert }, 20],
  ["killCursors of an int32", { killCursors: "c", cursors: [1] }, 14],
];

async function onBoth(
  cluster: TestCluster,
  command: Doc,
  sequences?: Record<string, Uint8Array[]>,
): Promise<[Doc, Doc]> {
  const shard = cluster.shards.get("shardA")!.inner;
  return [
    await cluster.run("test", command, sequences),
    fromDocument((await shard.run(request("test", command, sequences))).body),
  ];
}

describe("router and shard refuse alike", () => {
  test.each([...SESSIONS, ...GENERIC, ...NAMES])("%s", async (_what, command, code) => {
    const cluster = await startCluster();
    const [router, shard] = await onBoth(cluster, command);
    expect(router).toMatchObject({ ok: 0, code });
    expect(shard).toMatchObject({ ok: 0, code });
    // Refused before anything happened.
    expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 0 });
    expect(await cluster.shard("shardA", "test", { listCollections: 1 })).toMatchObject({
      cursor: { firstBatch: [] },
    });
  });

  test("what is well-formed passes", async () => {
    const cluster = await startCluster();
    for (const command of [
      {
        ...insert,
        lsid,
        txnNumber,
        stmtId: 0,
        apiVersion: "1",
        apiStrict: true,
        writeConcern: { w: "majority" },
      },
      { find: "c", lsid, readConcern: { level: "majority" }, apiVersion: "1" },
      { insert: "system.js", documents: [{ _id: "f", value: 1 }] },
      {
        ...insert,
        documents: [{ _id: 2 }],
        maxTimeMSOpOnly: 500,
        rawData: true,
        clientOperationKey: lsid.id,
      },
    ]) {
      for (const reply of await onBoth(cluster, command)) expect(reply).toMatchObject({ ok: 1 });
    }
  });

  test("document sequences that the command does not take, or takes already as a field", async () => {
    const cluster = await startCluster();
    const documents = [toDocument({ _id: 1 })];
    for (const reply of await onBoth(cluster, { insert: "c" }, { documents, zork: documents }))
      expect(reply).toMatchObject({ code: 40415, errmsg: "BSON field 'insert.zork' is an unknown field." });
    for (const reply of await onBoth(cluster, { find: "c" }, { documents }))
      expect(reply).toMatchObject({
        code: 40415,
        errmsg: "BSON field 'find.documents' is an unknown field.",
      });
    for (const reply of await onBoth(cluster, insert, { documents }))
      expect(reply).toMatchObject({ code: 40433 });
    expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 0 });
  });
});

describe("names of commands", () => {
  test.each<[string, number]>([
    ["shutdown", 238],
    ["createUser", 238],
    ["mapReduce", 238],
    // Of shards, not of a mongos.
    ["replSetInitiate", 59],
    ["cleanupOrphaned", 59],
    ["zork", 59],
  ])("%s is answered %i", async (name, code) => {
    const cluster = await startCluster();
    expect(await cluster.run("admin", { [name]: 1 })).toMatchObject({ ok: 0, code });
  });

  test("a router says that it is one", async () => {
    const cluster = await startCluster();
    expect(await cluster.ok("test", { isdbgrid: 1 })).toMatchObject({
      isdbgrid: 1,
      hostname: "127.0.0.1:27017",
    });
    expect(await cluster.run("admin", { replSetGetStatus: 1 })).toMatchObject({
      ok: 0,
      info: "mongos",
      errmsg: "replSetGetStatus is not supported through mongos",
    });
    const { commands } = (await cluster.ok("test", { listCommands: 1 })) as { commands: Record<string, Doc> };
    expect(commands.shardCollection).toMatchObject({ requiresAuth: true, adminOnly: true, apiVersions: [] });
    expect(commands.shardcollection).toBeUndefined(); // another spelling, no other command
    expect(commands.replSetInitiate).toBeUndefined();
  });

  test("a namespace without a dot is named as it came", async () => {
    const cluster = await startCluster();
    expect(await cluster.run("admin", { shardCollection: "e", key: { x: 1 } })).toMatchObject({
      code: 73,
      errmsg: "Invalid namespace specified 'e'",
    });
  });
});
