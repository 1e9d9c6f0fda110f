/** Commands about the router itself and about the servers behind it: what a mongos answers, value by value. */
import { MaxKey, MinKey } from "bson";
import { beforeEach, describe, expect, it } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

let cluster: TestCluster;
/** `library.loans` on `{memberId: 1}`: below 0 on shardB, from 0 on shardA. */
beforeEach(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "library.loans", key: { memberId: 1 } });
  await cluster.admin({ split: "library.loans", middle: { memberId: 0 } });
  await cluster.admin({ moveChunk: "library.loans", find: { memberId: -1 }, to: "shardB" });
});

const numbers = (section: unknown): Record<string, number> =>
  Object.fromEntries(Object.entries(section as Doc).map(([name, value]) => [name, Number(value)]));

describe("serverStatus", () => {
  it("says that it is a mongos, and where its config server is", async () => {
    const status = await cluster.admin({ serverStatus: 1 });
    expect(status).toMatchObject({
      host: "127.0.0.1:27017",
      process: "mongos",
      service: ["router"],
      sharding: { configsvrConnectionString: "config" },
      mem: { bits: 64, supported: false },
      ok: 1,
    });
    expect(Object.keys(status)).toEqual(
      expect.arrayContaining([
        "asserts",
        "connections",
        "network",
        "opcounters",
        "shardingStatistics",
        "metrics",
      ]),
    );
    expect(status).not.toHaveProperty("storageEngine");
    expect(await cluster.admin({ serverStatus: 1, none: 1, opcounters: 1 })).not.toHaveProperty("network");
    expect(await cluster.admin({ serverStatus: 1, metrics: 0 })).not.toHaveProperty("metrics");
  });

  it("counts documents and statements, not commands", async () => {
    const before = numbers((await cluster.admin({ serverStatus: 1 })).opcounters);
    await cluster.ok("library", {
      insert: "loans",
      documents: [-2, -1, 1, 2].map((memberId) => ({ _id: memberId, memberId })),
    });
    await cluster.all("library", { find: "loans", batchSize: 1 });
    await cluster.ok("library", {
      update: "loans",
      updates: [1, 2].map((memberId) => ({ q: { memberId }, u: { $set: { x: 1 } } })),
    });
    await cluster.ok("library", { delete: "loans", deletes: [{ q: { memberId: 1 }, limit: 1 }] });
    await cluster.run("library", { find: "loans", filter: { $nope: 1 } });
    const status = await cluster.admin({ serverStatus: 1 });
    const after = numbers(status.opcounters);
    const grown = Object.fromEntries(Object.entries(after).map(([name, n]) => [name, n - before[name]!]));
    // Of the four documents one comes with the first answer, and the end is seen only after the last.
    expect(grown).toMatchObject({ insert: 4, query: 2, update: 2, delete: 1, command: 1 });
    expect(grown.getmore).toBeGreaterThanOrEqual(3);
    const { metrics } = status as { metrics: { commands: Record<string, Doc>; document: Doc } };
    expect(numbers(metrics.commands.find)).toEqual({ failed: 1, total: 2 });
    expect(numbers(metrics.document)).toMatchObject({ inserted: 4, updated: 2, deleted: 1 });
  });

  it("tells how many shards operations went to", async () => {
    await cluster.all("library", { find: "loans", filter: { memberId: 5 } });
    await cluster.all("library", { find: "loans", filter: { memberId: -5 } });
    await cluster.all("library", { find: "loans" });
    await cluster.all("library", { find: "plain" });
    const { shardingStatistics } = (await cluster.admin({ serverStatus: 1 })) as {
      shardingStatistics: { numHostsTargeted: { find: Doc }; catalogCache: Doc };
    };
    expect(numbers(shardingStatistics.numHostsTargeted.find)).toEqual({
      allShards: 1,
      manyShards: 0,
      oneShard: 2,
      unsharded: 1,
    });
    expect(numbers(shardingStatistics.catalogCache)).toEqual({
      numDatabaseEntries: 1,
      numCollectionEntries: 1,
    });
  });
});

describe("parameters", () => {
  it("are the router's own; setting one answers what it was", async () => {
    expect(await cluster.admin({ setParameter: 1, logLevel: 2 })).toMatchObject({ was: 0, ok: 1 });
    expect(await cluster.admin({ getParameter: 1, logLevel: 1 })).toMatchObject({ logLevel: 2 });
    expect(await cluster.shard("shardA", "admin", { getParameter: 1, logLevel: 1 })).toMatchObject({
      logLevel: 0,
    });
    expect(await cluster.admin({ getParameter: { showDetails: true }, maxSessions: 1 })).toMatchObject({
      maxSessions: { value: 1_000_000, settableAtRuntime: false, settableAtStartup: true },
    });
    const all = await cluster.admin({ getParameter: "*" });
    expect(all).toMatchObject({ taskExecutorPoolSize: 1, logLevel: 2 });
    expect(all).not.toHaveProperty("ttlMonitorEnabled"); // a shard's
  });

  it.each<[string, Doc, number]>([
    ["one that nobody knows", { setParameter: 1, nope: 1 }, 72],
    ["none", { setParameter: 1 }, 72],
    ["one of start-up", { setParameter: 1, maxSessions: 5 }, 20],
    ["a value that it does not take", { setParameter: 1, logLevel: "high" }, 2],
    ["a value that would change something", { setParameter: 1, requireApiVersion: true }, 238],
    ["none that is known", { getParameter: 1, ttlMonitorEnabled: 1 }, 72],
  ])("refuse %s", async (_title, command, code) => {
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
  });
});

describe("the shards behind it", () => {
  it("getShardMap: names to servers, and back", async () => {
    expect(await cluster.admin({ getShardMap: 1 })).toMatchObject({
      map: { shardA: "shardA/127.0.0.1:27018", shardB: "shardB/127.0.0.1:27019", config: "config" },
      hosts: { "127.0.0.1:27018": "shardA", "127.0.0.1:27019": "shardB", config: "config" },
      connStrings: { "shardA/127.0.0.1:27018": "shardA", "shardB/127.0.0.1:27019": "shardB" },
    });
  });

  it("getShardVersion: of a collection's map, with its ranges if asked, and of a database", async () => {
    const [stored] = await cluster.all("config", { find: "collections", filter: { _id: "library.loans" } });
    const [latest] = await cluster.all("config", { find: "chunks", sort: { lastmod: -1 }, limit: 1 });
    const version = await cluster.admin({ getShardVersion: "library.loans", fullMetadata: true });
    expect(version).toMatchObject({
      version: latest!.lastmod,
      versionEpoch: stored!.lastmodEpoch,
      versionTimestamp: stored!.timestamp,
    });
    const [lowest, highest] = [new MinKey(), new MaxKey()];
    expect(version.chunks).toEqual([
      [{ memberId: lowest }, { memberId: 0 }],
      [{ memberId: 0 }, { memberId: highest }],
    ]);
    expect(await cluster.admin({ getShardVersion: "library.loans" })).not.toHaveProperty("chunks");
    expect(await cluster.admin({ getShardVersion: "library" })).toMatchObject({ primaryShard: "shardA" });
    expect(await cluster.run("admin", { getShardVersion: "library.none" })).toMatchObject({
      code: 118,
      errmsg: "Collection library.none is not sharded.",
    });
    expect(await cluster.run("admin", { getShardVersion: "none" })).toMatchObject({ code: 26 });
  });

  it("currentOp: the operations of all shards by name; killOp finds them by it", async () => {
    const { inprog } = (await cluster.admin({ currentOp: 1 })) as { inprog: Doc[] };
    expect(inprog.map(({ shard }) => shard)).toEqual(["shardA", "shardB"]);
    expect(inprog[1]!.opid).toMatch(/^shardB:\d+$/);
    const { inprog: some } = (await cluster.admin({ currentOp: 1, shard: "shardB" })) as { inprog: Doc[] };
    expect(some).toHaveLength(1);
    const opid = Number(String(inprog[1]!.opid).split(":")[1]);
    expect(await cluster.admin({ killOp: 1, op: inprog[1]!.opid })).toMatchObject({
      shard: "shardB",
      shardid: opid,
    });
    expect(cluster.shards.get("shardB")!.asked.at(-1)).toBe("killOp");
  });

  it.each<[unknown, number]>([
    [undefined, 50_759],
    [true, 50_760],
    ["shardB", 28_625],
    ["shardB:", 28_625],
    ["shardZ:1", 70],
    ["shardB:x", 9],
    [1.5, 2],
  ])("killOp of %j is refused with %i", async (op, code) => {
    const command = op === undefined ? { killOp: 1 } : { killOp: 1, op };
    expect(await cluster.run("admin", command)).toMatchObject({ ok: 0, code });
  });

  it("fsync with lock holds the writes of the whole cluster until fsyncUnlock", async () => {
    expect(await cluster.admin({ fsync: 1 })).toMatchObject({
      numFiles: 1,
      all: { config: { ok: 1 }, shardA: { ok: 1 }, shardB: { ok: 1 } },
    });
    const locked = (await cluster.admin({ fsync: 1, lock: true })) as { all: Record<string, Doc> };
    expect(Object.values(locked.all).map(({ lockCount }) => Number(lockCount))).toEqual([1, 1, 1]);
    let written = false;
    const write = cluster
      .ok("library", { insert: "loans", documents: [{ memberId: 1 }] })
      .then(() => (written = true));
    expect(await cluster.ok("library", { count: "loans" })).toMatchObject({ n: 0 }); // reads go on
    expect(written).toBe(false);
    const unlocked = await cluster.admin({ fsyncUnlock: 1 });
    expect(Object.keys(unlocked)).toEqual(expect.arrayContaining(["config", "shardA", "shardB"]));
    await write;
    expect(await cluster.ok("library", { count: "loans" })).toMatchObject({ n: 1 });
    expect(await cluster.run("admin", { fsyncUnlock: 1 })).toMatchObject({
      code: 20,
      errmsg: "fsyncUnlock called when not locked",
    });
  });

  it("plan caches are cleared on every shard that has the collection", async () => {
    const reply = await cluster.ok("library", { planCacheClear: "loans" });
    expect(reply).toMatchObject({ shardA: { ok: 1 }, shardB: { ok: 1 }, ok: 1 });
    expect(await cluster.ok("library", { planCacheListFilters: "loans" })).toMatchObject({
      filters: [],
      shardB: { filters: [], ok: 1 },
    });
  });

  it("the config server keeps the default concerns", async () => {
    expect(await cluster.admin({ getDefaultRWConcern: 1 })).toMatchObject({
      defaultReadConcern: { level: "local" },
      defaultWriteConcernSource: "implicit",
    });
    await cluster.admin({ setDefaultRWConcern: 1, defaultReadConcern: { level: "majority" } });
    expect(await cluster.admin({ getDefaultRWConcern: 1 })).toMatchObject({
      defaultReadConcern: { level: "majority" },
      defaultReadConcernSource: "global",
    });
    expect(await cluster.run("admin", { setDefaultRWConcern: 1 })).toMatchObject({ ok: 0, code: 2 });
  });
});

describe("a router is no mongod", () => {
  it("profile takes 0 and -1, and no database has a profiler", async () => {
    expect(await cluster.ok("library", { profile: 0, slowms: 50 })).toMatchObject({ was: 0, slowms: 100 });
    expect(await cluster.ok("library", { profile: -1, slowms: 10 })).toMatchObject({ slowms: 50 });
    expect(await cluster.ok("library", { profile: -1 })).toMatchObject({ slowms: 50, sampleRate: 1 });
    for (const level of [1, 2]) {
      expect(await cluster.run("library", { profile: level })).toMatchObject({
        code: 2,
        errmsg: expect.stringContaining("Profiling is not permitted on mongoS") as string,
      });
    }
  });

  it("featureCompatibilityVersion is the whole cluster's", async () => {
    await cluster.admin({ setFeatureCompatibilityVersion: "8.2", confirm: true });
    for (const shard of cluster.shards.values())
      expect(shard.asked.at(-1)).toBe("setFeatureCompatibilityVersion");
    expect(await cluster.run("admin", { setFeatureCompatibilityVersion: "8.2" })).toMatchObject({
      code: 7_369_100,
    });
    expect(
      await cluster.run("admin", { setFeatureCompatibilityVersion: "3.6", confirm: true }),
    ).toMatchObject({
      code: 4_926_900,
    });
  });

  it("killAllSessions ends the cursors of everybody", async () => {
    await cluster.ok("library", {
      insert: "loans",
      documents: [-1, 1, 2].map((memberId) => ({ memberId })),
    });
    const open = async (): Promise<bigint> => {
      const { cursor } = (await cluster.ok("library", { find: "loans", batchSize: 1 })) as {
        cursor: { id: bigint };
      };
      return BigInt(cursor.id.toString());
    };
    for (const kill of [
      { killAllSessions: [] },
      { killAllSessionsByPattern: [] },
      { killAllSessionsByPattern: [{}] },
    ]) {
      const id = await open();
      await cluster.admin({ killAllSessions: [{ user: "nobody", db: "admin" }] });
      expect(await cluster.run("library", { getMore: id, collection: "loans", batchSize: 1 })).toMatchObject({
        ok: 1,
      });
      await cluster.admin(kill);
      expect(await cluster.run("library", { getMore: id, collection: "loans" })).toMatchObject({
        ok: 0,
        code: 43,
      });
    }
  });
});
