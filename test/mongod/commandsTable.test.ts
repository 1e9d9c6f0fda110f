/**
 * Every command of the table, asked the same questions:
 *
 *     a field that does not exist            40415, unless the command takes any
 *     a first argument of a wrong type       14 mostly
 *     a collection that does not exist       what MongoDB answers there
 *     a view                                 166 where the command is for collections only
 *
 * A command without a row here fails the test: a new one is tried on all four.
 */
import type { Document } from "bson";
import { UUID } from "bson";
import { describe, expect, it } from "vitest";
import type { Command } from "../../lib/mongod/command.js";
import { allCommands, findCommand } from "../../lib/mongod/commands/index.js";
import { unknownCommand } from "../../lib/mongod/commands/unsupported.js";
import { TestMongod } from "./support.js";

/** "ok", or the code of the refusal. */
type Outcome = "ok" | number;

interface Row {
  /** A command that succeeds on a collection `loans` with one document. */
  readonly command: object;
  /** Its database; `library` when absent. */
  readonly db?: string;
  /** On a replica set's member. */
  readonly replSet?: boolean;
  /** A first argument of a wrong type and its code; absent: any will do. */
  readonly wrong?: readonly [value: unknown, code: number];
  /** Without the collection; absent: the command is not about one. */
  readonly missing?: Outcome;
  /** With a view of that name. */
  readonly view?: Outcome;
}

/** No string as the collection's name; some commands look at it before anything else. */
const notString = [5, 2] as const;
const notStringFirst = [5, 73] as const;
const admin = { db: "admin" };
const set = { db: "admin", replSet: true };

const rows: Readonly<Record<string, Row>> = {
  _isSelf: { command: { _isSelf: 1 } },
  _shardlabCaptureWrites: {
    command: { _shardlabCaptureWrites: "loans", owner: new UUID(), action: "start" },
    wrong: notString,
    missing: 26,
    view: 166,
  },
  aggregate: {
    command: { aggregate: "loans", pipeline: [], cursor: {} },
    wrong: [true, 14],
    missing: "ok",
    view: "ok",
  },
  buildInfo: { command: { buildInfo: 1 } },
  bulkWrite: {
    command: { bulkWrite: 1, ops: [{ insert: 0, document: { _id: 7 } }], nsInfo: [{ ns: "library.loans" }] },
    ...admin,
    missing: "ok",
  },
  cloneCollectionAsCapped: {
    command: { cloneCollectionAsCapped: "loans", toCollection: "copy", size: 4096 },
    wrong: notString,
    missing: 26,
    view: 166,
  },
  collMod: { command: { collMod: "loans" }, wrong: notString, missing: 26, view: "ok" },
  collStats: { command: { collStats: "loans" }, wrong: notString, missing: "ok", view: 166 },
  connectionStatus: { command: { connectionStatus: 1 } },
  connPoolStats: { command: { connPoolStats: 1 } },
  convertToCapped: {
    command: { convertToCapped: "loans", size: 4096 },
    wrong: notString,
    missing: 26,
    view: 166,
  },
  count: { command: { count: "loans" }, wrong: notStringFirst, missing: "ok", view: "ok" },
  create: { command: { create: "fresh" }, wrong: notString },
  createIndexes: {
    command: { createIndexes: "loans", indexes: [{ key: { x: 1 }, name: "x_1" }] },
    wrong: notString,
    missing: "ok",
    view: 166,
  },
  currentOp: { command: { currentOp: 1 }, ...admin },
  dataSize: { command: { dataSize: "library.loans" }, wrong: [5, 14], missing: "ok", view: 166 },
  dbHash: { command: { dbHash: 1 } },
  dbStats: { command: { dbStats: 1 } },
  delete: {
    command: { delete: "loans", deletes: [{ q: {}, limit: 1 }] },
    wrong: notString,
    missing: "ok",
    view: 166,
  },
  distinct: { command: { distinct: "loans", key: "_id" }, wrong: notStringFirst, missing: "ok", view: "ok" },
  drop: { command: { drop: "loans" }, wrong: notString, missing: "ok", view: "ok" },
  dropDatabase: { command: { dropDatabase: 1 }, wrong: ["library", 5255100] },
  dropIndexes: { command: { dropIndexes: "loans", index: "*" }, wrong: notString, missing: 26, view: 166 },
  endSessions: { command: { endSessions: [] }, wrong: [1, 14] },
  explain: { command: { explain: { find: "loans" } }, wrong: [1, 14], missing: "ok", view: "ok" },
  features: { command: { features: 1 } },
  find: { command: { find: "loans" }, wrong: notStringFirst, missing: "ok", view: "ok" },
  findAndModify: {
    command: { findAndModify: "loans", remove: true },
    wrong: notString,
    missing: "ok",
    view: 166,
  },
  fsync: { command: { fsync: 1 }, ...admin },
  fsyncUnlock: { command: { fsyncUnlock: 1 }, ...admin },
  getCmdLineOpts: { command: { getCmdLineOpts: 1 }, ...admin },
  getDefaultRWConcern: { command: { getDefaultRWConcern: 1 }, ...set },
  getLog: { command: { getLog: "global" }, ...admin, wrong: [1, 14] },
  getMore: { command: { getMore: 1n, collection: "loans" } },
  getParameter: { command: { getParameter: "*" }, ...admin },
  hello: { command: { hello: 1 } },
  hostInfo: { command: { hostInfo: 1 } },
  insert: {
    command: { insert: "loans", documents: [{ _id: 2 }] },
    wrong: notString,
    missing: "ok",
    view: 166,
  },
  killAllSessions: { command: { killAllSessions: [] }, wrong: [1, 14] },
  killAllSessionsByPattern: { command: { killAllSessionsByPattern: [] }, wrong: [1, 14] },
  killCursors: {
    command: { killCursors: "loans", cursors: [1n] },
    wrong: notString,
    missing: "ok",
    view: "ok",
  },
  killOp: { command: { killOp: 1, op: 1 }, ...admin },
  killSessions: { command: { killSessions: [] }, wrong: [1, 14] },
  listCollections: { command: { listCollections: 1 } },
  listCommands: { command: { listCommands: 1 } },
  listDatabases: { command: { listDatabases: 1 }, ...admin },
  listIndexes: { command: { listIndexes: "loans" }, wrong: notString, missing: 26, view: 166 },
  lockInfo: { command: { lockInfo: 1 }, ...admin },
  logout: { command: { logout: 1 } },
  logRotate: { command: { logRotate: 1 }, ...admin },
  ping: { command: { ping: 1 } },
  planCacheClear: { command: { planCacheClear: "loans" }, wrong: notString, missing: "ok", view: 166 },
  planCacheListFilters: {
    command: { planCacheListFilters: "loans" },
    wrong: notString,
    missing: "ok",
    view: 166,
  },
  profile: { command: { profile: -1 }, wrong: ["on", 14] },
  refreshSessions: { command: { refreshSessions: [] }, wrong: [1, 14] },
  renameCollection: {
    command: { renameCollection: "library.loans", to: "library.x" },
    ...admin,
    wrong: [1, 14],
    missing: 26,
    view: 166,
  },
  replSetFreeze: { command: { replSetFreeze: 0 }, ...set },
  replSetGetConfig: { command: { replSetGetConfig: 1 }, ...set },
  replSetGetStatus: { command: { replSetGetStatus: 1 }, ...set },
  replSetInitiate: { command: { replSetInitiate: {} }, ...set },
  replSetReconfig: { command: { replSetReconfig: {} }, ...set, wrong: [1, 93] },
  replSetStepDown: { command: { replSetStepDown: 60, force: true }, ...set },
  rolesInfo: { command: { rolesInfo: 1 } },
  serverStatus: { command: { serverStatus: 1 } },
  setDefaultRWConcern: {
    command: { setDefaultRWConcern: 1, defaultReadConcern: { level: "local" } },
    ...set,
  },
  setFeatureCompatibilityVersion: {
    command: { setFeatureCompatibilityVersion: "8.2", confirm: true },
    ...admin,
    wrong: [8.2, 14],
  },
  setParameter: { command: { setParameter: 1, quiet: true }, ...admin },
  shardingState: { command: { shardingState: 1 }, ...admin },
  shutdown: { command: { shutdown: 1 }, ...admin },
  splitVector: {
    command: { splitVector: "library.loans", keyPattern: { _id: 1 }, force: true },
    wrong: [5, 14],
    missing: 26,
    view: 166,
  },
  startSession: { command: { startSession: 1 } },
  top: { command: { top: 1 }, ...admin },
  update: {
    command: { update: "loans", updates: [{ q: {}, u: { $set: { x: 1 } } }] },
    wrong: notString,
    missing: "ok",
    view: 166,
  },
  usersInfo: { command: { usersInfo: 1 } },
  validate: { command: { validate: "loans" }, wrong: notStringFirst, missing: 26, view: 166 },
  whatsmyuri: { command: { whatsmyuri: 1 } },
};

/** Commands that fail on a server at rest, and how. */
const FAILING: Readonly<Record<string, number>> = {
  fsyncUnlock: 20,
  getMore: 43,
  replSetFreeze: 95,
  replSetInitiate: 23,
  replSetReconfig: 93,
};

const commands = allCommands();
const rowOf = ({ name }: Command): Row => rows[name] as Row;

function server({ replSet }: Row): TestMongod {
  return new TestMongod({ onShutdown: () => undefined, ...(replSet && { replSet: "rs" }) });
}

async function ask(t: TestMongod, row: Row, command: object = row.command): Promise<Outcome> {
  const reply: Document = await t.reply(command, row.db ?? "library");
  if (reply["ok"] !== 1) return reply["code"] as number;
  return (reply["writeErrors"]?.[0]?.code as number | undefined) ?? "ok";
}

describe("every command", () => {
  it("has a row here", () => {
    expect(commands.map(({ name }) => name).filter((name) => !rows[name])).toEqual([]);
  });

  it.each(commands)("$name succeeds where it should", async (command) => {
    const t = server(rowOf(command));
    if (!rowOf(command).replSet) await t.insert("loans", { _id: 1 });
    expect(await ask(t, rowOf(command))).toBe(FAILING[command.name] ?? "ok");
  });

  it.each(commands.filter(({ lenient }) => !lenient))(
    "$name refuses a field that does not exist",
    async (command) => {
      const row = rowOf(command);
      expect(await ask(server(row), row, { ...row.command, xyzzy: 1 })).toBe(40415);
    },
  );

  it.each(commands.filter((command) => rowOf(command).wrong))(
    "$name refuses a wrong first argument",
    async (command) => {
      const row = rowOf(command);
      const [value, code] = row.wrong!;
      const [name] = Object.keys(row.command) as [string];
      expect(await ask(server(row), row, { ...row.command, [name]: value })).toBe(code);
    },
  );

  it.each(commands.filter((command) => rowOf(command).missing))(
    "$name without its collection",
    async (command) => {
      const row = rowOf(command);
      expect(await ask(server(row), row)).toBe(row.missing);
    },
  );

  it.each(commands.filter((command) => rowOf(command).view))("$name on a view", async (command) => {
    const row = rowOf(command);
    const t = server(row);
    await t.insert("books", { _id: 1 });
    await t.run({ create: "loans", viewOn: "books", pipeline: [] });
    expect(await ask(t, row)).toBe(row.view);
    expect(await t.find("books")).toEqual([{ _id: 1 }]);
  });

  it.each(commands.filter(({ adminOnly }) => adminOnly))("$name runs in admin only", async (command) => {
    const row = rowOf(command);
    expect(await ask(server(row), { ...row, db: "library" })).toBe(13);
  });

  it("is listed, with a sentence", async () => {
    const { commands: listed } = await new TestMongod().run({ listCommands: 1 });
    expect(Object.keys(listed)).toEqual(commands.map(({ name }) => name).sort());
    expect(listed.ping).toEqual({
      help: expect.stringMatching(/alive/),
      requiresAuth: false,
      secondaryOk: true,
      adminOnly: false,
      apiVersions: ["1"],
      deprecatedApiVersions: [],
    });
    expect(listed.find).toMatchObject({ secondaryOk: true, secondaryOverrideOk: true });
    expect(listed.insert).toMatchObject({ secondaryOk: false });
    expect(listed.top).toMatchObject({ adminOnly: true });
  });
});

describe("a command that is not in the table", () => {
  // Names of MongoDB's that a mongod answers and this one does not.
  it.each(["createUser", "saslStart", "mapReduce", "compact", "commitTransaction", "_shardsvrMovePrimary"])(
    "%s is refused as not simulated",
    (name) => {
      expect(findCommand(name)).toBeUndefined();
      expect(unknownCommand(name)).toMatchObject({
        code: 238,
        message: expect.stringContaining(`the command ${name}`),
      });
    },
  );

  // Made-up names, those of a mongos, and those that are gone.
  it.each([
    "xyzzy",
    "shardCollection",
    "isdbgrid",
    "atlasVersion",
    "getLastError",
    "getFreeMonitoringStatus",
    "PING",
  ])("%s does not exist", async (name) => {
    expect(await new TestMongod().reply({ [name]: 1 }, "admin")).toEqual({
      ok: 0,
      errmsg: `no such command: '${name}'`,
      code: 59,
      codeName: "CommandNotFound",
    });
  });
});
