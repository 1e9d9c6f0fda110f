import { Long, ObjectId, Timestamp, UUID } from "bson";
import { fromDocument } from "shardlab/bson";
import { request } from "shardlab/protocol";
import { Router } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

describe("config database (§3.4)", () => {
  test("its documents have MongoDB's shapes", async () => {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "library", primaryShard: "shardB" });
    await cluster.admin({ shardCollection: "library.loans", key: { memberId: 1 } });
    expect(await cluster.all("config", { find: "shards" })).toMatchObject([
      { _id: "shardA", host: "shardA/127.0.0.1:27018", state: 1 },
      { _id: "shardB", host: "shardB/127.0.0.1:27019", state: 1 },
    ]);
    const [database] = await cluster.all("config", { find: "databases" });
    expect(database).toEqual({
      _id: "library",
      primary: "shardB",
      version: { uuid: expect.any(UUID) as UUID, timestamp: expect.any(Timestamp) as Timestamp, lastMod: 1 },
    });
    const [collection] = await cluster.all("config", { find: "collections" });
    expect(collection).toEqual({
      _id: "library.loans",
      lastmodEpoch: expect.any(ObjectId) as ObjectId,
      lastmod: expect.any(Date) as Date,
      timestamp: expect.any(Timestamp) as Timestamp,
      uuid: expect.any(UUID) as UUID,
      key: { memberId: 1 },
      unique: false,
      noBalance: false,
    });
    const [chunk] = await cluster.all("config", { find: "chunks" });
    expect(Object.keys(chunk!)).toEqual([
      "_id",
      "uuid",
      "min",
      "max",
      "shard",
      "lastmod",
      "onCurrentShardSince",
      "history",
    ]);
    expect(chunk).toMatchObject({
      shard: "shardB",
      uuid: collection!.uuid,
      lastmod: new Timestamp({ t: 1, i: 0 }),
    });
    expect(await cluster.all("config", { find: "version" })).toEqual([
      { _id: 1, clusterId: expect.any(ObjectId) as ObjectId },
    ]);
    expect(await cluster.all("config", { find: "mongos" })).toMatchObject([
      { _id: "127.0.0.1:27017", waiting: true },
    ]);
    const log = await cluster.all("config", { find: "changelog", sort: { time: 1 } });
    expect(log.map(({ what }) => what)).toEqual([
      "addShard",
      "addShard",
      "shardCollection.start",
      "shardCollection.end",
    ]);
    const [start, end] = log.slice(2);
    expect(Object.keys(start!)).toEqual([
      "_id",
      "server",
      "shard",
      "clientAddr",
      "time",
      "what",
      "ns",
      "details",
    ]);
    expect(start).toMatchObject({ shard: "shardB", ns: "library.loans" });
    expect(start!.details).toEqual({
      shardKey: { memberId: 1 },
      collection: "library.loans",
      primary: "shardB",
      options: {},
    });
    const { lastmodEpoch, timestamp } = collection as { lastmodEpoch: ObjectId; timestamp: Timestamp };
    expect(end!.details).toEqual({
      uuid: collection!.uuid,
      placementVersion: `1|0||${lastmodEpoch.toHexString()}||Timestamp(${timestamp.t}, ${timestamp.i})`,
      empty: true,
      numChunks: 1,
    });
  });

  test("a second router over the same config server routes alike", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.e", key: { d: "hashed", t: 1 } });
    await cluster.admin({ split: "library.e", middle: { d: 4_000_000_000_000_000_000n, t: 5 } });
    const documents = Array.from({ length: 50 }, (_, i) => ({ d: `dev-${i}`, t: i }));
    await cluster.ok("library", { insert: "e", documents });
    const other = new Router({
      environment: { now: () => 0, random: () => 0.5 },
      config: cluster.config,
      rules: "8.0",
      host: "127.0.0.1:27200",
      connect: (host) => cluster.shards.get(host.slice(0, host.indexOf("/")))!,
    });
    await other.start();
    for (let i = 0; i < 50; i++) {
      const reply = await other.run(request("library", { find: "e", filter: { d: `dev-${i}`, t: i } }));
      expect((fromDocument(reply.body).cursor as { firstBatch: Doc[] }).firstBatch).toHaveLength(1);
    }
    const { entries } = fromDocument((await other.run(request("admin", { routingTrace: 1 }))).body) as {
      entries: Doc[];
    };
    expect(entries.every(({ targeting }) => (targeting as Doc).kind === "shardKey")).toBe(true);
  });

  test("the cache follows when a client writes the catalog", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.loans", key: { m: 1 } });
    const [chunk] = await cluster.all("config", { find: "chunks" });
    const other = chunk!.shard === "shardA" ? "shardB" : "shardA";
    await cluster.ok("config", {
      update: "chunks",
      updates: [{ q: { _id: chunk!._id }, u: { $set: { shard: other } } }],
    });
    const [entry] = await cluster.traced(() => cluster.ok("library", { find: "loans", filter: { m: 1 } }));
    expect(entry!.shards.map(({ shard }) => shard)).toEqual([other]);
  });

  test("the balancer's switch and the chunk size are settings", async () => {
    const cluster = await startCluster();
    expect(await cluster.admin({ balancerStatus: 1 })).toMatchObject({
      mode: "full",
      inBalancerRound: false,
      numBalancerRounds: 0,
    });
    await cluster.admin({ balancerStop: 1, maxTimeMS: 60000 });
    expect(await cluster.admin({ balancerStatus: 1 })).toMatchObject({ mode: "off" });
    expect(await cluster.all("config", { find: "settings" })).toEqual([
      { _id: "balancer", mode: "off", stopped: true },
    ]);
    await cluster.admin({ balancerStart: 1 });
    expect(await cluster.admin({ balancerStatus: 1 })).toMatchObject({ mode: "full" });
    // By hand, as sh.stopBalancer's older ways do.
    await cluster.ok("config", {
      update: "settings",
      updates: [{ q: { _id: "balancer" }, u: { $set: { stopped: true } }, upsert: true }],
    });
    expect(await cluster.admin({ balancerStatus: 1 })).toMatchObject({ mode: "off" });
  });
});

describe("shards", () => {
  test("addShard again, under another name, or with a taken database", async () => {
    const cluster = await startCluster();
    const host = "shardA/127.0.0.1:27018";
    expect(await cluster.admin({ addShard: host, name: "shardA" })).toMatchObject({ shardAdded: "shardA" });
    expect(await cluster.admin({ addShard: host })).toMatchObject({ shardAdded: "shardA" });
    expect(await cluster.run("admin", { addShard: host, name: "other" })).toMatchObject({ code: 20 });
    expect(await cluster.run("admin", { addShard: "x/1:1", name: "config" })).toMatchObject({ code: 2 });
    expect(await cluster.admin({ listShards: 1 })).toMatchObject({
      shards: [{ _id: "shardA" }, { _id: "shardB" }],
    });
  });

  test("a server that comes back brings its databases; not one that the cluster has already (96)", async () => {
    const cluster = await startCluster();
    const { shards } = await cluster.admin({ listShards: 1, filter: { _id: "shardB" } });
    const [{ host }] = shards as [{ host: string }];
    await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
    await cluster.admin({ removeShard: "shardB" });
    expect(await cluster.admin({ removeShard: "shardB" })).toMatchObject({ state: "completed" });
    await cluster.shard("shardB", "archive", { insert: "c", documents: [{ a: 1 }] });
    await cluster.shard("shardB", "library", { insert: "c", documents: [{ a: 1 }] });
    expect(await cluster.run("admin", { addShard: host })).toMatchObject({
      code: 96,
      codeName: "OperationFailed",
    });
    await cluster.shard("shardB", "library", { dropDatabase: 1 });
    expect(await cluster.admin({ addShard: host, name: "again" })).toMatchObject({ shardAdded: "again" });
    expect(await cluster.ok("archive", { count: "c" })).toMatchObject({ n: 1 });
    expect(await cluster.all("config", { find: "databases", filter: { _id: "archive" } })).toMatchObject([
      { primary: "again" },
    ]);
    const [entry] = await cluster.all("config", {
      find: "changelog",
      filter: { what: "addShard" },
      sort: { time: -1 },
    });
    expect(entry!.details).toEqual({ name: "again", host });
  });

  test("listDatabases adds up the shards; the cluster's own databases count on the config server", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.c", key: { d: "hashed" } });
    await cluster.ok("library", {
      insert: "c",
      documents: Array.from({ length: 100 }, (_, d) => ({ d, pad: "x".repeat(100) })),
    });
    const reply = await cluster.admin({ listDatabases: 1 });
    const databases = reply.databases as { name: string; sizeOnDisk: number; empty: boolean }[];
    expect(databases.map(({ name }) => name)).toContain("config");
    const library = databases.find(({ name }) => name === "library")!;
    const sizes = await Promise.all(
      [...cluster.shards.keys()].map(async (shard) => {
        const own = (await cluster.shard(shard, "admin", { listDatabases: 1 })).databases as typeof databases;
        return own.find(({ name }) => name === "library")!.sizeOnDisk;
      }),
    );
    expect(library).toMatchObject({ sizeOnDisk: sizes[0]! + sizes[1]!, empty: false });
    expect(await cluster.admin({ listDatabases: 1, nameOnly: true, filter: { name: /^lib/ } })).toMatchObject(
      { databases: [{ name: "library" }] },
    );
  });

  test("collStats and dbStats add up", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.c", key: { d: "hashed" } });
    await cluster.ok("library", { insert: "c", documents: Array.from({ length: 100 }, (_, d) => ({ d })) });
    const stats = await cluster.ok("library", { collStats: "c" });
    expect(stats).toMatchObject({ sharded: true, ns: "library.c", count: 100, nchunks: 2, nindexes: 2 });
    const perShard = stats.shards as Record<string, { count: number; size: number }>;
    expect(perShard.shardA!.count + perShard.shardB!.count).toBe(100);
    expect(perShard.shardA!.size + perShard.shardB!.size).toBe(stats.size);
    // A scale divides sizes, not the size of an average document.
    const scaled = await cluster.ok("library", { collStats: "c", scale: 1024 });
    expect(scaled).toMatchObject({ scaleFactor: 1024, avgObjSize: stats.avgObjSize });
    expect(await cluster.ok("library", { dbStats: 1 })).toMatchObject({ db: "library", objects: 100 });
  });

  test("listCollections and listIndexes answer as one server would", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.c", key: { d: "hashed" } });
    await cluster.ok("library", { create: "plain" });
    const names = (await cluster.all("library", { listCollections: 1 }))
      .map(({ name }) => String(name))
      .sort();
    expect(names).toEqual(["c", "plain"]);
    // As on one server: the same again is no error, another collection of that name is.
    expect(await cluster.run("library", { create: "c" })).toMatchObject({ ok: 1 });
    expect(await cluster.run("library", { create: "c", capped: true, size: 4096 })).toMatchObject({
      code: 48,
    });
    const [info] = await cluster.all("library", { listCollections: 1, filter: { name: "c" } });
    const [entry] = await cluster.all("config", { find: "collections" });
    expect((info!.info as Doc).uuid).toEqual(entry!.uuid);
  });
});

describe("what clients ask at connect", () => {
  test("hello says mongos", async () => {
    const cluster = await startCluster();
    const reply = await cluster.admin({ hello: 1, helloOk: true });
    expect(reply).toMatchObject({
      isWritablePrimary: true,
      msg: "isdbgrid",
      helloOk: true,
      minWireVersion: 0,
      maxWireVersion: 27,
      logicalSessionTimeoutMinutes: 30,
      maxWriteBatchSize: 100000,
    });
    expect(reply).not.toHaveProperty("topologyVersion");
    expect(reply).not.toHaveProperty("setName");
    expect(await cluster.admin({ isMaster: 1 })).toMatchObject({ ismaster: true, msg: "isdbgrid" });
  });

  test.each<Doc>([
    { buildInfo: 1 },
    { ping: 1 },
    { getLog: "startupWarnings" },
    { getParameter: 1, featureCompatibilityVersion: 1 },
    { connectionStatus: 1, showPrivileges: true },
    { hostInfo: 1 },
    { serverStatus: 1 },
    { whatsmyuri: 1 },
    { getCmdLineOpts: 1 },
    { endSessions: [] },
    { startSession: 1 },
  ])("%j succeeds", async (command) => {
    const cluster = await startCluster({ shards: 1 });
    expect(await cluster.admin(command)).toMatchObject({ ok: 1 });
  });

  test("every reply carries times that never go back", async () => {
    const cluster = await startCluster({ shards: 1 });
    let last = Long.ZERO;
    for (let i = 0; i < 20; i++) {
      const reply =
        i % 2
          ? await cluster.run("test", { insert: "c", documents: [{ i }] })
          : await cluster.run("test", { nonsense: 1 });
      const { clusterTime, signature } = reply.$clusterTime as { clusterTime: Timestamp; signature: Doc };
      expect(clusterTime.greaterThanOrEqual(last)).toBe(true);
      expect(reply.operationTime).toEqual(clusterTime);
      expect(Object.keys(signature)).toEqual(["hash", "keyId"]);
      last = Long.fromBits(clusterTime.low, clusterTime.high, true);
    }
  });

  test("unknown is 59, known but not simulated 238, transactions too", async () => {
    const cluster = await startCluster({ shards: 1 });
    expect(await cluster.run("admin", { nonsense: 1 })).toMatchObject({
      ok: 0,
      code: 59,
      codeName: "CommandNotFound",
    });
    expect(await cluster.run("admin", { mapReduce: "c" })).toMatchObject({
      ok: 0,
      code: 238,
      codeName: "NotImplemented",
    });
    const inTransaction = {
      find: "c",
      lsid: { id: new UUID() },
      txnNumber: 1n,
      autocommit: false,
      startTransaction: true,
    };
    expect(await cluster.run("test", inTransaction)).toMatchObject({ code: 238 });
    expect(await cluster.run("test", { listShards: 1 })).toMatchObject({
      code: 13,
      codeName: "Unauthorized",
    });
  });
});

describe("routingTrace", () => {
  test("is a bounded ring that says what it has lost", async () => {
    const { TraceLog, traceUnsharded } = await import("../../lib/router/trace.js");
    const log = new TraceLog(3);
    for (let i = 1; i <= 5; i++) log.add(traceUnsharded("find", `test.c${i}`, "shardA", 0));
    const read = (since?: number, limit?: number) => {
      const { entries, next, dropped } = log.read(since, limit);
      return { ns: entries.map((entry) => fromDocument(entry).ns), next, dropped };
    };
    expect(read()).toEqual({ ns: ["test.c3", "test.c4", "test.c5"], next: 6, dropped: 2 });
    expect(read(4)).toEqual({ ns: ["test.c4", "test.c5"], next: 6, dropped: 0 });
    expect(read(3, 1)).toEqual({ ns: ["test.c3"], next: 4, dropped: 0 });
    expect(read(6)).toEqual({ ns: [], next: 6, dropped: 0 });
  });

  test("an insert tells how many documents went to which range", async () => {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
    await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
    await cluster.admin({ split: "test.c", middle: { x: 10 } });
    const [entry] = await cluster.traced(() =>
      cluster.ok("test", { insert: "c", documents: [1, 2, 11, 12, 13].map((x) => ({ x })), ordered: false }),
    );
    expect(entry).toMatchObject({
      op: "insert",
      ns: "test.c",
      targeting: { kind: "shardKey", key: "{ x: 1 }" },
      ranges: [
        { max: { x: 10 }, shard: "shardA", documents: 2 },
        { min: { x: 10 }, shard: "shardA", documents: 3 },
      ],
      shards: [{ shard: "shardA", sent: 5 }],
      merge: { kind: "none" },
    });
  });
});

test("what changes while everything is read again is not forgotten", async () => {
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.ok("test", { insert: "u", documents: [{ _id: 1 }] });
  await cluster.admin({ moveCollection: "test.u", toShard: "shardB" });
  // Between two reads of the config server a collection that was moved is sharded.
  const { config } = cluster;
  const run = config.run.bind(config);
  config.run = async (command) => {
    const reply = await run(command);
    const { find } = fromDocument(command.body) as { find?: string };
    if (find !== "collections") return reply;
    config.run = run;
    await cluster.admin({ shardCollection: "test.u", key: { _id: 1 } });
    return reply;
  };
  await cluster.admin({ flushRouterConfig: 1 });
  expect(await cluster.all("test", { find: "u" })).toEqual([{ _id: 1 }]);
});
