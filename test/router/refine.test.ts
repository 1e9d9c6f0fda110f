/** refineCollectionShardKey: a longer key, no document moves (facts §8.1). */
import { Long, MaxKey, MinKey, UUID } from "bson";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

const min = new MinKey();
const max = new MaxKey();

/** Key {a: 1}; [MinKey, 5) on shardA, [5, MaxKey) on shardB; ten documents {a: i, b: i % 2}, `b` missing in one. */
async function refinable(options: { unique?: boolean; index?: Doc } = {}): Promise<TestCluster> {
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "db", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "db.c", key: { a: 1 }, unique: options.unique ?? false });
  await cluster.ok("db", {
    createIndexes: "c",
    indexes: [{ key: { a: 1, b: 1 }, name: "ab", ...options.index }],
  });
  await cluster.admin({ split: "db.c", middle: { a: 5 } });
  await cluster.admin({ moveChunk: "db.c", find: { a: 5 }, to: "shardB" });
  await cluster.ok("db", {
    insert: "c",
    documents: Array.from({ length: 10 }, (_, a) => ({ _id: a, a, ...(a !== 7 && { b: a % 2 }) })),
  });
  return cluster;
}

const refine = (key: Doc, more: Doc = {}): Doc => ({ refineCollectionShardKey: "db.c", key, ...more });
const entry = async (cluster: TestCluster): Promise<Doc> =>
  (await cluster.all("config", { find: "collections", filter: { _id: "db.c" } }))[0]!;

describe("what changes", () => {
  test("the key and every bound: MinKey is added, MaxKey at the very end; epoch and timestamp are new", async () => {
    const cluster = await refinable();
    const before = await entry(cluster);
    const versions = async (): Promise<unknown[]> =>
      (await cluster.all("config", { find: "chunks", sort: { min: 1 } })).map(({ lastmod }) => lastmod);
    const lastmods = await versions();
    await cluster.admin(refine({ a: 1, b: 1 }));
    expect(await chunksOf(cluster, "db.c")).toEqual([
      { min: { a: min, b: min }, max: { a: 5, b: min }, shard: "shardA" },
      { min: { a: 5, b: min }, max: { a: max, b: max }, shard: "shardB" },
    ]);
    const after = await entry(cluster);
    expect(after.key).toEqual({ a: 1, b: 1 });
    expect(after.uuid).toEqual(before.uuid);
    expect(after.lastmodEpoch).not.toEqual(before.lastmodEpoch);
    expect(after.timestamp).not.toEqual(before.timestamp);
    expect(await versions()).toEqual(lastmods);
    const log = await cluster.all("config", { find: "changelog", filter: { what: /^refine/ } });
    expect(log.map(({ what }) => what)).toEqual([
      "refineCollectionShardKey.start",
      "refineCollectionShardKey.end",
    ]);
  });

  test("every document is found by the new key; what lacks the suffix counts as null there", async () => {
    const cluster = await refinable();
    await cluster.admin(refine({ a: 1, b: 1 }));
    expect(await cluster.all("db", { find: "c" })).toHaveLength(10);
    for (const a of [0, 4, 5, 9]) {
      expect(await cluster.all("db", { find: "c", filter: { a, b: a % 2 } })).toHaveLength(1);
    }
    expect(await cluster.all("db", { find: "c", filter: { a: 7, b: null } })).toEqual([{ _id: 7, a: 7 }]);
    // The prefix alone still routes, and a chunk can be cut between documents with one `a`.
    const [found] = await cluster.traced(() => cluster.ok("db", { find: "c", filter: { a: 7 } }));
    expect(found!.shards.map(({ shard }) => shard)).toEqual(["shardB"]);
    expect(await cluster.run("admin", { split: "db.c", middle: { a: 7 } })).toMatchObject({ ok: 0 });
    await cluster.admin({ split: "db.c", middle: { a: 7, b: 1 } });
    await cluster.admin({ moveChunk: "db.c", find: { a: 9, b: 1 }, to: "shardA" });
    expect(await cluster.all("db", { find: "c" })).toHaveLength(10);
    await cluster.ok("db", { insert: "c", documents: [{ _id: 11, a: 7, b: 2 }] });
    expect(await cluster.shard("shardA", "db", { count: "c", query: { _id: 11 } })).toMatchObject({ n: 1 });
  });

  test("jumbo flags are gone, zone ranges have longer bounds, other collections are as before", async () => {
    const cluster = await refinable();
    await cluster.admin({ shardCollection: "db.other", key: { a: 1 } });
    await cluster.ok("config", {
      update: "chunks",
      updates: [{ q: { "min.a": 5 }, u: { $set: { jumbo: true } } }],
    });
    await cluster.admin({ addShardToZone: "shardA", zone: "Z" });
    for (const ns of ["db.c", "db.other"]) {
      await cluster.admin({ updateZoneKeyRange: ns, min: { a: 1 }, max: { a: max }, zone: "Z" });
    }
    await cluster.admin(refine({ a: 1, b: 1 }));
    expect(await cluster.all("config", { find: "chunks", filter: { jumbo: true } })).toEqual([]);
    expect(
      (await cluster.all("config", { find: "tags", sort: { ns: 1 } })).map(({ min, max }) => [min, max]),
    ).toEqual([
      [
        { a: 1, b: min },
        { a: max, b: max },
      ],
      [{ a: 1 }, { a: max }],
    ]);
    expect(await chunksOf(cluster, "db.other")).toMatchObject([{ min: { a: min }, max: { a: max } }]);
  });

  test("the suffix may be hashed, and may have dots", async () => {
    const cluster = await refinable();
    await cluster.ok("db", {
      createIndexes: "c",
      indexes: [{ key: { a: 1, "n.m": "hashed" }, name: "hashed" }],
    });
    await cluster.admin(refine({ a: 1, "n.m": "hashed" }));
    expect((await chunksOf(cluster, "db.c"))[1]).toEqual({
      min: { a: 5, "n.m": min },
      max: { a: max, "n.m": max },
      shard: "shardB",
    });
    await cluster.admin({ split: "db.c", middle: { a: 7, "n.m": Long.fromNumber(0) } });
    await cluster.ok("db", { insert: "c", documents: [{ _id: 20, a: 7, n: { m: "x" } }] });
    expect(await cluster.all("db", { find: "c", filter: { a: 7, "n.m": "x" } })).toHaveLength(1);
  });

  test("the same key again is no change", async () => {
    const cluster = await refinable();
    const before = await entry(cluster);
    expect(await cluster.admin(refine({ a: 1 }))).toMatchObject({ ok: 1 });
    expect(await entry(cluster)).toEqual(before);
  });
});

describe("what is refused", () => {
  test.each<[string, Doc, number]>([
    ["no such collection", { ...refine({ a: 1, b: 1 }), refineCollectionShardKey: "db.none" }, 26],
    ["unsharded", { ...refine({ a: 1, b: 1 }), refineCollectionShardKey: "db.plain" }, 118],
    ["no key", { refineCollectionShardKey: "db.c" }, 40414],
    ["a key that is no object", refine("a" as never), 14],
    ["an empty key", refine({}), 2],
    ["a bad pattern", refine({ a: 1, b: -1 }), 2],
    ["another order", refine({ b: 1, a: 1 }), 72],
    ["other fields", refine({ b: 1, c: 1 }), 72],
    ["another kind", refine({ a: "hashed", b: 1 }), 72],
    ["no index for it", refine({ a: 1, c: 1 }), 72],
    ["another collection by UUID", refine({ a: 1, b: 1 }, { collectionUUID: new UUID() }), 361],
  ])("%s: %s", async (_why, command, code) => {
    const cluster = await refinable();
    await cluster.ok("db", { insert: "plain", documents: [{}] });
    const before = await entry(cluster);
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
    expect(await entry(cluster)).toEqual(before);
  });

  test("outside of admin (13), and before 4.4 (59)", async () => {
    const cluster = await refinable();
    expect(await cluster.run("db", refine({ a: 1, b: 1 }))).toMatchObject({ code: 13 });
    const old = await startCluster({ rules: "4.2" });
    expect(await old.run("admin", refine({ a: 1, b: 1 }))).toMatchObject({ code: 59 });
  });

  test("the words of what does not extend, and of a missing index", async () => {
    const cluster = await refinable({ index: { sparse: true } });
    expect(await cluster.run("admin", refine({ b: 1, a: 1 }))).toMatchObject({
      errmsg:
        "refineCollectionShardKey shard key { b: 1, a: 1 } does not extend the current shard key { a: 1 }",
    });
    expect(await cluster.run("admin", refine({ a: 1, b: 1 }))).toMatchObject({
      code: 72,
      errmsg:
        "Please create an index that starts with the proposed shard key before refining the collection's shard key." +
        " Index ab cannot be used for sharding because [ Index key is sparse. ]",
    });
  });

  test("a collection sharded as unique needs a unique index on exactly the new key, unless nobody insists", async () => {
    const cluster = await refinable({ unique: true });
    expect(await cluster.run("admin", refine({ a: 1, b: 1 }))).toMatchObject({ ok: 0, code: 72 });
    expect(await cluster.admin(refine({ a: 1, b: 1 }, { enforceUniquenessCheck: false }))).toMatchObject({
      ok: 1,
    });
    const strict = await refinable({ unique: true, index: { unique: true } });
    expect(await strict.admin(refine({ a: 1, b: 1 }))).toMatchObject({ ok: 1 });
  });

  test("when the config server refuses, nothing has changed", async () => {
    const cluster = await refinable();
    const { config } = cluster;
    const run = config.run.bind(config);
    Object.assign(config, {
      run: (command: Parameters<typeof run>[0]) =>
        command.command === "bulkWrite" ? Promise.reject(new Error("gone")) : run(command),
    });
    expect(await cluster.run("admin", refine({ a: 1, b: 1 }))).toMatchObject({ ok: 0 });
    Object.assign(config, { run });
    expect((await entry(cluster)).key).toEqual({ a: 1 });
    expect(await cluster.all("db", { find: "c", filter: { a: 7 } })).toHaveLength(1);
  });
});
