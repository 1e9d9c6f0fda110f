import type { RoutingTraceEntry } from "shardlab/router";
import { fromDocument, toDocument } from "shardlab/bson";
import { beforeAll, describe, expect, test } from "vitest";
import { parsePipeline, runStages } from "../../lib/query/index.js";
import { splitPipeline } from "../../lib/router/merging/pipelineSplit.js";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

/** Key {x: 1}, cut at 50: x = 0 … 49 on shardA, 50 … 99 on shardB; g = x mod 3. */
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 50 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  const documents = Array.from({ length: 100 }, (_, x) => ({ _id: x, x, g: x % 3, name: `n${x}` }));
  await cluster.ok("test", { insert: "c", documents });
  await cluster.ok("test", { insert: "plain", documents: [{ _id: 1, c: 5 }] });
});

const xs = (documents: Doc[]): number[] => documents.map(({ x }) => Number(x));

async function entryOf(db: string, command: Doc): Promise<RoutingTraceEntry> {
  const [entry] = await cluster.traced(() => cluster.ok(db, command));
  return entry!;
}

describe("find", () => {
  test("without a sort the shards take turns", async () => {
    const found = await cluster.all("test", { find: "c", batchSize: 4 });
    expect(xs(found.slice(0, 4))).toEqual([0, 50, 1, 51]);
    expect(found).toHaveLength(100);
  });

  test("skip and limit: each shard is asked for both together, the router applies them (§6)", async () => {
    const command = { find: "c", sort: { x: -1 }, skip: 48, limit: 4 };
    expect(xs(await cluster.all("test", command))).toEqual([51, 50, 49, 48]);
    const entry = await entryOf("test", command);
    expect(entry.merge).toEqual({ kind: "sort", skip: 48, limit: 4 });
    // 52 each: shardA has only 50.
    expect(entry.shards).toMatchObject([
      { shard: "shardA", returned: 50 },
      { shard: "shardB", returned: 50 },
    ]);
    expect(
      xs(await cluster.all("test", { find: "c", sort: { x: 1 }, skip: 98, limit: 50, batchSize: 1 })),
    ).toEqual([98, 99]);
    expect(await cluster.all("test", { find: "c", sort: { x: 1 }, skip: 100 })).toEqual([]);
  });

  test("on one shard they are passed on whole", async () => {
    const entry = await entryOf("test", {
      find: "c",
      filter: { x: { $gte: 60 } },
      sort: { x: 1 },
      skip: 2,
      limit: 3,
    });
    expect(entry).toMatchObject({ shards: [{ shard: "shardB", returned: 3 }], merge: { kind: "none" } });
  });

  test("a projection that drops the sort field is applied after the merge", async () => {
    const found = await cluster.all("test", {
      find: "c",
      sort: { x: -1 },
      projection: { name: 1, _id: 0 },
      limit: 2,
    });
    expect(found).toEqual([{ name: "n99" }, { name: "n98" }]);
    const excluded = await cluster.all("test", {
      find: "c",
      sort: { x: 1 },
      projection: { x: 0, g: 0 },
      limit: 1,
    });
    expect(excluded).toEqual([{ _id: 0, name: "n0" }]);
  });

  test("batchSize 0 opens the cursor; singleBatch closes it; killCursors ends it", async () => {
    const opened = (await cluster.ok("test", { find: "c", batchSize: 0 })).cursor as {
      id: bigint;
      firstBatch: Doc[];
    };
    expect(opened.firstBatch).toEqual([]);
    const more = (await cluster.ok("test", { getMore: opened.id, collection: "c", batchSize: 3 })).cursor as {
      nextBatch: Doc[];
    };
    expect(more.nextBatch).toHaveLength(3);
    expect(await cluster.ok("test", { killCursors: "c", cursors: [opened.id, 5n] })).toMatchObject({
      cursorsKilled: [opened.id],
      cursorsNotFound: [5],
    });
    expect(await cluster.run("test", { getMore: opened.id, collection: "c" })).toMatchObject({
      ok: 0,
      code: 43,
    });
    const single = (await cluster.ok("test", { find: "c", batchSize: 2, singleBatch: true })).cursor as {
      id: bigint;
    };
    expect(String(single.id)).toBe("0");
  });

  test("a cursor that one shard answers has a number of the router's", async () => {
    const first = (await cluster.ok("test", { find: "c", filter: { x: { $lt: 40 } }, batchSize: 5 }))
      .cursor as { id: bigint; firstBatch: Doc[] };
    expect(await cluster.run("test", { getMore: first.id, collection: "plain" })).toMatchObject({ code: 13 });
    expect(await cluster.shard("shardA", "test", { getMore: first.id, collection: "c" })).toMatchObject({
      code: 43,
    });
    const second = (await cluster.ok("test", { getMore: first.id, collection: "c", batchSize: 5 }))
      .cursor as { id: bigint; nextBatch: Doc[] };
    expect(second.id).toEqual(first.id);
    expect(xs(second.nextBatch)).toEqual([5, 6, 7, 8, 9]);
    expect(await cluster.all("test", { find: "c", filter: { x: { $lt: 40 } }, batchSize: 7 })).toHaveLength(
      40,
    );
  });

  test("what would change the answer is refused, not ignored", async () => {
    expect(await cluster.run("test", { find: "c", filter: { x: 1 }, nonsense: 1 })).toMatchObject({
      ok: 0,
      code: 40415,
    });
    expect(await cluster.run("test", { find: "c", limit: -1 })).toMatchObject({ ok: 0, code: 51024 });
    expect(await cluster.run("test", { find: "c", filter: 5 })).toMatchObject({ code: 14 });
    expect(await cluster.run("test", { find: "c", filter: { $nonsense: 1 } })).toMatchObject({ code: 2 });
  });

  test("unsharded collections answer from the primary; databases that don't exist are empty", async () => {
    expect(await cluster.all("test", { find: "plain" })).toEqual([{ _id: 1, c: 5 }]);
    expect(await entryOf("test", { find: "plain" })).toMatchObject({
      targeting: { kind: "unsharded" },
      shards: [{ shard: "shardA", returned: 1 }],
    });
    expect(await cluster.all("nowhere", { find: "c" })).toEqual([]);
    expect(await cluster.ok("nowhere", { count: "c" })).toMatchObject({ n: 0 });
  });
});

test("count adds up; skip and limit apply to the sum", async () => {
  expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 100 });
  expect(await cluster.ok("test", { count: "c", query: { g: 0 } })).toMatchObject({ n: 34 });
  expect(await cluster.ok("test", { count: "c", skip: 95 })).toMatchObject({ n: 5 });
  expect(await cluster.ok("test", { count: "c", skip: 10, limit: 60 })).toMatchObject({ n: 60 });
  expect(await cluster.ok("test", { count: "c", query: { x: { $gte: 90 } }, limit: 3 })).toMatchObject({
    n: 3,
  });
});

test("distinct has every value once, in order", async () => {
  expect(await cluster.ok("test", { distinct: "c", key: "g" })).toMatchObject({ values: [0, 1, 2] });
});

describe("aggregate", () => {
  const run = (pipeline: Doc[], more: Doc = {}): Promise<Doc[]> =>
    cluster.all("test", { aggregate: "c", pipeline, cursor: {}, ...more });

  test("$group: partial groups on the shards, merged by the router", async () => {
    const rows = await run([
      {
        $group: {
          _id: "$g",
          n: { $sum: 1 },
          mean: { $avg: "$x" },
          least: { $min: "$x" },
          most: { $max: "$x" },
        },
      },
      { $sort: { _id: 1 } },
    ]);
    // g = 0: 0, 3, …, 99; g = 1: 1, 4, …, 97; g = 2: 2, 5, …, 98
    expect(rows).toEqual([
      { _id: 0, n: 34, mean: 49.5, least: 0, most: 99 },
      { _id: 1, n: 33, mean: 49, least: 1, most: 97 },
      { _id: 2, n: 33, mean: 50, least: 2, most: 98 },
    ]);
  });

  test("$count, $sortByCount, $skip, $limit, $unwind", async () => {
    expect(await run([{ $match: { g: 1 } }, { $count: "n" }])).toEqual([{ n: 33 }]);
    expect(await run([{ $match: { g: 7 } }, { $count: "n" }])).toEqual([]);
    expect((await run([{ $sortByCount: "$g" }]))[0]).toEqual({ _id: 0, count: 34 });
    expect(xs(await run([{ $sort: { x: 1 } }, { $skip: 48 }, { $limit: 4 }]))).toEqual([48, 49, 50, 51]);
    expect(await run([{ $limit: 7 }])).toHaveLength(7);
    expect(await run([{ $skip: 97 }])).toHaveLength(3);
    expect(await run([{ $project: { t: ["$x", "$g"] } }, { $unwind: "$t" }, { $count: "n" }])).toEqual([
      { n: 200 },
    ]);
  });

  test("the router's stages see the command's variables", () => {
    const stages = [{ $group: { _id: null, n: { $sum: 1 } } }, { $set: { which: "$$which" } }].map((stage) =>
      toDocument(stage),
    );
    const options = { let: toDocument({ which: 2 }) };
    const split = splitPipeline(parsePipeline(stages, options), options);
    const rows = runStages(split.mergerStages(), [
      toDocument({ _id: null, p0: 5 }),
      toDocument({ _id: null, p0: 7 }),
    ]);
    expect(rows.map(fromDocument)).toEqual([{ _id: null, n: 12, which: 2 }]);
  });

  test("the $match in front decides the shards, also behind a $sort", async () => {
    const shardsOf = async (pipeline: Doc[]): Promise<string[]> =>
      (await entryOf("test", { aggregate: "c", pipeline, cursor: {} })).shards.map(({ shard }) => shard);
    expect(await shardsOf([{ $match: { x: 7 } }])).toEqual(["shardA"]);
    expect(await shardsOf([{ $sort: { g: 1 } }, { $match: { x: { $gt: 60 } } }])).toEqual(["shardB"]);
    // The pipeline is optimised first (§4.1): a $match passes stages that leave its fields alone, and no others.
    expect(await shardsOf([{ $project: { x: 1 } }, { $match: { x: 7 } }])).toEqual(["shardA"]);
    expect(await shardsOf([{ $set: { x: 7 } }, { $match: { x: 7 } }])).toEqual(["shardA", "shardB"]);
  });

  test("$collStats gives a row per owning shard, tagged, and later stages run over the rows", async () => {
    const rows = await run([
      { $collStats: { storageStats: {} } },
      { $project: { _id: 0, shard: 1, docs: "$storageStats.count" } },
    ]);
    expect(rows).toEqual([
      { shard: "shardA", docs: 50 },
      { shard: "shardB", docs: 50 },
    ]);
    const [row] = await run([{ $collStats: { storageStats: {} } }]);
    expect(row).toMatchObject({
      ns: "test.c",
      shard: "shardA",
      host: "127.0.0.1:27018",
      storageStats: { count: 50 },
    });
    const plain = await cluster.all("test", {
      aggregate: "plain",
      pipeline: [{ $collStats: { storageStats: {} } }],
      cursor: {},
    });
    expect(plain).toMatchObject([{ shard: "shardA", storageStats: { count: 1 } }]);
  });

  test("$shardedDataDistribution, on admin only", async () => {
    const command = {
      aggregate: 1,
      pipeline: [{ $shardedDataDistribution: {} }, { $match: { ns: "test.c" } }],
      cursor: {},
    };
    const rows = await cluster.all("admin", command);
    expect(rows).toHaveLength(1);
    expect(rows[0]!.shards).toMatchObject([
      { shardName: "shardA", numOwnedDocuments: 50, numOrphanedDocs: 0 },
      { shardName: "shardB", numOwnedDocuments: 50, numOrphanedDocs: 0 },
    ]);
    expect(await cluster.run("test", command)).toMatchObject({ ok: 0 });
  });

  test.each<[Doc[], number]>([
    [[{ $nonsense: 1 }], 40324],
    [[{ $group: { _id: 1 } }, { $nonsense: 1 }], 40324],
  ])("%j is refused with %i", async (pipeline, code) => {
    expect(await cluster.run("test", { aggregate: "c", pipeline, cursor: {} })).toMatchObject({
      ok: 0,
      code,
    });
  });
});

describe("results over 16 MiB", () => {
  test("are refused, whether they grew on a shard or while merging", async () => {
    await cluster.admin({ shardCollection: "test.wide", key: { x: 1 } });
    await cluster.admin({ split: "test.wide", middle: { x: 50 } });
    await cluster.admin({ moveChunk: "test.wide", find: { x: 50 }, to: "shardB" });
    // Ten megabytes on each shard.
    for (const x of [1, 51]) {
      const document = { _id: x, x, s: (x === 1 ? "a" : "b").repeat(10_000_000) };
      await cluster.ok("test", { insert: "wide", documents: [document] });
    }
    const both = { $group: { _id: null, s: { $push: "$s" } } };
    const grouped = (...more: Doc[]): Doc => ({ aggregate: "wide", pipeline: [both, ...more], cursor: {} });
    expect(await cluster.run("test", grouped())).toMatchObject({ ok: 0, code: 10334 });
    expect(await cluster.all("test", grouped({ $unset: "s" }))).toEqual([{ _id: null }]);
    const doubled = { find: "wide", projection: { a: "$s", b: "$s" } };
    expect(await cluster.run("test", doubled)).toMatchObject({ ok: 0, code: 10334 });
    const distinct = { distinct: "wide", key: "s" };
    expect(await cluster.run("test", distinct)).toMatchObject({ ok: 0, code: 17217 });
    expect(await cluster.run("test", { ...distinct, query: { x: 1 } })).toMatchObject({ ok: 1 });
    await cluster.ok("test", { drop: "wide" });
  });
});

test("a read concern that promises another view of the data is refused, not ignored", async () => {
  const cluster = await startCluster();
  const find = (level: string): Promise<Doc> => cluster.run("test", { find: "c", readConcern: { level } });
  expect(await find("majority")).toMatchObject({ ok: 1 });
  expect(await find("snapshot")).toMatchObject({ ok: 0, code: 238 });
  expect(await find("snapshto")).toMatchObject({ ok: 0, code: 2 });
});

test("a trace too long for one reply comes in pieces that join without a gap", async () => {
  const cluster = await startCluster();
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  const long = "k".repeat(1000);
  for (let i = 0; i < 256; i++) {
    const middle = `${String(i).padStart(3, "0")}${long}`;
    await cluster.admin({ split: "test.c", middle: { x: middle } });
  }
  // Every find lists 256 ranges of about 2 KB: 0.5 MB each.
  for (let i = 0; i < 40; i++) await cluster.ok("test", { find: "c" });
  const numbers: number[] = [];
  let replies = 0;
  for (let since = 1; ; replies++) {
    const { entries, next } = await cluster.admin({ routingTrace: 1, since });
    const list = entries as RoutingTraceEntry[];
    if (list.length === 0) break;
    numbers.push(...list.map(({ n }) => n));
    since = Number(next);
  }
  expect(replies).toBeGreaterThan(1);
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => i + 1));
  expect(numbers.length).toBeGreaterThanOrEqual(40);
});

test("options of a merged read are checked as one server checks them", async () => {
  const sorted = { aggregate: "c", pipeline: [{ $sort: { x: 1 } }] };
  const rows = { aggregate: 1, pipeline: [{ $shardedDataDistribution: {} }] };
  const opened = (await cluster.ok("test", { find: "c", batchSize: 1 })).cursor as { id: bigint };
  const wrong: [string, Doc, number][] = [
    ["test", { ...sorted, cursor: { batchSize: -1 } }, 51024],
    ["test", { ...sorted, cursor: { batchSize: "ten" } }, 14],
    ["test", { ...sorted, cursor: { batchsize: 10 } }, 40415],
    ["admin", { ...rows, cursor: { batchsize: 10 } }, 40415],
    ["admin", { ...rows, cursor: {}, explian: true }, 40415],
    ["admin", { ...rows, cursor: {}, explain: true }, 238],
    ["test", { getMore: opened.id, collection: "c", batchsize: 10 }, 40415],
  ];
  for (const [db, command, code] of wrong) {
    expect(
      await cluster.run(db, command),
      JSON.stringify(command, (_, v: unknown) => (typeof v === "bigint" ? String(v) : v)),
    ).toMatchObject({ ok: 0, code });
  }
  // A count's negative limit means its absolute value.
  expect(await cluster.ok("test", { count: "c", query: {}, limit: -5 })).toMatchObject({ n: 5 });
});
