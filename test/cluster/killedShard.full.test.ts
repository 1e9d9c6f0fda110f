/**
 * A shard is killed (engine `process`): what needs it fails at once, with its name and the code of a mongos; what
 * does not need it goes on; and when it is back, everything works.
 *
 * `test.zones` is sharded on `{x: 1}`, below 0 on shardA, from 0 on shardB. `home` has the unsharded collections and
 * lives on shardA, `away` on shardB.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Collection, Db, Document, MongoBulkWriteError } from "mongodb";
import { MongoClient, MongoServerError } from "mongodb";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "../../lib/cluster/index.js";
import { listens, root, startProgram } from "./processes.js";

interface Zone {
  _id: number;
  x: number;
  email?: string;
}

/** What a mongos says of a replica set without a primary. */
const NOBODY_THERE = 'Could not find host matching read preference { mode: "primary" } for set shardB';
/** The promise of this project: a real mongos waits 15 s and longer. */
const WITHIN_MS = 5_000;

let cluster: Cluster;
let client: MongoClient;
let admin: Db;
let zones: Collection<Zone>;

beforeAll(async () => {
  cluster = await Cluster.start({ engine: "process", shards: 2, seed: 7 }, () => undefined);
  // Drivers would send a read a second time: here every failure is to be seen.
  client = await new MongoClient(cluster.info.uri, { retryReads: false, retryWrites: false }).connect();
  admin = client.db("admin");
  zones = client.db("test").collection<Zone>("zones");
  await admin.command({ enableSharding: "home", primaryShard: "shardA" });
  await admin.command({ enableSharding: "away", primaryShard: "shardB" });
  await admin.command({ enableSharding: "test", primaryShard: "shardA" });
  await admin.command({ shardCollection: "test.zones", key: { x: 1 } });
  await admin.command({ split: "test.zones", middle: { x: 0 } });
  await admin.command({ moveChunk: "test.zones", find: { x: 0 }, to: "shardB" });
  await zones.createIndex({ x: 1, email: 1 }, { unique: true, name: "email" });
});
afterAll(async () => {
  await client?.close();
  await cluster?.close();
});

/** `_id` is the position of x among -3 … 2. */
const six = (): Zone[] => [-3, -2, -1, 0, 1, 2].map((x, _id) => ({ _id, x, email: `${x}@example.com` }));

beforeEach(async () => {
  await cluster.restartShard("shardB");
  await zones.deleteMany({});
  await zones.insertMany(six());
});

/** The failure of `work`, which must come in time. */
async function failure(work: () => Promise<unknown>): Promise<MongoServerError> {
  const begun = performance.now();
  const error: unknown = await work().then(
    (result) => expect.fail(`succeeded: ${JSON.stringify(result)}`),
    (reason: unknown) => reason,
  );
  expect(performance.now() - begun).toBeLessThan(WITHIN_MS);
  expect(error).toBeInstanceOf(MongoServerError);
  return error as MongoServerError;
}

const pidOf = async (index: number): Promise<number> => {
  const shard = await new MongoClient(cluster.info.shards[index]!.uri).connect();
  const { pid } = await shard.db("admin").command({ serverStatus: 1 });
  await shard.close();
  return Number(pid);
};

describe("while shardB is gone", () => {
  beforeEach(() => cluster.killShard("shardB"));

  it("what needs it fails with code 133 and its name", async () => {
    const works: Record<string, () => Promise<unknown>> = {
      "count by key": () => zones.countDocuments({ x: 1 }),
      "count of all": () => client.db("test").command({ count: "zones" }),
      distinct: () => zones.distinct("x"),
      aggregate: () => zones.aggregate([{ $group: { _id: null, n: { $sum: 1 } } }]).toArray(),
      findAndModify: () => zones.findOneAndUpdate({ x: 1 }, { $set: { email: "new" } }),
      explain: () => zones.find({ x: 1 }).explain(),
      createIndexes: () => zones.createIndex({ email: 1 }),
      collStats: () => client.db("test").command({ collStats: "zones" }),
      moveChunk: () => admin.command({ moveChunk: "test.zones", find: { x: -1 }, to: "shardB" }),
      "an unsharded collection": () => client.db("away").collection("c").countDocuments(),
      listCollections: () => client.db("away").listCollections().toArray(),
    };
    for (const [name, work] of Object.entries(works)) {
      const error = await failure(work);
      expect([name, error.code, error.codeName]).toEqual([name, 133, "FailedToSatisfyReadPreference"]);
      expect(error.message, name).toContain(NOBODY_THERE);
    }
  });

  it("a find says it in the words of a mongos", async () => {
    for (const filter of [{ x: 1 }, {}]) {
      const error = await failure(() => zones.find(filter).toArray());
      expect(error.message).toBe(
        `Encountered non-retryable error during query :: caused by :: ${NOBODY_THERE}`,
      );
    }
  });

  it("of a batch, only the writes that need it fail", async () => {
    const documents = [
      { _id: 10, x: -10 },
      { _id: 11, x: 10 },
      { _id: 12, x: -11 },
      { _id: 13, x: 11 },
    ];
    const unordered = (await failure(() =>
      zones.insertMany(documents, { ordered: false }),
    )) as MongoBulkWriteError;
    expect(unordered.insertedCount).toBe(2);
    const errors = [unordered.writeErrors].flat();
    expect(errors.map(({ index, code }) => [index, code])).toEqual([
      [1, 133],
      [3, 133],
    ]);
    expect(errors[0]!.errmsg).toBe(
      `Write results unavailable from failing to target a host in the shard shardB :: caused by :: ${NOBODY_THERE}`,
    );
    const ordered = (await failure(() =>
      zones.insertMany([
        { _id: 20, x: -20 },
        { _id: 21, x: 20 },
        { _id: 22, x: -21 },
      ]),
    )) as MongoBulkWriteError;
    expect([ordered.insertedCount, [ordered.writeErrors].flat()[0]?.index]).toEqual([1, 1]);
    expect(
      await zones.find({ x: { $lt: -9 } }, { projection: { _id: 1 }, sort: { _id: 1 } }).toArray(),
    ).toEqual([{ _id: 10 }, { _id: 12 }, { _id: 20 }]);
  });

  it("updates and deletes say what has happened elsewhere", async () => {
    const reply = await client.db("test").command({
      update: "zones",
      updates: [{ q: {}, u: { $set: { seen: true } }, multi: true }],
    });
    expect(reply).toMatchObject({ n: 3, nModified: 3, writeErrors: [{ index: 0, code: 133 }] });
    expect((await failure(() => zones.updateOne({ x: 1 }, { $set: { seen: 1 } }))).code).toBe(133);
    expect((await failure(() => zones.deleteMany({ x: { $gte: 0 } }))).code).toBe(133);
  });

  it("what does not need it goes on, at once", async () => {
    const begun = performance.now();
    expect(
      await zones
        .find({ x: { $lte: -1 } })
        .sort({ x: 1 })
        .toArray(),
    ).toEqual(six().slice(0, 3));
    expect((await zones.insertOne({ _id: 30, x: -30 })).acknowledged).toBe(true);
    expect((await zones.updateMany({ x: -1 }, { $set: { email: "x" } })).modifiedCount).toBe(1);
    expect((await zones.deleteOne({ x: -30 })).deletedCount).toBe(1);
    const books = client.db("home").collection("books");
    await books.insertOne({ title: "Emma" });
    expect(await books.countDocuments({ title: "Emma" })).toBe(1);
    await books.deleteMany({});
    expect(await client.db("config").collection("shards").countDocuments()).toBe(2);
    expect(await admin.command({ listShards: 1 })).toMatchObject({ ok: 1 });
    expect(performance.now() - begun).toBeLessThan(WITHIN_MS);
  });

  it("allowPartialResults gets what there is, and is told that it is not all", async () => {
    const reply = await client
      .db("test")
      .command({ find: "zones", sort: { x: 1 }, allowPartialResults: true });
    expect(reply).toMatchObject({ cursor: { firstBatch: six().slice(0, 3), partialResultsReturned: true } });
    expect((await failure(() => zones.find({}, { sort: { x: 1 } }).toArray())).code).toBe(133);
  });

  it("twenty that need it and twenty that do not do not wait for each other", async () => {
    const begun = performance.now();
    const all = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) => zones.findOne({ x: n % 2 === 0 ? -1 : 1 })),
    );
    expect(all.map(({ status }) => status)).toEqual(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? "fulfilled" : "rejected")),
    );
    expect(performance.now() - begun).toBeLessThan(WITHIN_MS);
  });
});

describe("when shardB dies under an operation", () => {
  it.each([{}, { x: { $gte: 0 } }])(
    "a cursor over %j that still needs it fails, with its name",
    async (filter) => {
      await zones.insertMany(
        Array.from({ length: 2_000 }, (_, n) => ({ _id: 100 + n, x: n, email: `${n}` })),
      );
      const cursor = zones.find(filter, { batchSize: 5 });
      await cursor.next();
      await cluster.killShard("shardB");
      const error = await failure(() => cursor.toArray());
      expect(error.code).toBe(133);
      expect(error.message).toContain("shardB");
    },
  );

  it("writes that were on their way are told apart from those that were never sent", async () => {
    const pid = await pidOf(1);
    process.kill(pid, "SIGSTOP"); // so that they are on their way when it dies
    const documents = [
      { _id: 40, x: -40 },
      { _id: 41, x: 40 },
    ];
    const writes = failure(() => zones.insertMany(documents, { ordered: false }));
    const read = failure(() => zones.findOne({ x: 1 }));
    await zones.findOne({ x: -1 }); // meanwhile the others go on
    await new Promise((resolve) => setTimeout(resolve, 100));
    await cluster.killShard("shardB");
    const error = (await writes) as MongoBulkWriteError;
    expect(error.insertedCount).toBe(1);
    // Whether it has happened nobody knows; a read is simply sent again, to nobody.
    expect([error.writeErrors].flat()).toMatchObject([
      { index: 1, code: 6, errmsg: expect.stringContaining("shardB") as string },
    ]);
    expect((await read).code).toBe(133);
  });
});

describe("when shardB hangs", () => {
  it("maxTimeMS is kept all the same, and the rest goes on", async () => {
    const pid = await pidOf(1);
    process.kill(pid, "SIGSTOP");
    try {
      const begun = performance.now();
      const slow = failure(() => zones.findOne({ x: 1 }, { maxTimeMS: 300 }));
      expect(await zones.findOne({ x: -1 })).toMatchObject({ x: -1 });
      expect(await slow).toMatchObject({ code: 50, codeName: "MaxTimeMSExpired" });
      expect(performance.now() - begun).toBeGreaterThan(290);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    expect(await zones.findOne({ x: 1 })).toMatchObject({ _id: 4 });
  });
});

describe("after its restart", () => {
  beforeEach(async () => {
    await client
      .db("away")
      .collection("c")
      .replaceOne({ _id: 1 as never }, { lost: false }, { upsert: true });
    await cluster.killShard("shardB");
    await cluster.restartShard("shardB");
  });

  it("it has its documents, and takes part again", async () => {
    expect(await zones.find().sort({ x: 1 }).toArray()).toEqual(six());
    expect(await client.db("away").collection("c").countDocuments({ lost: false })).toBe(1);
    expect((await zones.updateMany({}, { $set: { back: true } })).modifiedCount).toBe(6);
    expect(await zones.distinct("x", { x: { $gte: 0 } })).toEqual([0, 1, 2]);
    await client.db("away").collection("c").insertOne({ lost: false });
    expect(await client.db("away").collection("c").countDocuments()).toBe(2);
    await client.db("away").collection("c").deleteMany({});
  });

  it("sharded collections have their indexes there", async () => {
    const direct = await new MongoClient(cluster.info.shards[1]!.uri).connect();
    const indexes: Document[] = await direct.db("test").collection("zones").indexes();
    await direct.close();
    expect(indexes.map(({ name, unique }) => [name as string, unique as boolean | undefined])).toEqual([
      ["_id_", undefined],
      ["x_1", undefined],
      ["email", true],
    ]);
    await zones.insertOne({ _id: 50, x: 5, email: "a" });
    expect((await failure(() => zones.insertOne({ _id: 51, x: 5, email: "a" }))).code).toBe(11000);
    const plan = (await zones.find({ x: 5 }).explain("queryPlanner")) as Document;
    expect(plan["queryPlanner"]).toMatchObject({
      winningPlan: { stage: "SINGLE_SHARD", shards: [{ shardName: "shardB" }] },
    });
    expect(JSON.stringify(plan)).toContain("IXSCAN");
  });

  it("chunks can be moved, indexes made and collections dropped", async () => {
    await admin.command({ moveChunk: "test.zones", find: { x: 0 }, to: "shardA" });
    expect(await zones.countDocuments()).toBe(6);
    await admin.command({ moveChunk: "test.zones", find: { x: 0 }, to: "shardB" });
    expect(await zones.countDocuments()).toBe(6);
    await zones.createIndex({ email: 1 });
    await zones.dropIndex("email_1");
    await admin.command({ shardCollection: "test.more", key: { k: "hashed" } });
    const more = client.db("test").collection("more");
    await more.insertMany(Array.from({ length: 20 }, (_, k) => ({ k })));
    expect(await more.countDocuments()).toBe(20);
    expect(await more.drop()).toBe(true);
  });
});

it("whoever starts it again, the router notices by itself", async () => {
  await cluster.killShard("shardB");
  // By hand, past the cluster: it is the program of a shard, on the shard's port.
  const { port } = new URL(cluster.info.shards[1]!.uri);
  const folder = mkdtempSync(path.join(tmpdir(), "shardlab-by-hand-"));
  const program = startProgram(
    path.join(root, "lib/bin/mongod"),
    ["--port", port, "--dbpath", folder, "--replSet", "shardB"],
    { SHARDLAB_NODE: process.execPath },
  );
  try {
    await expect.poll(() => listens(cluster.info.shards[1]!.uri), { timeout: 20_000 }).toBe(true);
    const direct = await new MongoClient(cluster.info.shards[1]!.uri).connect();
    const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
    await direct.db("admin").command({ replSetInitiate: { _id: "shardB", members } });
    await zones.insertOne({ _id: 60, x: 6, email: "b" });
    expect((await failure(() => zones.insertOne({ _id: 61, x: 6, email: "b" }))).code).toBe(11000);
    await direct.close();
  } finally {
    program.child.kill("SIGKILL");
    await program.ended;
    rmSync(folder, { recursive: true, force: true });
  }
});
