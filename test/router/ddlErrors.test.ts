/** shardCollection, every row of facts §1.3 that does not need zones: the code, and the words that say why. */
import { UUID } from "bson";
import type { RulesVersion } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const refused = async (cluster: TestCluster, command: Doc, code: number, gist: string): Promise<void> => {
  const before = await cluster.all("config", { find: "collections" });
  const reply = await cluster.run("admin", { shardCollection: "library.c", ...command });
  expect(reply).toMatchObject({ ok: 0, code });
  expect(reply.errmsg).toContain(gist);
  expect(await cluster.all("config", { find: "collections" })).toEqual(before);
  expect(await cluster.all("config", { find: "chunks" })).toHaveLength(before.length);
};

describe("the arguments alone", () => {
  const atMostOne = (key: string, field: string): string =>
    `Shard key ${key} can contain at most one 'hashed' field, and/or multiple numerical fields set to a value of 1. ` +
    `Failed to parse field ${field}`;

  test.each<[Doc, number, string]>([
    [{}, 40414, "BSON field 'shardCollection.key' is missing but a required field"],
    [{ key: 1 }, 14, "shardCollection.key"],
    [{ key: {} }, 2, "Shard key is empty"],
    [{ key: { a: -1 } }, 2, atMostOne("{ a: -1 }", "a")],
    [{ key: { a: 5 } }, 2, atMostOne("{ a: 5 }", "a")],
    [{ key: { a: 1, b: "2d" } }, 2, atMostOne('{ a: 1, b: "2d" }', "b")],
    [{ key: { a: "text" } }, 2, atMostOne('{ a: "text" }', "a")],
    [{ key: { a: "hahashed" } }, 2, atMostOne('{ a: "hahashed" }', "a")],
    [{ key: { a: "hashed", b: "hashed" } }, 2, atMostOne('{ a: "hashed", b: "hashed" }', "b")],
    [{ key: { "": 1 } }, 2, "is empty"],
    [{ key: { "a.": 1 } }, 2, "contains extra dot"],
    [{ key: { ".a": 1 } }, 2, "contains extra dot"],
    [{ key: { "a..b": 1 } }, 2, "contains empty parts"],
    [{ key: { a: "hashed" }, unique: true }, 72, "Hashed shard keys cannot be declared unique."],
    [{ key: { a: 1, b: "hashed" }, unique: true }, 72, "Hashed shard keys cannot be declared unique."],
    [
      { key: { a: 1 }, collation: { locale: "fr" } },
      2,
      "The collation for shardCollection must be {locale: 'simple'}, but found: { locale: \"fr\" }",
    ],
    [
      { shardCollection: "library.system.buckets.c", key: { a: 1 } },
      5731501,
      "Sharding a buckets collection is not allowed",
    ],
    [{ shardCollection: "library.enxcol_.c.esc", key: { a: 1 } }, 6464401, "not allowed"],
    ...["admin.c", "local.c", "config.shards", "library.system.views"].map((ns): [Doc, number, string] => [
      { shardCollection: ns, key: { a: 1 } },
      20,
      `Special collection '${ns}' can't be registered in the sharding catalog`,
    ]),
    [{ shardCollection: "library", key: { a: 1 } }, 73, "Invalid namespace specified 'library'"],
    [{ key: { a: 1 }, uniq: true }, 40415, "uniq"],
    [{ key: { a: 1 }, timeseries: { timeField: "t" } }, 238, "time-series"],
  ])("%j: %i", async (command, code, gist) => {
    await refused(await startCluster(), command, code, gist);
  });

  test("before 4.4 a hashed field stands alone (§2.3)", async () => {
    const cluster = await startCluster({ rules: "4.2" });
    await cluster.admin({ enableSharding: "library" });
    await refused(
      cluster,
      { key: { a: 1, b: "hashed" } },
      2,
      "hashed shard keys currently only support single field keys",
    );
  });

  test("only on the admin database (13)", async () => {
    const reply = await (
      await startCluster()
    ).run("library", { shardCollection: "library.c", key: { a: 1 } });
    expect(reply).toMatchObject({
      code: 13,
      errmsg: "shardCollection may only be run against the admin database.",
    });
  });
});

describe("the collection as it is", () => {
  async function withCollection(
    options: Doc,
    documents: Doc[] = [],
    indexes: Doc[] = [],
  ): Promise<TestCluster> {
    const cluster = await startCluster();
    await cluster.ok("library", { create: "c", ...options });
    if (documents.length > 0) await cluster.ok("library", { insert: "c", documents });
    if (indexes.length > 0) await cluster.ok("library", { createIndexes: "c", indexes });
    return cluster;
  }
  const two = [
    { a: 1, b: 1 },
    { a: 2, b: 2 },
  ];
  const create =
    "Please create an index that starts with the proposed shard key before sharding the collection.";
  const because = (name: string, why: string): string =>
    `${create} Index ${name} cannot be used for sharding because [ ${why} ]`;

  test.each<[string, Doc, Doc[], Doc[], Doc, number, string]>([
    ["capped", { capped: true, size: 4096 }, [], [], {}, 72, "can't shard a capped collection"],
    ["a view", { viewOn: "other", pipeline: [] }, [], [], {}, 166, "because a view exists with that name"],
    [
      "with a collation, and none given",
      { collation: { locale: "fr" } },
      [],
      [],
      {},
      2,
      "If no collation was specified, the collection collation must be {locale: 'simple'}",
    ],
    ["documents without an index", {}, two, [], {}, 72, create],
    [
      "a sparse index",
      {},
      two,
      [{ key: { a: 1 }, name: "i", sparse: true }],
      {},
      72,
      because("i", "Index key is sparse."),
    ],
    [
      "a partial index",
      {},
      two,
      [{ key: { a: 1 }, name: "i", partialFilterExpression: { b: 1 } }],
      {},
      72,
      because("i", "Index key is partial."),
    ],
    [
      "an index with a collation",
      {},
      two,
      [{ key: { a: 1 }, name: "i", collation: { locale: "fr" } }],
      {},
      72,
      because("i", "Index has a non-simple collation."),
    ],
    [
      "arrays",
      {},
      [{ a: [1, 2] }],
      [{ key: { a: 1 }, name: "i" }],
      {},
      72,
      because("i", "Index key is multikey."),
    ],
    [
      "arrays behind the key in the only index with it",
      {},
      [{ a: 1, b: [1, 2] }],
      [{ key: { a: 1, b: 1 }, name: "i" }],
      {},
      72,
      because("i", "Index key is multikey."),
    ],
    [
      "no documents, but an unusable index on the key",
      {},
      [],
      [{ key: { a: 1 }, name: "i", sparse: true }],
      {},
      72,
      "sparse",
    ],
    ["a hashed index for a ranged key", {}, two, [{ key: { a: "hashed" }, name: "i" }], {}, 72, create],
    [
      "a unique index elsewhere",
      {},
      two,
      [
        { key: { a: 1 }, name: "i" },
        { key: { b: 1 }, name: "u", unique: true },
      ],
      {},
      72,
      "Uniqueness can't be maintained unless shard key is a prefix and has simple collation",
    ],
    [
      "unique, and the index is not",
      {},
      two,
      [{ key: { a: 1 }, name: "i" }],
      { unique: true },
      72,
      "index not unique, and unique index explicitly specified",
    ],
    [
      "no index, and none wanted",
      {},
      [],
      [],
      { implicitlyCreateIndex: false },
      6373200,
      "Must have an index",
    ],
    [
      "presplitHashedZones on a ranged key",
      {},
      [],
      [],
      { presplitHashedZones: true },
      31387,
      "'presplitHashedZones' is only supported when the collection is empty, zones are set up and shard key pattern has a hashed field",
    ],
    [
      "another collection than meant",
      {},
      [],
      [],
      { collectionUUID: new UUID("00000000-0000-4000-8000-000000000001") },
      361,
      "Collection UUID does not match that specified",
    ],
  ])("%s", async (_what, options, documents, indexes, command, code, gist) => {
    const cluster = await withCollection(options, documents, indexes);
    await refused(cluster, { key: { a: 1 }, ...command }, code, gist);
  });

  test("what may be: a unique index on _id or beginning with the key, enforceUniquenessCheck: false", async () => {
    const cluster = await withCollection({}, two, [
      { key: { a: 1 }, name: "i" },
      { key: { a: 1, b: 1 }, name: "u", unique: true },
    ]);
    const unique = { shardCollection: "library.c", key: { a: 1 }, unique: true };
    expect(await cluster.run("admin", unique)).toMatchObject({ code: 72 });
    expect(await cluster.admin({ ...unique, enforceUniquenessCheck: false })).toMatchObject({ ok: 1 });
  });

  test("sharded already: the same again is fine, another key or 'unique' is 23", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.c", key: { a: 1 } });
    expect(await cluster.admin({ shardcollection: "library.c", key: { a: 1 } })).toMatchObject({
      collectionsharded: "library.c",
    });
    await refused(
      cluster,
      { key: { b: 1 } },
      23,
      "Collection 'library.c' already exists with a different shard key. Requested { b: 1 } but found { a: 1 }",
    );
    await refused(cluster, { key: { a: 1 }, unique: true }, 23, "different 'unique' option");
  });
});

describe("numInitialChunks up to 7.1", () => {
  test.each<[RulesVersion, Doc, number | undefined]>([
    ["7.0", { key: { a: 1 }, numInitialChunks: 4 }, 72],
    ["8.0", { key: { a: 1 }, numInitialChunks: 4 }, undefined],
    // 8192 a shard at most: two shards, 16384.
    ["7.0", { key: { a: "hashed" }, numInitialChunks: 16385 }, 72],
    ["8.0", { key: { a: "hashed" }, numInitialChunks: 16385 }, undefined],
  ])("rules %s, %j: %s", async (rules, command, code) => {
    const cluster = await startCluster({ rules });
    const reply = await cluster.run("admin", { shardCollection: "library.c", ...command });
    expect(reply.code).toBe(code);
  });
});
