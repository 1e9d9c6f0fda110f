import { EndpointUnreachableError } from "shardlab/protocol";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { layout, session, splitAtZero } from "./support/zeroSplit.js";

const ns = (...names: string[]): Doc[] => names.map((name) => ({ ns: name }));

/** Sends a bulkWrite over test.c (0) and test.plain (1, unsharded). */
function bulk(cluster: TestCluster, ops: Doc[], options: Doc = {}): Promise<Doc> {
  return cluster.run("admin", { bulkWrite: 1, ops, nsInfo: ns("test.c", "test.plain"), ...options });
}

/** The documents of its cursor, if they came in one batch. */
const results = (reply: Doc): Doc[] => (reply.cursor as { firstBatch: Doc[] }).firstBatch;

const sums = (reply: Doc): unknown[] =>
  ["nErrors", "nInserted", "nMatched", "nModified", "nUpserted", "nDeleted"].map((name) => reply[name]);

const insert = (_id: number, x: number, to = 0): Doc => ({ insert: to, document: { _id, x } });

describe("bulkWrite over shards and collections", () => {
  test.each([true, false])(
    "every operation reports for itself, in the client's order (ordered: %s)",
    async (ordered) => {
      const cluster = await splitAtZero();
      const reply = await bulk(
        cluster,
        [
          insert(1, -1),
          insert(2, 2),
          insert(3, 0, 1),
          { update: 0, filter: { x: { $gte: -1 } }, updateMods: { $set: { v: 1 } }, multi: true },
          { update: 0, filter: { x: 7 }, updateMods: { $set: { v: 1 } }, upsert: true },
          { update: 1, filter: { _id: 3 }, updateMods: [{ $set: { w: "$x" } }] },
          { delete: 0, filter: { x: -1 }, multi: false },
        ],
        { ordered },
      );
      const batch = results(reply);
      expect(batch.map(({ idx }) => idx)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      expect(batch[0]).toEqual({ ok: 1, idx: 0, n: 1 });
      expect(batch[4]).toMatchObject({
        ok: 1,
        n: 1,
        nModified: 0,
        upserted: { _id: expect.anything() as unknown },
      });
      expect(batch[6]).toEqual({ ok: 1, idx: 6, n: 1 });
      expect(reply.cursor).toMatchObject({ id: 0, ns: "admin.$cmd.bulkWrite" });
      if (ordered) {
        // #3 found the two that #0 and #1 had inserted, one on each shard; #5 its document.
        expect(batch[3]).toEqual({ ok: 1, idx: 3, n: 2, nModified: 2 });
        expect(sums(reply)).toEqual([0, 3, 3, 3, 1, 1]);
      } else {
        // Each shard got its operations in order, but the multi update's turn on one says nothing of the other.
        expect(reply).toMatchObject({ nErrors: 0, nInserted: 3, nUpserted: 1, nDeleted: 1 });
      }
      expect((await layout(cluster)).A).toEqual([]);
      expect((await layout(cluster, "plain")).A).toEqual([3]);
    },
  );

  test("an ordered bulk stops at its first error; an unordered one goes on", async () => {
    const ops = [
      insert(1, -1),
      insert(1, -2),
      insert(2, 2),
      { insert: 0, document: { _id: 9, x: [1] } },
      insert(3, 3),
    ];
    const ordered = await splitAtZero();
    const first = await bulk(ordered, ops);
    expect(sums(first)).toEqual([1, 1, 0, 0, 0, 0]);
    expect(results(first)).toMatchObject([
      { ok: 1, idx: 0, n: 1 },
      { ok: 0, idx: 1, code: 11000, keyPattern: { _id: 1 }, keyValue: { _id: 1 }, n: 0 },
    ]);
    expect(await layout(ordered)).toEqual({ A: [1], B: [] });

    const unordered = await splitAtZero();
    const second = await bulk(unordered, ops, { ordered: false, errorsOnly: true });
    expect(sums(second)).toEqual([2, 3, 0, 0, 0, 0]);
    // §4.2: an array on the key's path is 61.
    expect(results(second).map(({ ok, idx, code }) => [ok, idx, code])).toEqual([
      [0, 1, 11000],
      [0, 3, 61],
    ]);
    expect(await layout(unordered)).toEqual({ A: [1], B: [2, 3] });
  });

  test("results that do not fit the client's batch are read with getMore", async () => {
    const cluster = await splitAtZero();
    const ops = Array.from({ length: 5 }, (_, i) => insert(i, i - 2));
    const reply = await bulk(cluster, ops, { cursor: { batchSize: 2 } });
    expect(results(reply).map(({ idx }) => idx)).toEqual([0, 1]);
    const { id } = reply.cursor as { id: bigint };
    const more = await cluster.ok("admin", { getMore: BigInt(id), collection: "$cmd.bulkWrite" });
    expect((more.cursor as { nextBatch: Doc[] }).nextBatch.map(({ idx }) => idx)).toEqual([2, 3, 4]);
    expect(more.cursor).toMatchObject({ id: 0 });
  });

  test("it creates the database that it writes to, and leaves its collections unsharded (§1.1)", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("admin", {
      bulkWrite: 1,
      ops: [{ insert: 0, document: { _id: 1 } }],
      nsInfo: ns("fresh.c"),
    });
    expect(await cluster.all("fresh", { find: "c" })).toEqual([{ _id: 1 }]);
    expect(await cluster.all("config", { find: "databases", filter: { _id: "fresh" } })).toHaveLength(1);
  });

  test("a missing _id that is part of the key is made by the router", async () => {
    const cluster = await splitAtZero();
    await cluster.admin({ shardCollection: "test.byId", key: { _id: "hashed" } });
    await cluster.ok("admin", {
      bulkWrite: 1,
      ops: [1, 2, 3, 4].map((v) => ({ insert: 0, document: { v } })),
      nsInfo: ns("test.byId"),
    });
    for (const document of await cluster.all("test", { find: "byId" }))
      expect(await cluster.all("test", { find: "byId", filter: { _id: document._id } })).toEqual([document]);
  });
});

describe("bulkWrite and careful writes", () => {
  test("single writes without the key, key changes and upserts find their shard (§4.3–4.5)", async () => {
    const cluster = await splitAtZero();
    const reply = await bulk(
      cluster,
      [
        insert(1, -1),
        insert(2, 2),
        { update: 0, filter: { x: -1 }, updateMods: { $set: { x: -10 } } },
        { update: 0, filter: { _id: 2, v: { $exists: false } }, updateMods: { $set: { v: 1 } } },
        { update: 0, filter: { _id: "new" }, updateMods: { $set: { x: -5 } }, upsert: true },
        { delete: 0, filter: { v: 1 } },
      ],
      session(1),
    );
    expect(sums(reply)).toEqual([0, 2, 2, 2, 1, 1]);
    expect(results(reply)[4]).toMatchObject({ idx: 4, n: 1, upserted: { _id: "new" } });
    expect(await layout(cluster)).toEqual({ A: [1, "new"], B: [] });
  });

  test.each<[string, Doc, (string | number)[]]>([
    ["an update", { filter: { x: -1 }, updateMods: { $set: { x: 10 } } }, [1]],
    ["an upsert", { filter: { x: -2 }, updateMods: { $set: { _id: "new", x: 10 } }, upsert: true }, ["new"]],
  ])(
    "%s that moves its document is the command's only operation, or refused (§4.5: 72)",
    async (_, one, moved) => {
      const cluster = await splitAtZero();
      await bulk(cluster, [insert(1, -1)]);
      const ops = [{ update: 0, ...one }, insert(2, 0, 1)];
      const refused = await bulk(cluster, ops, { ordered: false, ...session(1) });
      expect(results(refused)).toMatchObject([{ ok: 0, idx: 0, code: 72 }, { ok: 1 }]);
      expect(results(refused)[0]!.errmsg).toBe(
        "Document shard key value updates that cause the doc to move shards must be sent with write batch of size 1",
      );
      expect(await layout(cluster)).toEqual({ A: [1], B: [] });
      expect(sums(await bulk(cluster, ops.slice(0, 1), session(2)))[0]).toBe(0);
      expect((await layout(cluster)).B).toEqual(moved);
    },
  );

  test("a key change without a retryable write is an error of its operation (§4.5: 20)", async () => {
    const cluster = await splitAtZero();
    const ops = [
      insert(1, -1),
      { update: 0, filter: { x: -1 }, updateMods: { $set: { x: 10 } } },
      insert(2, 2),
    ];
    const reply = await bulk(cluster, ops);
    expect(results(reply)).toMatchObject([{ ok: 1 }, { ok: 0, idx: 1, code: 20, n: 0, nModified: 0 }]);
    expect(await layout(cluster)).toEqual({ A: [1], B: [] });
  });

  test("the same number again gets what the operations did; those that failed run", async () => {
    const cluster = await splitAtZero();
    await bulk(cluster, [insert(5, 5)]);
    const ops = [
      insert(1, 1),
      insert(5, 6),
      { update: 0, filter: { x: 1 }, updateMods: { $inc: { x: 10 } } },
    ];
    const options = { ordered: false, ...session(1) };
    const first = await bulk(cluster, ops, options);
    expect(sums(first)).toEqual([1, 1, 1, 1, 0, 0]);
    expect(sums(await bulk(cluster, ops, options))).toEqual([1, 1, 1, 1, 0, 0]);
    // The document has changed once, to 11.
    expect(await cluster.all("test", { find: "c", filter: { _id: 1 } })).toEqual([{ _id: 1, x: 11 }]);
    await cluster.ok("test", { delete: "c", deletes: [{ q: { _id: 5 }, limit: 1 }] });
    expect(sums(await bulk(cluster, ops, options))).toEqual([0, 2, 1, 1, 0, 0]);
    expect(await bulk(cluster, ops, { ...options, ...session(0) })).toMatchObject({ ok: 0, code: 225 });
  });

  test("a retryable write to many documents is refused (72)", async () => {
    const cluster = await splitAtZero();
    const reply = await bulk(cluster, [{ delete: 0, filter: {}, multi: true }], session(1));
    expect(results(reply)).toMatchObject([{ ok: 0, code: 72 }]);
  });
});

describe("a bulkWrite that fails", () => {
  test.each<[string, Doc, number]>([
    ["an nsInfo index beyond the list", { ops: [{ insert: 2, document: {} }] }, 2],
    ["an operation nobody knows", { ops: [{ replace: 0, document: {} }] }, 40415],
    ["a field nobody knows", { ops: [{ insert: 0, document: {}, extra: 1 }] }, 40415],
    ["an option nobody knows", { ops: [insert(1, 1)], orderd: false }, 40415],
    ["no document", { ops: [{ insert: 0 }] }, 40414],
    ["no operations", { ops: [] }, 16],
    ["a namespace without a collection", { ops: [insert(1, 1)], nsInfo: ns("test") }, 73],
    ["a field of cursor nobody knows", { ops: [insert(1, 1)], cursor: { size: 1 } }, 40415],
  ])("%s", async (_what, options, code) => {
    const cluster = await splitAtZero();
    const good = { bulkWrite: 1, nsInfo: ns("test.c") };
    expect(await cluster.run("admin", { ...good, ...options })).toMatchObject({ ok: 0, code });
    expect(await cluster.all("test", { find: "c" })).toEqual([]);
  });

  test("runs in admin only, and not under rules before 8.0", async () => {
    const cluster = await splitAtZero();
    const command = { bulkWrite: 1, ops: [insert(1, 1)], nsInfo: ns("test.c") };
    expect(await cluster.run("test", command)).toMatchObject({ ok: 0, code: 13 });
    expect(await (await splitAtZero("7.0")).run("admin", command)).toMatchObject({ ok: 0, code: 59 });
  });

  test("a shard that is gone fails its own operations, with its name", async () => {
    const cluster = await splitAtZero();
    cluster.shards.get("shardB")!.failWhen = (name) =>
      name === "bulkWrite" ? new EndpointUnreachableError("gone", undefined, false) : undefined;
    const reply = await bulk(cluster, [insert(1, 1), insert(2, -2), insert(3, 3)], { ordered: false });
    expect(sums(reply)).toEqual([2, 1, 0, 0, 0, 0]);
    const failures = results(reply).filter(({ ok }) => ok === 0);
    expect(failures.map(({ idx, code }) => [idx, code])).toEqual([
      [0, 133],
      [2, 133],
    ]);
    expect(String(failures[0]!.errmsg)).toContain("shardB");
  });

  test("a write to config after which the catalog could not be read is refused (121)", async () => {
    const cluster = await splitAtZero();
    const reply = await cluster.ok("admin", {
      bulkWrite: 1,
      ops: [
        { insert: 1, document: { _id: 1, x: 1 } },
        { update: 0, filter: { _id: "test.c" }, updateMods: { $set: { key: "x" } } },
      ],
      nsInfo: ns("config.collections", "test.c"),
      ordered: false,
    });
    expect(results(reply).map(({ ok, code }) => [ok, code])).toEqual([
      [1, undefined],
      [0, 121],
    ]);
  });
});

test("the trace has one entry for a collection's inserts and one for each update, with all that it asked", async () => {
  const cluster = await splitAtZero();
  const entries = await cluster.traced(() =>
    bulk(cluster, [
      insert(1, -1),
      insert(2, 2),
      insert(3, 3),
      { update: 0, filter: { x: 2 }, updateMods: { $set: { v: 1 } } },
      // No key: each shard is asked for one match, then the one that is chosen is written.
      { update: 0, filter: { v: null }, updateMods: { $set: { v: 2 } } },
    ]),
  );
  const told = entries.map(({ op, targeting, shards }) => [
    op,
    targeting.kind,
    shards.map(({ shard }) => shard),
  ]);
  expect(told).toHaveLength(3);
  expect(told).toContainEqual(["bulkWrite", "shardKey", ["shardB"]]);
  expect(told).toContainEqual(["bulkWrite", "shardKey", ["shardA", "shardB"]]);
  const searched = entries.find(({ targeting }) => targeting.kind === "allShards")!;
  const [first, second, written, ...rest] = searched.shards;
  expect([first, second].map((work) => [work?.shard, work?.returned])).toEqual([
    ["shardA", 1],
    ["shardB", 1],
  ]);
  expect([written?.sent, rest]).toEqual([1, []]);
});
