import { toDocument } from "shardlab/bson";
import type { RulesVersion } from "shardlab/router";
import { describe, expect, test } from "vitest";
import { objections, readIndex } from "../../lib/router/ddl/indexRules.js";
import type { Doc, TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

describe("enableSharding (§1.1)", () => {
  test("creates the database once, on the wanted shard or the one with the least data", async () => {
    const cluster = await startCluster({ shards: 3 });
    await cluster.admin({ enableSharding: "library", primaryShard: "shardB" });
    expect(await cluster.all("config", { find: "databases", projection: { primary: 1 } })).toEqual([
      { _id: "library", primary: "shardB" },
    ]);
    await cluster.admin({ enableSharding: "library", primaryShard: "shardB" });
    await cluster.admin({ enableSharding: "library" });
    await cluster.ok("big", {
      insert: "c",
      documents: Array.from({ length: 500 }, () => ({ pad: "x".repeat(500) })),
    });
    await cluster.admin({ enableSharding: "next" });
    const [next] = await cluster.all("config", { find: "databases", filter: { _id: "next" } });
    const [big] = await cluster.all("config", { find: "databases", filter: { _id: "big" } });
    expect(next!.primary).not.toBe(big!.primary);
  });

  test.each<[Doc, number]>([
    [{ enableSharding: "library", primaryShard: "shardA" }, 48],
    [{ enableSharding: "other", primaryShard: "shardX" }, 70],
    [{ enableSharding: "other", primaryShard: "" }, 2],
    [{ enableSharding: "LIBRARY" }, 13297],
    [{ enableSharding: "a.b" }, 73],
    [{ enableSharding: "admin" }, 72],
    [{ enableSharding: "other", primary: "shardA" }, 40415],
  ])("%j is refused with %i", async (command, code) => {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "library", primaryShard: "shardB" });
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
  });

  test("before 6.0 it must come before shardCollection", async () => {
    const shardIt = { shardCollection: "library.loans", key: { memberId: 1 } };
    const old = await startCluster({ rules: "5.0" });
    expect(await old.run("admin", shardIt)).toMatchObject({ ok: 0, code: 20 });
    await old.admin({ enableSharding: "library" });
    expect(await old.admin(shardIt)).toMatchObject({ collectionsharded: "library.loans" });
    const now = await startCluster({ rules: "6.0" });
    expect(await now.admin(shardIt)).toMatchObject({ collectionsharded: "library.loans" });
  });
});

describe("shardCollection (§1.2–1.4)", () => {
  test("a ranged key: one chunk on the primary, and the index for it", async () => {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "library", primaryShard: "shardB" });
    await cluster.admin({ shardCollection: "library.loans", key: { memberId: 1, copy: 1 } });
    expect((await chunksOf(cluster, "library.loans")).map(({ shard }) => shard)).toEqual(["shardB"]);
    const indexes = await cluster.all("library", { listIndexes: "loans" });
    expect(indexes.map(({ name }) => name)).toEqual(["_id_", "memberId_1_copy_1"]);
  });

  test.each<[RulesVersion, number, string[]]>([
    // up to 7.1 two per shard, in runs, in the order of the ids
    ["2.4", 4, ["shardA", "shardA", "shardB", "shardB"]],
    ["7.0", 4, ["shardA", "shardA", "shardB", "shardB"]],
  ])("a hashed key under rules %s: %i chunks", async (rules, count, owners) => {
    const cluster = await startCluster({ rules });
    await cluster.admin({ enableSharding: "library" });
    await cluster.admin({ shardCollection: "library.events", key: { d: "hashed" } });
    const chunks = await chunksOf(cluster, "library.events");
    expect(chunks.map(({ shard }) => shard)).toEqual(owners);
    expect(chunks).toHaveLength(count);
    expect(chunks.slice(1).map(({ min }) => String(min.d))).toEqual([
      "-4611686018427387902",
      "0",
      "4611686018427387902",
    ]);
  });

  test("a hashed key under 8.0: one chunk per shard, in an order that the seed decides", async () => {
    const orders = new Set<string>();
    for (let seed = 1; seed <= 12; seed++) {
      const cluster = await startCluster({ shards: 3, seed });
      await cluster.admin({ shardCollection: "library.events", key: { d: "hashed" } });
      const chunks = await chunksOf(cluster, "library.events");
      expect(chunks.map(({ shard }) => shard).sort()).toEqual(["shardA", "shardB", "shardC"]);
      orders.add(chunks.map(({ shard }) => shard).join());
    }
    expect(orders.size).toBeGreaterThan(1);
    const again = await startCluster({ shards: 3, seed: 4 });
    const once = await startCluster({ shards: 3, seed: 4 });
    for (const cluster of [once, again])
      await cluster.admin({ shardCollection: "library.events", key: { d: "hashed" } });
    expect(await chunksOf(again, "library.events")).toEqual(await chunksOf(once, "library.events"));
  });

  test("numInitialChunks: honoured up to 7.1, ignored since, refused where it means nothing (§1.3)", async () => {
    const hashed = { shardCollection: "library.h", key: { d: "hashed" }, numInitialChunks: 6 };
    const old = await startCluster({ rules: "7.0" });
    await old.admin(hashed);
    expect((await chunksOf(old, "library.h")).map(({ shard }) => shard)).toEqual([
      ...["shardA", "shardA", "shardA"],
      ...["shardB", "shardB", "shardB"],
    ]);
    const ranged = { shardCollection: "library.r", key: { d: 1 }, numInitialChunks: 6 };
    expect(await old.run("admin", ranged)).toMatchObject({ code: 72 });
    const now = await startCluster({ rules: "8.0" });
    await now.admin(hashed);
    expect(await chunksOf(now, "library.h")).toHaveLength(2);
    await now.admin(ranged);
  });

  test("a collection with documents keeps them where they are, in one chunk", async () => {
    const cluster = await startCluster();
    await cluster.ok("library", {
      insert: "loans",
      documents: Array.from({ length: 50 }, (_, m) => ({ m })),
    });
    await cluster.ok("library", { createIndexes: "loans", indexes: [{ key: { m: 1 }, name: "m_1" }] });
    await cluster.admin({ shardCollection: "library.loans", key: { m: 1 } });
    expect(await chunksOf(cluster, "library.loans")).toHaveLength(1);
    expect(await cluster.ok("library", { count: "loans" })).toMatchObject({ n: 50 });
  });

  test("before 6.0 it is cut at about half the chunk size", async () => {
    const cluster = await startCluster({ rules: "5.0", chunkSizeBytes: 4000 });
    await cluster.admin({ enableSharding: "library" });
    const documents = Array.from({ length: 100 }, (_, m) => ({ m, pad: "x".repeat(50) }));
    await cluster.ok("library", { insert: "loans", documents });
    await cluster.ok("library", { createIndexes: "loans", indexes: [{ key: { m: 1 }, name: "m_1" }] });
    await cluster.admin({ shardCollection: "library.loans", key: { m: 1 } });
    const chunks = await chunksOf(cluster, "library.loans");
    // About 100 bytes a document, 2000 bytes a piece: a cut after every 20 or so.
    expect(chunks.length).toBeGreaterThanOrEqual(4);
    expect(chunks.length).toBeLessThanOrEqual(6);
    expect(new Set(chunks.map(({ shard }) => shard)).size).toBe(1);
  });
});

describe("indexes (§1.3, §1.5)", () => {
  async function withData(
    indexes: Doc[],
    documents: Doc[] = [
      { a: 1, b: 1 },
      { a: 2, b: 2 },
    ],
  ): Promise<TestCluster> {
    const cluster = await startCluster();
    await cluster.ok("library", { insert: "c", documents });
    if (indexes.length > 0) await cluster.ok("library", { createIndexes: "c", indexes });
    return cluster;
  }
  const shardByA = { shardCollection: "library.c", key: { a: 1 } };

  test.each<[Doc, string]>([
    [{ partialFilterExpression: { a: { $gt: 0 } } }, "Index key is partial."],
    [{ collation: { locale: "fr" } }, "Index has a non-simple collation."],
    [{ hidden: true }, "Index is hidden."],
    [{ seed: 1 }, "Index has a non-default seed."],
  ])("what speaks against an index with %j", (options, reason) => {
    const index = readIndex(toDocument({ v: 2, key: { a: 1 }, name: "a_1", ...options }));
    expect(objections(index)).toEqual([reason]);
    expect(
      objections(
        readIndex(toDocument({ v: 2, key: { a: 1 }, name: "a_1", collation: { locale: "simple" } })),
      ),
    ).toEqual([]);
  });

  test("a longer index supports the key; a hashed one does not support a ranged key", async () => {
    const longer = await withData([{ key: { a: 1, b: -1 }, name: "a_1_b_-1" }]);
    expect(await longer.admin(shardByA)).toMatchObject({ ok: 1 });
    const hashed = await withData([{ key: { a: "hashed" }, name: "a_hashed" }]);
    expect(await hashed.run("admin", shardByA)).toMatchObject({ code: 72 });
    expect(await hashed.admin({ shardCollection: "library.c", key: { a: "hashed" } })).toMatchObject({
      ok: 1,
    });
  });

  test("unique: an index that is not unique, or another unique index, refuses (72)", async () => {
    const plain = await withData([{ key: { a: 1 }, name: "a_1" }]);
    expect(await plain.run("admin", { ...shardByA, unique: true })).toMatchObject({ code: 72 });
    const other = await withData([
      { key: { a: 1 }, name: "a_1" },
      { key: { b: 1 }, name: "b_1", unique: true },
    ]);
    expect(await other.run("admin", shardByA)).toMatchObject({ code: 72 });
    const good = await withData([{ key: { a: 1 }, name: "a_1", unique: true }]);
    expect(await good.admin({ ...shardByA, unique: true })).toMatchObject({ ok: 1 });
  });

  test("unique on an empty collection makes the unique index, enforced over all shards", async () => {
    const cluster = await startCluster();
    await cluster.admin({ ...shardByA, unique: true });
    const indexes = await cluster.all("library", { listIndexes: "c" });
    expect(indexes).toContainEqual(expect.objectContaining({ name: "a_1", unique: true }));
    await cluster.ok("library", { insert: "c", documents: [{ a: 1 }] });
    expect(await cluster.ok("library", { insert: "c", documents: [{ a: 1 }] })).toMatchObject({
      n: 0,
      writeErrors: [{ code: 11000 }],
    });
  });

  test("createIndexes reaches every owning shard; a unique index elsewhere is refused (67)", async () => {
    const cluster = await startCluster({ shards: 3 });
    await cluster.admin({ shardCollection: "library.c", key: { a: "hashed" } });
    await cluster.ok("library", { createIndexes: "c", indexes: [{ key: { b: 1 }, name: "b_1" }] });
    for (const shard of cluster.shards.keys()) {
      const reply = await cluster.shard(shard, "library", { listIndexes: "c" });
      expect((reply.cursor as { firstBatch: Doc[] }).firstBatch.map(({ name }) => name)).toEqual([
        "_id_",
        "a_hashed",
        "b_1",
      ]);
    }
    const unique = (key: Doc): Doc => ({ createIndexes: "c", indexes: [{ key, name: "u", unique: true }] });
    expect(await cluster.run("library", unique({ b: 1 }))).toMatchObject({ code: 67 });
    // Names only are compared: {a: 1} may be unique beside {a: "hashed"}.
    expect(await cluster.ok("library", unique({ a: 1 }))).toMatchObject({ ok: 1 });
  });

  test("the last index for a ranged key stays since 6.0 (370); before, it can go", async () => {
    const drop = { dropIndexes: "c", index: "a_1" };
    const now = await startCluster();
    await now.admin(shardByA);
    expect(await now.run("library", drop)).toMatchObject({ code: 370 });
    await now.ok("library", { createIndexes: "c", indexes: [{ key: { a: 1, b: 1 }, name: "a_1_b_1" }] });
    expect(await now.ok("library", drop)).toMatchObject({ ok: 1 });

    const old = await startCluster({ rules: "5.0" });
    await old.admin({ enableSharding: "library" });
    await old.admin(shardByA);
    expect(await old.ok("library", drop)).toMatchObject({ ok: 1 });
    // Without it a chunk can't be moved; recreating it recovers.
    await old.ok("library", { insert: "c", documents: [{ a: 1 }] });
    expect(await old.run("admin", { moveChunk: "library.c", find: { a: 1 }, to: "shardB" })).toMatchObject({
      code: 27,
    });
    await old.ok("library", { createIndexes: "c", indexes: [{ key: { a: 1 }, name: "a_1" }] });
    expect(await old.admin({ moveChunk: "library.c", find: { a: 1 }, to: "shardB" })).toMatchObject({
      ok: 1,
    });
  });
});
