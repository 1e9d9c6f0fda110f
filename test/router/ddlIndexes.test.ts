/** Indexes of a sharded collection (facts §1.5): on all its shards or on none. */
import { UUID } from "bson";
import { EndpointUnreachableError } from "shardlab/protocol";
import type { RulesVersion } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const HOSTS = ["shardA/127.0.0.1:27018", "shardB/127.0.0.1:27019"];

/** Two shards: x below 0 on shardA, the rest on shardB. */
async function onTwoShards(rules: RulesVersion = "8.0", key: Doc = { x: 1 }): Promise<TestCluster> {
  const cluster = await startCluster({ rules });
  await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "library.c", key });
  if (key.x === 1) {
    await cluster.admin({ split: "library.c", middle: { x: 0 } });
    await cluster.admin({ moveChunk: "library.c", find: { x: 0 }, to: "shardB" });
  }
  return cluster;
}

async function indexesOf(cluster: TestCluster, shard: string): Promise<Doc[]> {
  const reply = await cluster.shard(shard, "library", { listIndexes: "c" });
  return (reply.cursor as { firstBatch: Doc[] }).firstBatch;
}

const namesOn = async (cluster: TestCluster, shard: string): Promise<unknown[]> =>
  (await indexesOf(cluster, shard)).map(({ name }) => name);

const index = (key: Doc, name: string, options: Doc = {}): Doc => ({
  createIndexes: "c",
  indexes: [{ key, name, ...options }],
});

describe("createIndexes", () => {
  test("answers for each shard under raw, as a mongos does", async () => {
    const cluster = await onTwoShards();
    const reply = await cluster.ok("library", index({ b: 1 }, "b_1"));
    expect(Object.keys(reply)).toEqual(["raw", "ok", "$clusterTime", "operationTime"]);
    expect(Object.keys(reply.raw as Doc)).toEqual(HOSTS);
    expect((reply.raw as Record<string, Doc>)[HOSTS[1]!]).toMatchObject({
      numIndexesBefore: 2,
      numIndexesAfter: 3,
      ok: 1,
    });
    // An unsharded collection has one shard to tell of.
    const plain = await cluster.ok("library", { ...index({ b: 1 }, "b_1"), createIndexes: "plain" });
    expect(plain.raw).toMatchObject({ [HOSTS[0]!]: { createdCollectionAutomatically: true } });
  });

  test("a duplicate that only one shard has: no shard keeps the index", async () => {
    const cluster = await onTwoShards();
    const documents = [
      { x: -1, b: 1 },
      { x: 1, b: 1 },
      { x: 1, b: 1 },
    ];
    await cluster.ok("library", { insert: "c", documents });
    const reply = await cluster.run("library", index({ x: 1, b: 1 }, "u", { unique: true }));
    expect(reply).toMatchObject({
      ok: 0,
      code: 11000,
      codeName: "DuplicateKey",
      raw: { [HOSTS[0]!]: { ok: 1 }, [HOSTS[1]!]: { ok: 0, code: 11000 } },
    });
    expect(await namesOn(cluster, "shardA")).toEqual(["_id_", "x_1"]);
    expect(await namesOn(cluster, "shardB")).toEqual(["_id_", "x_1"]);
    // What was there before stays when another index of the command fails.
    await cluster.ok("library", index({ b: 1 }, "b_1"));
    const two = [
      { key: { b: 1 }, name: "b_1" },
      { key: { x: 1, b: 1 }, name: "u", unique: true },
    ];
    expect(await cluster.run("library", { createIndexes: "c", indexes: two })).toMatchObject({ code: 11000 });
    expect(await namesOn(cluster, "shardA")).toEqual(["_id_", "x_1", "b_1"]);
  });

  test("a shard that is gone: the other one gives the index back", async () => {
    const cluster = await onTwoShards();
    cluster.shards.get("shardB")!.failWhen = (command) =>
      command === "createIndexes" ? new EndpointUnreachableError("gone") : undefined;
    expect(await cluster.run("library", index({ b: 1 }, "b_1"))).toMatchObject({ ok: 0 });
    cluster.shards.get("shardB")!.failWhen = undefined;
    expect(await namesOn(cluster, "shardA")).toEqual(["_id_", "x_1"]);
  });

  test("unique: the key's names must lead (67); names only, so {x: 1} goes with {x: 'hashed'}", async () => {
    const cluster = await onTwoShards();
    const refused = await cluster.run("library", index({ b: 1, x: 1 }, "u", { unique: true }));
    expect(refused).toMatchObject({
      code: 67,
      errmsg: "cannot create unique index over { b: 1, x: 1 } with shard key pattern { x: 1 }",
    });
    for (const key of [{ x: -1 }, { x: 1, b: 1 }]) {
      expect(await cluster.ok("library", index(key, JSON.stringify(key), { unique: true }))).toMatchObject({
        ok: 1,
      });
    }
    const hashed = await onTwoShards("8.0", { x: "hashed" });
    expect(await hashed.ok("library", index({ x: 1 }, "u", { unique: true }))).toMatchObject({ ok: 1 });
  });

  test("collectionUUID is the catalog's, on whatever shard (361)", async () => {
    const cluster = await onTwoShards();
    const [{ uuid }] = (await cluster.all("config", { find: "collections" })) as [{ uuid: UUID }];
    expect(await cluster.ok("library", { ...index({ b: 1 }, "b_1"), collectionUUID: uuid })).toMatchObject({
      ok: 1,
    });
    const other = new UUID("00000000-0000-4000-8000-000000000001");
    expect(
      await cluster.run("library", { dropIndexes: "c", index: "b_1", collectionUUID: other }),
    ).toMatchObject({
      code: 361,
      expectedCollection: "c",
      actualCollection: null,
    });
  });
});

describe("dropIndexes", () => {
  test.each<[RulesVersion, Doc, string, number | undefined]>([
    ["5.0", { x: 1 }, "x_1", undefined],
    ["6.0", { x: 1 }, "x_1", 370],
    ["8.0", { x: 1 }, "x_1", 370],
    // Hashed ones may go again since 7.0.3 (§12.13).
    ["6.0", { x: "hashed" }, "x_hashed", 370],
    ["7.0", { x: "hashed" }, "x_hashed", undefined],
    ["8.0", { x: "hashed" }, "x_hashed", undefined],
  ])("rules %s, the last index of the key %j: code %s", async (rules, key, name, code) => {
    const cluster = await onTwoShards(rules, key);
    const reply = await cluster.run("library", { dropIndexes: "c", index: name });
    expect(reply.code).toBe(code);
    if (code)
      expect(reply.errmsg).toBe("Cannot drop the only compatible index for this collection's shard key");
    expect(await namesOn(cluster, "shardA")).toEqual(code ? ["_id_", name] : ["_id_"]);
  });

  test("any other index that begins with the key will do; two of them may not go at once", async () => {
    const cluster = await onTwoShards();
    await cluster.ok("library", index({ x: 1, b: 1 }, "x_1_b_1"));
    const both = { dropIndexes: "c", index: ["x_1", "x_1_b_1"] };
    expect(await cluster.run("library", both)).toMatchObject({ code: 370 });
    const reply = await cluster.ok("library", { dropIndexes: "c", index: { x: 1 } });
    expect(reply.raw).toMatchObject({
      [HOSTS[0]!]: { nIndexesWas: 3, ok: 1 },
      [HOSTS[1]!]: { nIndexesWas: 3 },
    });
    expect(await namesOn(cluster, "shardB")).toEqual(["_id_", "x_1_b_1"]);
  });

  test("'*' keeps _id_ and whatever supports the key", async () => {
    const cluster = await onTwoShards();
    await cluster.ok("library", index({ b: 1 }, "b_1"));
    const reply = await cluster.ok("library", { dropIndexes: "c", index: "*" });
    expect(reply.raw).toMatchObject({
      [HOSTS[1]!]: {
        nIndexesWas: 3,
        msg: "non-_id indexes and non-shard key indexes dropped for collection",
      },
    });
    for (const shard of ["shardA", "shardB"]) expect(await namesOn(cluster, shard)).toEqual(["_id_", "x_1"]);
  });

  test("a shard that is gone: the other one has its index again, as it was", async () => {
    const cluster = await onTwoShards();
    await cluster.ok("library", index({ b: 1 }, "b_1", { expireAfterSeconds: 60 }));
    cluster.shards.get("shardB")!.failWhen = (command) =>
      command === "dropIndexes" ? new EndpointUnreachableError("gone") : undefined;
    expect(await cluster.run("library", { dropIndexes: "c", index: "b_1" })).toMatchObject({ ok: 0 });
    cluster.shards.get("shardB")!.failWhen = undefined;
    expect(await indexesOf(cluster, "shardA")).toEqual(await indexesOf(cluster, "shardB"));
  });

  test("one that is not there: 27", async () => {
    const cluster = await onTwoShards();
    expect(await cluster.run("library", { dropIndexes: "c", index: "never" })).toMatchObject({ code: 27 });
  });
});

describe("collMod", () => {
  test("reaches every shard; the last index of the key can't be hidden (72)", async () => {
    const cluster = await onTwoShards();
    const hide = { collMod: "c", index: { name: "x_1", hidden: true } };
    expect(await cluster.run("library", hide)).toMatchObject({ code: 72 });
    await cluster.ok("library", index({ x: 1, b: 1 }, "x_1_b_1"));
    const reply = await cluster.ok("library", hide);
    expect(Object.keys(reply.raw as Doc)).toEqual(HOSTS);
    for (const shard of ["shardA", "shardB"]) {
      expect((await indexesOf(cluster, shard)).find(({ name }) => name === "x_1")).toMatchObject({
        hidden: true,
      });
    }
    // A document with an array makes the other one no substitute, on the shard that has it (§1.5: not multikey).
    await cluster.ok("library", { collMod: "c", index: { keyPattern: { x: 1 }, hidden: false } });
    await cluster.ok("library", { insert: "c", documents: [{ x: -1, b: [1, 2] }] });
    expect(await cluster.run("library", hide)).toMatchObject({ code: 72 });
    expect(await cluster.run("library", { dropIndexes: "c", index: "x_1" })).toMatchObject({ code: 370 });
    await cluster.ok("library", { delete: "c", deletes: [{ q: { x: -1, b: 1 }, limit: 1 }] });
    await cluster.ok("library", hide);
    // Now the other one is the last.
    const other = { collMod: "c", index: { keyPattern: { x: 1, b: 1 }, hidden: true } };
    expect(await cluster.run("library", other)).toMatchObject({ code: 72 });
    expect(await cluster.run("library", { dropIndexes: "c", index: "x_1_b_1" })).toMatchObject({ code: 370 });
  });

  test("before 6.0 it can be hidden", async () => {
    const cluster = await onTwoShards("5.0");
    expect(await cluster.ok("library", { collMod: "c", index: { name: "x_1", hidden: true } })).toMatchObject(
      { ok: 1 },
    );
  });

  test("a validator that one shard did not get, no shard keeps", async () => {
    const cluster = await onTwoShards();
    await cluster.ok("library", {
      collMod: "c",
      validator: { x: { $type: "int" } },
      validationAction: "warn",
    });
    cluster.shards.get("shardB")!.failWhen = (command) =>
      command === "collMod" ? new EndpointUnreachableError("gone") : undefined;
    const change = { collMod: "c", validator: { x: { $gt: 0 } }, validationAction: "error" };
    expect(await cluster.run("library", change)).toMatchObject({ ok: 0 });
    cluster.shards.get("shardB")!.failWhen = undefined;
    for (const shard of ["shardA", "shardB"]) {
      const reply = await cluster.shard(shard, "library", { listCollections: 1, filter: { name: "c" } });
      const [{ options }] = (reply.cursor as { firstBatch: [{ options: Doc }] }).firstBatch;
      expect(options).toMatchObject({ validator: { x: { $type: "int" } }, validationAction: "warn" });
    }
  });

  test("unique where one shard has duplicates: all try before one does", async () => {
    const cluster = await onTwoShards();
    await cluster.ok("library", index({ x: 1, b: 1 }, "u"));
    const documents = [
      { x: 1, b: 1 },
      { x: 1, b: 1 },
    ];
    await cluster.ok("library", { insert: "c", documents });
    await cluster.ok("library", { collMod: "c", index: { name: "u", prepareUnique: true } });
    const reply = await cluster.run("library", { collMod: "c", index: { name: "u", unique: true } });
    expect(reply).toMatchObject({ ok: 0, code: 359, codeName: "CannotConvertIndexToUnique" });
    for (const shard of ["shardA", "shardB"]) {
      const found = (await indexesOf(cluster, shard)).find(({ name }) => name === "u")!;
      expect(found.unique).toBeUndefined();
    }
  });
});

test("a shard that lost its last chunk missed later changes, and learns them with its next chunk", async () => {
  const cluster = await onTwoShards();
  await cluster.ok("library", index({ b: 1 }, "b_1"));
  await cluster.admin({ moveChunk: "library.c", find: { x: 0 }, to: "shardA" });
  await cluster.ok("library", { dropIndexes: "c", index: "b_1" });
  await cluster.ok("library", { collMod: "c", validator: { x: { $type: "int" } } });
  await cluster.admin({ moveChunk: "library.c", find: { x: 0 }, to: "shardB" });
  expect(await namesOn(cluster, "shardB")).toEqual(["_id_", "x_1"]);
  const wrong = await cluster.run("library", { insert: "c", documents: [{ x: 1.5 }] });
  expect(wrong).toMatchObject({ writeErrors: [{ code: 121 }] });
});
