/** What `explain` refuses, and under which rules. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";
import { startExplained } from "../support/explained.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startExplained();
});

describe("what is refused", () => {
  const bulk = (ops: Doc[]): Doc => ({ bulkWrite: 1, ops, nsInfo: [{ ns: "test.c" }] });

  test.each<[string, string, Doc, number, RegExp]>([
    ["an unknown command", "test", { foo: 1 }, 59, /^Explain failed due to unknown command: foo$/],
    ["insert", "test", { insert: "c", documents: [{ a: 1 }] }, 20, /^Cannot explain cmd: insert$/],
    ["ping", "test", { ping: 1 }, 20, /^Cannot explain cmd: ping$/],
    [
      "two updates",
      "test",
      {
        update: "c",
        updates: [
          { q: {}, u: {} },
          { q: {}, u: {} },
        ],
      },
      16,
      /^explained write batches must be of size 1$/,
    ],
    [
      "two updates, unsharded",
      "test",
      {
        update: "p",
        updates: [
          { q: {}, u: {} },
          { q: {}, u: {} },
        ],
      },
      16,
      /size 1$/,
    ],
    ["no delete", "test", { delete: "c", deletes: [] }, 16, /size 1$/],
    [
      "a bulkWrite of two",
      "admin",
      bulk([
        { delete: 0, filter: {} },
        { delete: 0, filter: {} },
      ]),
      16,
      /^explained bulkWrite must be of size 1$/,
    ],
    [
      "a bulkWrite of an insert",
      "admin",
      bulk([{ insert: 0, document: {} }]),
      20,
      /^Cannot explain cmd: insert$/,
    ],
    ["a bulkWrite elsewhere", "test", bulk([{ delete: 0, filter: {} }]), 13, /admin database/],
    [
      "an unknown operator: find's own error",
      "test",
      { find: "c", filter: { $foo: 1 } },
      2,
      /^unknown top level operator: \$foo/,
    ],
    [
      "an unknown field: find's own error",
      "test",
      { find: "c", foo: 1 },
      40415,
      /^BSON field '(find|FindCommandRequest).foo' is an unknown field/,
    ],
    ["a namespace that is none", "test", { find: "" }, 73, /^Invalid namespace/],
    [
      "what only a shard finds names the shard",
      "test",
      { find: "c", filter: { g: 1 }, hint: "nope" },
      2,
      /^Explain command on shard shardA failed :: caused by :: /,
    ],
    [
      "replacement of many",
      "test",
      { update: "c", updates: [{ q: {}, u: { a: 1 }, multi: true }] },
      72,
      /multi/,
    ],
  ])("%s", async (_what, db, command, code, errmsg) => {
    for (const verbosity of ["queryPlanner", "allPlansExecution"]) {
      const reply = await cluster.run(db, { explain: command, verbosity });
      expect([reply.ok, reply.code]).toEqual([0, code]);
      expect(reply.errmsg).toMatch(errmsg);
    }
  });

  test("a command that names another database", async () => {
    const reply = await cluster.run("test", {
      explain: { find: "c", $db: "other" },
      verbosity: "queryPlanner",
    });
    expect(reply).toMatchObject({ ok: 0, code: 73 });
  });

  test("a verbosity that is none", async () => {
    const reply = await cluster.run("test", { explain: { find: "c" }, verbosity: "all" });
    expect(reply).toMatchObject({ ok: 0, code: 2 });
  });

  test.each<["6.0" | "8.0", Doc, number | undefined]>([
    ["6.0", { update: "c", updates: [{ q: { g: 1 }, u: { $set: { v: 1 } } }] }, 72],
    ["6.0", { delete: "c", deletes: [{ q: { g: 1 }, limit: 1 }] }, 61],
    ["6.0", { findAndModify: "c", query: { g: 1 }, remove: true }, 61],
    ["6.0", { update: "c", updates: [{ q: { g: 1 }, u: { $set: { v: 1 } }, upsert: true }] }, 61],
    ["6.0", { update: "c", updates: [{ q: { _id: 1 }, u: { $set: { v: 1 } } }] }, undefined],
    ["8.0", { update: "c", updates: [{ q: { g: 1 }, u: { $set: { v: 1 } } }] }, undefined],
  ])("rules %s: %j → %s: explained as it would run (§4.3, §4.4)", async (rules, command, code) => {
    const older = await startCluster({ shards: 2, rules });
    await older.admin({ enableSharding: "test", primaryShard: "shardA" });
    await older.admin({ shardCollection: "test.c", key: { x: 1 } });
    await older.admin({ split: "test.c", middle: { x: 50 } });
    await older.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
    const reply = await older.run("test", { explain: command, verbosity: "queryPlanner" });
    expect([reply.ok, reply.code]).toEqual(code === undefined ? [1, undefined] : [0, code]);
  });
});
