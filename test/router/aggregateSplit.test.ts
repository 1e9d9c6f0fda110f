/**
 * Every stage, cut over two shards (facts-mongos.md §6).
 *
 * `c` is sharded on {x: 1} and cut at 50:
 *
 *     shardA   x 10 q 1 k a    x 20 q 2 k b    x 30 q 3 k a
 *     shardB   x 60 q 4 k b    x 70 q 5 k c    x 80 q 6 k a
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const DOCUMENTS = [
  { _id: 1, x: 10, q: 1, k: "a", t: [1, 2] },
  { _id: 2, x: 20, q: 2, k: "b", t: [2] },
  { _id: 3, x: 30, q: 3, k: "a", t: [] },
  { _id: 4, x: 60, q: 4, k: "b", t: [1] },
  { _id: 5, x: 70, q: 5, k: "c", t: [3, 1] },
  { _id: 6, x: 80, q: 6, k: "A", t: [2] },
];

let cluster: TestCluster;
async function load(on: TestCluster): Promise<void> {
  await on.admin({ enableSharding: "test", primaryShard: "shardA" });
  await on.admin({ shardCollection: "test.c", key: { x: 1 } });
  await on.admin({ split: "test.c", middle: { x: 50 } });
  await on.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  await on.ok("test", { insert: "c", documents: DOCUMENTS });
}
beforeAll(async () => {
  cluster = await startCluster();
  await load(cluster);
});

const all = (pipeline: object[], options: Doc = {}): Promise<Doc[]> =>
  cluster.all("test", { aggregate: "c", pipeline, cursor: {}, ...options });

type Explained = Doc & { splitPipeline: { shardsPart: Doc[]; mergerPart: Doc[] } | null; shards: Doc };
const explain = (pipeline: object[], options: Doc = {}, on = cluster): Promise<Explained> =>
  on.ok("test", {
    explain: { aggregate: "c", pipeline, cursor: {}, ...options },
    verbosity: "queryPlanner",
  }) as Promise<Explained>;
const stagesOf = (part: Doc[]): string[] => part.map((stage) => Object.keys(stage)[0]!);

/** The pipeline, where it is cut (shards | router), and what comes out, worked out by hand. */
const SPLITS: [what: string, pipeline: object[], cut: string, rows: Doc[]][] = [
  [
    "$match, $set, $project, $unset: on the shards",
    [{ $match: { q: { $gt: 4 } } }, { $set: { y: { $add: ["$q", 1] } } }, { $unset: ["t", "k", "_id"] }],
    "$match $set $unset |",
    [
      { x: 70, q: 5, y: 6 },
      { x: 80, q: 6, y: 7 },
    ],
  ],
  [
    "$unwind, $replaceRoot, $redact: on the shards",
    [
      { $unwind: "$t" },
      { $redact: { $cond: [{ $eq: ["$t", 3] }, "$$KEEP", "$$PRUNE"] } },
      { $replaceRoot: { newRoot: { n: "$t" } } },
    ],
    "$unwind $redact $replaceRoot |",
    [{ n: 3 }],
  ],
  [
    "$group: partial groups, merged",
    [
      { $group: { _id: "$k", sum: { $sum: "$q" }, mean: { $avg: "$q" }, most: { $max: "$q" } } },
      { $sort: { _id: 1 } },
    ],
    "$group | $group $sort",
    [
      { _id: "A", sum: 6, mean: 6, most: 6 },
      { _id: "a", sum: 4, mean: 2, most: 3 },
      { _id: "b", sum: 6, mean: 3, most: 4 },
      { _id: "c", sum: 5, mean: 5, most: 5 },
    ],
  ],
  [
    "$count: a $group",
    [{ $match: { q: { $lt: 6 } } }, { $count: "n" }],
    "$match $group | $group $project",
    [{ n: 5 }],
  ],
  [
    "$sortByCount: a $group and a $sort",
    [{ $sortByCount: { $toLower: "$k" } }, { $limit: 2 }],
    "$group | $group $sort $limit",
    [
      { _id: "a", count: 3 },
      { _id: "b", count: 2 },
    ],
  ],
  [
    "$bucket: a $group by ranges, and a $sort",
    [{ $bucket: { groupBy: "$q", boundaries: [0, 3, 6], default: "more", output: { sum: { $sum: "$q" } } } }],
    "$group | $group $sort",
    [
      { _id: 0, sum: 3 },
      { _id: 3, sum: 12 },
      { _id: "more", sum: 6 },
    ],
  ],
  [
    "$bucketAuto: whole on the router",
    [{ $match: { q: { $gt: 2 } } }, { $bucketAuto: { groupBy: "$q", buckets: 2 } }],
    "$match | $bucketAuto",
    [
      { _id: { min: 3, max: 5 }, count: 2 },
      { _id: { min: 5, max: 6 }, count: 2 },
    ],
  ],
  [
    "$sort: each shard sorts, the router merges",
    [{ $project: { q: 1, _id: 0 } }, { $sort: { q: -1 } }],
    "$project $sort | $sort",
    [6, 5, 4, 3, 2, 1].map((q) => ({ q })),
  ],
  [
    "$sort, $skip, $limit: shards stop after skip + limit",
    [{ $sort: { q: -1 } }, { $skip: 2 }, { $limit: 2 }, { $project: { q: 1, _id: 0 } }],
    "$sort $limit | $sort $skip $limit $project",
    [{ q: 4 }, { q: 3 }],
  ],
  [
    "$facet: whole on the router",
    [
      {
        $facet: {
          n: [{ $count: "n" }],
          top: [{ $sort: { q: -1 } }, { $limit: 1 }, { $project: { q: 1 } }],
        },
      },
    ],
    "| $facet",
    [{ n: [{ n: 6 }], top: [{ _id: 6, q: 6 }] }],
  ],
  [
    "$setWindowFields: whole on the router",
    [
      { $match: { q: { $lte: 4 } } },
      {
        $setWindowFields: {
          sortBy: { q: 1 },
          output: { run: { $sum: "$q", window: { documents: ["unbounded", "current"] } } },
        },
      },
      { $project: { _id: 0, q: 1, run: 1 } },
    ],
    "$match | $setWindowFields $project",
    [
      { q: 1, run: 1 },
      { q: 2, run: 3 },
      { q: 3, run: 6 },
      { q: 4, run: 10 },
    ],
  ],
  [
    "$densify and $fill: whole on the router",
    [
      { $match: { x: { $in: [10, 30, 60] } } },
      { $project: { _id: 0, x: 1, q: 1 } },
      { $densify: { field: "x", range: { step: 25, bounds: [10, 85] } } },
      { $fill: { sortBy: { x: 1 }, output: { q: { method: "locf" } } } },
    ],
    "$match $project | $densify $fill",
    [
      { x: 10, q: 1 },
      { x: 30, q: 3 },
      { x: 35, q: 3 },
      { x: 60, q: 4 },
    ],
  ],
  [
    "$group with a median: whole on the router",
    [
      {
        $group: {
          _id: null,
          m: { $median: { input: "$q", method: "approximate" } },
        },
      },
    ],
    "| $group",
    [{ _id: null, m: 3 }],
  ],
  [
    "$limit: shards stop too",
    [{ $limit: 6 }, { $group: { _id: null, n: { $sum: 1 } } }],
    "$limit | $limit $group",
    [{ _id: null, n: 6 }],
  ],
  ["$skip: the router only", [{ $skip: 4 }, { $count: "n" }], "| $skip $group $project", [{ n: 2 }]],
  [
    "a $match that can move forward goes to the shards",
    [{ $sort: { q: 1 } }, { $set: { y: 1 } }, { $match: { k: "c" } }, { $project: { q: 1, _id: 0 } }],
    "$match $sort | $sort $set $project",
    [{ q: 5 }],
  ],
];

describe("where a pipeline is cut", () => {
  test.each(SPLITS)("%s", async (_what, pipeline, cut, rows) => {
    const { splitPipeline } = await explain(pipeline);
    const { shardsPart, mergerPart } = splitPipeline!;
    expect([...stagesOf(shardsPart), "|", ...stagesOf(mergerPart)].join(" ")).toBe(cut);
    const found = await all(pipeline);
    const sorted = pipeline.some((stage) => "$sort" in stage || "$bucket" in stage || found.length < 2);
    if (sorted) expect(found).toEqual(rows);
    else expect([...found].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))).toEqual(rows);
  });
});

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
    await load(old);
    const { splitPipeline } = await explain(byKey, {}, old);
    expect(stagesOf(splitPipeline!.mergerPart)).toEqual(["$group"]);
    expect(await old.all("test", { aggregate: "c", pipeline: byKey, cursor: {} })).toHaveLength(6);
  });
});

describe("$sample", () => {
  test("has the right size and no document twice", async () => {
    for (const size of [1, 3, 6, 50]) {
      const rows = await all([{ $sample: { size } }]);
      expect(rows).toHaveLength(Math.min(size, 6));
      expect(new Set(rows.map(({ _id }) => _id)).size).toBe(rows.length);
      for (const row of rows) expect(row).toEqual(DOCUMENTS[Number(row._id) - 1]);
    }
  });

  test("is fair to shards of different size", async () => {
    await cluster.admin({ shardCollection: "test.uneven", key: { x: 1 } });
    await cluster.admin({ split: "test.uneven", middle: { x: 30 } });
    await cluster.admin({ moveChunk: "test.uneven", find: { x: 30 }, to: "shardB" });
    const documents = Array.from({ length: 300 }, (_, x) => ({ _id: x, x }));
    await cluster.ok("test", { insert: "uneven", documents });
    let small = 0;
    for (let i = 0; i < 40; i++) {
      const rows = await cluster.all("test", {
        aggregate: "uneven",
        pipeline: [{ $sample: { size: 10 } }],
        cursor: {},
      });
      small += rows.filter(({ x }) => Number(x) < 30).length;
    }
    // 400 draws with a tenth of the documents on shardA: 40 expected, deviation 6; half each would give 200.
    expect(small).toBeGreaterThan(10);
    expect(small).toBeLessThan(80);
  });

  test("goes on on the router, and behind a $match on the shards", async () => {
    expect(await all([{ $match: { x: { $gt: 20 } } }, { $sample: { size: 9 } }, { $count: "n" }])).toEqual([
      { n: 4 },
    ]);
    const { splitPipeline } = await explain([
      { $match: { q: 1 } },
      { $sample: { size: 9 } },
      { $count: "n" },
    ]);
    expect(stagesOf(splitPipeline!.shardsPart)).toEqual(["$match", "$sample"]);
  });
});

describe("a collation on the router", () => {
  const loose = { collation: { locale: "en", strength: 2 } };

  test("merges sorts and groups, and rules expressions", async () => {
    const sorted = await all([{ $sort: { k: 1, q: 1 } }, { $project: { _id: 0, k: 1, q: 1 } }], loose);
    expect(sorted.map(({ k, q }) => `${String(k)}${String(q)}`)).toEqual([
      "a1",
      "a3",
      "A6",
      "b2",
      "b4",
      "c5",
    ]);
    const groups = await all([{ $group: { _id: "$k", n: { $sum: 1 } } }, { $sort: { _id: 1 } }], loose);
    expect(groups.map(({ n }) => n)).toEqual([3, 2, 1]);
    const late = await all(
      [{ $sort: { q: 1 } }, { $limit: 6 }, { $match: { k: "A" } }, { $count: "n" }],
      loose,
    );
    expect(late).toEqual([{ n: 3 }]);
    const facet = await all(
      [{ $facet: { a: [{ $match: { $expr: { $eq: ["$k", "A"] } } }, { $count: "n" }] } }],
      loose,
    );
    expect(facet).toEqual([{ a: [{ n: 3 }] }]);
  });

  test("{aggregate: 1} has one too", async () => {
    const pipeline = [{ $documents: [{ k: "a" }, { k: "A" }] }, { $match: { k: "A" } }, { $count: "n" }];
    expect(await cluster.all("test", { aggregate: 1, pipeline, cursor: {}, ...loose })).toEqual([{ n: 2 }]);
  });
});

describe("options", () => {
  test("let, hint, comment and allowDiskUse go to the shards; let holds on the router", async () => {
    await cluster.ok("test", { createIndexes: "c", indexes: [{ key: { q: 1 }, name: "byQ" }] });
    const rows = await all(
      [
        { $match: { $expr: { $gt: ["$q", "$$least"] } } },
        { $sort: { q: 1 } },
        { $limit: 9 },
        { $set: { l: "$$least" } },
      ],
      { let: { least: 4 }, hint: "byQ", comment: "c", allowDiskUse: true },
    );
    expect(rows.map(({ q, l }) => [q, l])).toEqual([
      [5, 4],
      [6, 4],
    ]);
    const bad = { aggregate: "c", pipeline: [{ $sort: { q: 1 } }], cursor: {} };
    expect(await cluster.run("test", { ...bad, hint: "nope" })).toMatchObject({ ok: 0, code: 2 });
    expect(await cluster.run("test", { ...bad, nonsense: 1 })).toMatchObject({ ok: 0, code: 40415 });
    await cluster.ok("test", { dropIndexes: "c", index: "byQ" });
  });

  test("batchSize cuts what the router gives", async () => {
    const { cursor } = (await cluster.ok("test", {
      aggregate: "c",
      pipeline: [{ $sort: { q: 1 } }],
      cursor: { batchSize: 2 },
    })) as { cursor: { id: bigint; firstBatch: Doc[] } };
    expect(cursor.firstBatch.map(({ q }) => q)).toEqual([1, 2]);
    const more = await cluster.ok("test", { getMore: cursor.id, collection: "c", batchSize: 3 });
    expect((more.cursor as { nextBatch: Doc[] }).nextBatch.map(({ q }) => q)).toEqual([3, 4, 5]);
    await cluster.ok("test", { killCursors: "c", cursors: [cursor.id] });
  });

  test("maxTimeMS ends the router's stages (50)", async () => {
    // The test's clock moves on with every look at it, so a millisecond is over at the second.
    const numbers = { $set: { n: { $range: [0, 3000] } } };
    const pipeline = [{ $sort: { q: 1 } }, numbers, { $unwind: "$n" }, { $count: "n" }];
    const command = { aggregate: "c", pipeline, cursor: {} };
    expect(await cluster.run("test", { ...command, maxTimeMS: 1 })).toMatchObject({ ok: 0, code: 50 });
    expect(await cluster.all("test", command)).toEqual([{ n: 18_000 }]);
    // The time between a client's batches does not count.
    const slow = { aggregate: "c", pipeline: pipeline.slice(0, 3), cursor: { batchSize: 0 }, maxTimeMS: 5 };
    const { cursor } = (await cluster.ok("test", slow)) as { cursor: { id: bigint } };
    expect(await cluster.run("test", { getMore: cursor.id, collection: "c" })).toMatchObject({ ok: 1 });
  });
});

describe("explain (§5.2)", () => {
  test("names each shard, and where the merge is", async () => {
    const sorted = await explain([{ $sort: { q: 1 } }]);
    expect(sorted.mergeType).toBe("router");
    expect(Object.keys(sorted.shards)).toEqual(["shardA", "shardB"]);
    expect(await explain([{ $match: { x: 10 } }])).toMatchObject({ splitPipeline: null });
    const spilling = await explain([{ $group: { _id: "$k" } }], { allowDiskUse: true });
    expect(spilling.mergeType).toBe("anyShard");
  });

  test("a join with an unsharded collection is merged where that is", async () => {
    await cluster.ok("test", { insert: "plain", documents: [{ _id: 1 }] });
    const join = [{ $lookup: { from: "plain", localField: "q", foreignField: "_id", as: "p" } }];
    expect(await explain(join)).toMatchObject({ mergeType: "specificShard", mergeShard: "shardA" });
    expect(await explain([{ $out: "o" }])).toMatchObject({
      mergeType: "specificShard",
      mergeShard: "shardA",
    });
    expect(await explain([{ $merge: "o" }])).toMatchObject({ mergeType: "router" });
    for (const [rules, expected] of [
      ["7.0", { mergeType: "specificShard", mergeShardId: "shardA" }],
      ["5.0", { mergeType: "primaryShard" }],
    ] as const) {
      const old = await startCluster({ rules });
      await load(old);
      await old.ok("test", { insert: "plain", documents: [{ _id: 1 }] });
      expect(await explain(join, {}, old)).toMatchObject(expected);
      expect((await explain([{ $sort: { q: 1 } }], {}, old)).mergeType).toBe("mongos");
    }
  });

  test("executionStats come from each shard; nothing is written", async () => {
    const reply = await cluster.ok("test", {
      explain: { aggregate: "c", pipeline: [{ $match: { q: { $gt: 2 } } }, { $out: "never" }], cursor: {} },
      verbosity: "executionStats",
    });
    expect(reply.splitPipeline).toMatchObject({ mergerPart: [{ $out: "never" }] });
    const shards = reply.shards as Record<string, { executionStats?: Doc; stages?: Doc[] }>;
    expect(JSON.stringify(shards.shardA)).toContain("nReturned");
    expect(await cluster.all("test", { listCollections: 1, filter: { name: "never" } })).toEqual([]);
  });

  test("{aggregate, explain: true} is the same", async () => {
    const reply = await cluster.ok("test", {
      aggregate: "c",
      pipeline: [{ $sort: { q: 1 } }],
      explain: true,
    });
    expect(reply).toMatchObject({ mergeType: "router", shards: { shardA: {}, shardB: {} } });
  });
});

describe("stages about the cluster", () => {
  const rows = (db: string, pipeline: object[]): Promise<Doc[]> =>
    cluster.all(db, { aggregate: 1, pipeline, cursor: {} });
  const refused = (db: string, pipeline: object[]): Promise<Doc> =>
    cluster.run(db, { aggregate: 1, pipeline, cursor: {} });

  test("$listClusterCatalog: a database's collections and views with their shards; all of them on admin", async () => {
    await cluster.ok("other", { create: "v", viewOn: "u", pipeline: [] });
    const listed = await rows("test", [
      { $listClusterCatalog: { shards: true } },
      { $match: { ns: "test.c" } },
    ]);
    expect(listed).toMatchObject([
      {
        ns: "test.c",
        db: "test",
        type: "collection",
        sharded: true,
        shardKey: { x: 1 },
        shards: ["shardA", "shardB"],
      },
    ]);
    const views = await rows("admin", [{ $listClusterCatalog: {} }, { $match: { type: "view" } }]);
    expect(views).toMatchObject([{ ns: "other.v", sharded: false, options: { viewOn: "u" } }]);
    expect(views[0]).not.toHaveProperty("shards");
    const [balancing] = await rows("test", [
      { $listClusterCatalog: { balancingConfiguration: true } },
      { $match: { ns: "test.c" } },
    ]);
    expect(balancing).toMatchObject({
      balancingEnabled: true,
      balancingEnabledReason: { enableBalancing: true, allowMigrations: true },
      autoMergingEnabled: true,
      chunkSize: 128,
    });
  });

  test("$currentOp tells of every shard, on admin only", async () => {
    const operations = await rows("admin", [{ $currentOp: {} }]);
    expect(new Set(operations.map(({ shard }) => shard))).toEqual(new Set(["shardA", "shardB"]));
    expect(await refused("test", [{ $currentOp: {} }])).toMatchObject({ code: 73 });
  });

  test("$documents joins like any source, and what it makes can be written", async () => {
    const pipeline = [
      { $documents: [{ q: 1 }, { q: 5 }] },
      { $lookup: { from: "c", localField: "q", foreignField: "q", as: "c" } },
      { $project: { _id: "$q", x: { $first: "$c.x" } } },
    ];
    const made = [
      { _id: 1, x: 10 },
      { _id: 5, x: 70 },
    ];
    expect(await rows("test", pipeline)).toEqual(made);
    expect(await rows("test", [...pipeline, { $merge: "made" }])).toEqual([]);
    expect(await cluster.all("test", { find: "made", sort: { _id: 1 } })).toEqual(made);
  });

  test("what needs a collection, or nothing at all, is refused (73)", async () => {
    expect(await refused("test", [{ $match: {} }])).toMatchObject({ code: 73 });
    expect(await refused("test", [])).toMatchObject({ code: 73 });
    expect(await refused("test", [{ $listLocalSessions: {} }])).toMatchObject({ code: 238 });
    expect(await refused("test", [{ $changeStream: {} }])).toMatchObject({ code: 238 });
    expect(
      await cluster.run("test", { aggregate: "c", pipeline: [{ $changeStream: {} }], cursor: {} }),
    ).toMatchObject({
      code: 238,
    });
  });

  test("$indexStats: a row per index and shard", async () => {
    const stats = await all([
      { $indexStats: {} },
      { $group: { _id: "$name", shards: { $addToSet: "$shard" } } },
    ]);
    for (const { shards } of stats) expect([...(shards as string[])].sort()).toEqual(["shardA", "shardB"]);
    expect(stats.map(({ _id }) => _id).sort()).toEqual(["_id_", "x_1"]);
  });
});
