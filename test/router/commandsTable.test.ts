/**
 * Every command of the router, asked the same questions:
 *
 *     on a sharded collection                succeeds, or with the code of its refusal
 *     a field that does not exist            40415, unless the command takes any
 *     a first argument of a wrong type       14 and 73 mostly
 *     a collection that does not exist       what a mongos answers there
 *     outside of the admin database          13 where the command is for admin only
 *
 * A command without a row here fails the test: a new one is tried on all of them. Names that a mongos has and this
 * router does not are refused as not simulated (238), names that nobody knows are not found (59).
 */
import { describe, expect, it } from "vitest";
import { COMMANDS, NOT_SIMULATED } from "../../lib/router/commands/table.js";
import type { Command } from "../../lib/router/context.js";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

/** "ok", or the code of the refusal. */
type Outcome = "ok" | number;

interface Row {
  /** The command, on `library.loans`, which is sharded on `{memberId: 1}` over two shards and has one document. */
  readonly command: Doc;
  /** Its database; `library` when absent. */
  readonly db?: string;
  /** What comes of it; absent: it succeeds. */
  readonly outcome?: number;
  /** A first argument of a wrong type and its code; absent: any will do. */
  readonly wrong?: readonly [value: unknown, code: number];
  /** Without the collection; absent: the command is not about one. */
  readonly missing?: Outcome;
  /** It takes fields that it does not know. */
  readonly lenient?: true;
}

/** No string as the collection's name; some commands look at it before anything else. */
const notString = [5, 2] as const;
const notStringFirst = [5, 73] as const;
const admin = { db: "admin" };

const rows: Readonly<Record<string, Row>> = {
  abortMoveCollection: {
    command: { abortMoveCollection: "library.loans" },
    ...admin,
    outcome: 339,
    wrong: [1, 14],
  },
  abortReshardCollection: {
    command: { abortReshardCollection: "library.loans" },
    ...admin,
    outcome: 339,
    wrong: [1, 14],
    missing: 339,
  },
  abortTransaction: { command: { abortTransaction: 1 }, ...admin, outcome: 238, lenient: true },
  abortUnshardCollection: {
    command: { abortUnshardCollection: "library.loans" },
    ...admin,
    outcome: 339,
    wrong: [1, 14],
  },
  addShard: {
    command: { addShard: "shardA/127.0.0.1:27018", name: "shardA" },
    ...admin,
    wrong: [1, 14],
    lenient: true,
  },
  addShardToZone: { command: { addShardToZone: "shardA", zone: "EU" }, ...admin, wrong: [1, 14] },
  aggregate: { command: { aggregate: "loans", pipeline: [], cursor: {} }, wrong: [true, 2], missing: "ok" },
  analyzeShardKey: {
    command: { analyzeShardKey: "library.loans", key: { memberId: 1 }, readWriteDistribution: false },
    ...admin,
    wrong: [1, 14],
    missing: 26,
  },
  balancerCollectionStatus: {
    command: { balancerCollectionStatus: "library.loans" },
    ...admin,
    wrong: [1, 14],
    missing: 118,
  },
  balancerRound: { command: { balancerRound: 1 }, ...admin },
  balancerStart: { command: { balancerStart: 1 }, ...admin, lenient: true },
  balancerStatus: { command: { balancerStatus: 1 }, ...admin, lenient: true },
  balancerStop: { command: { balancerStop: 1 }, ...admin, lenient: true },
  buildInfo: { command: { buildInfo: 1 }, lenient: true },
  bulkWrite: {
    command: {
      bulkWrite: 1,
      ops: [{ insert: 0, document: { _id: 7, memberId: 7 } }],
      nsInfo: [{ ns: "library.loans" }],
    },
    ...admin,
    missing: "ok",
  },
  checkMetadataConsistency: {
    command: { checkMetadataConsistency: "loans" },
    wrong: [true, 14],
    missing: "ok",
  },
  cleanupReshardCollection: {
    command: { cleanupReshardCollection: "library.loans" },
    ...admin,
    wrong: [1, 14],
    missing: "ok",
  },
  clearJumboFlag: {
    command: { clearJumboFlag: "library.loans", find: { memberId: 1 } },
    ...admin,
    wrong: [1, 14],
    missing: 118,
  },
  collMod: { command: { collMod: "loans" }, wrong: notString, missing: 26 },
  collStats: { command: { collStats: "loans" }, wrong: notString, missing: "ok" },
  commitTransaction: { command: { commitTransaction: 1 }, ...admin, outcome: 238, lenient: true },
  commitReshardCollection: {
    command: { commitReshardCollection: "library.loans" },
    ...admin,
    outcome: 339,
    wrong: [1, 14],
    missing: 339,
  },
  commitShardRemoval: { command: { commitShardRemoval: "gone" }, ...admin, wrong: [1, 14] },
  configureCollectionBalancing: {
    command: { configureCollectionBalancing: "library.loans", chunkSize: 256 },
    ...admin,
    wrong: [1, 14],
    missing: 118,
  },
  configureQueryAnalyzer: {
    command: { configureQueryAnalyzer: "library.loans", mode: "off" },
    ...admin,
    wrong: [1, 14],
    missing: 26,
  },
  connectionStatus: { command: { connectionStatus: 1 }, lenient: true },
  connPoolStats: { command: { connPoolStats: 1 } },
  convertToCapped: {
    command: { convertToCapped: "loans", size: 4096 },
    outcome: 20,
    wrong: notString,
    missing: 26,
  },
  count: { command: { count: "loans" }, wrong: notStringFirst, missing: "ok" },
  create: { command: { create: "fresh" }, wrong: notString },
  createIndexes: {
    command: { createIndexes: "loans", indexes: [{ key: { x: 1 }, name: "x_1" }] },
    wrong: notString,
    missing: "ok",
  },
  currentOp: { command: { currentOp: 1 }, ...admin, lenient: true },
  dataSize: { command: { dataSize: "library.loans" }, wrong: [5, 14], missing: "ok" },
  dbStats: { command: { dbStats: 1 } },
  delete: {
    command: { delete: "loans", deletes: [{ q: { memberId: 1 }, limit: 1 }] },
    wrong: notString,
    missing: "ok",
  },
  distinct: { command: { distinct: "loans", key: "_id" }, wrong: notStringFirst, missing: "ok" },
  drop: { command: { drop: "loans" }, wrong: notString, missing: "ok" },
  dropDatabase: { command: { dropDatabase: 1 } },
  dropIndexes: { command: { dropIndexes: "loans", index: "*" }, wrong: notString, missing: 26 },
  enableSharding: { command: { enableSharding: "library" }, ...admin, wrong: [1, 14] },
  endSessions: { command: { endSessions: [] }, wrong: [1, 14] },
  explain: { command: { explain: { find: "loans" } }, wrong: [1, 14], missing: "ok" },
  features: { command: { features: 1 } },
  find: { command: { find: "loans" }, wrong: notStringFirst, missing: "ok" },
  findAndModify: {
    command: { findAndModify: "loans", query: { memberId: 1 }, remove: true },
    wrong: notString,
    missing: "ok",
  },
  flushRouterConfig: { command: { flushRouterConfig: 1 }, ...admin, lenient: true },
  fsync: { command: { fsync: 1 }, ...admin },
  fsyncUnlock: { command: { fsyncUnlock: 1 }, ...admin, outcome: 20 },
  getCmdLineOpts: { command: { getCmdLineOpts: 1 }, ...admin },
  getDefaultRWConcern: { command: { getDefaultRWConcern: 1 }, ...admin },
  getLog: { command: { getLog: "global" }, ...admin, wrong: [1, 14] },
  getMore: { command: { getMore: 1n, collection: "loans" }, outcome: 43, lenient: true },
  getParameter: { command: { getParameter: "*" }, ...admin, lenient: true },
  getShardMap: { command: { getShardMap: 1 }, ...admin },
  getShardVersion: { command: { getShardVersion: "library.loans" }, ...admin, wrong: [1, 2], missing: 118 },
  hello: { command: { hello: 1 }, lenient: true },
  hostInfo: { command: { hostInfo: 1 } },
  insert: { command: { insert: "loans", documents: [{ memberId: 2 }] }, wrong: notString, missing: "ok" },
  isdbgrid: { command: { isdbgrid: 1 }, lenient: true },
  isMaster: { command: { isMaster: 1 }, lenient: true },
  killAllSessions: { command: { killAllSessions: [] }, wrong: [1, 14] },
  killAllSessionsByPattern: { command: { killAllSessionsByPattern: [] }, wrong: [1, 14] },
  killCursors: { command: { killCursors: "loans", cursors: [1n] }, missing: "ok", lenient: true },
  killOp: { command: { killOp: 1, op: "shardA:1" }, ...admin },
  killSessions: { command: { killSessions: [] }, wrong: [1, 14] },
  listCollections: { command: { listCollections: 1 } },
  listCommands: { command: { listCommands: 1 } },
  listDatabases: { command: { listDatabases: 1 }, ...admin },
  listIndexes: { command: { listIndexes: "loans" }, wrong: notString, missing: 26 },
  listShards: { command: { listShards: 1 }, ...admin, lenient: true },
  logout: { command: { logout: 1 } },
  logRotate: { command: { logRotate: 1 }, ...admin },
  mergeAllChunksOnShard: {
    command: { mergeAllChunksOnShard: "library.loans", shard: "shardA" },
    ...admin,
    wrong: [1, 14],
    missing: 118,
  },
  mergeChunks: {
    command: { mergeChunks: "library.loans", bounds: [{ memberId: -1 }, { memberId: 1 }] },
    ...admin,
    outcome: 20,
    wrong: [1, 14],
  },
  moveChunk: {
    command: { moveChunk: "library.loans", find: { memberId: 1 }, to: "shardB" },
    ...admin,
    wrong: [1, 14],
    lenient: true,
  },
  moveCollection: {
    command: { moveCollection: "library.loans", toShard: "shardA" },
    ...admin,
    outcome: 26,
    wrong: [1, 14],
    missing: 26,
  },
  moveRange: {
    command: { moveRange: "library.loans", min: { memberId: 1 }, toShard: "shardB" },
    ...admin,
    wrong: [1, 14],
    missing: 118,
  },
  movePrimary: { command: { movePrimary: "library", to: "shardB" }, ...admin, wrong: [1, 14] },
  ping: { command: { ping: 1 }, lenient: true },
  planCacheClear: { command: { planCacheClear: "loans" }, wrong: notString, missing: "ok" },
  planCacheListFilters: { command: { planCacheListFilters: "loans" }, wrong: notString, missing: "ok" },
  profile: { command: { profile: -1 }, wrong: ["on", 14] },
  refineCollectionShardKey: {
    command: { refineCollectionShardKey: "library.loans", key: { memberId: 1 } },
    ...admin,
    wrong: [1, 14],
    missing: 26,
  },
  refreshSessions: { command: { refreshSessions: [] }, wrong: [1, 14] },
  removeShard: { command: { removeShard: "shardB" }, ...admin, wrong: [1, 14] },
  removeShardFromZone: { command: { removeShardFromZone: "shardA", zone: "EU" }, ...admin, wrong: [1, 14] },
  renameCollection: {
    command: { renameCollection: "library.loans", to: "library.x" },
    ...admin,
    wrong: [1, 14],
    missing: 26,
  },
  replSetGetStatus: { command: { replSetGetStatus: 1 }, ...admin, outcome: 8, lenient: true },
  reshardCollection: {
    command: { reshardCollection: "library.loans", key: { other: 1 }, numInitialChunks: 1 },
    ...admin,
    wrong: [1, 14],
    missing: 26,
  },
  rolesInfo: { command: { rolesInfo: 1 } },
  routingTrace: { command: { routingTrace: 1 }, ...admin },
  serverStatus: { command: { serverStatus: 1 }, lenient: true },
  setAllowMigrations: {
    command: { setAllowMigrations: "library.loans", allowMigrations: true },
    ...admin,
    wrong: [1, 14],
    missing: 118,
  },
  setDefaultRWConcern: {
    command: { setDefaultRWConcern: 1, defaultReadConcern: { level: "local" } },
    ...admin,
  },
  setFeatureCompatibilityVersion: {
    command: { setFeatureCompatibilityVersion: "8.2", confirm: true },
    ...admin,
    wrong: [8.2, 14],
  },
  setParameter: { command: { setParameter: 1, quiet: true }, ...admin, lenient: true },
  shardCollection: {
    command: { shardCollection: "library.loans", key: { memberId: 1 } },
    ...admin,
    wrong: [1, 14],
    missing: "ok",
  },
  shardDrainingStatus: {
    command: { shardDrainingStatus: "shardB" },
    ...admin,
    outcome: 20,
    wrong: [1, 14],
  },
  shutdown: { command: { shutdown: 1 }, ...admin, outcome: 238 },
  split: {
    command: { split: "library.loans", middle: { memberId: 5 } },
    ...admin,
    missing: 118,
    lenient: true,
  },
  startShardDraining: { command: { startShardDraining: "shardB" }, ...admin, wrong: [1, 14] },
  stopShardDraining: { command: { stopShardDraining: "shardB" }, ...admin, wrong: [1, 14] },
  splitVector: {
    command: { splitVector: "library.loans", keyPattern: { _id: 1 }, force: true },
    wrong: [5, 14],
    missing: 26,
    outcome: 20,
    lenient: true,
  },
  startSession: { command: { startSession: 1 } },
  unshardCollection: {
    command: { unshardCollection: "library.loans", toShard: "shardA" },
    ...admin,
    wrong: [1, 14],
    missing: 26,
  },
  update: {
    command: { update: "loans", updates: [{ q: { memberId: 1 }, u: { $set: { x: 1 } } }] },
    wrong: notString,
    missing: "ok",
  },
  updateZoneKeyRange: {
    command: { updateZoneKeyRange: "library.loans", min: { memberId: 1 }, max: { memberId: 2 }, zone: null },
    ...admin,
    wrong: [1, 14],
  },
  usersInfo: { command: { usersInfo: 1 } },
  // Drivers still send `scandata`, an option of old servers.
  validate: { command: { validate: "loans" }, wrong: notStringFirst, missing: 26, lenient: true },
  whatsmyuri: { command: { whatsmyuri: 1 }, lenient: true },
};

const rowOf = ({ name }: Command): Row => rows[name] as Row;
const commands = COMMANDS.filter(({ name }) => rows[name]);

async function cluster({ sharded }: { sharded: boolean }): Promise<TestCluster> {
  const all = await startCluster();
  await all.admin({ enableSharding: "library", primaryShard: "shardA" });
  if (!sharded) return all;
  await all.admin({ shardCollection: "library.loans", key: { memberId: 1 } });
  await all.admin({ split: "library.loans", middle: { memberId: 0 } });
  await all.admin({ moveChunk: "library.loans", find: { memberId: -1 }, to: "shardB" });
  await all.ok("library", { insert: "loans", documents: [{ _id: 1, memberId: 1 }] });
  return all;
}

async function ask(all: TestCluster, row: Row, command: Doc = row.command, db = row.db): Promise<Outcome> {
  const reply = await all.run(db ?? "library", command);
  if (reply.ok !== 1) return reply.code as number;
  return ((reply.writeErrors as Doc[] | undefined)?.[0]?.code as number | undefined) ?? "ok";
}

describe("every command of the router", () => {
  it("has a row here", () => {
    expect(COMMANDS.map(({ name }) => name).filter((name) => !rows[name])).toEqual([]);
  });

  it.each(commands)("$name answers as it should", async (command) => {
    const row = rowOf(command);
    expect(await ask(await cluster({ sharded: true }), row)).toBe(row.outcome ?? "ok");
  });

  it("refuses a field that does not exist", async () => {
    const all = await cluster({ sharded: true });
    const strict = commands.filter((command) => !rowOf(command).lenient);
    const outcomes: [string, Outcome][] = [];
    for (const command of strict) {
      const row = rowOf(command);
      outcomes.push([command.name, await ask(all, row, { ...row.command, xyzzy: 1 })]);
    }
    expect(outcomes).toEqual(strict.map(({ name }) => [name, 40415]));
  });

  it("refuses a wrong first argument", async () => {
    const all = await cluster({ sharded: true });
    const picky = commands.filter((command) => rowOf(command).wrong);
    const outcomes: [string, Outcome][] = [];
    for (const command of picky) {
      const row = rowOf(command);
      const [name] = Object.keys(row.command) as [string];
      outcomes.push([command.name, await ask(all, row, { ...row.command, [name]: row.wrong![0] })]);
    }
    expect(outcomes).toEqual(picky.map((command) => [command.name, rowOf(command).wrong![1]]));
  });

  it.each(commands.filter((command) => rowOf(command).missing))(
    "$name without its collection",
    async (command) => {
      const row = rowOf(command);
      expect(await ask(await cluster({ sharded: false }), row)).toBe(row.missing);
    },
  );

  it("runs in admin only, where it is about the cluster", async () => {
    const all = await cluster({ sharded: true });
    for (const command of commands) {
      const row = rowOf(command);
      const adminOnly = row.db === "admin";
      expect([command.name, command.adminOnly ?? false]).toEqual([command.name, adminOnly]);
      if (adminOnly)
        expect([command.name, await ask(all, row, row.command, "library")]).toEqual([command.name, 13]);
    }
  });

  it("is listed in the shape of a mongos", async () => {
    const all = await startCluster({ shards: 1 });
    const { commands: listed } = (await all.admin({ listCommands: 1 })) as { commands: Record<string, Doc> };
    expect(Object.keys(listed)).toEqual(COMMANDS.map(({ name }) => name).sort());
    expect(listed.fsync).toEqual({
      help: "invoke fsync on all shards belonging to the cluster",
      requiresAuth: true,
      secondaryOk: true,
      adminOnly: true,
      apiVersions: [],
      deprecatedApiVersions: [],
    });
    expect(listed.ping).toMatchObject({ requiresAuth: false, apiVersions: ["1"] });
  });
});

describe("a command that is not in the table", () => {
  it("is refused as not simulated where a mongos has it", async () => {
    const all = await startCluster({ shards: 1 });
    expect(
      [...NOT_SIMULATED].filter((name) => rows[name] && COMMANDS.some((each) => each.name === name)),
    ).toEqual([]);
    for (const name of NOT_SIMULATED) {
      expect([name, await all.run("admin", { [name]: 1 })]).toMatchObject([
        name,
        { ok: 0, code: 238, codeName: "NotImplemented" },
      ]);
    }
  });

  // Made-up names, those of a mongod, and those that are gone.
  it.each(["xyzzy", "top", "replSetInitiate", "lockInfo", "dbHash", "getLastError", "atlasVersion", "PING"])(
    "%s does not exist",
    async (name) => {
      const all = await startCluster({ shards: 1 });
      expect(await all.run("admin", { [name]: 1 })).toMatchObject({
        ok: 0,
        errmsg: `no such command: '${name}'`,
        code: 59,
        codeName: "CommandNotFound",
      });
    },
  );
});
