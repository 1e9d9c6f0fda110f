import { inspect } from "node:util";
import type { Document } from "mongodb";
import { MinKey, Timestamp } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lab } from "../../lib/lab/lab.js";
import { Sh } from "../../lib/lab/sh.js";
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

  it("says which argument is missing before it sends anything", () => {
    const sh = lab.sh as unknown as Record<string, (...args: unknown[]) => unknown>;
    expect(() => sh["shardCollection"]!("library.x")).toThrow(
      "sh.shardCollection: the argument key is missing",
    );
    expect(() => sh["moveChunk"]!("library.loans", {})).toThrow(
      "sh.moveChunk: the argument destination is missing",
    );
    expect(() => sh["enableSharding"]!()).toThrow("sh.enableSharding: the argument database is missing");
  });

  it("describes each of its methods", async () => {
    const { readFile } = await import("node:fs/promises");
    const source = await readFile(new URL("../../lib/lab/sh.ts", import.meta.url), "utf8");
    const methods = Object.getOwnPropertyNames(Sh.prototype).filter((name) => name !== "constructor");
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
