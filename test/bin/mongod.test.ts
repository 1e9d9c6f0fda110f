/** The program `lib/bin/mongod` as its users meet it: a process, its output, its files and its exit codes. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { MongoClient } from "mongodb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SERVER_VERSION } from "../../lib/protocol/index.js";
import type { Program } from "../cluster/processes.js";
import { alive, listens, root, startProgram } from "../cluster/processes.js";

const mongod = path.join(root, "lib/bin/mongod");
const programs: Program[] = [];
let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "shardlab-mongod-"))));
afterEach(async () => {
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
  msg: string;
  attr?: Record<string, unknown>;
}

function start(args: string[], env: NodeJS.ProcessEnv = {}): Program {
  const program = startProgram(mongod, args, { SHARDLAB_NODE: process.execPath, ...env });
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

/** A server on a port of its own choice, ready. */
async function started(args: string[] = []): Promise<{ program: Program; uri: string; port: number }> {
  const program = start(["--port", "0", "--dbpath", folder, ...args]);
  const port = (await linesUntil(program, 23016)).at(-1)?.attr?.["port"] as number;
  return { program, port, uri: `mongodb://127.0.0.1:${port}/?directConnection=true` };
}

const connect = (uri: string): Promise<MongoClient> =>
  new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 }).connect();

describe("mongod --version", () => {
  it("names the version that the server reports, without starting node", () => {
    const { stdout, status } = spawnSync(mongod, ["--version"], {
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin" },
    });
    expect(status).toBe(0);
    const [first, ...rest] = stdout.split("\n");
    expect(first).toBe(`db version v${SERVER_VERSION}`);
    const info = JSON.parse(rest.join("\n").replace("Build Info: ", "")) as {
      version: string;
      modules: string[];
    };
    expect(info.version).toBe(SERVER_VERSION);
    expect(info.modules).toEqual(["Shardlab embedded engine (simulates mongod in memory)"]);
  });

  it("also through links, as package managers make them", () => {
    symlinkSync(mongod, path.join(folder, "one"));
    symlinkSync("one", path.join(folder, "two"));
    const { stdout, stderr } = spawnSync(path.join(folder, "two"), ["--help"], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout).toContain("General options:");
  });
});

describe("a command line that can't work", () => {
  it("is answered like MongoDB does, with exit code 2", () => {
    const { stderr, stdout, status } = spawnSync(mongod, ["--x"], { encoding: "utf8" });
    expect(stderr).toBe(
      `Error parsing command line: unrecognised option '--x'\ntry '${mongod} --help' for more information\n`,
    );
    expect([stdout, status]).toEqual(["", 2]);
  });
});

describe("a server", () => {
  it.each([["SIGINT"], ["SIGTERM"], ["SIGHUP"]] as const)(
    "logs in JSON, answers drivers, and leaves cleanly on %s",
    async (signal) => {
      const pidFile = path.join(folder, "mongod.pid");
      const { program, uri } = await started(["--pidfilepath", pidFile]);
      expect(readFileSync(pidFile, "utf8")).toBe(`${program.pid}\n`);
      expect(readFileSync(path.join(folder, "mongod.lock"), "utf8")).toBe(`${program.pid}\n`);
      const client = await connect(uri);
      await client.db("library").collection("loans").insertOne({ memberId: 7 });
      expect(await client.db("library").collection("loans").countDocuments()).toBe(1);
      program.child.kill(signal);
      expect(await program.ended).toEqual({ code: 0, signal: null });
      await client.close();
      const lines = await linesUntil(program);
      expect(lines.at(-1)).toMatchObject({ msg: "Shutting down", attr: { exitCode: 0 } });
      expect(program.stderr()).toBe("");
      expect(existsSync(pidFile)).toBe(false);
      expect(readFileSync(path.join(folder, "mongod.lock"), "utf8")).toBe("");
      expect(await listens(uri)).toBe(false);
    },
  );

  it("has what it has answered for when it is killed and started again", async () => {
    const { program, uri } = await started();
    const first = await connect(uri);
    const loans = first.db("library").collection<{ _id: number }>("loans");
    await loans.createIndex({ memberId: 1 }, { name: "member" });
    await loans.insertMany(Array.from({ length: 5_000 }, (_, _id) => ({ _id, memberId: _id % 100 })));
    await loans.deleteMany({ memberId: 7 });
    await loans.updateMany({ memberId: 8 }, { $set: { note: "late" } });
    program.child.kill("SIGKILL");
    await program.ended;
    await first.close();
    const journal = path.join(folder, "shardlab.journal");
    // The last command's group, cut off as by a full disk: nobody was answered for it.
    writeFileSync(journal, Buffer.of(200, 0, 0, 0, 1, 2, 3, 4, 5), { flag: "a" });

    const again = await started();
    const client = await connect(again.uri);
    const back = client.db("library").collection<{ _id: number }>("loans");
    expect(await back.countDocuments()).toBe(4_950);
    expect(await back.countDocuments({ note: "late" }, { hint: "member" })).toBe(50);
    expect((await back.find().sort({ $natural: -1 }).limit(1).toArray())[0]?._id).toBe(4_999);
    const { log } = await client.db("admin").command({ getLog: "global" });
    expect((log as string[]).filter((line) => line.includes("9900002"))).toHaveLength(1);
    expect(existsSync(`${journal}.damaged`)).toBe(true);
    await client.close();
  });

  it("keeps nothing with --storageEngine inMemory", async () => {
    const { program, uri } = await started(["--storageEngine", "inMemory"]);
    const client = await connect(uri);
    await client.db("library").collection("loans").insertOne({});
    await client.close();
    program.child.kill("SIGKILL");
    await program.ended;
    expect(existsSync(path.join(folder, "shardlab.journal"))).toBe(false);
  });

  it("refuses a journal that it can't read", async () => {
    writeFileSync(path.join(folder, "shardlab.journal"), "something else entirely");
    const program = start(["--port", "0", "--dbpath", folder]);
    const lines = await linesUntil(program, 20557);
    expect(lines.at(-1)?.attr?.["error"]).toMatch(/^Location28662: .* is not a journal/);
    expect(await program.ended).toMatchObject({ code: 100 });
    expect(readFileSync(path.join(folder, "shardlab.journal"), "utf8")).toBe("something else entirely");
  });

  it("says in the start-up warnings what it is", async () => {
    const { uri } = await started();
    const client = await connect(uri);
    const { log } = await client.db("admin").command({ getLog: "startupWarnings" });
    expect(log as string[]).toEqual(
      expect.arrayContaining([expect.stringContaining("kept in memory, and in a journal") as string]),
    );
    await client.close();
  });

  it("tells how it was started", async () => {
    const { uri, port } = await started(["--setParameter", "ttlMonitorSleepSecs=1"]);
    const client = await connect(uri);
    const { argv, parsed } = await client.db("admin").command({ getCmdLineOpts: 1 });
    expect(argv).toEqual([
      mongod,
      "--port",
      "0",
      "--dbpath",
      folder,
      "--setParameter",
      "ttlMonitorSleepSecs=1",
    ]);
    expect(parsed).toEqual({
      net: { port: 0 },
      storage: { dbPath: folder },
      setParameter: { ttlMonitorSleepSecs: "1" },
    });
    expect(await client.db("admin").command({ getParameter: 1, ttlMonitorSleepSecs: 1 })).toMatchObject({
      ttlMonitorSleepSecs: 1,
    });
    const { pid, connections } = await client.db("admin").command({ serverStatus: 1 });
    expect(Number(pid)).toBe(programs[0]?.pid);
    expect((connections as { current: number }).current).toBeGreaterThanOrEqual(1);
    expect(port).toBeGreaterThan(0);
    await client.close();
  });

  it("refuses a parameter that no server has", async () => {
    const program = start(["--port", "0", "--dbpath", folder, "--setParameter", "noSuchThing=1"]);
    expect((await program.ended).code).toBe(100);
    expect(await linesUntil(program)).toMatchObject([
      { s: "E", attr: { error: expect.stringContaining("noSuchThing") as string } },
    ]);
  });

  it("never writes what clients send to its output", async () => {
    const { program, uri } = await started(["-vv"]);
    const client = await connect(uri);
    const poison = "***aborting after address already in use exception in initAndListen: X: ";
    const loans = client.db("library").collection("loans");
    await loans.insertOne({ text: poison, [poison.slice(0, 8)]: 1 });
    await loans.findOne({ text: poison });
    await client
      .db("library")
      .command({ [poison]: 1 })
      .catch(() => undefined);
    await loans.updateOne({ $bad: poison }, { $set: { a: 1 } }).catch(() => undefined);
    await client.close();
    program.child.kill("SIGTERM");
    await program.ended;
    const output = JSON.stringify(await linesUntil(program));
    expect(output).not.toMatch(/aborting after|already in use|initAndListen:/);
  });

  it("ends with the command shutdown", async () => {
    const { program, uri } = await started();
    const client = await connect(uri);
    await client
      .db("admin")
      .command({ shutdown: 1, force: true, timeoutSecs: 1 })
      .catch(() => undefined);
    expect(await program.ended).toEqual({ code: 0, signal: null });
    await client.close();
  });

  it("as a replica set waits for replSetInitiate, then says that it is primary", async () => {
    const { program, uri, port } = await started(["--replSet", "rs0"]);
    const client = await connect(uri);
    const admin = client.db("admin");
    expect(await admin.command({ hello: 1 })).toMatchObject({ isWritablePrimary: false });
    const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
    expect(await admin.command({ replSetInitiate: { _id: "rs0", members } })).toMatchObject({ ok: 1 });
    const [transition] = (await linesUntil(program, 21331)).slice(-1);
    expect(transition?.msg).toBe("Transition to primary complete; database writes are now permitted");
    expect(await admin.command({ hello: 1 })).toMatchObject({
      isWritablePrimary: true,
      setName: "rs0",
      me: `127.0.0.1:${port}`,
    });
    await client.close();
  });

  it("looks for expired documents also while nobody asks", async () => {
    const { uri } = await started(["--setParameter", "ttlMonitorSleepSecs=1"]);
    const client = await connect(uri);
    const admin = client.db("admin");
    const passes = async (): Promise<number> => {
      const { metrics } = (await admin.command({ serverStatus: 1 })) as unknown as {
        metrics: { ttl: { passes: number } };
      };
      return Number(metrics.ttl.passes);
    };
    const before = await passes();
    await new Promise((resolve) => setTimeout(resolve, 3_500)); // a command makes up for one pass, not for two
    expect(await passes()).toBeGreaterThanOrEqual(before + 2);
    await client.close();
  });

  it("outlives the reader of its log", async () => {
    const { program, uri } = await started();
    program.child.stdout?.destroy();
    const client = await connect(uri); // a connection is a line of the log
    expect((await client.db("admin").command({ ping: 1 }))["ok"]).toBe(1);
    expect(alive(program.pid)).toBe(true);
    await client.close();
    program.child.kill("SIGTERM");
    expect((await program.ended).code).toBe(0);
  });

  it("writes its log to a file", async () => {
    const file = path.join(folder, "mongod.log");
    const program = start(["--port", "0", "--dbpath", folder, "--logpath", file]);
    await expect
      .poll(() => (existsSync(file) ? readFileSync(file, "utf8") : ""), { timeout: 10_000 })
      .toContain("Waiting for connections");
    program.child.kill("SIGTERM");
    await program.ended;
    expect(await program.line()).toBeUndefined();
    expect(readFileSync(file, "utf8")).toContain('"exitCode":0');
  });
});

describe("a start that fails", () => {
  it("on a directory that is not there: 100, in MongoDB's words", async () => {
    const program = start(["--dbpath", "/nowhere/db"]);
    expect((await program.ended).code).toBe(100);
    // Alone: mongodb-memory-server parses all that it reads at a time as this one line.
    expect(await linesUntil(program)).toMatchObject([
      {
        s: "E",
        c: "CONTROL",
        id: 20557,
        msg: "DBException in initAndListen, terminating",
        attr: {
          error:
            "NonExistentPath: Data directory /nowhere/db not found. Create the missing directory or specify another path using (1) the --dbpath command line option, or (2) by adding the 'storage.dbPath' option in the configuration file.",
        },
      },
    ]);
  });

  it("on a directory that another server holds: 100; after its end the directory is free", async () => {
    const { program } = await started();
    const second = start(["--port", "0", "--dbpath", folder]);
    expect((await second.ended).code).toBe(100);
    expect((await linesUntil(second)).find(({ s }) => s === "E")?.attr?.["error"]).toBe(
      `DBPathInUse: Unable to lock the lock file: ${folder}/mongod.lock (Resource temporarily unavailable). Another mongod instance is already running on the ${folder} directory`,
    );
    program.child.kill("SIGKILL"); // leaves its number in the file
    await program.ended;
    await started();
  });

  it("on the data of a real MongoDB: 100, and the data stays as it is", async () => {
    writeFileSync(path.join(folder, "WiredTiger"), "WiredTiger 12.0.0\n");
    const program = start(["--port", "0", "--dbpath", folder]);
    expect((await program.ended).code).toBe(100);
    expect((await linesUntil(program)).find(({ s }) => s === "E")?.attr?.["error"]).toMatch(
      /^Location28662: /,
    );
    expect(existsSync(path.join(folder, "mongod.lock"))).toBe(false);
  });

  it("with a storage engine that does not exist: 100", async () => {
    const program = start(["--port", "0", "--dbpath", folder, "--storageEngine", "mmapv1"]);
    expect((await program.ended).code).toBe(100);
    expect((await linesUntil(program)).map(({ attr }) => attr?.["error"])).toEqual([
      "Location18656: Cannot start server with an unknown storage engine: mmapv1",
    ]);
    expect(existsSync(path.join(folder, "mongod.lock"))).toBe(false);
  });

  it("on a lock file that can't be written: 100, in the system's words", async () => {
    mkdirSync(path.join(folder, "mongod.lock"));
    const program = start(["--port", "0", "--dbpath", folder]);
    expect((await program.ended).code).toBe(100);
    expect((await linesUntil(program)).map(({ attr }) => attr?.["error"])).toEqual([
      `DBPathInUse: Unable to create/open the lock file: ${folder}/mongod.lock (Illegal operation on a directory). Ensure the user executing mongod is the owner of the lock file and has the appropriate permissions.`,
    ]);
  });

  it("on a port in use: 48, in MongoDB's words", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const program = start(["--port", String(port), "--dbpath", folder]);
    expect((await program.ended).code).toBe(48);
    expect((await linesUntil(program)).filter(({ s }) => s === "E")).toMatchObject([
      {
        c: "CONTROL",
        id: 20568,
        msg: "Error setting up listener",
        attr: {
          error: {
            code: 9001,
            codeName: "SocketException",
            errmsg: `127.0.0.1:${port} :: caused by :: setup bind :: caused by :: Address already in use`,
          },
        },
      },
    ]);
    expect(readFileSync(path.join(folder, "mongod.lock"), "utf8")).toBe("");
    await new Promise((resolve) => other.close(resolve));
  });

  it("on a log that can't be written: 1", async () => {
    mkdirSync(path.join(folder, "log"));
    const program = start(["--dbpath", folder, "--logpath", path.join(folder, "log")]);
    expect((await program.ended).code).toBe(1);
    expect(await linesUntil(program)).toMatchObject([{ s: "F", id: 20574 }]);
  });
});
