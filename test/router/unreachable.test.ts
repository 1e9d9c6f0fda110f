/** A shard that does not answer, and one that comes back empty: what the router says and does, without processes. */
import { Mongod } from "shardlab/mongod";
import { EndpointUnreachableError } from "shardlab/protocol";
import { beforeEach, expect, test } from "vitest";
import type { Doc, TestCluster, Watched } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

let cluster: TestCluster;
let shardB: Watched;
beforeEach(async () => {
  cluster = await startCluster();
  shardB = cluster.shards.get("shardB")!;
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 0 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 0 }, to: "shardB" });
  await cluster.ok("test", {
    createIndexes: "c",
    indexes: [{ key: { x: 1, y: 1 }, name: "xy", unique: true }],
  });
  await cluster.ok("test", {
    insert: "c",
    documents: [
      { _id: 1, x: -1 },
      { _id: 2, x: 1 },
    ],
  });
  shardB.asked.length = 0;
});

/** Fails the next so many commands as a connection that breaks does, or one that never was. */
function fail(times: number, mayHaveRun: boolean): void {
  shardB.failWhen = () =>
    times-- > 0 ? new EndpointUnreachableError("127.0.0.1:27019", "gone", mayHaveRun) : undefined;
}

test("a read whose connection breaks is sent again, three times at most", async () => {
  for (const [breaks, outcome] of [
    [2, { n: 2, ok: 1 }],
    [3, { ok: 0, code: 6 }],
  ] as [number, Doc][]) {
    shardB.asked.length = 0;
    fail(breaks, true);
    expect(await cluster.run("test", { count: "c" })).toMatchObject(outcome);
    expect(shardB.asked).toEqual(["count", "count", "count"]);
  }
});

test("a write is sent once: it may have happened", async () => {
  fail(1, true);
  const { writeErrors } = await cluster.ok("test", { insert: "c", documents: [{ x: 5 }] });
  expect(writeErrors).toMatchObject([
    {
      index: 0,
      code: 6,
      errmsg: expect.stringMatching(/^Write results unavailable from shard shardB/) as string,
    },
  ]);
  expect(shardB.asked).toEqual(["insert"]);
  shardB.asked.length = 0;
  fail(1, true);
  const modify = { findAndModify: "c", query: { x: 1 }, update: { $set: { y: 2 } } };
  expect(await cluster.run("test", modify)).toMatchObject({ ok: 0, code: 6, codeName: "HostUnreachable" });
  expect(shardB.asked).toEqual(["findAndModify"]);
  // An aggregation that writes is a write.
  await cluster.admin({ enableSharding: "away", primaryShard: "shardB" });
  await cluster.ok("away", { insert: "c", documents: [{ x: 1 }] });
  shardB.asked.length = 0;
  shardB.failWhen = (name) => (name === "aggregate" ? new EndpointUnreachableError("gone") : undefined);
  const out = { aggregate: "c", pipeline: [{ $out: "o" }], cursor: {} };
  expect(await cluster.run("away", out)).toMatchObject({ ok: 0, code: 6 });
  expect(shardB.asked.filter((name) => name === "aggregate")).toEqual(["aggregate"]);
});

test("a shard that is not there is asked once, and named", async () => {
  fail(1, false);
  expect(await cluster.run("test", { find: "c", filter: { x: 1 } })).toMatchObject({
    ok: 0,
    code: 133,
    codeName: "FailedToSatisfyReadPreference",
    errmsg:
      "Encountered non-retryable error during query :: caused by :: " +
      'Could not find host matching read preference { mode: "primary" } for set shardB',
  });
  expect(shardB.asked).toEqual(["find"]);
});

/** The server behind shardB is another one, and empty. */
function startAnew(shard = "shardB"): void {
  const environment = { now: Date.now, random: Math.random };
  const watched = cluster.shards.get(shard)!;
  watched.inner = new Mongod({ environment, host: "127.0.0.1:27019", replSet: shard });
  watched.breaks += 1;
}

const indexNames = async (shard: string): Promise<unknown[]> =>
  ((await cluster.shard(shard, "test", { listIndexes: "c" })).cursor as { firstBatch: Doc[] }).firstBatch.map(
    ({ name, unique }) => (unique ? [name, "unique"] : name),
  );

test("one that comes back empty gets its collection before the first command, with another shard's indexes", async () => {
  startAnew();
  expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 1 });
  expect(await indexNames("shardB")).toEqual(["_id_", "x_1", ["xy", "unique"]]);
  const asked = shardB.asked.length;
  await cluster.ok("test", { count: "c" });
  expect(shardB.asked.length).toBe(asked + 1); // once is enough
});

test("commands that come together wait for one restoration", async () => {
  startAnew();
  await Promise.all(
    Array.from({ length: 10 }, (_, i) => cluster.ok("test", { insert: "c", documents: [{ x: i, y: 1 }] })),
  );
  expect(shardB.asked.filter((name) => name === "create")).toEqual(["create"]);
  expect(shardB.asked.indexOf("createIndexes")).toBeLessThan(shardB.asked.indexOf("insert"));
  expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 11 });
});

test("where no other shard knows the collection, the catalog does: its key, and whether that is unique", async () => {
  await cluster.admin({ enableSharding: "away", primaryShard: "shardB" });
  await cluster.admin({ shardCollection: "away.c", key: { k: 1 }, unique: true });
  await cluster.ok("away", { createIndexes: "c", indexes: [{ key: { z: 1 }, name: "z_1" }] });
  startAnew();
  await cluster.ok("away", { insert: "c", documents: [{ k: 1 }] });
  expect(await cluster.ok("away", { insert: "c", documents: [{ k: 1 }] })).toMatchObject({
    writeErrors: [{ code: 11000 }],
  });
  const reply = await cluster.ok("away", { listIndexes: "c" });
  // z_1 was on that shard alone, and is lost with it.
  expect((reply.cursor as { firstBatch: Doc[] }).firstBatch.map(({ name }) => name)).toEqual(["_id_", "k_1"]);
});

test("what was dropped while it was away does not come back", async () => {
  await cluster.ok("test", { drop: "c" });
  startAnew();
  await cluster.ok("test", { insert: "d", documents: [{ _id: 1 }] });
  await cluster.admin({ movePrimary: "test", to: "shardB" });
  expect(await cluster.shard("shardB", "test", { listCollections: 1 })).toMatchObject({
    cursor: { firstBatch: [{ name: "d" }] },
  });
});
