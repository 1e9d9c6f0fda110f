/** Rounds of the balancer on a cluster (facts §3.3, §8.4): what moves, when, and what happens when something fails. */
import { MaxKey, MinKey } from "bson";
import { fromDocument } from "shardlab/bson";
import { Mongod } from "shardlab/mongod";
import { EndpointUnreachableError, request } from "shardlab/protocol";
import type { RulesVersion } from "shardlab/router";
import { Router } from "shardlab/router";
import { describe, expect, it } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { chunksOf, startCluster } from "../support/cluster.js";

/** 4 + {_id: int32} 9 + {x: int32} 7 + {pad: 69 letters} 79 + 1 = 100 bytes. */
const hundredBytes = (x: number, _id = x): Doc => ({ _id, x, pad: "p".repeat(69) });
const CHUNK = 10_000;
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** `test.c`, key {x: 1}, one chunk on shardA; chunk size 10,000 bytes, that is 100 documents. */
async function start(
  documents: Doc[],
  options: { shards?: number; rules?: RulesVersion } = {},
): Promise<TestCluster> {
  const cluster = await startCluster({ chunkSizeBytes: CHUNK, ...options });
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  if (documents.length > 0) await cluster.ok("test", { insert: "c", documents });
  return cluster;
}

const round = async (cluster: TestCluster): Promise<{ migrations: Doc[]; splits: Doc[] }> =>
  (await cluster.admin({ balancerRound: 1 })) as unknown as { migrations: Doc[]; splits: Doc[] };

const counts = (cluster: TestCluster): Promise<number[]> =>
  Promise.all(
    [...cluster.shards.keys()].map(async (id) => Number((await cluster.shard(id, "test", { count: "c" })).n)),
  );

const xs = async (cluster: TestCluster): Promise<number[]> =>
  (await cluster.all("test", { find: "c", sort: { x: 1 } })).map(({ x }) => Number(x));

describe("a round", () => {
  it("moves one chunk size at a time until the shards differ by less than three", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    const moved: unknown[] = [];
    for (;;) {
      const { migrations } = await round(cluster);
      if (migrations.length === 0) break;
      moved.push(...migrations);
    }
    // 100,000 + 0 bytes, then 90,000 + 10,000, 80,000 + 20,000, 70,000 + 30,000, 60,000 + 40,000: 20,000 < 30,000.
    const move = { ns: "test.c", from: "shardA", to: "shardB", reason: "chunksImbalance", documents: 100 };
    expect(moved).toEqual([
      { ...move, min: { x: new MinKey() }, max: { x: 100 }, bytes: 10_000 },
      { ...move, min: { x: 100 }, max: { x: 200 }, bytes: 10_000 },
      { ...move, min: { x: 200 }, max: { x: 300 }, bytes: 10_000 },
      { ...move, min: { x: 300 }, max: { x: 400 }, bytes: 10_000 },
    ]);
    expect(await counts(cluster)).toEqual([600, 400]);
    expect(await xs(cluster)).toEqual(range(0, 1000));
  });

  it("is in the trace with its reason, in config.changelog and in config.actionlog", async () => {
    const cluster = await start(range(0, 400).map((x) => hundredBytes(x)));
    const entries = await cluster.traced(() => round(cluster));
    expect(entries.filter(({ migration }) => migration)).toMatchObject([
      {
        op: "moveRange",
        migration: { from: "shardA", to: "shardB", documents: 100, reason: "chunksImbalance" },
      },
    ]);
    const log = await cluster.all("config", { find: "changelog", filter: { what: /^moveChunk/ } });
    expect(log.map(({ what }) => what)).toContain("moveChunk.commit");
    expect(await round(cluster)).toMatchObject({ migrations: [] });
    // Only rounds that had something to do are logged.
    expect(await cluster.all("config", { find: "actionlog" })).toMatchObject([
      {
        what: "balancer.round",
        ns: "",
        details: { errorOccurred: false, candidateChunks: 1, chunksMoved: 1 },
      },
    ]);
  });

  it("gives every collection its turn, and every shard one migration", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    await cluster.admin({ shardCollection: "test.d", key: { x: 1 } });
    await cluster.ok("test", { insert: "d", documents: range(0, 1000).map((x) => hundredBytes(x)) });
    const names: unknown[] = [];
    for (let i = 0; i < 4; i++) names.push((await round(cluster)).migrations.map(({ ns }) => ns));
    expect(names).toEqual([["test.c"], ["test.d"], ["test.c"], ["test.d"]]);
  });

  it("moves whole chunks where it goes by their number", async () => {
    const cluster = await start([], { rules: "5.0" });
    for (const x of [10, 20, 30]) await cluster.admin({ split: "test.c", middle: { x } });
    // 4 + 0, share 2: two rounds.
    expect((await round(cluster)).migrations).toMatchObject([{ min: { x: new MinKey() }, max: { x: 10 } }]);
    expect((await round(cluster)).migrations).toMatchObject([{ min: { x: 10 }, max: { x: 20 } }]);
    expect((await round(cluster)).migrations).toEqual([]);
    expect((await chunksOf(cluster, "test.c")).map(({ shard }) => shard)).toEqual([
      "shardB",
      "shardB",
      "shardA",
      "shardA",
    ]);
  });

  it("cuts chunks at the bounds of zones, then moves what is in the wrong place (§10)", async () => {
    const cluster = await start(range(0, 100).map((x) => hundredBytes(x)));
    await cluster.admin({ addShardToZone: "shardB", zone: "EU" });
    await cluster.admin({ updateZoneKeyRange: "test.c", min: { x: 20 }, max: { x: 40 }, zone: "EU" });
    expect(await cluster.admin({ balancerCollectionStatus: "test.c" })).toMatchObject({
      balancerCompliant: false,
      firstComplianceViolation: "zoneViolation",
    });
    // That answer has let a round pass.
    expect(await chunksOf(cluster, "test.c")).toMatchObject([
      { max: { x: 20 }, shard: "shardA" },
      { max: { x: 40 }, shard: "shardB" },
      { max: { x: new MaxKey() }, shard: "shardA" },
    ]);
    expect(await counts(cluster)).toEqual([80, 20]);
    expect(await round(cluster)).toMatchObject({ migrations: [], splits: [] });
    expect(await cluster.admin({ balancerCollectionStatus: "test.c" })).toMatchObject({
      balancerCompliant: true,
    });
    // As a split by hand is noted: three pieces, one entry each.
    const splits = await cluster.all("config", { find: "changelog", filter: { what: "multi-split" } });
    const before = { min: { x: new MinKey() }, max: { x: new MaxKey() } };
    expect(splits.map(({ details }) => details)).toMatchObject([
      {
        before,
        number: 1,
        of: 3,
        chunk: { min: { x: new MinKey() }, max: { x: 20 } },
        owningShard: "shardA",
      },
      { before, number: 2, of: 3, chunk: { min: { x: 20 }, max: { x: 40 } } },
      { before, number: 3, of: 3, chunk: { min: { x: 40 }, max: { x: new MaxKey() } } },
    ]);
  });

  it("leaves alone what it may not touch", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    const set = async (fields: Doc): Promise<unknown> => {
      await cluster.ok("config", { update: "collections", updates: [{ q: { _id: "test.c" }, u: fields }] });
      return (await round(cluster)).migrations.length;
    };
    expect(await set({ $set: { noBalance: true } })).toBe(0);
    expect(await set({ $set: { noBalance: false, allowMigrations: false } })).toBe(0);
    expect(await set({ $unset: { allowMigrations: 1 } })).toBe(1);
  });

  it("passes over a zone range that somebody wrote by hand and that is none of the key", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    const tag = { ns: "test.c", min: { y: 1 }, max: { y: 2 }, tag: "EU" };
    await cluster.ok("config", { insert: "tags", documents: [tag] });
    expect((await round(cluster)).migrations).toHaveLength(1);
  });
});

describe("when rounds run on a virtual clock", () => {
  it("one after each answer about the balancer, none where it is stopped", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    await cluster.admin({ balancerStop: 1 });
    const status = (): Promise<Doc> => cluster.admin({ balancerStatus: 1 });
    expect(await status()).toMatchObject({ mode: "off", inBalancerRound: false, numBalancerRounds: 0 });
    expect(await status()).toMatchObject({ numBalancerRounds: 0 });
    await cluster.admin({ balancerStart: 1 });
    for (let rounds = 0; rounds < 5; rounds++) {
      expect(await status()).toMatchObject({ mode: "full", numBalancerRounds: rounds });
    }
    expect(await counts(cluster)).toEqual([600, 400]);
  });

  it("none outside its hours", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    const window = (start: string, stop: string): Promise<Doc> =>
      cluster.run("config", {
        update: "settings",
        updates: [{ q: { _id: "balancer" }, u: { $set: { activeWindow: { start, stop } } }, upsert: true }],
      });
    const time = (hours: number): string => {
      const hour = (new Date(Date.UTC(2026, 0, 1)).getHours() + hours + 24) % 24;
      return `${String(hour).padStart(2, "0")}:00`;
    };
    await window(time(2), time(4));
    await cluster.admin({ balancerStatus: 1 });
    expect(await counts(cluster)).toEqual([1000, 0]);
    await window(time(-1), time(4));
    await cluster.admin({ balancerStatus: 1 });
    expect(await counts(cluster)).toEqual([900, 100]);
    for (const [from, to] of [
      ["25:00", "3:00"],
      ["3:00", "3:00"],
      ["noon", "3:00"],
    ] as const) {
      expect(await window(from, to)).toMatchObject({ ok: 0, code: 121 });
    }
  });
});

describe("when rounds run on a real clock", () => {
  it("ten seconds after the start, one second after a round that moved something, not after close", async () => {
    const timers: { callback: () => void; ms: number; off: boolean }[] = [];
    let now = 0;
    const environment = {
      now: () => (now += 1),
      random: () => 0.5,
      setTimer: (callback: () => void, ms: number) => {
        const timer = { callback, ms, off: false };
        timers.push(timer);
        return () => void (timer.off = true);
      },
    };
    const servers = new Map(
      ["A", "B"].map((id, i) => {
        const host = `127.0.0.1:${27018 + i}`;
        return [
          `${id}/${host}`,
          new Mongod({ environment: { now: environment.now, random: () => 0.5 }, host, replSet: id }),
        ];
      }),
    );
    const config = new Mongod({
      environment: { now: environment.now, random: () => 0.5 },
      host: "c:1",
      replSet: "config",
    });
    const host = "127.0.0.1:27017";
    const connect = (name: string): Mongod => servers.get(name)!;
    const router = new Router({ environment, config, rules: "5.0", host, connect, clock: "real" });
    await router.start();
    const run = async (command: Doc): Promise<Doc> =>
      fromDocument((await router.run(request("admin", command))).body) as Doc;
    for (const name of servers.keys()) await run({ addShard: name, name: name[0] });
    await run({ enableSharding: "test", primaryShard: "A" });
    await run({ shardCollection: "test.c", key: { x: 1 } });
    await run({ split: "test.c", middle: { x: 0 } });
    const fire = async (): Promise<number> => {
      const due = timers.at(-1)!;
      const before = timers.length;
      due.callback();
      while (timers.length === before) await new Promise((resolve) => setImmediate(resolve));
      return timers.at(-1)!.ms;
    };
    expect(timers.map(({ ms }) => ms)).toEqual([10_000]);
    expect(await run({ balancerStatus: 1 })).toMatchObject({ numBalancerRounds: 0 });
    expect(await fire()).toBe(1_000);
    expect(await fire()).toBe(10_000);
    expect(await run({ balancerStatus: 1 })).toMatchObject({ numBalancerRounds: 2 });
    await run({ balancerStop: 1 });
    expect(await fire()).toBe(10_000);
    expect(await run({ balancerStatus: 1 })).toMatchObject({ mode: "off", numBalancerRounds: 2 });
    for (const x of [10, 20, 30, 40]) await run({ split: "test.c", middle: { x } });
    router.close();
    expect(timers.at(-1)!.off).toBe(true);
    // Nor does a round that is running begin anything more.
    expect(await run({ balancerRound: 1 })).toMatchObject({ migrations: [] });
  });
});

describe("chunks that are too large", () => {
  /** x = 0 a hundred and fifty times: more than the 130 documents that may move at once; then 1 … 300. */
  const lumpy = [
    ...range(0, 150).map((i) => hundredBytes(0, i)),
    ...range(1, 301).map((x) => hundredBytes(x, 1000 + x)),
  ];

  it("are cut at chunk size, and marked as jumbo where they have one key value; the rest moves", async () => {
    const cluster = await start(lumpy);
    // 45,000 bytes + 0. The first chunk size of it is all of x: 0, 15,000 bytes.
    const first = await round(cluster);
    expect(first.migrations).toMatchObject([{ from: "shardA", documents: 0, error: { code: 153 } }]);
    const errors = { details: { errorOccurred: true, candidateChunks: 1, chunksMoved: 0 } };
    expect(await cluster.all("config", { find: "actionlog" })).toMatchObject([errors]);
    for (let i = 0; i < 5; i++) await round(cluster);
    const jumbo = await cluster.all("config", { find: "chunks", filter: { jumbo: true } });
    expect(jumbo).toMatchObject([{ min: { x: new MinKey() }, shard: "shardA" }]);
    const [a, b] = await counts(cluster);
    expect(a! + b!).toBe(450);
    expect((a! - b!) * 100).toBeLessThan(3 * CHUNK);
    expect(await xs(cluster)).toEqual([...range(0, 150).map(() => 0), ...range(1, 301)]);
  });

  it("leave a draining shard all the same, unless they are marked", async () => {
    const cluster = await start(lumpy);
    await cluster.admin({ split: "test.c", middle: { x: 1 } });
    await cluster.admin({ startShardDraining: "shardA" });
    expect((await round(cluster)).migrations).toMatchObject([{ reason: "draining", documents: 150 }]);

    const marked = await start(lumpy.slice(0, 150));
    for (let i = 0; i < 2; i++) await round(marked);
    await marked.ok("config", { update: "chunks", updates: [{ q: {}, u: { $set: { jumbo: true } } }] });
    await marked.admin({ startShardDraining: "shardA" });
    expect((await round(marked)).migrations).toEqual([]);
    expect(await marked.admin({ shardDrainingStatus: "shardA" })).toMatchObject({
      state: "ongoing",
      remaining: { chunks: 1, jumboChunks: 1, estimatedRemainingBytes: 15_000 },
    });
  });
});

describe("when something fails", () => {
  it("says so, keeps everything, and does it in the next round", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    const shardB = cluster.shards.get("shardB")!;
    shardB.failWhen = (name) => (name === "insert" ? new EndpointUnreachableError("shardB") : undefined);
    const failed = await round(cluster);
    expect(failed.migrations).toMatchObject([{ documents: 0, bytes: 0, error: { ok: 0, code: 6 } }]);
    expect(await cluster.all("config", { find: "actionlog" })).toMatchObject([
      {
        details: { errorOccurred: true, errmsg: expect.stringContaining("shardB") as string, chunksMoved: 0 },
      },
    ]);
    shardB.failWhen = undefined;
    expect(await counts(cluster)).toEqual([1000, 0]);
    expect((await round(cluster)).migrations).toMatchObject([{ documents: 100 }]);
  });

  it("does without a shard that does not answer, and never fails a question about the balancer", async () => {
    const cluster = await start(
      range(0, 1000).map((x) => hundredBytes(x)),
      { shards: 3 },
    );
    await cluster.admin({
      moveRange: "test.c",
      min: { x: 990 },
      max: { x: new MaxKey() },
      toShard: "shardB",
    });
    const shardB = cluster.shards.get("shardB")!;
    shardB.failWhen = () => new EndpointUnreachableError("shardB");
    expect((await round(cluster)).migrations).toMatchObject([{ from: "shardA", to: "shardC" }]);
    cluster.shards.get("shardA")!.failWhen = () => new EndpointUnreachableError("shardA");
    expect(await cluster.admin({ balancerStatus: 1 })).toMatchObject({ mode: "full" });
  });

  it("two rounds asked for at once run one after the other", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    const both = await Promise.all([round(cluster), round(cluster)]);
    expect(both.map(({ migrations }) => migrations[0]!.max)).toEqual([{ x: 100 }, { x: 200 }]);
  });

  it("clients that write and read meanwhile see every document once", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    let done = false;
    const reader = async (): Promise<void> => {
      while (!done) expect((await xs(cluster)).filter((x) => x < 1000)).toEqual(range(0, 1000));
    };
    const writer = async (): Promise<number> => {
      let n = 0;
      for (; !done; n++) await cluster.ok("test", { insert: "c", documents: [hundredBytes(1000 + n)] });
      return n;
    };
    const balancer = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) await round(cluster);
      done = true;
    };
    const [, written] = await Promise.all([reader(), writer(), balancer()]);
    expect(await xs(cluster)).toEqual(range(0, 1000 + written));
  });
});

describe("removing a shard", () => {
  it("empties it round by round, and is done when its databases have moved too (§8.4)", async () => {
    const cluster = await start(
      range(0, 250).map((x) => hundredBytes(x)),
      { shards: 3 },
    );
    const ask = (): Promise<Doc> => cluster.admin({ removeShard: "shardA" });
    expect(await ask()).toMatchObject({ state: "started", dbsToMove: ["test"] });
    // 25,000 bytes: 10,000 a round, the last one 5,000. Each answer is the one before its round.
    const chunks: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      const { state, remaining } = await ask();
      chunks.push([state, (remaining as Doc).chunks]);
    }
    expect(chunks).toEqual([
      ["ongoing", 1],
      ["ongoing", 1],
      ["ongoing", 1],
      ["ongoing", 0],
    ]);
    expect(await counts(cluster)).toEqual([0, 150, 100]);
    await cluster.admin({ movePrimary: "test", to: "shardB" });
    expect(await ask()).toMatchObject({ state: "completed" });
    expect(await cluster.admin({ listShards: 1 })).toMatchObject({
      shards: [{ _id: "shardB" }, { _id: "shardC" }],
    });
    expect(await xs(cluster)).toEqual(range(0, 250));
  });

  it("in four commands since 8.3", async () => {
    const cluster = await start(range(0, 50).map((x) => hundredBytes(x)));
    const status = (shard = "shardA"): Promise<Doc> => cluster.run("admin", { shardDrainingStatus: shard });
    const commit = (shard = "shardA"): Promise<Doc> => cluster.run("admin", { commitShardRemoval: shard });
    expect(await status()).toMatchObject({ code: 20 });
    expect(await status("none")).toMatchObject({ code: 70 });
    expect(await status("config")).toMatchObject({ code: 20 });
    expect(await commit()).toMatchObject({ code: 117 });
    await cluster.admin({ startShardDraining: "shardA" });
    await cluster.admin({ startShardDraining: "shardA" });
    expect(await commit()).toMatchObject({ code: 20 });
    await cluster.admin({ stopShardDraining: "shardA" });
    expect(await cluster.admin({ listShards: 1 })).toMatchObject({
      shards: [{ _id: "shardA" }, { _id: "shardB" }],
    });
    expect(await status()).toMatchObject({ code: 20 });
    await cluster.admin({ startShardDraining: "shardA" });
    expect(await status()).toMatchObject({
      state: "ongoing",
      msg: "draining ongoing",
      remaining: { chunks: 1, dbs: 1, jumboChunks: 0, collectionsToMove: 0, estimatedRemainingBytes: 5_000 },
      dbsToMove: ["test"],
    });
    await cluster.admin({ movePrimary: "test", to: "shardB" });
    expect(await status()).toMatchObject({ state: "drainingComplete", shard: "shardA" });
    expect(await commit()).toMatchObject({ ok: 1 });
    // Gone already: whoever lost the answer asks again.
    expect(await commit()).toMatchObject({ ok: 1 });
    expect(await cluster.run("admin", { startShardDraining: "shardB" })).toMatchObject({ code: 20 });
    expect(await xs(cluster)).toEqual(range(0, 50));
  });
});

describe("configureCollectionBalancing", () => {
  it("gives a collection its own chunk size, 0 takes it back", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    const configure = (fields: Doc): Promise<Doc> =>
      cluster.run("admin", { configureCollectionBalancing: "test.c", ...fields });
    expect(await configure({ chunkSize: 1 })).toMatchObject({ ok: 1 });
    expect(await cluster.all("config", { find: "collections" })).toMatchObject([
      { maxChunkSizeBytes: 1048576 },
    ]);
    // 100,000 bytes are far less than three times a megabyte.
    expect(await cluster.admin({ balancerCollectionStatus: "test.c" })).toMatchObject({
      chunkSize: 1,
      balancerCompliant: true,
    });
    await cluster.admin({ flushRouterConfig: 1 });
    expect(await configure({ chunkSize: 0 })).toMatchObject({ ok: 1 });
    expect((await cluster.all("config", { find: "collections" }))[0]).not.toHaveProperty("maxChunkSizeBytes");
    expect(await cluster.admin({ balancerCollectionStatus: "test.c" })).toMatchObject({
      firstComplianceViolation: "chunksImbalance",
    });
  });

  it("switches balancing and merging, and refuses what it can't do", async () => {
    const cluster = await start(range(0, 1000).map((x) => hundredBytes(x)));
    const configure = (fields: Doc): Promise<Doc> =>
      cluster.run("admin", { configureCollectionBalancing: "test.c", ...fields });
    await configure({ enableBalancing: false, enableAutoMerger: false });
    expect(await cluster.all("config", { find: "collections" })).toMatchObject([
      { noBalance: true, enableAutoMerge: false },
    ]);
    expect((await round(cluster)).migrations).toEqual([]);
    await configure({ enableBalancing: true });
    expect((await round(cluster)).migrations).toHaveLength(1);
    expect(await configure({})).toMatchObject({ ok: 1 });
    expect(await configure({ chunkSize: 1025 })).toMatchObject({ code: 72 });
    expect(await configure({ chunkSize: -1 })).toMatchObject({ code: 72 });
    expect(await configure({ chunkSize: "1" })).toMatchObject({ code: 14 });
    expect(await configure({ defragmentCollection: true })).toMatchObject({ code: 238 });
    expect(await configure({ defragmentCollection: false })).toMatchObject({ ok: 1 });
  });
});
