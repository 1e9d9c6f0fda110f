/** mongosh: a script of what students type, the words of its prompt, and the helpers of a replica set. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProgram } from "../cluster/processes.js";
import { describeWith, mongosh } from "./programs.js";
import type { RunningServer } from "./servers.js";
import { mongodProgram, portOf, servers } from "./servers.js";

let home: string;
beforeAll(() => (home = mkdtempSync(path.join(tmpdir(), "shardlab-mongosh-"))));
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs mongosh with nobody's settings, and what is typed into it. */
async function shell(args: string[], typed = ""): Promise<Ended> {
  const child = spawn(process.execPath, [mongosh.path, "--norc", ...args], {
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      MONGOSH_FORCE_DISABLE_TELEMETRY_FOR_TESTING: "1",
      NO_COLOR: "1",
    },
    stdio: "pipe",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.end(typed);
  const [code] = (await once(child, "close")) as [number];
  return { code, stdout, stderr };
}

describeWith(mongosh, "mongosh", () => {
  describe.each(Object.keys(servers))("on %s", (name) => {
    let server: RunningServer;
    beforeAll(async () => {
      server = await servers[name]!();
    });
    afterAll(() => server?.close());

    it("gets MongoDB's answers to what a student types", async () => {
      const script = fileURLToPath(new URL("crud.mongosh.js", import.meta.url));
      const { stdout, stderr, code } = await shell(["--quiet", server.uri, "--file", script]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
        insert: true,
        find: [
          { _id: 1, name: "rose" },
          { _id: 4, name: "lily" },
          { _id: 3, name: "iris" },
        ],
        findOne: "iris",
        countDocuments: 1,
        estimated: 4,
        distinct: ["red", "white", "blue"],
        update: 2,
        upsert: 1,
        findAndModify: { _id: 9, name: "moss", height: 2 },
        findOneAndDelete: "moss",
        bulkWrite: [1, 1, 1],
        getIndexes: [
          { v: 2, key: { _id: 1 }, name: "_id_" },
          { v: 2, key: { height: 1 }, name: "height_1" },
          { v: 2, key: { name: 1 }, name: "byName", unique: true },
          {
            v: 2,
            key: { colours: 1, height: -1 },
            name: "colours_1_height_-1",
            partialFilterExpression: { height: { $gt: 10 } },
          },
          { v: 2, key: { dies: 1 }, name: "dies_1", expireAfterSeconds: 5 },
          { v: 2, key: { name: "hashed" }, name: "name_hashed", hidden: true },
        ],
        unique: 11000,
        hidden: "COLLSCAN",
        explainFind: ["FETCH", "IXSCAN", { height: ["(60, 100]"] }],
        explainStats: [3, 3, 3],
        explainAggregate: ["EXPRESS_IXSCAN", "byName"],
        explainUpdate: "UPDATE",
        notWritten: 0,
        explainRemove: "DELETE",
        explainCount: "COUNT",
        aggregate: [
          { _id: "blue", tallest: 81 },
          { _id: "none", tallest: 100 },
          { _id: "red", tallest: 120 },
          { _id: "white", tallest: 120 },
        ],
        merge: 2,
        view: ["rose", "lily"],
        validator: 121,
        collMod: 1,
        capped: [true, [{ n: 2 }, { n: 3 }]],
        rename: 1,
        infos: { viewOn: "plants", pipeline: [{ $match: { height: { $gte: 100 } } }] },
        collections: ["dimensions", "log", "plants", "strict", "system.views", "tall"],
        dbStats: ["garden", 1, 1],
        collStats: [
          "garden.plants",
          4,
          5,
          false,
          ["_id_", "byName", "colours_1_height_-1", "dies_1", "height_1"],
        ],
        sizes: [true, true, true],
        validate: true,
        isWritablePrimary: true,
        version: true,
        buildInfo: "Shardlab embedded engine (simulates mongod in memory)",
        serverStatus: ["mongod", "number", true, 1],
        currentOp: 1,
        adminCommand: 1,
        getParameter: 60,
        listCommands: true,
        hostInfo: "number",
        cmdLine: 1,
        errors: [2, 11000, 59, 238],
        drop: [true, true],
        dropDatabase: 1,
      });
    });

    it("shows databases, collections and warnings at its prompt", async () => {
      const { stdout, code } = await shell(
        [server.uri],
        [
          "use library",
          "db.loans.insertOne({ memberId: 7 })",
          "show dbs",
          "show collections",
          "show tables",
          "db.loans.find()",
          "it",
          "exit",
          "",
        ].join("\n"),
      );
      expect(code).toBe(0);
      expect(stdout).toMatch(/Using MongoDB:\s+8\.\d+\.\d+-shardlab/);
      if (server.replSet === undefined) expect(stdout).toContain("kept in memory only");
      expect(stdout).toMatch(/library\s+\d+\.\d+ KiB/);
      expect(stdout).toContain("switched to db library");
      expect(stdout.match(/> loans$/gm)?.length).toBe(2);
      expect(stdout).toContain("memberId: 7");
      expect(stdout).not.toMatch(/MongoServerError|Uncaught/);
    });
  });

  it("makes a replica set of a fresh mongod, and tells of it", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "shardlab-rs-"));
    const program = startProgram(mongodProgram, ["--port", "0", "--dbpath", folder, "--replSet", "rs0"], {
      SHARDLAB_NODE: process.execPath,
    });
    try {
      const port = await portOf(program);
      const script = `
        const before = db.hello();
        const refused = (() => { try { db.t.insertOne({}); } catch (error) { return error.codeName; } })();
        const status = (() => { try { rs.status(); } catch (error) { return error.codeName; } })();
        const initiate = rs.initiate({ _id: "rs0", members: [{ _id: 0, host: "127.0.0.1:${port}" }] });
        const again = (() => { try { rs.initiate(); } catch (error) { return error.codeName; } })();
        const conf = rs.conf();
        print(EJSON.stringify({
          before: [before.isWritablePrimary, before.secondary, before.setName],
          refused, status, again, initiate: initiate.ok,
          after: db.hello().isWritablePrimary, write: db.t.insertOne({ _id: 1 }).acknowledged,
          set: rs.status().set, state: rs.status().members.map((m) => [m.stateStr, m.self]),
          conf: [conf._id, conf.version, conf.members[0].host, conf.members[0].priority],
          lag: typeof rs.printSecondaryReplicationInfo,
        }));`;
      const { stdout, stderr } = await shell([
        "--quiet",
        `mongodb://127.0.0.1:${port}/?directConnection=true`,
        "--eval",
        script,
      ]);
      expect(stderr).toBe("");
      expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
        before: [false, false, null],
        refused: "NotWritablePrimary",
        status: "NotYetInitialized",
        again: "AlreadyInitialized",
        initiate: 1,
        after: true,
        write: true,
        set: "rs0",
        state: [["PRIMARY", true]],
        conf: ["rs0", 1, `127.0.0.1:${port}`, 1],
        lag: "function",
      });
      // And a driver's way: by the set's name.
      const set = await shell([
        "--quiet",
        `mongodb://127.0.0.1:${port}/?replicaSet=rs0`,
        "--eval",
        "db.t.countDocuments()",
      ]);
      expect(set.stdout.trim()).toBe("1");
    } finally {
      program.child.kill("SIGTERM");
      await program.ended;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
