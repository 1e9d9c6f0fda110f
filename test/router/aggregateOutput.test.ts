/**
 * `$out` and `$merge` through the router (facts-mongos.md §6).
 *
 * Two shards; `test` has its primary on shardA. `c` is sharded on {x: 1} and cut at
 * 50, `plain` is unsharded. Targets are made anew in each test.
 */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const DOCUMENTS = [
  { _id: 1, x: 10, n: 1 },
  { _id: 2, x: 60, n: 2 },
  { _id: 3, x: 90, n: 3 },
];

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ enableSharding: "other", primaryShard: "shardB" });
  await sharded("c", { x: 1 }, 50);
  await cluster.ok("test", { insert: "c", documents: DOCUMENTS });
  await cluster.ok("test", { insert: "plain", documents: DOCUMENTS });
});
beforeEach(async () => {
  await cluster.run("test", { drop: "t" });
  await cluster.run("other", { drop: "t" });
});

/** A collection on both shards, cut at a value of its first key field. */
async function sharded(name: string, key: Doc, cut: unknown, options: Doc = {}): Promise<void> {
  const ns = `test.${name}`;
  const point = Object.fromEntries(Object.keys(key).map((field, i) => [field, i === 0 ? cut : 0]));
  await cluster.admin({ shardCollection: ns, key, ...options });
  await cluster.admin({ split: ns, middle: point });
  await cluster.admin({ moveChunk: ns, find: point, to: "shardB" });
}

const run = (coll: string, ...pipeline: object[]): Promise<Doc> =>
  cluster.run("test", { aggregate: coll, pipeline, cursor: {} });
const content = (name = "t", db = "test"): Promise<Doc[]> =>
  cluster.all(db, { find: name, sort: { _id: 1 } });
const on = async (shard: string, name = "t"): Promise<unknown[]> => {
  const reply = (await cluster.shard(shard, "test", { find: name, sort: { _id: 1 } })) as {
    cursor: { firstBatch: Doc[] };
  };
  return reply.cursor.firstBatch.map(({ _id }) => _id);
};
const NOTHING = { ok: 1, cursor: { firstBatch: [] } };

describe.each(["c", "plain"])("$out from %s", (source) => {
  test("makes a collection, on the primary of its database", async () => {
    expect(await run(source, { $out: "t" })).toMatchObject(NOTHING);
    expect(await content()).toEqual(DOCUMENTS);
    expect(await on("shardA")).toEqual([1, 2, 3]);
    expect(await on("shardB")).toEqual([]);
  });

  test("goes to another database's primary", async () => {
    expect(
      await run(source, { $match: { n: { $gt: 1 } } }, { $out: { db: "other", coll: "t" } }),
    ).toMatchObject(NOTHING);
    expect(await content("t", "other")).toEqual(DOCUMENTS.slice(1));
  });

  test("makes the database where there is none", async () => {
    await cluster.ok("fresh", { dropDatabase: 1 });
    expect(await run(source, { $out: { db: "fresh", coll: "t" } })).toMatchObject(NOTHING);
    expect(await content("t", "fresh")).toEqual(DOCUMENTS);
  });

  test("replaces what was there, and keeps indexes and options", async () => {
    await cluster.ok("test", { create: "t", validator: { n: { $gt: 0 } } });
    await cluster.ok("test", { createIndexes: "t", indexes: [{ key: { n: 1 }, name: "byN", unique: true }] });
    await cluster.ok("test", { insert: "t", documents: [{ _id: "old", n: 99 }] });
    expect(await run(source, { $out: "t" })).toMatchObject(NOTHING);
    expect(await content()).toEqual(DOCUMENTS);
    const indexes = await cluster.all("test", { listIndexes: "t" });
    expect(indexes).toMatchObject([{ name: "_id_" }, { name: "byN", unique: true }]);
    const [listed] = await cluster.all("test", { listCollections: 1, filter: { name: "t" } });
    expect(listed).toMatchObject({ options: { validator: { n: { $gt: 0 } } } });
  });

  test("changes nothing when a document is refused", async () => {
    await cluster.ok("test", { create: "t", validator: { n: { $lt: 3 } } });
    await cluster.ok("test", { insert: "t", documents: [{ _id: "old", n: 0 }] });
    expect(await run(source, { $out: "t" })).toMatchObject({ ok: 0, code: 121 });
    expect(await content()).toEqual([{ _id: "old", n: 0 }]);
    const names = (await cluster.all("test", { listCollections: 1, nameOnly: true })).map(({ name }) => name);
    expect(names.filter((name) => String(name).startsWith("tmp."))).toEqual([]);
    const bypass = {
      aggregate: source,
      pipeline: [{ $out: "t" }],
      cursor: {},
      bypassDocumentValidation: true,
    };
    expect(await cluster.run("test", bypass)).toMatchObject(NOTHING);
    expect(await content()).toEqual(DOCUMENTS);
  });

  test("gives an empty collection for no documents", async () => {
    await cluster.ok("test", { insert: "t", documents: [{ _id: "old" }] });
    expect(await run(source, { $match: { n: 99 } }, { $out: "t" })).toMatchObject(NOTHING);
    expect(await content()).toEqual([]);
  });

  test("refuses sharded collections (28769), views (166) and capped ones (17152)", async () => {
    await sharded("t", { _id: 1 }, 50);
    const refused = await run(source, { $out: "t" });
    expect(refused).toMatchObject({ ok: 0, code: 28769, errmsg: "test.t cannot be sharded" });
    await cluster.ok("test", { drop: "t" });
    await cluster.ok("test", { create: "t", viewOn: "plain", pipeline: [] });
    expect(await run(source, { $out: "t" })).toMatchObject({ ok: 0, code: 166 });
    await cluster.ok("test", { drop: "t" });
    await cluster.ok("test", { create: "t", capped: true, size: 4096 });
    expect(await run(source, { $out: "t" })).toMatchObject({ ok: 0, code: 17152 });
    expect(await run(source, { $out: { db: "config", coll: "t" } })).toMatchObject({ ok: 0, code: 31321 });
    expect(await run(source, { $out: "system.t" })).toMatchObject({ ok: 0, code: 17385 });
  });
});

describe("$out and what it reads", () => {
  test("a collection can be replaced by what was made of itself", async () => {
    await cluster.ok("test", { insert: "t", documents: [{ _id: 1, n: 1 }] });
    expect(
      await run("t", { $unionWith: "c" }, { $group: { _id: null, n: { $sum: "$n" } } }, { $out: "t" }),
    ).toEqual(expect.objectContaining({ ok: 1 }));
    expect(await content()).toEqual([{ _id: null, n: 7 }]);
  });

  test("an open cursor on the replaced collection ends", async () => {
    await cluster.ok("test", { insert: "t", documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] });
    const { cursor } = (await cluster.ok("test", { find: "t", batchSize: 1 })) as { cursor: { id: bigint } };
    await run("c", { $out: "t" });
    expect(await cluster.run("test", { getMore: cursor.id, collection: "t" })).toMatchObject({
      ok: 0,
      code: 175,
    });
  });
});

/** Sharded and unsharded targets, on another key than the source. */
const TARGETS: [name: string, make: () => Promise<unknown>][] = [
  ["an unsharded target", () => cluster.ok("test", { create: "t" })],
  ["a target sharded on _id", () => sharded("t", { _id: 1 }, 2)],
];

describe.each(["c", "plain"])("$merge from %s", (source) => {
  describe.each(TARGETS)("into %s", (_name, make) => {
    const old = [
      { _id: 2, old: true, n: 0 },
      { _id: 7, old: true },
    ];
    beforeEach(async () => {
      await make();
      await cluster.ok("test", { insert: "t", documents: old });
    });

    test("merges what matches and inserts what does not", async () => {
      expect(await run(source, { $merge: "t" })).toMatchObject(NOTHING);
      expect(await content()).toEqual([
        { _id: 1, x: 10, n: 1 },
        { _id: 2, old: true, n: 2, x: 60 },
        { _id: 3, x: 90, n: 3 },
        { _id: 7, old: true },
      ]);
    });

    test.each<[Doc, Doc[]]>([
      [{ whenMatched: "replace" }, [DOCUMENTS[0]!, DOCUMENTS[1]!, DOCUMENTS[2]!, old[1]!]],
      [{ whenMatched: "keepExisting" }, [DOCUMENTS[0]!, old[0]!, DOCUMENTS[2]!, old[1]!]],
      [{ whenMatched: "replace", whenNotMatched: "discard" }, [DOCUMENTS[1]!, old[1]!]],
      [
        { whenMatched: [{ $set: { both: { $add: ["$n", "$$new.n"] } } }], whenNotMatched: "discard" },
        [{ ...old[0], both: 2 }, old[1]!],
      ],
      [
        {
          let: { add: { $multiply: ["$n", 10] } },
          whenMatched: [{ $set: { n: "$$add" } }],
          whenNotMatched: "discard",
        },
        [{ ...old[0], n: 20 }, old[1]!],
      ],
    ])("%j", async (modes, expected) => {
      expect(await run(source, { $merge: { into: "t", ...modes } })).toMatchObject(NOTHING);
      expect(await content()).toEqual(expected);
    });

    test("whenMatched: fail is a duplicate key, whenNotMatched: fail is 13113", async () => {
      expect(await run(source, { $merge: { into: "t", whenMatched: "fail" } })).toMatchObject({
        ok: 0,
        code: 11000,
        keyPattern: { _id: 1 },
        keyValue: { _id: 2 },
      });
      expect(
        await run(source, { $merge: { into: "t", whenMatched: "replace", whenNotMatched: "fail" } }),
      ).toMatchObject({ ok: 0, code: 13113 });
    });

    test("a second document with the same key meets the first", async () => {
      const pipeline = [
        { $match: { n: 1 } },
        { $set: { y: [1, 2, 3] } },
        { $unwind: "$y" },
        { $project: { _id: { $literal: 5 }, y: 1 } },
        { $merge: { into: "t", whenMatched: [{ $set: { sum: { $add: ["$y", "$$new.y"] } } }] } },
      ];
      expect(await run(source, ...pipeline)).toMatchObject(NOTHING);
      // 1 is inserted; 2 makes sum 1 + 2; 3 makes sum 1 + 3.
      expect((await content()).find(({ _id }) => _id === 5)).toEqual({ _id: 5, y: 1, sum: 4 });
    });

    test("the target's validator holds, and can be bypassed", async () => {
      await cluster.ok("test", { collMod: "t", validator: { n: { $lt: 3 } } });
      expect(await run(source, { $match: { n: 3 } }, { $merge: "t" })).toMatchObject({ ok: 0, code: 121 });
      const command = { aggregate: source, pipeline: [{ $match: { n: 3 } }, { $merge: "t" }], cursor: {} };
      expect(await cluster.run("test", { ...command, bypassDocumentValidation: true })).toMatchObject(
        NOTHING,
      );
    });
  });

  test("makes the target, and nothing for no documents", async () => {
    expect(await run(source, { $match: { n: 99 } }, { $merge: "t" })).toMatchObject(NOTHING);
    expect(await cluster.all("test", { listCollections: 1, filter: { name: "t" } })).toEqual([]);
    expect(await run(source, { $merge: { into: { db: "other", coll: "t" } } })).toMatchObject(NOTHING);
    expect(await content("t", "other")).toEqual(DOCUMENTS);
  });
});

describe("$merge by other fields", () => {
  const totals = [{ $project: { _id: 0, x: 1, n: 1 } }];

  test("documents go to the shards of their keys; the default is _id and the shard key", async () => {
    await sharded("t", { x: 1 }, 50);
    const entries = await cluster.traced(() => run("plain", { $merge: "t" }));
    expect(await on("shardA")).toEqual([1]);
    expect(await on("shardB")).toEqual([2, 3]);
    // The trace has the write like an insert: which range got how many documents.
    expect(entries.at(-1)).toMatchObject({
      op: "$merge",
      ns: "test.t",
      ranges: [
        { shard: "shardA", documents: 1 },
        { shard: "shardB", documents: 2 },
      ],
      shards: [
        { shard: "shardA", sent: 1 },
        { shard: "shardB", sent: 2 },
      ],
    });
    // _id 1 with another x is another document: `on` is both.
    await run("plain", { $match: { _id: 1 } }, { $set: { x: 70 } }, { $merge: "t" });
    expect(await on("shardB")).toEqual([1, 2, 3]);
    expect(await on("shardA")).toEqual([1]);
  });

  test("a unique index must cover exactly these fields: 51190, on one shard 51183", async () => {
    await sharded("t", { x: 1 }, 50, { unique: true });
    expect(await run("c", ...totals, { $merge: { into: "t", on: "x" } })).toMatchObject(NOTHING);
    const ids = (await content()).map(({ _id }) => _id);
    expect(await run("c", ...totals, { $set: { n: 0 } }, { $merge: { into: "t", on: "x" } })).toMatchObject(
      NOTHING,
    );
    const after = await content();
    expect(after.map(({ _id }) => _id)).toEqual(ids);
    expect(after.map(({ n }) => n)).toEqual([0, 0, 0]);
    expect(await run("c", { $merge: { into: "t", on: ["x", "n"] } })).toMatchObject({ ok: 0, code: 51190 });
    // Unique on each shard, and no more.
    expect(await run("c", { $merge: { into: "t", on: "_id" } })).toMatchObject({ ok: 0, code: 51190 });
    await cluster.ok("test", { drop: "t" });
    await cluster.ok("test", { insert: "t", documents: [{ _id: 1 }] });
    expect(await run("c", { $merge: { into: "t", on: "n" } })).toMatchObject({ ok: 0, code: 51190 });
    expect(await run("plain", { $merge: { into: "t", on: "n" } })).toMatchObject({ ok: 0, code: 51183 });
  });

  test("_id and shard key values of a met document stay what they are (66)", async () => {
    await sharded("t", { x: 1 }, 50, { unique: true });
    await run("c", { $merge: { into: "t", on: "x" } });
    expect(await run("c", { $set: { _id: 8 } }, { $merge: { into: "t", on: "x" } })).toMatchObject({
      ok: 0,
      code: 66,
    });
    const move = { $merge: { into: "t", on: "x", whenMatched: [{ $set: { x: 55 } }] } };
    expect(await run("c", move)).toMatchObject({ ok: 0, code: 66 });
    expect(await content()).toEqual(DOCUMENTS);
  });

  test("an array (51185) identifies nothing", async () => {
    await cluster.ok("test", { createIndexes: "t", indexes: [{ key: { n: 1 }, name: "n", unique: true }] });
    expect(await run("c", { $set: { n: [1] } }, { $merge: { into: "t", on: "n" } })).toMatchObject({
      code: 51185,
    });
  });

  test("an existing document is met by an element of its array, as by any index", async () => {
    await cluster.ok("test", { createIndexes: "t", indexes: [{ key: { n: 1 }, name: "n", unique: true }] });
    await cluster.ok("test", { insert: "t", documents: [{ _id: "a", n: [2, 5] }] });
    const modes = { whenMatched: [{ $set: { met: "$$new.x" } }], whenNotMatched: "discard" };
    expect(await run("c", ...totals, { $merge: { into: "t", on: "n", ...modes } })).toMatchObject(NOTHING);
    expect(await content()).toEqual([{ _id: "a", n: [2, 5], met: 60 }]);
  });

  test("views are no targets (166)", async () => {
    await cluster.ok("test", { create: "t", viewOn: "plain", pipeline: [] });
    for (const source of ["c", "plain"]) {
      expect(await run(source, { $merge: "t" })).toMatchObject({ ok: 0, code: 166 });
    }
  });

  test("what was written before a failure stays", async () => {
    await cluster.ok("test", { create: "t", validator: { n: { $ne: 2 } } });
    expect(await run("c", { $sort: { n: 1 } }, { $merge: "t" })).toMatchObject({ ok: 0, code: 121 });
    expect(await content()).toEqual([DOCUMENTS[0]]);
  });
});

describe("two pipelines that write into each other's collections", () => {
  test("both end, however often they meet", async () => {
    await sharded("left", { _id: 1 }, 2);
    await sharded("right", { _id: 1 }, 2);
    await cluster.ok("test", { insert: "left", documents: [{ _id: 1 }, { _id: 3 }] });
    const both = Array.from({ length: 10 }, () => [
      run("left", { $unionWith: "right" }, { $group: { _id: "$_id" } }, { $merge: "right" }),
      run(
        "right",
        { $lookup: { from: "left", localField: "_id", foreignField: "_id", as: "l" } },
        { $merge: "left" },
      ),
      cluster.admin({ moveChunk: "test.left", find: { _id: 1 }, to: "shardA" }),
    ]).flat();
    for (const reply of await Promise.all(both)) expect(reply).toMatchObject({ ok: 1 });
    expect((await content("right")).map(({ _id }) => _id)).toEqual([1, 3]);
  });
});
