/** mergeChunks, mergeAllChunksOnShard, moveRange, clearJumboFlag, setAllowMigrations (facts §3.2). */
import { MaxKey, MinKey } from "bson";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

const min = new MinKey();
const max = new MaxKey();

/** Key {x: 1}, a document of about 100 bytes for each x from 0 to 99, cut at these points, all on shardA. */
async function cutAt(points: number[], chunkSizeBytes?: number): Promise<TestCluster> {
  const cluster = await startCluster({ ...(chunkSizeBytes && { chunkSizeBytes }) });
  await cluster.admin({ enableSharding: "db", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "db.c", key: { x: 1 } });
  await cluster.ok("db", {
    insert: "c",
    documents: Array.from({ length: 100 }, (_, x) => ({ _id: x, x, pad: "p".repeat(69) })),
  });
  for (const x of points) await cluster.admin({ split: "db.c", middle: { x } });
  return cluster;
}

const layout = async (cluster: TestCluster): Promise<unknown[]> =>
  (await chunksOf(cluster, "db.c")).map((chunk) => [chunk.min.x, chunk.max.x, chunk.shard]);
const versions = async (cluster: TestCluster): Promise<string[]> =>
  (await cluster.all("config", { find: "chunks", sort: { min: 1 } })).map(({ lastmod }) => {
    const { t, i } = lastmod as { t: number; i: number };
    return `${t}|${i}`;
  });
const countOn = async (cluster: TestCluster, shard: string): Promise<unknown> =>
  (await cluster.shard(shard, "db", { count: "c" })).n;

describe("mergeChunks", () => {
  test("makes one chunk of neighbours, under the next minor version", async () => {
    const cluster = await cutAt([10, 20, 30]);
    expect(await versions(cluster)).toEqual(["1|1", "1|3", "1|5", "1|6"]);
    await cluster.admin({ mergeChunks: "db.c", bounds: [{ x: min }, { x: 20 }] });
    expect(await layout(cluster)).toEqual([
      [min, 20, "shardA"],
      [20, 30, "shardA"],
      [30, max, "shardA"],
    ]);
    expect(await versions(cluster)).toEqual(["1|7", "1|5", "1|6"]);
    const [entry] = await cluster.all("config", { find: "changelog", filter: { what: "merge" } });
    expect(entry).toMatchObject({
      ns: "db.c",
      details: {
        merged: [
          { min: { x: min }, max: { x: 10 } },
          { min: { x: 10 }, max: { x: 20 } },
        ],
      },
    });
    expect(await cluster.all("db", { find: "c", filter: { x: { $lt: 20 } } })).toHaveLength(20);
  });

  test.each<[string, unknown[], number]>([
    ["no chunk starts there", [{ x: 5 }, { x: 20 }], 20],
    ["no chunk ends there", [{ x: 10 }, { x: 25 }], 20],
    ["one chunk only", [{ x: 10 }, { x: 20 }], 20],
    ["on two shards", [{ x: 20 }, { x: max }], 20],
    ["upside down", [{ x: 20 }, { x: 10 }], 20],
    ["not of this key", [{ y: 10 }, { y: 20 }], 20],
    ["one bound", [{ x: 10 }], 2],
  ])("%s: refused", async (_why, bounds, code) => {
    const cluster = await cutAt([10, 20, 30]);
    await cluster.admin({ moveChunk: "db.c", find: { x: 30 }, to: "shardB" });
    const before = await layout(cluster);
    expect(await cluster.run("admin", { mergeChunks: "db.c", bounds })).toMatchObject({ ok: 0, code });
    expect(await layout(cluster)).toEqual(before);
  });
});

describe("what is kept when chunks merge", () => {
  test("the chunk has been on its shard since the latest of them came (§3.4)", async () => {
    const cluster = await cutAt([10, 20]);
    const { Timestamp } = await import("bson");
    const at = (t: number): unknown => new Timestamp({ t, i: 1 });
    const set = (x: unknown, t: number): Doc => ({
      q: { "min.x": x },
      u: { $set: { onCurrentShardSince: at(t) } },
    });
    await cluster.ok("config", { update: "chunks", updates: [set(min, 5), set(10, 9), set(20, 7)] });
    await cluster.admin({ mergeChunks: "db.c", bounds: [{ x: min }, { x: max }] });
    expect(await cluster.all("config", { find: "chunks" })).toMatchObject([
      { onCurrentShardSince: at(9), history: [{ validAfter: at(9), shard: "shardA" }] },
    ]);
  });

  test("a jumbo chunk that is merged is one no more; the others are still", async () => {
    const cluster = await cutAt([10, 20, 30]);
    const jumbo = { q: { "min.x": { $in: [10, 30] } }, u: { $set: { jumbo: true } }, multi: true };
    await cluster.ok("config", { update: "chunks", updates: [jumbo] });
    const marked = async (): Promise<unknown[]> =>
      (await cluster.all("config", { find: "chunks", filter: { jumbo: true } })).map(({ min: at }) => at);
    await cluster.admin({ mergeChunks: "db.c", bounds: [{ x: min }, { x: 20 }] });
    expect(await marked()).toEqual([{ x: 30 }]);
    // The router knows it without reading again: else it would have nothing to clear.
    await cluster.admin({ clearJumboFlag: "db.c", find: { x: 30 } });
    expect(await marked()).toEqual([]);
  });
});

describe("mergeAllChunksOnShard", () => {
  test("merges every run of neighbours; jumbo chunks and those just moved stay", async () => {
    const cluster = await cutAt([10, 20, 30, 40, 50, 60, 70]);
    await cluster.admin({ moveChunk: "db.c", find: { x: 20 }, to: "shardB" });
    await cluster.ok("config", {
      update: "chunks",
      updates: [{ q: { "min.x": 50 }, u: { $set: { jumbo: true } } }],
    });
    // Nothing has been where it is for five minutes.
    await cluster.admin({ mergeAllChunksOnShard: "db.c", shard: "shardA" });
    expect(await layout(cluster)).toHaveLength(8);
    const { Timestamp } = await import("bson");
    await cluster.ok("config", {
      update: "chunks",
      updates: [{ q: {}, u: { $set: { onCurrentShardSince: new Timestamp({ t: 1, i: 1 }) } }, multi: true }],
    });
    await cluster.admin({ mergeAllChunksOnShard: "db.c", shard: "shardA" });
    expect(await layout(cluster)).toEqual([
      [min, 20, "shardA"],
      [20, 30, "shardB"],
      [30, 50, "shardA"],
      [50, 60, "shardA"],
      [60, max, "shardA"],
    ]);
    expect(await cluster.all("db", { find: "c" })).toHaveLength(100);
    expect(await cluster.run("admin", { mergeAllChunksOnShard: "db.c", shard: "shardX" })).toMatchObject({
      code: 70,
    });
  });
});

describe("moveRange", () => {
  test("cuts exactly the range out of its chunk and moves it", async () => {
    const cluster = await cutAt([]);
    const [entry] = (
      await cluster.traced(() =>
        cluster.admin({ moveRange: "db.c", min: { x: 10 }, max: { x: 20 }, toShard: "shardB" }),
      )
    ).slice(-1);
    expect(await layout(cluster)).toEqual([
      [min, 10, "shardA"],
      [10, 20, "shardB"],
      [20, max, "shardA"],
    ]);
    expect([await countOn(cluster, "shardA"), await countOn(cluster, "shardB")]).toEqual([90, 10]);
    expect(entry).toMatchObject({
      op: "moveRange",
      ns: "db.c",
      migration: { min: { x: 10 }, max: { x: 20 }, from: "shardA", to: "shardB", documents: 10 },
      shards: [
        { shard: "shardA", step: "copy", sent: 10 },
        { shard: "shardB", step: "insert", sent: 10 },
        { shard: "shardA", step: "delete", sent: 10 },
      ],
    });
  });

  test("one bound: up to the chunk's end, or a chunk size of it", async () => {
    const whole = await cutAt([50]);
    await whole.admin({ moveRange: "db.c", min: { x: 60 }, toShard: "shardB" });
    expect(await layout(whole)).toEqual([
      [min, 50, "shardA"],
      [50, 60, "shardA"],
      [60, max, "shardB"],
    ]);
    // 100 bytes a document, 1,000 a chunk: ten documents.
    const scaled = await cutAt([50], 1_000);
    await scaled.admin({ moveRange: "db.c", min: { x: 60 }, toShard: "shardB" });
    await scaled.admin({ moveRange: "db.c", max: { x: 40 }, toShard: "shardB" });
    expect(await layout(scaled)).toEqual([
      [min, 30, "shardA"],
      [30, 40, "shardB"],
      [40, 50, "shardA"],
      [50, 60, "shardA"],
      [60, 70, "shardB"],
      [70, max, "shardA"],
    ]);
    expect(await scaled.all("db", { find: "c" })).toHaveLength(100);
  });

  test.each<[string, Doc, number]>([
    ["no bound", {}, 72],
    ["a bound that is no key", { min: { y: 1 } }, 72],
    ["a bound that is an operator", { min: { x: { $gt: 1 } } }, 72],
    ["min above max", { min: { x: 2 }, max: { x: 1 } }, 72],
    ["a shard that is not there", { min: { x: 1 }, toShard: "shardX" }, 70],
    ["several chunks", { min: { x: 40 }, max: { x: 60 } }, 11089203],
    ["nothing below MinKey", { max: { x: min } }, 72],
    ["no shard", { min: { x: 1 }, toShard: undefined }, 40414],
  ])("%s: %s", async (_what, fields, code) => {
    const cluster = await cutAt([50]);
    const command = Object.fromEntries(
      Object.entries({ moveRange: "db.c", toShard: "shardB", ...fields }).filter(
        ([, value]) => value !== undefined,
      ),
    );
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
    expect(await layout(cluster)).toHaveLength(2);
  });

  test("to where it is already nothing happens", async () => {
    const cluster = await cutAt([50]);
    expect(await cluster.admin({ moveRange: "db.c", min: { x: 10 }, toShard: "shardA" })).toMatchObject({
      ok: 1,
    });
    expect(await layout(cluster)).toHaveLength(2);
  });
});

describe("a chunk with too many documents", () => {
  test("is not moved (153), unless it is forced; 1.3 times what fits", async () => {
    // 13 documents of 100 bytes are as many as a chunk of 1,000 bytes may have.
    const cluster = await cutAt([13, 27], 1_000);
    expect(await cluster.admin({ moveChunk: "db.c", find: { x: 0 }, to: "shardB" })).toMatchObject({ ok: 1 });
    const reply = await cluster.run("admin", { moveChunk: "db.c", find: { x: 13 }, to: "shardB" });
    expect(reply).toMatchObject({ ok: 0, code: 153, codeName: "ChunkTooBig" });
    expect(await countOn(cluster, "shardB")).toBe(13);
    expect(await cluster.all("config", { find: "migrations" })).toEqual([]);
    await cluster.admin({ moveChunk: "db.c", find: { x: 13 }, to: "shardB", forceJumbo: true });
    expect(await countOn(cluster, "shardB")).toBe(27);
  });

  test("clearJumboFlag takes the flag away, and so does a split", async () => {
    const cluster = await cutAt([50]);
    const flag = { update: "chunks", updates: [{ q: { "min.x": 50 }, u: { $set: { jumbo: true } } }] };
    const flags = async (): Promise<unknown[]> =>
      (await cluster.all("config", { find: "chunks", sort: { min: 1 } })).map(({ jumbo }) => jumbo);
    await cluster.ok("config", flag);
    expect(await flags()).toEqual([undefined, true]);
    await cluster.admin({ clearJumboFlag: "db.c", find: { x: 77 } });
    expect(await flags()).toEqual([undefined, undefined]);
    await cluster.ok("config", flag);
    await cluster.admin({ split: "db.c", middle: { x: 70 } });
    expect(await flags()).toEqual([undefined, undefined, undefined]);
    const both = { clearJumboFlag: "db.c", find: { x: 1 }, bounds: [{ x: 50 }, { x: 70 }] };
    expect(await cluster.run("admin", both)).toMatchObject({ code: 72 });
    expect(await cluster.run("admin", { clearJumboFlag: "db.c" })).toMatchObject({ code: 72 });
  });
});

describe("setAllowMigrations", () => {
  test("false keeps chunks where they are, true lets them go again", async () => {
    const cluster = await cutAt([50]);
    const move = { moveChunk: "db.c", find: { x: 50 }, to: "shardB" };
    await cluster.admin({ setAllowMigrations: "db.c", allowMigrations: false });
    expect(await cluster.run("admin", move)).toMatchObject({ ok: 0, code: 117 });
    expect(await cluster.all("config", { find: "collections", filter: { _id: "db.c" } })).toMatchObject([
      { allowMigrations: false },
    ]);
    await cluster.admin({ setAllowMigrations: "db.c", allowMigrations: true });
    expect(await cluster.admin(move)).toMatchObject({ ok: 1 });
  });
});
