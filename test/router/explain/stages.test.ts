/** The router's stage: how many shards an explained command asks (facts-mongos.md §5.1). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { explainOn, startExplained, winningPlan } from "../support/explained.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startExplained();
});
const explain = explainOn(() => cluster);

describe("the router's stage", () => {
  test.each<[string, Doc, string, string]>([
    ["one shard by the whole key", { find: "c", filter: { x: 7 } }, "SINGLE_SHARD", "A"],
    ["one shard by a range inside a chunk", { find: "c", filter: { x: { $gt: 60 } } }, "SINGLE_SHARD", "B"],
    ["several shards", { find: "c", filter: { g: 1 } }, "SHARD_MERGE", "AB"],
    ["several shards and a sort", { find: "c", sort: { g: 1 } }, "SHARD_MERGE_SORT", "AB"],
    [
      "a sort on one shard needs no merge",
      { find: "c", filter: { x: 7 }, sort: { g: 1 } },
      "SINGLE_SHARD",
      "A",
    ],
    ["count", { count: "c", query: { g: 1 } }, "SHARD_MERGE", "AB"],
    ["count by the key", { count: "c", query: { x: 70 } }, "SINGLE_SHARD", "B"],
    ["distinct", { distinct: "c", key: "g" }, "SHARD_MERGE", "AB"],
    [
      "update by the key",
      { update: "c", updates: [{ q: { x: 7 }, u: { $set: { v: 1 } } }] },
      "SHARD_WRITE",
      "A",
    ],
    [
      "update of many",
      { update: "c", updates: [{ q: {}, u: { $set: { v: 1 } }, multi: true }] },
      "SHARD_WRITE",
      "AB",
    ],
    [
      "update by _id: everywhere",
      { update: "c", updates: [{ q: { _id: 7 }, u: { $set: { v: 1 } } }] },
      "SHARD_WRITE",
      "AB",
    ],
    ["delete of many", { delete: "c", deletes: [{ q: { x: { $gt: 60 } }, limit: 0 }] }, "SHARD_WRITE", "B"],
    ["findAndModify by the key", { findAndModify: "c", query: { x: 70 }, remove: true }, "SHARD_WRITE", "B"],
    ["a hashed key by equality", { find: "h", filter: { d: 2 } }, "SINGLE_SHARD", "B"],
    ["a range over a hashed key", { find: "h", filter: { d: { $gte: 1, $lt: 9 } } }, "SHARD_MERGE", "AB"],
    ["an unsharded collection", { find: "p" }, "SINGLE_SHARD", "A"],
    [
      "a write to an unsharded collection",
      { delete: "p", deletes: [{ q: {}, limit: 0 }] },
      "SHARD_WRITE",
      "A",
    ],
  ])("%s: %j → %s on %s", async (_what, command, stage, letters) => {
    // hash64(2) = 848411777775835583 ≥ 0 (§2.2); which shard has the upper chunk is up to the seed.
    const upper = (await cluster.all("config", { find: "chunks", filter: { min: { d: 0n } } }))[0] as Doc;
    const plan = winningPlan(await explain(command));
    expect(plan.stage).toBe(stage);
    const expected =
      command.find === "h" && letters === "B" ? [String(upper.shard)] : [...letters].map((l) => `shard${l}`);
    expect(plan.shards.map(({ shardName }) => shardName)).toEqual(expected);
  });
});
