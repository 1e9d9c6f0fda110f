/**
 * What MongoDB Compass sends to a router when it connects, lists databases and collections, opens a sharded collection
 * and shows what the server does; through the driver that Compass is built on. None of it may fail but what fails on
 * a mongos too, which Compass expects.
 */
import type { Db, Document } from "mongodb";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../../lib/cluster/index.js";

describe("Compass on a sharded cluster", () => {
  let cluster: Cluster;
  let client: MongoClient;
  let admin: Db;
  let library: Db;
  beforeAll(async () => {
    cluster = await Cluster.start({ shards: 2 });
    client = await new MongoClient(cluster.info.uri, { appName: "MongoDB Compass" }).connect();
    admin = client.db("admin");
    library = client.db("library");
    await admin.command({ shardCollection: "library.loans", key: { memberId: "hashed" } });
    await library
      .collection("loans")
      .insertMany(Array.from({ length: 50 }, (_, n) => ({ n, memberId: n % 7 })));
    await library.collection("loans").createIndex({ n: 1 });
  });
  afterAll(async () => {
    await client?.close();
    await cluster?.close();
  });

  it("connects: who am I, what is this", async () => {
    expect((await admin.command({ connectionStatus: 1, showPrivileges: true }))["authInfo"]).toEqual({
      authenticatedUsers: [],
      authenticatedUserRoles: [],
      authenticatedUserPrivileges: [],
    });
    const host = await admin.command({ hostInfo: 1 });
    expect(host).toMatchObject({
      system: { hostname: expect.any(String) as string, numCores: expect.any(Number) as number },
      os: { type: expect.any(String) as string, name: expect.any(String) as string },
    });
    const build = await admin.command({ buildInfo: 1 });
    expect(build["version"]).toMatch(/^8\./);
    expect(String(build["modules"])).toBe("shardlab simulated mongos");
    expect(await admin.command({ hello: 1 })).toMatchObject({ msg: "isdbgrid", isWritablePrimary: true });
    await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 });
    expect(await admin.command({ getCmdLineOpts: 1 })).toMatchObject({ argv: ["mongos"] });
    await expect(admin.command({ atlasVersion: 1 })).rejects.toMatchObject({ code: 59 });
  });

  it("lists databases and collections with their figures", async () => {
    const { databases } = await admin.command({ listDatabases: 1, nameOnly: true });
    expect((databases as { name: string }[]).map(({ name }) => name)).toContain("library");
    expect(await library.command({ dbStats: 1 })).toMatchObject({ db: "library", objects: 50 });
    expect(await library.listCollections({}, { nameOnly: false }).toArray()).toMatchObject([
      { name: "loans", type: "collection", info: { readOnly: false } },
    ]);
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
    expect(stats).toMatchObject({ capped: false, count: 50, nindexes: 3 });
    expect(stats?.["size"]).toBe(stats?.["unscaledCollSize"]);
  });

  it("opens a sharded collection: its key, documents, count, schema, indexes", async () => {
    const loans = library.collection("loans");
    expect(
      await client
        .db("config")
        .collection("collections")
        .findOne({ _id: "library.loans" as never }, { projection: { key: 1 } }),
    ).toEqual({ _id: "library.loans", key: { memberId: "hashed" } });
    expect(await loans.find({}, { limit: 20, skip: 20, sort: {} }).toArray()).toHaveLength(20);
    expect(await loans.countDocuments({}, { hint: "_id_", maxTimeMS: 5_000 })).toBe(50);
    expect((await library.command({ count: "loans", query: {} }))["n"]).toBe(50);
    expect(
      await loans.aggregate([{ $match: {} }, { $sample: { size: 10 } }], { allowDiskUse: true }).toArray(),
    ).toHaveLength(10);
    expect((await loans.indexes()).map(({ name }) => name).sort()).toEqual([
      "_id_",
      "memberId_hashed",
      "n_1",
    ]);
    // One row for each index on each shard.
    const usage = await loans.aggregate<Document>([{ $indexStats: {} }]).toArray();
    expect(usage.map(({ name, shard }) => `${shard}.${name}`).sort()).toEqual(
      ["shardA", "shardB"].flatMap((shard) =>
        ["_id_", "memberId_hashed", "n_1"].map((name) => `${shard}.${name}`),
      ),
    );
  });

  it("explains", async () => {
    const explained = await library.collection("loans").find({ memberId: 3 }).explain("allPlansExecution");
    expect(explained).toMatchObject({
      queryPlanner: { winningPlan: { stage: "SINGLE_SHARD" } },
      executionStats: { nReturned: 7, executionStages: { stage: "SINGLE_SHARD" } },
    });
  });

  it("shows what the router does", async () => {
    expect(await admin.command({ serverStatus: 1 })).toMatchObject({
      process: "mongos",
      connections: { current: expect.any(Number) as number },
      opcounters: { insert: 50 },
      network: { bytesIn: expect.any(Number) as number },
      mem: { resident: expect.any(Number) as number },
    });
    // A mongos has no `top`; Compass says that it is not to be had there.
    await expect(admin.command({ top: 1 })).rejects.toMatchObject({ code: 59 });
    const { inprog } = await admin.command({ currentOp: 1 });
    expect((inprog as Document[]).map(({ shard }) => shard as string)).toEqual(["shardA", "shardB"]);
  });

  it("asks for the operations going on as an aggregation", async () => {
    const running = await admin
      .aggregate([{ $currentOp: { allUsers: true, idleConnections: false } }])
      .toArray();
    expect(running.map(({ shard }) => shard as string).sort()).toEqual(["shardA", "shardB"]);
  });
});
