/**
 * mongosh: a script of what students type, the words of its prompt, the helpers of a replica set, and those of a
 * sharded cluster against `shardlab cluster`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProgram } from "../cluster/processes.js";
import { describeWith, mongosh } from "./programs.js";
import { shell } from "./shell.js";
import type { RunningServer } from "./servers.js";
import { mongodProgram, portOf, servers, startRouter } from "./servers.js";

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
      if (server.replSet === undefined) expect(stdout).toContain("kept in memory, and in a journal");
      expect(stdout).toMatch(/library\s+\d+\.\d+ KiB/);
      expect(stdout).toContain("switched to db library");
      expect(stdout.match(/> loans$/gm)?.length).toBe(2);
      expect(stdout).toContain("memberId: 7");
      expect(stdout).not.toMatch(/MongoServerError|Uncaught/);
    });
  });

  describe("on `shardlab cluster`", () => {
    let router: RunningServer;
    beforeAll(async () => {
      router = await startRouter();
    });
    afterAll(() => router?.close());

    it("gets a mongos's answers to what a student types", async () => {
      const script = fileURLToPath(new URL("cluster.mongosh.js", import.meta.url));
      const { stdout, stderr, code } = await shell(["--quiet", router.uri, "--file", script]);
      expect([code, stderr]).toEqual([0, ""]);
      const seen: unknown = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      const both = ["shardA", "shardB"];
      expect(seen).toEqual({
        enableSharding: 1,
        shardCollection: "library.loans",
        splitAt: 1,
        moveChunk: 1,
        again: 23,
        balancer: [true, "full"],
        stopped: [false, "off"],
        insertMany: 100, // memberId 0 … 99, days is its last digit; below 50 on shardA
        find: [
          { _id: 51, days: 1 },
          { _id: 50, days: 0 },
          { _id: 49, days: 9 },
          { _id: 48, days: 8 },
        ],
        skipLimit: [0, 91, 81], // by days, then _id from above: 90, 80, … 0, 91, 81, …
        count: [10, 100],
        distinct: [0, 1, 2],
        updateOne: 1,
        updateMany: 10,
        upsert: 500,
        findAndModify: { _id: 500, memberId: 500, days: 5 },
        moved: 1, // from memberId 7 to 77: to the other shard
        deleted: [1, 10],
        bulkWrite: [1, 1, 1],
        aggregate: [
          { _id: 0, n: 10, top: 90 },
          { _id: 1, n: 10, top: 91 },
          { _id: 2, n: 10, top: 92 },
        ],
        indexes: ["days_1", ["_id_", "memberId_1", "days_1"]],
        unique: 67,
        explainKey: ["SINGLE_SHARD", ["shardA"], "FETCH"],
        explainRange: ["SINGLE_SHARD", ["shardB"], "FETCH"],
        explainOther: ["SHARD_MERGE", both, expect.any(String)],
        explainSort: ["SHARD_MERGE_SORT", both, expect.any(String)],
        explainStats: [10, 10, 10],
        explainUpdate: ["SHARD_WRITE", ["shardA"], "UPDATE"],
        explainCount: ["SINGLE_SHARD", ["shardA"], "COUNT"],
        explainAggregate: both,
        // 100 without the ten of days 8, five on each shard, and with one that went from A to B.
        distribution: [
          ["Shard shardA", 44, 1],
          ["Shard shardB", 46, 1],
        ],
        totals: [90, 2],
        data: [
          [
            "library.loans",
            [
              ["shardA", 44, 0],
              ["shardB", 46, 0],
            ],
          ],
        ],
        collStats: [true, 90, 3, both],
        dbStats: ["library", 90, 2, 1],
        statusKeys: [
          "shardingVersion",
          "shards",
          "active mongoses",
          "autosplit",
          "balancer",
          "shardedDataDistribution",
          "databases",
        ],
        shards: [
          ["shardA", 1],
          ["shardB", 1],
        ],
        mongoses: [true],
        statusLibrary: [
          "shardA",
          [
            { shard: "shardA", nChunks: 1 },
            { shard: "shardB", nChunks: 1 },
          ],
        ],
        statusChunks: [
          [{ $minKey: 1 }, 50, "shardA"],
          [50, { $maxKey: 1 }, "shardB"],
        ],
        config: [2, { memberId: 1 }, true],
        listShards: both,
        isdbgrid: ["isdbgrid", 1],
        serverStatus: ["mongos", true, true, true],
        hostInfo: true,
        currentOp: true,
        killOp: "shardA",
        shardMap: ["config", ...both],
        profiling: 2,
        fsync: [1, 1],
        commands: true,
        errors: [59, 61],
        unsharded: ["SINGLE_SHARD", "shardA", [{ _id: 1, title: "Emma" }]],
        collections: ["books", "loans"],
        drop: [true, true, true], // the last of one that is gone: ok since 7.0
        dropDatabase: 1,
        databases: expect.not.arrayContaining(["library"]),
      });
    });

    it("shows databases, collections and the cluster at its prompt", async () => {
      const { stdout, code } = await shell(
        [router.uri],
        [
          "use clinic",
          'sh.shardCollection("clinic.visits", { patient: "hashed" })',
          "db.visits.insertMany([...Array(200).keys()].map((patient) => ({ patient })))",
          "show dbs",
          "show collections",
          "db.visits.getShardDistribution()",
          "sh.status()",
          "exit",
          "",
        ].join("\n"),
      );
      expect(code).toBe(0);
      expect(stdout).toContain("[direct: mongos] clinic>");
      expect(stdout).toMatch(/Using MongoDB:\s+8\.\d+\.\d+-shardlab/);
      expect(stdout).toMatch(/clinic\s+\d+\.\d+ KiB/);
      expect(stdout).toMatch(/> visits$/m);
      expect(stdout).toContain("collectionsharded: 'clinic.visits'");
      for (const shard of ["shardA", "shardB"])
        expect(stdout).toMatch(new RegExp(`Shard ${shard} at ${shard}/127`));
      expect(stdout).toMatch(/Totals\n\{\s+data: '[\d.]+KiB',\s+docs: 200,\s+chunks: 2/);
      expect(stdout).toContain("shardKey: { patient: 'hashed' }");
      expect(stdout).toMatch(/\{ shard: 'shardA', nChunks: 1 \}/);
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
