import { inspect } from "node:util";
import type { Document, MongoClient } from "mongodb";
import { MinKey, Timestamp } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lab } from "../../lib/lab/lab.js";
import { Sh } from "../../lib/lab/sh.js";
import { ShHelpers } from "../../lib/lab/shHelpers.js";
import { startLab } from "../../lib/lab/startLab.js";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ shards: 2, seed: 3 });
});
afterAll(() => lab.close());

const chunksOf = async (ns: string): Promise<[unknown, unknown, string][]> => {
  const collection = (await lab
    .db("config")
    .collection<{ _id: string; uuid: unknown }>("collections")
    .findOne({ _id: ns }))!;
  const chunks = await lab
    .db("config")
    .collection("chunks")
    .find({ uuid: collection.uuid })
    .sort({ min: 1 })
    .toArray();
  return chunks.map(({ min, max, shard }) => [min, max, shard as string]);
};

describe("sh", () => {
  it("enables sharding, on the primary shard it is told", async () => {
    expect(await lab.sh.enableSharding("library", "shardB")).toMatchObject({ ok: 1 });
    const [database] = await lab
      .db("config")
      .collection<{ _id: string; primary: string }>("databases")
      .find({ _id: "library" })
      .toArray();
    expect(database!.primary).toBe("shardB");
    await expect(lab.sh.enableSharding("library", "shardA")).rejects.toMatchObject({ code: 48 });
    await expect(lab.sh.enableSharding("other", "shardZ")).rejects.toMatchObject({ code: 70 });
  });

  it("shards a collection, unique or not", async () => {
    expect(await lab.sh.shardCollection("library.loans", { memberId: 1 })).toMatchObject({
      collectionsharded: "library.loans",
      ok: 1,
    });
    await lab.sh.shardCollection("library.members", { email: 1 }, true);
    const collections = lab.db("config").collection<{ _id: string; unique?: boolean }>("collections");
    expect((await collections.findOne({ _id: "library.members" }))!.unique).toBe(true);
    expect((await collections.findOne({ _id: "library.loans" }))!.unique === true).toBe(false);
    await expect(
      lab.sh.shardCollection("library.events", { deviceId: "hashed" }, true),
    ).rejects.toMatchObject({ code: 72 });
    // As in mongosh, the options may stand in the place of `unique`.
    await expect(
      lab.sh.shardCollection("library.events", { deviceId: "hashed" }, { unique: true }),
    ).rejects.toMatchObject({ code: 72 });
  });

  it("splits and moves chunks", async () => {
    const loans = Array.from({ length: 100 }, (_, memberId) => ({ memberId }));
    await lab.db("library").collection("loans").insertMany(loans);
    expect(await lab.sh.splitAt("library.loans", { memberId: 50 })).toMatchObject({ ok: 1 });
    expect(await lab.sh.moveChunk("library.loans", { memberId: 70 }, "shardA")).toMatchObject({ ok: 1 });
    expect((await chunksOf("library.loans")).map(([, , shard]) => shard)).toEqual(["shardB", "shardA"]);
    const counts = await Promise.all(
      lab.shards.map((shard) => shard.client.db("library").collection("loans").countDocuments()),
    );
    expect(counts).toEqual([50, 50]);
    await lab.sh.splitFind("library.loans", { memberId: 10 });
    const bounds = (await chunksOf("library.loans")).map(([min]) => (min as Document)["memberId"] as unknown);
    expect(bounds[0]).toBeInstanceOf(MinKey);
    expect(bounds).toHaveLength(3);
    expect(bounds[1]).toBeGreaterThan(0); // the median of 0 … 49 or a neighbour
    expect(bounds[1]).toBeLessThan(49);
  });

  it("lists shards and asks about the balancer", async () => {
    expect((await lab.sh.listShards()).map((shard) => shard["_id"] as unknown)).toEqual(["shardA", "shardB"]);
    expect(await lab.sh.getBalancerState()).toBe(true);
    expect(await lab.sh.isBalancerRunning()).toMatchObject({ mode: "full", inBalancerRound: false, ok: 1 });
  });

  it("switches the balancer and its settings, as documents of config", async () => {
    expect(await lab.sh.stopBalancer()).toMatchObject({ ok: 1 });
    expect(await lab.sh.getBalancerState()).toBe(false);
    expect(await lab.sh.isBalancerRunning()).toMatchObject({ mode: "off" });
    expect(await lab.sh.setBalancerState(true)).toMatchObject({ ok: 1 });
    expect(await lab.sh.getBalancerState()).toBe(true);
    expect(await lab.sh.isAutoMergerEnabled()).toBe(true);
    expect(await lab.sh.stopAutoMerger()).toMatchObject({ acknowledged: true, upsertedCount: 1 });
    expect(await lab.sh.isAutoMergerEnabled()).toBe(false);
    expect(await lab.sh.startAutoMerger()).toMatchObject({ modifiedCount: 1 });
    expect(await lab.sh.disableAutoSplit()).toMatchObject({ upsertedCount: 1 });
    expect(await lab.sh.enableAutoSplit()).toMatchObject({ modifiedCount: 1 });
    expect(await lab.sh.disableBalancing("library.loans")).toMatchObject({
      matchedCount: 1,
      modifiedCount: 1,
    });
    expect((await lab.sh.status()).databases[0]!.collections["library.loans"]!.balancing).toBe(false);
    expect(await lab.sh.enableBalancing("library.loans")).toMatchObject({ modifiedCount: 1 });
    await lab.sh.disableAutoMerger("library.loans");
    const collections = lab
      .db("config")
      .collection<{ _id: string; enableAutoMerge?: boolean }>("collections");
    expect((await collections.findOne({ _id: "library.loans" }))!.enableAutoMerge).toBe(false);
    await lab.sh.enableAutoMerger("library.loans");
    expect(await collections.findOne({ _id: "library.loans" })).not.toHaveProperty("enableAutoMerge");
  });

  it("knows the cluster", async () => {
    expect((await lab.sh.listShards({ _id: "shardB" })).length).toBe(1);
    expect(await lab.sh.isConfigShardEnabled()).toEqual({ enabled: false });
    const host = (await lab.sh.listShards())[0]!["host"] as string;
    expect(await lab.sh.addShard(host)).toMatchObject({ shardAdded: "shardA", ok: 1 });
  });

  it("says how a collection is spread, in mongosh's words", async () => {
    // 100 loans {_id: ObjectId, memberId: int32}: 4 + (1+4+12) + (1+9+4) + 1 = 36 bytes; 50 on each shard.
    const distribution = await lab.sh.getShardDistribution("library.loans");
    const [[first, onA], [, onB], [last, totals]] = Object.entries(distribution) as [
      [string, Document],
      [string, Document],
      [string, Document],
    ];
    expect(first).toMatch(/^Shard shardA at shardA\/127\.0\.0\.1:\d+$/);
    expect(onA).toEqual({
      data: "1KiB",
      docs: 50,
      chunks: 1,
      "estimated data per chunk": "1KiB",
      "estimated docs per chunk": 50,
    });
    expect(onB).toMatchObject({
      chunks: 2,
      "estimated data per chunk": "900B",
      "estimated docs per chunk": 25,
    });
    expect(last).toBe("Totals");
    expect(totals).toEqual({
      data: "3KiB",
      docs: 100,
      chunks: 3,
      "Shard shardA": ["50 % data", "50 % docs in cluster", "36B avg obj size on shard"],
      "Shard shardB": ["50 % data", "50 % docs in cluster", "36B avg obj size on shard"],
    });
    expect(inspect(distribution)).toContain("\n---\nTotals\n{\n  data: '3KiB',");
    await expect(lab.sh.getShardDistribution("library.never")).rejects.toThrow(
      "Collection never is not sharded",
    );
  });

  it("checks its arguments as mongosh does, before it sends anything", async () => {
    const sh = lab.sh as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const refused = async (helper: string, args: unknown[], message: string): Promise<void> => {
      await expect(sh[helper]!(...args)).rejects.toMatchObject({
        code: "COMMON-10001",
        message: `[COMMON-10001] ${message} (Shard.${helper})`,
      });
    };
    await refused("shardCollection", ["library.x"], "Missing required argument at position 1");
    await refused("moveChunk", ["library.loans", {}], "Missing required argument at position 2");
    await refused("enableSharding", [], "Missing required argument at position 0");
    await refused("enableSharding", [7], "Argument at position 0 must be of type string, got number instead");
    await refused(
      "shardCollection",
      ["library.x", { a: 1 }, "yes"],
      "Argument at position 2 must be of type boolean or object, got string instead",
    );
    await refused("updateZoneKeyRange", ["a.b", {}, {}], "Missing required argument at position 3");
    await refused(
      "setBalancerState",
      [1],
      "Argument at position 0 must be of type boolean, got number instead",
    );
  });

  it("sends every helper's command with mongosh's fields", async () => {
    const sent: Document[] = [];
    const client = {
      db: (name: string) => ({
        command: (command: Document): Promise<Document> => {
          sent.push({ [name]: command });
          return Promise.resolve({ ok: 1 });
        },
      }),
    };
    const sh = new Sh(() => client as unknown as MongoClient);
    await sh.addShardTag("shardA", "EU");
    await sh.removeShardTag("shardA", "EU");
    await sh.addTagRange("a.b", { x: 0 }, { x: 1 }, "EU");
    await sh.removeRangeFromZone("a.b", { x: 0 }, { x: 1 });
    await sh.moveRange("a.b", "shardB", { x: 0 });
    await sh.moveCollection("a.b", "shardB");
    await sh.unshardCollection("a.b", "shardB");
    await sh.abortReshardCollection("a.b");
    await sh.disableMigrations("a.b");
    await sh.balancerCollectionStatus("a.b");
    await sh.shardAndDistributeCollection("a.b", { x: 1 }, { numInitialChunks: 4 });
    await sh.startBalancer(5);
    await sh.analyzeShardKey("a.b", { x: 1 }, { readWriteDistribution: false });
    await sh.configureQueryAnalyzer("a.b", { mode: "full", samplesPerSecond: 5 });
    await sh.shardDrainingStatus();
    await sh.shardDrainingStatus("shardA");
    await sh.getTransitionToDedicatedConfigServerStatus();
    expect(sent.map(({ admin }) => admin as Document)).toEqual([
      { addShardToZone: "shardA", zone: "EU" },
      { removeShardFromZone: "shardA", zone: "EU" },
      { updateZoneKeyRange: "a.b", min: { x: 0 }, max: { x: 1 }, zone: "EU" },
      { updateZoneKeyRange: "a.b", min: { x: 0 }, max: { x: 1 }, zone: null },
      { moveRange: "a.b", toShard: "shardB", min: { x: 0 } },
      { moveCollection: "a.b", toShard: "shardB" },
      { unshardCollection: "a.b", toShard: "shardB" },
      { abortReshardCollection: "a.b" },
      { setAllowMigrations: "a.b", allowMigrations: false },
      { balancerCollectionStatus: "a.b" },
      { shardCollection: "a.b", key: { x: 1 }, numInitialChunks: 4 },
      { reshardCollection: "a.b", key: { x: 1 }, forceRedistribution: true, numInitialChunks: 4 },
      { balancerStart: 1, maxTimeMS: 5 },
      { analyzeShardKey: "a.b", key: { x: 1 }, readWriteDistribution: false },
      { configureQueryAnalyzer: "a.b", mode: "full", samplesPerSecond: 5 },
      { shardDrainingStatus: 1 },
      { shardDrainingStatus: "shardA" },
      { getTransitionToDedicatedConfigServerStatus: 1 },
    ]);
  });

  it("describes each of its methods", async () => {
    const { readFile } = await import("node:fs/promises");
    const files = ["sh", "shAnalysis", "shBalancing", "shCollections"];
    const read = (file: string): Promise<string> =>
      readFile(new URL(`../../lib/lab/${file}.ts`, import.meta.url), "utf8");
    const source = (await Promise.all(files.map(read))).join("\n");
    const methods = new Set<string>();
    for (
      let level = Sh.prototype as object;
      level !== ShHelpers.prototype;
      level = Object.getPrototypeOf(level) as object
    )
      for (const name of Object.getOwnPropertyNames(level)) if (name !== "constructor") methods.add(name);
    expect(methods.size).toBeGreaterThan(40);
    for (const method of methods) {
      const comment = new RegExp(String.raw`/\*\*((?:(?!\*/)[\s\S])*)\*/\s*(?:async )?${method}\(`).exec(
        source,
      )?.[1];
      expect(comment, method).toMatch(/@example/);
      expect(comment, method).toMatch(/@since MongoDB \d/);
      expect(comment!.split("@")[0]!.replace(/[\s*]/g, "").length, method).toBeGreaterThan(15);
    }
  });
});

describe("sh.status()", () => {
  it("has mongosh's sections", async () => {
    const status = await lab.sh.status();
    expect(status.shards.map((shard) => shard["_id"] as unknown)).toEqual(["shardA", "shardB"]);
    expect(status.balancer).toMatchObject({
      "Currently enabled": "yes",
      "Currently running": "no",
      "Failed balancer rounds in last 5 attempts": 0,
    });
    expect(status.autosplit).toEqual({ "Currently enabled": "yes" });
    const library = status.databases.find(({ database }) => database["_id"] === "library")!;
    expect(library.database["primary"]).toBe("shardB");
    expect(Object.keys(library.collections)).toEqual(["library.loans", "library.members"]);
    const loans = library.collections["library.loans"]!;
    expect(loans).toMatchObject({
      shardKey: { memberId: 1 },
      unique: false,
      balancing: true,
      chunkMetadata: [
        { shard: "shardA", nChunks: 1 },
        { shard: "shardB", nChunks: 2 },
      ],
      tags: [],
    });
    const last = loans.chunks.at(-1) as Document;
    expect(last["min"]).toEqual({ memberId: 50 });
    expect(last["on shard"]).toBe("shardA");
    expect(last["last modified"]).toBeInstanceOf(Timestamp);
  });

  it("reads as in mongosh", async () => {
    const text = String(await lab.sh.status());
    const sections = text.split("\n---\n").map((section) => section.split("\n")[0]);
    expect(sections.slice(0, 4)).toEqual(["shardingVersion", "shards", "active mongoses", "autosplit"]);
    expect(sections.at(-1)).toBe("databases");
    expect(text).toContain("'Currently enabled': 'yes'");
    expect(text).toContain("{ shard: 'shardB', nChunks: 2 }");
    expect(text).toContain("Timestamp({");
    expect(text).not.toContain("new Timestamp");
    expect(inspect(await lab.sh.status())).toContain("'on shard': 'shardA'");
  });

  it("counts chunks instead of listing twenty and more, unless asked to", async () => {
    await lab.sh.shardCollection("library.many", { n: 1 });
    for (let n = 1; n < 20; n++) await lab.sh.splitAt("library.many", { n });
    const chunks = async (verbose: boolean): Promise<unknown[]> => {
      const { databases } = await lab.sh.status(verbose);
      return databases.find(({ database }) => database["_id"] === "library")!.collections["library.many"]!
        .chunks;
    };
    expect(await chunks(false)).toEqual(["20 chunks, too many to list; sh.status(true) lists them all"]);
    expect(await chunks(true)).toHaveLength(20);
  });
});
