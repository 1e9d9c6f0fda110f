/** The program `lib/bin/mongos` as its users meet it: on config server and shards of `lib/bin/mongod`, with MongoDB's flags. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { MongoClient } from "mongodb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OptionsError, readRouterCommandLine } from "../../lib/bin/commandLine.js";
import { MONGOS_OPTIONS } from "../../lib/bin/optionTable.js";
import { SERVER_VERSION } from "../../lib/protocol/index.js";
import type { Program } from "../cluster/processes.js";
import { listens, root, startProgram } from "../cluster/processes.js";

const mongod = path.join(root, "lib/bin/mongod");
const mongos = path.join(root, "lib/bin/mongos");
const programs: Program[] = [];
const clients: MongoClient[] = [];
let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "shardlab-mongos-"))));
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  for (const program of programs.splice(0)) {
    program.child.kill("SIGKILL");
    await program.ended;
  }
  rmSync(folder, { recursive: true });
});

interface Line {
  s: string;
  c: string;
  id: number;
  ctx: string;
  msg: string;
  attr?: { port?: number; error?: { code: number; errmsg: string } };
}

function start(file: string, args: string[], env: NodeJS.ProcessEnv = {}): Program {
  const program = startProgram(file, args, { SHARDLAB_NODE: process.execPath, ...env });
  programs.push(program);
  return program;
}

/** The lines up to the first one with this number, or all of them. */
async function linesUntil(program: Program, id?: number): Promise<Line[]> {
  const lines: Line[] = [];
  for (let text = await program.line(); text !== undefined; text = await program.line()) {
    lines.push(JSON.parse(text) as Line);
    if (lines.at(-1)?.id === id) return lines;
  }
  if (id !== undefined) throw new Error(`no line ${id}: ${JSON.stringify(lines)} ${program.stderr()}`);
  return lines;
}

async function portOf(program: Program): Promise<number> {
  return (await linesUntil(program, 23016)).at(-1)?.attr?.port as number;
}

async function connect(port: number): Promise<MongoClient> {
  const uri = `mongodb://127.0.0.1:${port}/?directConnection=true`;
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 });
  clients.push(client);
  return client.connect();
}

interface Member {
  readonly program: Program;
  readonly port: number;
  /** Connection string of its set. */
  readonly set: string;
}

/** A mongod with a role and a directory of its own, not yet a set; on `port` when it is started again. */
async function member(name: string, role: "configsvr" | "shardsvr", port = 0): Promise<Member> {
  const directory = path.join(folder, name);
  if (!existsSync(directory)) mkdirSync(directory);
  const words = [`--${role}`, "--replSet", name, "--port", String(port), "--dbpath", directory];
  const program = start(mongod, words);
  const actual = await portOf(program);
  return { program, port: actual, set: `${name}/127.0.0.1:${actual}` };
}

async function initiate(name: string, { port }: Member, configsvr = false): Promise<void> {
  const client = await connect(port);
  const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
  const config = { _id: name, ...(configsvr && { configsvr }), members };
  await client.db("admin").command({ replSetInitiate: config });
}

/** Config server and two shards, and a router that has them. */
async function startCluster(): Promise<{
  config: Member;
  router: { program: Program; port: number };
  admin: ReturnType<MongoClient["db"]>;
}> {
  const [config, ...shards] = await Promise.all([
    member("cfg", "configsvr"),
    member("shardA", "shardsvr"),
    member("shardB", "shardsvr"),
  ]);
  await Promise.all([
    initiate("cfg", config, true),
    ...shards.map((shard, i) => initiate(`shard${"AB"[i]}`, shard)),
  ]);
  const router = await startRouter(config);
  const admin = (await connect(router.port)).db("admin");
  for (const { set } of shards) await admin.command({ addShard: set });
  return { config, router, admin };
}

async function startRouter({ set }: Member, port = 0): Promise<{ program: Program; port: number }> {
  const program = start(mongos, ["--configdb", set, "--port", String(port)], { SHARDLAB_SEED: "7" });
  return { program, port: await portOf(program) };
}

describe("mongos' command line", () => {
  const read = (line: string) => readRouterCommandLine(line.split(" ").filter(Boolean));
  const refusal = (line: string): string => {
    try {
      read(line);
    } catch (error) {
      if (error instanceof OptionsError) return error.message;
      throw error;
    }
    throw new Error(`accepted: ${line}`);
  };

  it("names the version that the router reports, without starting node", () => {
    const { stdout, status } = spawnSync(mongos, ["--version"], {
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin" },
    });
    expect(status).toBe(0);
    const [first, ...rest] = stdout.split("\n");
    expect(first).toBe(`mongos version v${SERVER_VERSION}`);
    expect(JSON.parse(rest.join("\n").replace("Build Info: ", ""))).toMatchObject({
      version: SERVER_VERSION,
      modules: ["shardlab simulated mongos"],
    });
  });

  it("has MongoDB's default port, and the config server's where the address has none", () => {
    expect(read("--configdb cfg/a,b:1,[::1]")).toMatchObject({
      port: 27_017,
      bindIps: ["127.0.0.1"],
      configHost: "cfg/a:27019,b:1,[::1]:27019",
      parsed: { sharding: { configDB: "cfg/a,b:1,[::1]" } },
    });
  });

  it("reads a configuration file as the manual writes one", () => {
    const file = path.join(folder, "mongos.conf");
    writeFileSync(file, "sharding:\n  configDB: cfg/a:27019\nnet:\n  port: 27117\n  bindIp: localhost\n");
    expect(read(`--config ${file}`)).toMatchObject({ port: 27_117, configHost: "cfg/a:27019" });
  });

  it.each([
    ["", "BadValue: error: no args for --configdb"],
    ["--configdb a:27019", "BadValue: configdb supports only replica set connection string"],
    ["--configdb /a:27019", "BadValue: configdb supports only replica set connection string"],
    [
      "--configdb cfg/a:99999",
      "FailedToParse: 'a:99999' in --configdb is not a server; write it as host:port",
    ],
    ["--configdb cfg/", "FailedToParse: '' in --configdb is not a server; write it as host:port"],
    // Options of a mongod that a mongos doesn't have.
    ["--configdb cfg/a --dbpath /x", "Error parsing command line: unrecognised option '--dbpath'"],
    ["--configdb cfg/a --replSet rs", "Error parsing command line: unrecognised option '--replSet'"],
    ["--configdb cfg/a --shardsvr", "Error parsing command line: unrecognised option '--shardsvr'"],
    ["--configdb cfg/a --keyFile /k", "--keyFile can't be used: users, passwords and keys are not simulated"],
  ])("%s is refused", (line, message) => {
    expect(refusal(line)).toBe(message);
  });

  it("accepts or refuses every option by name; none crashes it", () => {
    const values: Record<string, string> = {
      integer: "7",
      number: "1",
      text: "x",
      boolean: "true",
      parameter: "a=1",
    };
    for (const { name, kind, fate } of MONGOS_OPTIONS) {
      const line = `--${name}${kind in values ? `=${values[kind]}` : ""}${name === "configdb" ? "" : " --configdb cfg/a"}`;
      if (fate === "refused") expect(refusal(line), line).toContain("not simulated");
      else if (fate === "idle") expect(() => read(line), line).not.toThrow();
    }
    const { stdout } = spawnSync(mongos, ["--help"], { encoding: "utf8" });
    for (const { name } of MONGOS_OPTIONS) expect(stdout).toMatch(new RegExp(String.raw`--${name}( \]|\b)`));
  });

  it("ends with 2 on standard error where it can't work", () => {
    const { stderr, stdout, status } = spawnSync(mongos, [], { encoding: "utf8" });
    expect(stderr).toBe(
      `BadValue: error: no args for --configdb\ntry '${mongos} --help' for more information\n`,
    );
    expect([stdout, status]).toEqual(["", 2]);
  });
});

describe("a cluster of programs", () => {
  it("shards a collection, and a router that is started again knows it as before", async () => {
    const { config, router, admin } = await startCluster();
    expect(await admin.command({ hello: 1 })).toMatchObject({ msg: "isdbgrid", isWritablePrimary: true });
    await admin.command({ shardCollection: "library.loans", key: { memberId: 1 } });
    await admin.command({ split: "library.loans", middle: { memberId: 50 } });
    const { config: catalog } = { config: (await connect(router.port)).db("config") };
    const [low] = await catalog.collection("chunks").find().sort({ min: 1 }).toArray();
    const other = low?.["shard"] === "shardA" ? "shardB" : "shardA";
    await admin.command({ moveChunk: "library.loans", find: { memberId: 50 }, to: other });
    const loans = (await connect(router.port)).db("library").collection("loans");
    await loans.insertMany(Array.from({ length: 100 }, (_, memberId) => ({ memberId })));

    router.program.child.kill("SIGKILL");
    await router.program.ended;
    const again = await startRouter(config, router.port);
    expect(again.port).toBe(router.port);
    const client = await connect(again.port);
    expect(await client.db("library").collection("loans").countDocuments()).toBe(100);
    const plan = await client
      .db("library")
      .collection("loans")
      .find({ memberId: 77 })
      .explain("queryPlanner");
    expect(plan["queryPlanner"]).toMatchObject({
      winningPlan: { stage: "SINGLE_SHARD", shards: [{ shardName: other }] },
    });
    const routers = await client.db("config").collection("mongos").find().toArray();
    expect(routers.map(({ _id }) => String(_id))).toEqual([`127.0.0.1:${router.port}`]);
  });

  it("tells how it was started, what it logged, and takes parameters of the command line", async () => {
    const config = await member("cfg", "configsvr");
    await initiate("cfg", config, true);
    const words = ["--configdb", config.set, "--port", "0", "--setParameter", "cursorTimeoutMillis=5000"];
    const program = start(mongos, words);
    const port = await portOf(program);
    const admin = (await connect(port)).db("admin");
    expect(await admin.command({ getCmdLineOpts: 1 })).toMatchObject({
      argv: [mongos, ...words],
      parsed: {
        net: { port: 0 },
        setParameter: { cursorTimeoutMillis: "5000" },
        sharding: { configDB: config.set },
      },
    });
    expect(await admin.command({ getParameter: 1, cursorTimeoutMillis: 1 })).toMatchObject({
      cursorTimeoutMillis: 5000,
    });
    const { log } = await admin.command({ getLog: "startupWarnings" });
    expect((log as string[])[0]).toContain("This is Shardlab's mongos, not MongoDB's");
    const { totalLinesWritten } = await admin.command({ getLog: "global" });
    expect(totalLinesWritten).toBeGreaterThan(5);
    expect(await admin.command({ serverStatus: 1 })).toMatchObject({ process: "mongos" });
    await expect(admin.command({ addShard: config.set })).rejects.toMatchObject({
      code: 96,
      message: `Cannot add ${config.set} as a shard since it is a config server`,
    });
  });

  it("waits for the config server, and opens its port only then", async () => {
    const config = await member("cfg", "configsvr");
    const program = start(mongos, ["--configdb", config.set, "--port", "0"]);
    const [warning] = (await linesUntil(program, 23834)).slice(-1);
    expect(warning).toMatchObject({
      s: "W",
      c: "SHARDING",
      ctx: "mongosMain",
      attr: {
        error: {
          code: 133,
          codeName: "FailedToSatisfyReadPreference",
          errmsg: `Could not find host matching read preference { mode: "primary" } for set cfg`,
        },
      },
    });
    await initiate("cfg", config, true);
    const port = await portOf(program);
    expect(await (await connect(port)).db("admin").command({ ping: 1 })).toMatchObject({ ok: 1 });
  });

  it("has everything when all of it is killed and started again", async () => {
    const { config, router, admin } = await startCluster();
    await admin.command({ shardCollection: "library.events", key: { deviceId: "hashed" } });
    const events = (await connect(router.port)).db("library").collection("events");
    await events.insertMany(Array.from({ length: 500 }, (_, i) => ({ deviceId: `dev-${i}` })));
    const shards = (await admin.command({ listShards: 1 }))["shards"] as { _id: string; host: string }[];
    for (const program of programs.splice(0)) {
      program.child.kill("SIGKILL");
      await program.ended;
    }
    const portIn = (host: string): number => Number(host.slice(host.lastIndexOf(":") + 1));
    await Promise.all([
      member("cfg", "configsvr", config.port),
      ...shards.map(({ _id, host }) => member(_id, "shardsvr", portIn(host))),
    ]);
    const again = await startRouter(config);
    const back = (await connect(again.port)).db("library").collection("events");
    expect(await back.countDocuments()).toBe(500);
    // About one half of hash64 is below zero: both shards have documents again.
    const rows = await back.aggregate([{ $collStats: { storageStats: {} } }]).toArray();
    expect(rows).toHaveLength(2);
    for (const { storageStats } of rows as { storageStats: { count: number } }[]) {
      expect(storageStats.count).toBeGreaterThan(100);
    }
  });

  it("reads on without its config server, refuses what needs it, and goes on when it is back", async () => {
    const { config, router, admin } = await startCluster();
    await admin.command({ shardCollection: "library.loans", key: { memberId: 1 } });
    const loans = (await connect(router.port)).db("library").collection("loans");
    await loans.insertOne({ memberId: 7 });
    config.program.child.kill("SIGKILL");
    await config.program.ended;
    expect(await loans.countDocuments({ memberId: 7 })).toBe(1);
    const shardIt = { shardCollection: "library.books", key: { isbn: 1 } };
    // 6 where it was under way when the connection broke, 133 once nobody is there.
    await expect(admin.command(shardIt)).rejects.toThrow(/config|set cfg/);
    await member("cfg", "configsvr", config.port);
    expect(await admin.command(shardIt)).toMatchObject({ ok: 1 });
    await loans.insertOne({ memberId: 8 });
    expect(await loans.countDocuments()).toBe(2);
  });

  it.each([["SIGTERM"], ["shutdown"]])("ends with 0 on %s, and its port and files are free", async (how) => {
    const config = await member("cfg", "configsvr");
    await initiate("cfg", config, true);
    const pidFile = path.join(folder, "mongos.pid");
    const logFile = path.join(folder, "mongos.log");
    const words = ["--configdb", config.set, "--port", "0", "--pidfilepath", pidFile, "--logpath", logFile];
    const program = start(mongos, words);
    const ready = (): RegExpExecArray | null =>
      existsSync(logFile)
        ? /"Waiting for connections","attr":\{"port":(\d+)/.exec(readFileSync(logFile, "utf8"))
        : null;
    await expect.poll(ready, { timeout: 10_000 }).not.toBeNull();
    const port = Number(ready()?.[1]);
    expect(readFileSync(pidFile, "utf8")).toBe(`${program.pid}\n`);
    const client = await connect(port);
    if (how === "shutdown")
      await client
        .db("admin")
        .command({ shutdown: 1 })
        .catch(() => undefined);
    else program.child.kill("SIGTERM");
    expect(await program.ended).toEqual({ code: 0, signal: null });
    expect(existsSync(pidFile)).toBe(false);
    expect(await listens(`mongodb://127.0.0.1:${port}/`)).toBe(false);
    expect(readFileSync(logFile, "utf8")).toContain('"Shutting down","attr":{"exitCode":0}');
  });
});

describe("a start that fails", () => {
  it("on a port in use: 48 at once, config server or not", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const program = start(mongos, ["--configdb", "cfg/127.0.0.1:1", "--port", String(port)]);
    expect((await program.ended).code).toBe(48);
    expect((await linesUntil(program)).filter(({ s }) => s === "E")).toMatchObject([
      {
        c: "CONTROL",
        id: 22856,
        msg: "Error setting up listener",
        attr: { error: { code: 9001, errmsg: expect.stringContaining("Address already in use") as string } },
      },
    ]);
    await new Promise((resolve) => other.close(resolve));
  });

  it.each([
    [["--setParameter", "noSuchThing=1"], {}, "noSuchThing"],
    [[], { SHARDLAB_RULES: "3.0" }, "SHARDLAB_RULES can't be '3.0'"],
    [[], { SHARDLAB_CLOCK: "wall" }, "SHARDLAB_CLOCK can't be 'wall'"],
  ])("with %j %j: 100", async (words, env, text) => {
    const program = start(mongos, ["--configdb", "cfg/127.0.0.1:1", "--port", "0", ...words], env);
    expect((await program.ended).code).toBe(100);
    const errors = (await linesUntil(program)).filter(({ s }) => s === "E");
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors[0]?.attr)).toContain(text);
  });

  it("ends on a signal while it still waits for the config server", async () => {
    const program = start(mongos, ["--configdb", "cfg/127.0.0.1:1", "--port", "0"]);
    await linesUntil(program, 23834);
    program.child.kill("SIGINT");
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});
