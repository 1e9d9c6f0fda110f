/** What administrators ask of a server: counters, locks, the machine, operations, sessions, its end. */
import { ObjectId } from "bson";
import { describe, expect, it } from "vitest";
import type { MongodOptions, ShutdownRequest } from "../../lib/mongod/index.js";
import { replyDocument, request } from "../../lib/protocol/index.js";
import { TestMongod } from "./support.js";

const admin = async (options: Partial<MongodOptions>, command: object): Promise<Record<string, unknown>> =>
  new TestMongod(options).run(command, "admin");

describe("serverStatus", () => {
  it("counts documents of inserts, statements of updates and deletes, and every other command once", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1 }, { _id: 2 }, { _id: 3 });
    await t.reply({ insert: "c", documents: [{ _id: 1 }, { _id: 9 }] }); // ordered: the second is not tried
    const set = { $set: { x: 1 } };
    await t.run({
      update: "c",
      updates: [
        { q: { _id: 1 }, u: set },
        { q: { _id: 99 }, u: set, upsert: true },
      ],
    });
    await t.run({ delete: "c", deletes: [{ q: {}, limit: 0 }] });
    await t.run({ find: "c" });
    await t.reply({ find: 5 });
    await t.run({ ping: 1 });
    const status = await t.run({ serverStatus: 1 }, "admin");
    expect(status["opcounters"]).toEqual({
      insert: 4, // 3, and the one that failed
      query: 2,
      update: 2,
      delete: 1,
      getmore: 0,
      command: 1,
    });
    expect(status["metrics"].document).toEqual({ deleted: 4, inserted: 4, returned: 0, updated: 1 });
    expect(status["metrics"].commands).toMatchObject({
      find: { failed: 1, total: 2 },
      insert: { failed: 0, total: 2 },
      ping: { failed: 0, total: 1 },
    });
    expect(status["asserts"].user).toBe(1);
  });

  it("counts the documents that go out, and cursors", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1 }, { _id: 2 }, { _id: 3 });
    const { cursor } = await t.run({ find: "c", batchSize: 2 });
    await t.run({ find: "c", batchSize: 1, noCursorTimeout: true });
    await t.run({ getMore: BigInt(cursor.id), collection: "c", batchSize: 5 });
    const { metrics } = await t.run({ serverStatus: 1 }, "admin");
    expect(metrics.document.returned).toBe(4);
    expect(metrics.cursor).toEqual({
      totalOpened: 2,
      timedOut: 0,
      open: { noTimeout: 1, pinned: 0, total: 1 },
    });
  });

  it("counts a command of findAndModify by what it did", async () => {
    const t = new TestMongod();
    await t.run({ findAndModify: "c", query: { _id: 1 }, update: { $set: { x: 1 } }, upsert: true });
    await t.run({ findAndModify: "c", query: { _id: 1 }, update: { $set: { x: 2 } } });
    await t.run({ findAndModify: "c", query: { _id: 1 }, remove: true });
    await t.run({ findAndModify: "c", query: { _id: 1 }, remove: true });
    const { metrics, opcounters } = await t.run({ serverStatus: 1 }, "admin");
    expect(metrics.document).toEqual({ deleted: 1, inserted: 1, returned: 0, updated: 1 });
    expect(opcounters.command).toBe(4);
  });

  it("leaves out what is switched off", async () => {
    const t = new TestMongod();
    const names = async (command: object): Promise<string[]> =>
      Object.keys(await t.run({ serverStatus: 1, ...command }, "admin"));
    expect(await names({})).toEqual(expect.arrayContaining(["metrics", "mem", "connections", "opcounters"]));
    expect(await names({ metrics: 0, mem: false })).not.toEqual(expect.arrayContaining(["metrics"]));
    const only = await names({ none: 1, opcounters: 1 });
    expect(only).toContain("opcounters");
    expect(only).not.toContain("metrics");
    const { metrics } = await t.run({ serverStatus: 1, metrics: { commands: 0 } }, "admin");
    expect(Object.keys(metrics)).not.toContain("commands");
  });

  it("says honestly that there is no disk, and no replica set where there is none", async () => {
    const status = await admin({}, { serverStatus: 1 });
    expect(status["storageEngine"]).toMatchObject({ name: "shardlab", persistent: false });
    expect(status).not.toHaveProperty("repl");
    expect(status["mem"]).toMatchObject({ supported: false });
  });

  it("reports memory, connections, process and set as whoever runs it tells", async () => {
    const status = await admin(
      {
        replSet: "rs",
        pid: 4711,
        memory: () => ({ resident: 50 * 1024 * 1024, virtual: 900 * 1024 * 1024 }),
        connections: () => ({ current: 3, available: 97, totalCreated: 12 }),
      },
      { serverStatus: 1 },
    );
    expect(status).toMatchObject({
      pid: 4711,
      mem: { bits: 64, resident: 50, virtual: 900, supported: true },
      connections: { current: 3, available: 97, totalCreated: 12 },
      repl: { setName: "rs", setVersion: 1, isWritablePrimary: true, me: "127.0.0.1:27018" },
    });
  });
});

describe("top", () => {
  it("counts by collection", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1 });
    await t.run({ find: "c" });
    await t.run({ find: "c" });
    await t.run({ find: "none" });
    const { totals } = await t.run({ top: 1 }, "admin");
    expect(Object.keys(totals)).toEqual(["note", "library.c"]);
    expect(totals["library.c"]).toMatchObject({
      total: { count: 3 },
      readLock: { count: 2 },
      writeLock: { count: 1 },
      queries: { count: 2 },
      insert: { count: 1 },
      commands: { count: 0 },
    });
    expect(await t.reply({ top: 1 })).toMatchObject({ code: 13 });
  });
});

describe("fsync", () => {
  it("with a lock makes writes wait, in their order, until the last unlock", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1 });
    expect(await t.run({ fsync: 1 }, "admin")).toEqual({ numFiles: 1, ok: 1 });
    expect(await t.run({ fsync: 1, lock: true }, "admin")).toMatchObject({ lockCount: 1 });
    expect(await t.run({ fsync: 1, lock: true }, "admin")).toMatchObject({ lockCount: 2 });
    const done: number[] = [];
    const write = (id: number): Promise<number> =>
      t.run({ insert: "c", documents: [{ _id: id }] }).then(() => done.push(id));
    const writes = [write(2), write(3)];
    expect(await t.find("c")).toEqual([{ _id: 1 }]);
    expect(await t.run({ currentOp: 1 }, "admin")).toMatchObject({ fsyncLock: true });
    expect(await t.run({ fsyncUnlock: 1 }, "admin")).toMatchObject({ lockCount: 1 });
    expect(await t.find("c")).toEqual([{ _id: 1 }]);
    expect(done).toEqual([]);
    expect(await t.run({ fsyncUnlock: 1 }, "admin")).toMatchObject({ lockCount: 0 });
    await Promise.all(writes);
    expect(done).toEqual([2, 3]);
    expect((await t.find("c")).length).toBe(3);
    expect(await t.reply({ fsyncUnlock: 1 }, "admin")).toMatchObject({
      code: 20,
      errmsg: "fsyncUnlock called when not locked",
    });
  });

  it("lets nobody wait for ever when the server closes", async () => {
    const t = new TestMongod();
    await t.run({ fsync: 1, lock: true }, "admin");
    const waiting = t.reply({ insert: "c", documents: [{ _id: 1 }] });
    t.mongod.close();
    expect(await waiting).toMatchObject({ ok: 0, code: 91 });
  });
});

describe("the machine and the program", () => {
  it("are as whoever runs the server describes them", async () => {
    const options: Partial<MongodOptions> = {
      hostInfo: () => ({
        hostname: "lab",
        memSizeMB: 8192,
        numCores: 2,
        cpuArch: "x86_64",
        os: { type: "Linux", name: "Debian", version: "12" },
        extra: { pageSize: 4096 },
      }),
      commandLine: { argv: ["mongod", "--port", "5"], parsed: { net: { port: 5 } } },
    };
    expect(await admin(options, { hostInfo: 1 })).toMatchObject({
      system: { hostname: "lab", memSizeMB: 8192, memLimitMB: 8192, numCores: 2, cpuArch: "x86_64" },
      os: { type: "Linux", name: "Debian", version: "12" },
      extra: { pageSize: 4096 },
    });
    expect(await admin(options, { getCmdLineOpts: 1 })).toEqual({
      argv: ["mongod", "--port", "5"],
      parsed: { net: { port: 5 } },
      ok: 1,
    });
  });
});

describe("shutdown", () => {
  it("tells whoever runs the server, and is answered", async () => {
    const asked: ShutdownRequest[] = [];
    const t = new TestMongod({ replSet: "rs", onShutdown: (how) => asked.push(how) });
    expect(await t.run({ shutdown: 1 }, "admin")).toEqual({ ok: 1 });
    expect(await t.run({ shutdown: 1, force: true, timeoutSecs: 3 }, "admin")).toEqual({ ok: 1 });
    expect(asked).toEqual([
      { force: false, timeoutSecs: 15 },
      { force: true, timeoutSecs: 3 },
    ]);
    expect(await t.reply({ shutdown: 1 })).toMatchObject({ code: 13 });
    expect(await t.reply({ shutdown: 1, timeoutSecs: -1 }, "admin")).toMatchObject({ code: 51024 });
  });

  it("of a server that nobody runs closes it", async () => {
    const t = new TestMongod();
    expect(await t.run({ shutdown: 1 }, "admin")).toEqual({ ok: 1 });
    expect(await t.reply({ ping: 1 })).toMatchObject({ code: 91 });
  });
});

describe("operations", () => {
  it("going on are the one that asks, filtered as one likes", async () => {
    const t = new TestMongod();
    const client = { connectionId: 7, address: "127.0.0.1:5555" };
    const ask = async (command: object): Promise<Record<string, unknown>[]> => {
      const reply = replyDocument(await t.mongod.run(request("admin", command, undefined, client)));
      return reply["inprog"] as Record<string, unknown>[];
    };
    const [operation] = await ask({ currentOp: 1, $all: true });
    expect(operation).toMatchObject({
      type: "op",
      active: true,
      desc: "conn7",
      op: "command",
      ns: "admin.$cmd.aggregate",
      command: { currentOp: 1, $all: true },
    });
    expect(await ask({ currentOp: 1, "command.currentOp": 1 })).toHaveLength(1);
    expect(await ask({ currentOp: 1, op: "insert" })).toEqual([]);
    expect(await t.reply({ currentOp: 1, op: { $foo: 1 } }, "admin")).toMatchObject({ code: 2 });
  });

  it("are asked to end, without a promise", async () => {
    const t = new TestMongod();
    expect(await t.run({ killOp: 1, op: 12345 }, "admin")).toEqual({
      info: "attempting to kill op",
      ok: 1,
    });
    expect(await t.reply({ killOp: 1 }, "admin")).toMatchObject({ code: 4 });
    expect(await t.reply({ killOp: 1, op: "shardA:5" }, "admin")).toMatchObject({ code: 14 });
    expect(await t.reply({ killOp: 1, op: 1e12 }, "admin")).toMatchObject({ code: 2 });
    expect(await t.reply({ killOp: 1, op: 1.5 }, "admin")).toMatchObject({ code: 2 });
  });
});

describe("sessions", () => {
  it("are all ended at once, with their cursors", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1 }, { _id: 2 });
    const { cursor } = await t.run({ find: "c", batchSize: 1 });
    expect(await t.run({ killAllSessions: [{ user: "ann", db: "library" }] }, "admin")).toEqual({ ok: 1 });
    await t.run({ getMore: BigInt(cursor.id), collection: "c", batchSize: 0 });
    expect(await t.run({ killAllSessions: [] }, "admin")).toEqual({ ok: 1 });
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "c" })).toMatchObject({ code: 43 });
    expect(await t.run({ killAllSessionsByPattern: [{}] }, "admin")).toEqual({ ok: 1 });
    expect(await t.reply({ killAllSessions: [{ user: "ann" }] }, "admin")).toMatchObject({ code: 40414 });
    expect(await t.reply({ endSessions: 1 }, "admin")).toMatchObject({ code: 14 });
    expect(await t.reply({ refreshSessions: [{ foo: 1 }] }, "admin")).toMatchObject({ code: 40414 });
  });
});

describe("smaller questions", () => {
  it("are answered as by a server without users, profiler, plan cache or shards", async () => {
    const t = new TestMongod();
    await t.run({ create: "c" });
    expect(await t.run({ usersInfo: 1 })).toEqual({ users: [], ok: 1 });
    expect(await t.run({ rolesInfo: 1 })).toEqual({ roles: [], ok: 1 });
    expect(await t.reply({ rolesInfo: 1, showBuiltinRoles: true })).toMatchObject({ code: 238 });
    expect(await t.run({ profile: -1 })).toEqual({ was: 0, slowms: 100, sampleRate: 1, ok: 1 });
    expect(await t.run({ profile: 0, slowms: 20, sampleRate: 0.5 })).toMatchObject({ slowms: 100 });
    expect(await t.run({ profile: -1 })).toMatchObject({ slowms: 20, sampleRate: 0.5 });
    expect(await t.reply({ profile: 2 })).toMatchObject({ code: 238 });
    expect(await t.reply({ profile: 0, sampleRate: 2 })).toMatchObject({ code: 2 });
    expect(await t.run({ planCacheClear: "c" })).toEqual({ ok: 1 });
    expect(await t.run({ planCacheListFilters: "c" })).toEqual({ filters: [], ok: 1 });
    expect(await t.run({ shardingState: 1 }, "admin")).toEqual({ enabled: false, ok: 1 });
    expect(await t.run({ lockInfo: 1 }, "admin")).toEqual({ lockInfo: [], ok: 1 });
    expect(await t.run({ connPoolStats: 1 }, "admin")).toMatchObject({ totalInUse: 0, hosts: {} });
    expect(await t.run({ logout: 1 })).toEqual({ ok: 1 });
    expect(await t.run({ features: 1 })).toMatchObject({ oidMachine: expect.any(Number) });
    const { id } = await t.run({ _isSelf: 1 }, "admin");
    expect(id).toBeInstanceOf(ObjectId);
    expect((await t.run({ _isSelf: 1 }, "admin"))["id"]).toEqual(id);
  });

  it("about compatibility are answered for the one version there is", async () => {
    const t = new TestMongod();
    const set = (version: unknown, more: object = {}): object => ({
      setFeatureCompatibilityVersion: version,
      ...more,
    });
    expect(await t.run(set("8.2", { confirm: true }), "admin")).toEqual({ ok: 1 });
    expect(await t.reply(set("8.2"), "admin")).toMatchObject({ code: 7369100 });
    expect(await t.reply(set("8.0", { confirm: true }), "admin")).toMatchObject({ code: 238 });
    expect(await t.reply(set("6.0", { confirm: true }), "admin")).toMatchObject({ code: 4926900 });
    expect(await t.reply(set(8.2, { confirm: true }), "admin")).toMatchObject({ code: 14 });
  });
});
