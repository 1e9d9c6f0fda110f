/** A $group that no shard shares with another, and when it is one (facts-mongos.md §6). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";
import type { Explained } from "./support/sixDocuments.js";
import { explainSix, loadSix, stagesOf } from "./support/sixDocuments.js";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await loadSix(cluster);
});

const all = (pipeline: object[], options: Doc = {}): Promise<Doc[]> =>
  cluster.all("test", { aggregate: "c", pipeline, cursor: {}, ...options });
const explain = (pipeline: object[], options: Doc = {}, on = cluster): Promise<Explained> =>
  explainSix(on, pipeline, options);

describe("a $group by the whole shard key (8.0, §6)", () => {
  const byKey = [{ $group: { _id: { x: "$x", k: "$k" }, n: { $sum: 1 }, all: { $push: "$q" } } }];

  test("runs whole on the shards: no group lies on two", async () => {
    const { splitPipeline } = await explain([...byKey, { $match: { n: 1 } }, { $sort: { "_id.x": 1 } }]);
    expect(stagesOf(splitPipeline!.shardsPart)).toEqual(["$group", "$match", "$sort"]);
    expect(stagesOf(splitPipeline!.mergerPart)).toEqual(["$sort"]);
    const rows = await all([...byKey, { $sort: { "_id.x": 1 } }, { $limit: 2 }]);
    expect(rows).toEqual([
      { _id: { x: 10, k: "a" }, n: 1, all: [1] },
      { _id: { x: 20, k: "b" }, n: 1, all: [2] },
    ]);
  });

  test.each<[string, object[]]>([
    ["another field", [{ $group: { _id: "$k" } }]],
    ["an expression over the key", [{ $group: { _id: { $mod: ["$x", 50] } } }]],
    ["a key that was changed before", [{ $set: { x: 1 } }, { $group: { _id: "$x" } }]],
    ["a key that was projected anew", [{ $project: { x: "$q" } }, { $group: { _id: "$x" } }]],
    ["a key out of another document", [{ $replaceWith: { x: "$q" } }, { $group: { _id: "$x" } }]],
  ])("not by %s", async (_what, pipeline) => {
    const { splitPipeline } = await explain(pipeline);
    expect(stagesOf(splitPipeline!.mergerPart)).toEqual(["$group"]);
  });

  test("not under a collation, which puts strings of several shards into one group", async () => {
    await cluster.admin({ shardCollection: "test.names", key: { name: 1 } });
    await cluster.admin({ split: "test.names", middle: { name: "a" } });
    await cluster.admin({ moveChunk: "test.names", find: { name: "a" }, to: "shardB" });
    await cluster.ok("test", { insert: "names", documents: [{ name: "Anna" }, { name: "anna" }] });
    const command = {
      aggregate: "names",
      pipeline: [{ $group: { _id: "$name", n: { $sum: 1 } } }],
      cursor: {},
    };
    expect(await cluster.all("test", command)).toHaveLength(2);
    const loose = await cluster.all("test", { ...command, collation: { locale: "en", strength: 2 } });
    expect(loose).toMatchObject([{ n: 2 }]);
  });

  test("equal numbers of different types are one group on one shard, hashed or not", async () => {
    const { Double, Int32, Long, Decimal128 } = await import("bson");
    for (const [name, key] of [
      ["ranged", { v: 1 }],
      ["hashedKey", { v: "hashed" }],
    ] as const) {
      await cluster.admin({ shardCollection: `test.${name}`, key });
      const values = [
        new Int32(7),
        new Double(7),
        Long.fromNumber(7),
        Decimal128.fromString("7.0"),
        null,
        "7",
      ];
      const documents: Doc[] = values.map((v) => ({ v }));
      await cluster.ok("test", { insert: name, documents: [...documents, {}] });
      const pipeline = [
        { $group: { _id: "$v", n: { $sum: 1 } } },
        { $project: { _id: 0, n: 1 } },
        { $sort: { n: 1 } },
      ];
      // "7", null and missing, and the four sevens.
      expect(await cluster.all("test", { aggregate: name, pipeline, cursor: {} })).toEqual([
        { n: 1 },
        { n: 2 },
        { n: 4 },
      ]);
    }
  });

  test("before 8.0 partial groups are merged", async () => {
    const old = await startCluster({ rules: "7.0" });
    await loadSix(old);
    const { splitPipeline } = await explain(byKey, {}, old);
    expect(stagesOf(splitPipeline!.mergerPart)).toEqual(["$group"]);
    expect(await old.all("test", { aggregate: "c", pipeline: byKey, cursor: {} })).toHaveLength(6);
  });
});
