import { ObjectId } from "bson";
import { toDocument } from "shardlab/bson";
import { EndpointUnreachableError } from "shardlab/protocol";
import type { RulesVersion } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";
import { idsOn, session, splitAtZero } from "./support/zeroSplit.js";

describe("insert", () => {
  test("documents go to their shards and errors keep the client's numbers", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: [{ _id: 2, x: 5 }] });
    const documents = [
      { _id: 0, x: -1 },
      { _id: 1, x: 1 },
      { _id: 2, x: 2 }, // the same _id is on shardB already
      { _id: 3, x: [3] }, // an array
      { _id: 4, x: -4 },
    ];
    const reply = await cluster.ok("test", { insert: "c", documents, ordered: false });
    expect(reply.n).toBe(3);
    expect((reply.writeErrors as Doc[]).map(({ index, code }) => [index, code])).toEqual([
      [2, 11000],
      [3, 61],
    ]);
    expect((reply.writeErrors as Doc[])[0]).toMatchObject({ keyPattern: { _id: 1 }, keyValue: { _id: 2 } });
    expect(await idsOn(cluster, "shardA")).toEqual([0, 4]);
    expect(await idsOn(cluster, "shardB")).toEqual([1, 2]);
  });

  test("an ordered batch writes nothing after its first failure, on no shard", async () => {
    const cluster = await splitAtZero();
    const documents = [
      { _id: 0, x: -1 },
      { _id: 1, x: 1 },
      { _id: 0, x: -2 },
      { _id: 3, x: 3 },
      { _id: 4, x: -4 },
    ];
    const reply = await cluster.ok("test", { insert: "c", documents });
    expect(reply.n).toBe(2);
    expect((reply.writeErrors as Doc[]).map(({ index, code }) => [index, code])).toEqual([[2, 11000]]);
    expect([await idsOn(cluster, "shardA"), await idsOn(cluster, "shardB")]).toEqual([[0], [1]]);
  });

  test("an ordered batch stops at a document that cannot be routed, after writing those before it", async () => {
    const cluster = await splitAtZero();
    const reply = await cluster.ok("test", {
      insert: "c",
      documents: [
        { _id: 0, x: 1 },
        { _id: 1, x: [1] },
        { _id: 2, x: 2 },
      ],
    });
    expect(reply).toMatchObject({ n: 1, writeErrors: [{ index: 1, code: 61 }] });
    expect(await idsOn(cluster, "shardB")).toEqual([0]);
  });

  test("the router makes a missing _id before it looks at the key, which may be _id", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "test.c", key: { _id: "hashed" } });
    await cluster.ok("test", { insert: "c", documents: [{ v: 1 }, { v: 2 }, { v: 3 }, { v: 4 }] });
    const found = await cluster.all("test", { find: "c" });
    expect(found).toHaveLength(4);
    for (const document of found) {
      expect(Object.keys(document)).toEqual(["_id", "v"]);
      expect(document._id).toBeInstanceOf(ObjectId);
      // Found again by its key, so it lies where its hash says.
      expect(await cluster.all("test", { find: "c", filter: { _id: document._id } })).toEqual([document]);
    }
  });

  test("documents may come as a sequence beside the command", async () => {
    const cluster = await splitAtZero();
    const documents = [toDocument({ _id: 1, x: -1 }), toDocument({ _id: 2, x: 1 })];
    expect(await cluster.ok("test", { insert: "c" }, { documents })).toMatchObject({ n: 2 });
  });

  test.each<[RulesVersion, Doc]>([
    ["4.2", { n: 0, writeErrors: [{ index: 0, code: 61 }] }],
    ["4.4", { n: 1 }],
    ["8.0", { n: 1 }],
  ])("missing key fields under rules %s (§4.2)", async (rules, expected) => {
    const cluster = await splitAtZero(rules);
    expect(await cluster.ok("test", { insert: "c", documents: [{ _id: 1, y: 1 }] })).toMatchObject(expected);
  });

  test("a shard that is gone fails its own documents, with its name", async () => {
    const cluster = await splitAtZero();
    cluster.shards.get("shardB")!.failWhen = (command) =>
      command === "insert" ? new EndpointUnreachableError("127.0.0.1:27019") : undefined;
    const reply = await cluster.ok("test", {
      insert: "c",
      documents: [
        { _id: 1, x: -1 },
        { _id: 2, x: 1 },
      ],
      ordered: false,
    });
    expect(reply).toMatchObject({ n: 1, writeErrors: [{ index: 1, code: 6 }] });
    expect(String((reply.writeErrors as Doc[])[0]!.errmsg)).toContain("shardB");
  });
});

describe("unique _id across shards (§7)", () => {
  test("the same _id may be on two shards; on one shard it may not", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: [{ _id: 1, x: -1 }] });
    expect(await cluster.ok("test", { insert: "c", documents: [{ _id: 1, x: 1 }] })).toMatchObject({ n: 1 });
    expect(await cluster.all("test", { find: "c", filter: { _id: 1 } })).toHaveLength(2);
    expect(await cluster.ok("test", { insert: "c", documents: [{ _id: 1, x: -2 }] })).toMatchObject({
      n: 0,
      writeErrors: [{ code: 11000 }],
    });
  });
});

/** Five documents, x = -2 … 2, all with g: 1. */
async function withFive(rules: RulesVersion): Promise<TestCluster> {
  const cluster = await splitAtZero(rules);
  await cluster.ok("test", {
    insert: "c",
    documents: [-2, -1, 0, 1, 2].map((x) => ({ _id: x + 2, x, g: 1 })),
  });
  return cluster;
}

describe("single writes without the key (§4.3)", () => {
  test.each<[RulesVersion, number]>([
    ["4.4", 72],
    ["7.0", 72],
  ])("updateOne under rules %s is refused with %i", async (rules, code) => {
    const cluster = await withFive(rules);
    const reply = await cluster.ok("test", {
      update: "c",
      updates: [{ q: { g: 1 }, u: { $set: { v: 1 } } }],
    });
    expect(reply).toMatchObject({ n: 0, writeErrors: [{ index: 0, code }] });
    // Exactly _id is allowed: it is asked everywhere.
    const byId = await cluster.ok("test", {
      update: "c",
      updates: [{ q: { _id: 0 }, u: { $set: { v: 1 } } }],
    });
    expect(byId).toMatchObject({ n: 1, nModified: 1 });
  });

  test("updateOne under 8.0 changes exactly one document", async () => {
    const cluster = await withFive("8.0");
    const reply = await cluster.ok("test", {
      update: "c",
      updates: [{ q: { g: 1 }, u: { $set: { v: 1 } } }],
    });
    expect([reply.n, reply.nModified, reply.writeErrors]).toEqual([1, 1, undefined]);
    expect(await cluster.all("test", { find: "c", filter: { v: 1 } })).toHaveLength(1);
  });

  test("deleteOne: 61 before, exactly one under 8.0", async () => {
    const command = { delete: "c", deletes: [{ q: { g: 1 }, limit: 1 }] };
    const old = await withFive("7.0");
    expect(await old.ok("test", command)).toMatchObject({ n: 0, writeErrors: [{ code: 61 }] });
    const now = await withFive("8.0");
    expect(await now.ok("test", command)).toMatchObject({ n: 1 });
    expect(await now.ok("test", { count: "c" })).toMatchObject({ n: 4 });
  });

  test("findAndModify: 61 before; under 8.0 the first by the sort over all shards", async () => {
    const command = {
      findAndModify: "c",
      query: { g: 1 },
      sort: { x: -1 },
      update: { $set: { v: 1 } },
      new: true,
    };
    const old = await withFive("7.0");
    expect(await old.run("test", command)).toMatchObject({ ok: 0, code: 61 });
    const now = await withFive("8.0");
    expect(await now.ok("test", command)).toMatchObject({
      lastErrorObject: { n: 1, updatedExisting: true },
      value: { _id: 4, x: 2, g: 1, v: 1 },
    });
    expect(
      await now.ok("test", {
        findAndModify: "c",
        query: { g: 1 },
        sort: { x: 1 },
        remove: true,
        fields: { x: 1 },
      }),
    ).toMatchObject({
      lastErrorObject: { n: 1 },
      value: { _id: 0, x: -2 },
    });
  });

  test("an ordered batch keeps its order around a write that has to search", async () => {
    const cluster = await withFive("8.0");
    const updates = [
      { q: { x: 1 }, u: { $set: { step: 1 } } },
      { q: { step: 1 }, u: { $set: { step: 2 } } },
      { q: { step: 2, x: { $gt: -5 } }, u: { $inc: { step: 1 } }, multi: true },
    ];
    expect(await cluster.ok("test", { update: "c", updates })).toMatchObject({ n: 3, nModified: 3 });
    expect(await cluster.all("test", { find: "c", filter: { step: 3 } })).toEqual([
      { _id: 3, x: 1, g: 1, step: 3 },
    ]);
  });
});

describe("upserts (§4.4)", () => {
  test("with the whole key in the filter it is targeted", async () => {
    const cluster = await splitAtZero();
    const reply = await cluster.ok("test", {
      update: "c",
      updates: [{ q: { x: -3 }, u: { $set: { v: 1 } }, upsert: true }],
    });
    expect(reply).toMatchObject({ n: 1, nModified: 0, upserted: [{ index: 0 }] });
    expect(await idsOn(cluster, "shardA")).toHaveLength(1);
  });

  test("without it the new document's key decides, under 8.0; before, 61", async () => {
    const updates = [
      { q: { x: 1 }, u: { $set: { v: 0 } } },
      { q: { _id: "new", g: 9 }, u: { $set: { x: 7 } }, upsert: true },
    ];
    const now = await splitAtZero("8.0");
    expect(await now.ok("test", { update: "c", updates })).toMatchObject({
      n: 1,
      upserted: [{ index: 1, _id: "new" }],
    });
    expect(await idsOn(now, "shardB")).toEqual(["new"]);
    const old = await splitAtZero("7.0");
    expect(await old.ok("test", { update: "c", updates })).toMatchObject({
      writeErrors: [{ index: 1, code: 61 }],
    });
  });

  test("updateMany with upsert always needs the whole key (61)", async () => {
    const cluster = await splitAtZero();
    const reply = await cluster.ok("test", {
      update: "c",
      updates: [{ q: { g: 1 }, u: { $set: { v: 1 } }, multi: true, upsert: true }],
    });
    expect(reply).toMatchObject({ writeErrors: [{ index: 0, code: 61 }] });
  });

  test("findAndModify returns the new document", async () => {
    const cluster = await splitAtZero();
    const command = {
      findAndModify: "c",
      query: { _id: 9, g: 1 },
      update: { $set: { x: -9 } },
      upsert: true,
    };
    expect(await cluster.ok("test", { ...command, new: true })).toMatchObject({
      lastErrorObject: { n: 1, updatedExisting: false, upserted: 9 },
      value: { _id: 9, g: 1, x: -9 },
    });
    expect(await idsOn(cluster, "shardA")).toEqual([9]);
  });
});

describe("changing a shard key value (§4.5)", () => {
  const move = { update: "c", updates: [{ q: { x: -2 }, u: { $set: { x: 10 } } }] };

  test("the document moves to the shard that owns its new key", async () => {
    const cluster = await withFive("8.0");
    expect(await cluster.ok("test", { ...move, ...session(1) })).toMatchObject({ n: 1, nModified: 1 });
    expect([await idsOn(cluster, "shardA"), await idsOn(cluster, "shardB")]).toEqual([[1], [0, 2, 3, 4]]);
    expect(await cluster.all("test", { find: "c", filter: { x: 10 } })).toEqual([{ _id: 0, x: 10, g: 1 }]);
  });

  test.each<[string, RulesVersion, Doc, Doc, number]>([
    ["immutable before 4.2", "2.4", move, session(1), 66],
    ["without a retryable write", "8.0", move, {}, 20],
    [
      "without the whole key in the filter, 4.2 to 7.0",
      "7.0",
      { update: "c", updates: [{ q: { _id: 0 }, u: { $set: { x: 10 } } }] },
      session(1),
      31025,
    ],
    [
      "by updateMany",
      "8.0",
      { update: "c", updates: [{ q: { x: -2 }, u: { $set: { x: 10 } }, multi: true }] },
      {},
      72,
    ],
    [
      "to an array",
      "8.0",
      { update: "c", updates: [{ q: { x: -2 }, u: { $set: { x: [1] } } }] },
      session(1),
      54,
    ],
  ])("%s (rules %s) it is refused", async (_what, rules, command, extra, code) => {
    const cluster = await withFive(rules);
    const reply = await cluster.ok("test", { ...command, ...extra });
    expect(reply).toMatchObject({ n: 0, writeErrors: [{ index: 0, code }] });
    expect([await idsOn(cluster, "shardA"), await idsOn(cluster, "shardB")]).toEqual([
      [0, 1],
      [2, 3, 4],
    ]);
  });

  test("a duplicate _id on the other shard refuses the move and the document stays", async () => {
    const cluster = await withFive("8.0");
    await cluster.ok("test", { insert: "c", documents: [{ _id: 0, x: 50 }] });
    const reply = await cluster.ok("test", { ...move, ...session(1) });
    expect(reply).toMatchObject({ n: 0, writeErrors: [{ code: 11000 }] });
    expect(await cluster.all("test", { find: "c", filter: { x: -2 } })).toHaveLength(1);
  });

  test("null for a missing field is no change; a replacement that keeps the key needs no search", async () => {
    const cluster = await splitAtZero("8.0");
    await cluster.ok("test", {
      insert: "c",
      documents: [
        { _id: 1, v: 1 },
        { _id: 2, x: 5 },
      ],
    });
    const toNull = await cluster.ok("test", {
      update: "c",
      updates: [{ q: { _id: 1, x: null }, u: { $set: { x: null } }, multi: true }],
    });
    expect(toNull).toMatchObject({ n: 1, nModified: 1 });
    const [entry] = await cluster.traced(() =>
      cluster.ok("test", { update: "c", updates: [{ q: { x: 5 }, u: { x: 5, v: 2 } }] }),
    );
    expect(entry!.shards).toMatchObject([{ shard: "shardB" }]);
    expect(await cluster.all("test", { find: "c", filter: { x: 5 } })).toEqual([{ _id: 2, x: 5, v: 2 }]);
  });

  test("a replacement with another key moves its document", async () => {
    const cluster = await withFive("8.0");
    const reply = await cluster.ok("test", {
      update: "c",
      updates: [{ q: { x: -1 }, u: { x: 11, r: 1 } }],
      ...session(1),
    });
    expect(reply).toMatchObject({ n: 1, nModified: 1 });
    expect(await idsOn(cluster, "shardB")).toEqual([1, 2, 3, 4]);
  });
});

describe("fields that nobody knows", () => {
  test("are refused, also where the router carries a write out itself", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: [{ _id: 0, x: -1, tag: "t" }] });
    const commands: Doc[] = [
      { insert: "c", documents: [{ _id: 1, x: 1 }], orderd: false },
      { update: "c", updates: [{ q: { tag: "t" }, u: { $set: { seen: 1 } } }], orderd: false },
      { update: "c", updates: [{ q: { tag: "t" }, u: { $set: { seen: 1 } }, mutli: true }] },
      { delete: "c", deletes: [{ q: { tag: "t" }, limit: 1 }], orderd: false },
      { delete: "c", deletes: [{ q: { tag: "t" }, limit: 1, hnit: "x_1" }] },
      { findAndModify: "c", query: { tag: "t" }, remove: true, sorted: { x: 1 } },
    ];
    const wrong: [Doc, number][] = [
      [{ findAndModify: "c", query: { tag: "t" }, remove: true, new: true }, 9],
      [{ findAndModify: "c", query: { tag: "t" }, remove: true, upsert: true }, 9],
      [
        { findAndModify: "c", query: { tag: "t" }, update: { $set: { seen: 1 } }, arrayFilters: { a: 1 } },
        14,
      ],
      [{ update: "c", updates: [{ q: { tag: "t" }, u: { $set: { seen: 1 } }, arrayFilters: { a: 1 } }] }, 14],
    ];
    for (const [command, code] of wrong) {
      expect(await cluster.run("test", command), JSON.stringify(command)).toMatchObject({ ok: 0, code });
    }
    for (const command of commands) {
      expect(await cluster.run("test", command), JSON.stringify(command)).toMatchObject({
        ok: 0,
        code: 40415,
      });
    }
    expect(await cluster.all("test", { find: "c" })).toEqual([{ _id: 0, x: -1, tag: "t" }]);
  });
});
