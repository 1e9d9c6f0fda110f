/** Every stage, cut over two shards (facts-mongos.md §6). */
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
