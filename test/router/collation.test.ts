/**
 * Collations through the router (facts-mongos.md §4.1 "Collation", §1.3): chunk
 * bounds are in byte order, what a query compares is not.
 *
 * The collection `people` is sharded by name and ignores case by default
 * (strength 2). Byte order puts capitals first, so that "Bob" and "bob" live on
 * different shards:
 *
 *     MinKey … "a"   shardA   Anna 1, Bob 2, Carl 3, the numbers
 *     "a" … MaxKey   shardB   anna 4, bob 5, dora 6
 */
import { fromDocument } from "shardlab/bson";
import { request } from "shardlab/protocol";
import { beforeAll, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const ignoreCase = { locale: "en", strength: 2 };
const simple = { locale: "simple" };

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.ok("test", { create: "people", collation: ignoreCase });
  await cluster.admin({ shardCollection: "test.people", key: { name: 1 }, collation: simple });
  await cluster.admin({ split: "test.people", middle: { name: "a" } });
  await cluster.admin({ moveChunk: "test.people", find: { name: "a" }, to: "shardB" });
  const documents = ["Anna", "Bob", "Carl", "anna", "bob", "dora", 7, 10].map((name, i) => ({
    _id: i + 1,
    name,
    tag: typeof name === "string" ? name : String(name),
  }));
  await cluster.ok("test", { insert: "people", documents });
  await cluster.ok("test", { create: "letters", collation: ignoreCase });
  await cluster.ok("test", { insert: "letters", documents: [{ t: "b" }, { t: "B" }, { t: "a" }] });
});

const names = async (command: Doc): Promise<unknown[]> =>
  (await cluster.all("test", { find: "people", ...command })).map(({ name }) => name);

const shardsAsked = async (command: Doc): Promise<string[]> => {
  const [entry] = await cluster.traced(() => cluster.ok("test", command));
  return entry!.shards.map(({ shard }) => shard);
};

describe("the collection's default collation", () => {
  test("is in the catalog, complete, and survives a reload", async () => {
    const [entry] = await cluster.all("config", { find: "collections", filter: { _id: "test.people" } });
    expect(entry).toMatchObject({ defaultCollation: { locale: "en", strength: 2, caseLevel: false } });
    await cluster.admin({ flushRouterConfig: 1 });
    expect(await names({ filter: { name: "bob" }, sort: { _id: 1 } })).toEqual(["Bob", "bob"]);
  });

  test("the shard key's own index is simple, on every shard", async () => {
    for (const shard of ["shardA", "shardB"]) {
      const { cursor } = await cluster.shard(shard, "test", { listIndexes: "people" });
      const index = (cursor as { firstBatch: Doc[] }).firstBatch.find(({ name }) => name === "name_1");
      expect(index).toBeDefined();
      expect(index).not.toHaveProperty("collation");
    }
  });

  test("a string is looked for everywhere, a number where it lies", async () => {
    expect(await shardsAsked({ find: "people", filter: { name: "bob" } })).toEqual(["shardA", "shardB"]);
    expect(await shardsAsked({ find: "people", filter: { name: { $in: ["bob", 7] } } })).toEqual([
      "shardA",
      "shardB",
    ]);
    expect(await shardsAsked({ find: "people", filter: { name: 7 } })).toEqual(["shardA"]);
    expect(await names({ filter: { name: 7 } })).toEqual([7]);
  });

  test("{locale: simple} on the command overrides it: byte order, and one shard", async () => {
    const command = { find: "people", filter: { name: "bob" }, collation: simple };
    expect(await shardsAsked(command)).toEqual(["shardB"]);
    expect(await names(command)).toEqual(["bob"]);
    // An empty collation is none.
    expect(await names({ filter: { name: "BOB" }, collation: {}, sort: { _id: 1 } })).toEqual(["Bob", "bob"]);
  });
});

describe("merging", () => {
  test("sorts by the collation: shards' documents interleave, equal names by shard", async () => {
    expect(await names({ filter: { name: { $type: "string" } }, sort: { name: 1 } })).toEqual([
      "Anna",
      "anna",
      "Bob",
      "bob",
      "Carl",
      "dora",
    ]);
    expect(
      await names({ filter: { name: { $type: "string" } }, sort: { name: 1 }, collation: simple }),
    ).toEqual(["Anna", "Bob", "Carl", "anna", "bob", "dora"]);
    expect(await names({ sort: { name: -1 }, limit: 2, skip: 1 })).toEqual(["Carl", "Bob"]);
  });

  test("numericOrdering: 10 comes after 7, also in strings from two shards", async () => {
    const collation = { locale: "en", numericOrdering: true };
    const tags = await cluster.all("test", {
      find: "people",
      filter: { _id: { $gte: 7 } },
      sort: { tag: 1 },
      collation,
    });
    expect(tags.map(({ tag }) => tag)).toEqual(["7", "10"]);
  });

  test("a batch at a time, and with a projection that drops the sort field", async () => {
    const found = await cluster.all("test", {
      find: "people",
      filter: { name: { $type: "string" } },
      sort: { name: 1, _id: 1 },
      projection: { _id: 1 },
      batchSize: 1,
    });
    expect(found).toEqual([1, 4, 2, 5, 3, 6].map((_id) => ({ _id })));
  });

  test("count and distinct: a name in two spellings on two shards", async () => {
    expect(await cluster.ok("test", { count: "people", query: { name: "ANNA" } })).toMatchObject({ n: 2 });
    expect(
      await cluster.ok("test", { count: "people", query: { name: "ANNA" }, collation: simple }),
    ).toMatchObject({
      n: 0,
    });
    // Of equal values the first shard's stays.
    expect(await cluster.ok("test", { distinct: "people", key: "name" })).toMatchObject({
      values: [7, 10, "Anna", "Bob", "Carl", "dora"],
    });
    expect(await cluster.ok("test", { distinct: "people", key: "name", collation: simple })).toMatchObject({
      values: [7, 10, "Anna", "Bob", "Carl", "anna", "bob", "dora"],
    });
  });

  test("distinct through a router is sorted, on an unsharded collection too (§6)", async () => {
    expect(await cluster.ok("test", { distinct: "letters", key: "t" })).toMatchObject({ values: ["a", "b"] });
    expect(await cluster.ok("test", { distinct: "letters", key: "t", collation: simple })).toMatchObject({
      values: ["B", "a", "b"],
    });
  });
});

describe("collations that nobody has", () => {
  test.each<[Doc | string, number]>([
    [{ locale: "xx" }, 2],
    [{ locale: "en", strength: 9 }, 2],
    [{ locale: "en", strength: 4 }, 238],
    [{ locale: "simple", strength: 2 }, 2],
    [{ strength: 2 }, 40414],
    [{ locale: "en", weight: 1 }, 40415],
    [{ locale: 5 }, 14],
    ["en", 14],
  ])("%j is refused with %i by router and shard alike", async (collation, code) => {
    for (const command of [
      { find: "people", collation },
      { find: "letters", collation },
      { find: "nothing", collation },
      { count: "people", collation },
      { distinct: "people", key: "name", collation },
    ] as Doc[]) {
      const reply = await cluster.run("test", command);
      const shard = fromDocument(
        (await cluster.shards.get("shardA")!.inner.run(request("test", command))).body,
      ) as Doc;
      expect(reply, JSON.stringify(command)).toMatchObject({ ok: 0, code, errmsg: shard.errmsg });
    }
  });

  test("sharding a collection with a collation of its own needs {locale: simple} (§1.3)", async () => {
    expect(await cluster.run("admin", { shardCollection: "test.letters", key: { t: 1 } })).toMatchObject({
      ok: 0,
      code: 2,
      errmsg: expect.stringContaining("collection collation must be {locale: 'simple'}") as string,
    });
  });
});
