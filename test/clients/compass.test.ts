/**
 * What MongoDB Compass sends when it connects and opens a database and a collection, through the driver that
 * Compass is built on. The commands are those it was seen to send; where an error would show as a broken page,
 * none may come.
 */
import type { Db, Document } from "mongodb";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "./servers.js";
import { servers } from "./servers.js";

describe.each(Object.keys(servers))("Compass on %s", (name) => {
  let server: RunningServer;
  let client: MongoClient;
  let admin: Db;
  let library: Db;
  beforeAll(async () => {
    server = await servers[name]!();
    client = await new MongoClient(server.uri, {
      appName: "MongoDB Compass",
      serverSelectionTimeoutMS: 5_000,
    }).connect();
    admin = client.db("admin");
    library = client.db("library");
    await library
      .collection("loans")
      .insertMany(Array.from({ length: 50 }, (_, n) => ({ n, memberId: n % 7 })));
    await library.collection("loans").createIndex({ memberId: 1 });
  });
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  it("connects: who am I, what is this", async () => {
    const status = await admin.command({ connectionStatus: 1, showPrivileges: true });
    expect(status["authInfo"]).toEqual({
      authenticatedUsers: [],
      authenticatedUserRoles: [],
      authenticatedUserPrivileges: [],
    });
    const host = await admin.command({ hostInfo: 1 });
    expect(host["system"]).toMatchObject({
      hostname: expect.any(String) as string,
      numCores: expect.any(Number) as number,
    });
    expect(host["os"]).toBeDefined();
    const build = await admin.command({ buildInfo: 1 });
    expect(build["version"]).toMatch(/^8\./);
    expect(String(build["modules"])).toMatch(/Shardlab/);
    expect(await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 })).toMatchObject({
      featureCompatibilityVersion: { version: expect.stringMatching(/^8\./) as string },
    });
    await admin.command({ getCmdLineOpts: 1 });
    await expect(admin.command({ atlasVersion: 1 })).rejects.toMatchObject({ code: 59 });
  });

  it("lists databases with their figures", async () => {
    const { databases } = (await admin.command({ listDatabases: 1, nameOnly: true })) as unknown as {
      databases: { name: string }[];
    };
    expect(databases.map((database) => database.name)).toContain("library");
    expect(await library.command({ dbStats: 1 })).toMatchObject({
      db: "library",
      collections: 1,
      objects: 50,
      indexes: 2,
    });
  });

  it("lists collections with their figures", async () => {
    const listed = await library.listCollections({}, { nameOnly: false }).toArray();
    expect(listed).toMatchObject([{ name: "loans", type: "collection", info: { readOnly: false } }]);
    const [stats] = await library
      .collection("loans")
      .aggregate([
        { $collStats: { storageStats: {} } },
        {
          $group: {
            _id: null,
            capped: { $first: "$storageStats.capped" },
            count: { $sum: "$storageStats.count" },
            size: { $sum: { $toDouble: "$storageStats.size" } },
            storageSize: { $sum: { $add: [{ $toDouble: "$storageStats.storageSize" }] } },
            totalIndexSize: { $sum: { $toDouble: "$storageStats.totalIndexSize" } },
            freeStorageSize: { $sum: { $toDouble: "$storageStats.freeStorageSize" } },
            nindexes: { $max: "$storageStats.nindexes" },
          },
        },
        {
          $addFields: {
            unscaledCollSize: {
              $multiply: [
                { $cond: [{ $ne: ["$count", 0] }, { $divide: ["$size", "$count"] }, 0] },
                { $toDouble: "$count" },
              ],
            },
          },
        },
      ])
      .toArray();
    expect(stats).toMatchObject({ capped: false, count: 50, nindexes: 2 });
    expect(stats?.["size"]).toBe(stats?.["unscaledCollSize"]);
  });

  it("opens a collection: documents, count, schema, indexes", async () => {
    const loans = library.collection("loans");
    expect(await loans.find({}, { limit: 20, skip: 20, sort: {} }).toArray()).toHaveLength(20);
    expect(await loans.countDocuments({}, { hint: "_id_", maxTimeMS: 5_000 })).toBe(50);
    expect((await library.command({ count: "loans", query: {} }))["n"]).toBe(50);
    expect(
      await loans.aggregate([{ $match: {} }, { $sample: { size: 10 } }], { allowDiskUse: true }).toArray(),
    ).toHaveLength(10);
    expect((await loans.indexes()).map((index) => index.name)).toEqual(["_id_", "memberId_1"]);
    const usage = await loans.aggregate<Document>([{ $indexStats: {} }]).toArray();
    expect(usage.map((index) => index["name"] as string).sort()).toEqual(["_id_", "memberId_1"]);
    expect(usage[0]).toMatchObject({
      accesses: { since: expect.any(Date) as Date },
      host: expect.any(String) as string,
    });
  });

  it("explains", async () => {
    const plan = (await library
      .collection("loans")
      .find({ memberId: 3 })
      .explain("allPlansExecution")) as Document;
    expect(plan).toMatchObject({
      queryPlanner: { winningPlan: { stage: "FETCH", inputStage: { stage: "IXSCAN" } } },
      executionStats: { executionSuccess: true, nReturned: 7, allPlansExecution: [] },
    });
  });

  it("shows what the server does", async () => {
    expect(await admin.command({ serverStatus: 1 })).toMatchObject({
      connections: { current: expect.any(Number) as number },
      opcounters: { insert: expect.any(Number) as number },
      network: expect.any(Object) as object,
      mem: expect.any(Object) as object,
    });
    expect(await admin.command({ top: 1 })).toMatchObject({ totals: expect.any(Object) as object });
    const running = await admin
      .aggregate([{ $currentOp: { allUsers: true, idleConnections: false } }])
      .toArray();
    expect(running.some((op) => (op["command"] as Document | undefined)?.["aggregate"] === 1)).toBe(true);
    expect((await admin.command({ currentOp: 1 }))["inprog"]).toBeInstanceOf(Array);
  });

  it("looks for shards where there are none", async () => {
    expect(
      await client
        .db("config")
        .collection("collections")
        .find({ _id: "library.loans" as never }, { projection: { key: 1 } })
        .toArray(),
    ).toEqual([]);
  });
});
