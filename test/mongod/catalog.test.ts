import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { UUID } from "bson";
import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

describe("collections and databases", () => {
  it("come with the first document, or by create", async () => {
    const t = new TestMongod();
    expect(await t.run({ create: "empty" })).toEqual({ ok: 1 });
    await t.insert("loans", { _id: 1 });
    const listed = await t.all({ listCollections: 1 });
    expect(listed.map(({ name }) => name)).toEqual(["empty", "loans"]);
    expect(listed[0]).toMatchObject({
      type: "collection",
      options: {},
      info: { readOnly: false },
      idIndex: { v: 2, key: { _id: 1 }, name: "_id_" },
    });
    expect(listed[0]!["info"].uuid).toBeInstanceOf(UUID);
    expect(await t.all({ listCollections: 1, nameOnly: true, filter: { name: /^l/ } })).toEqual([
      { name: "loans", type: "collection" },
    ]);
  });

  it("are created once; asking again for the same is no error", async () => {
    const t = new TestMongod();
    await t.run({ create: "c" });
    expect(await t.run({ create: "c" })).toEqual({ ok: 1 });
    expect(await t.reply({ create: "c", capped: true, size: 4096 })).toMatchObject({
      code: 48,
      errmsg: expect.stringMatching(
        /^namespace library\.c already exists, but with different options: \{ uuid: UUID\("[0-9a-f-]{36}"\) \}$/,
      ),
    });
    expect(await t.reply({ create: "bad$name" })).toMatchObject({ code: 73 });
    expect(await t.reply({ create: "" })).toMatchObject({ code: 73 });
    expect(await t.reply({ create: "system.mine" })).toMatchObject({ code: 73 });
    // 255 bytes is the longest namespace: "library." takes 8 of them.
    expect(await t.run({ create: "x".repeat(247) })).toEqual({ ok: 1 });
    expect(await t.reply({ create: "x".repeat(248) })).toMatchObject({ code: 73 });
  });

  it("are listed with their sizes", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 }); // 14 bytes
    await t.run({ insert: "x", documents: [{ _id: 1 }] }, "zoo");
    const listed = await t.run({ listDatabases: 1 }, "admin");
    expect(
      listed["databases"].map(({ name, empty }: { name: string; empty: boolean }) => [name, empty]),
    ).toEqual([
      ["library", false],
      ["zoo", false],
    ]);
    expect(listed["databases"][0].sizeOnDisk).toBeGreaterThan(14);
    expect(await t.run({ listDatabases: 1, nameOnly: true, filter: { name: "zoo" } }, "admin")).toEqual({
      databases: [{ name: "zoo" }],
      ok: 1,
    });
    expect(await t.reply({ listDatabases: 1 })).toMatchObject({ code: 13 });
  });

  it("are dropped, and gone with all they held", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 });
    await t.createIndex("loans", { x: 1 });
    expect(await t.run({ drop: "loans" })).toEqual({ nIndexesWas: 2, ns: "library.loans", ok: 1 });
    expect(await t.run({ drop: "loans" })).toEqual({ ok: 1 });
    expect(await t.find("loans")).toEqual([]);
    await t.insert("loans", { _id: 1 });
    expect(await t.run({ dropDatabase: 1 })).toEqual({ dropped: "library", ok: 1 });
    expect(await t.run({ dropDatabase: 1 })).toEqual({ ok: 1 });
    expect(await t.reply({ dropDatabase: 2 })).toMatchObject({ code: 5255100 });
    expect(await t.reply({ dropDatabase: 1 }, "admin")).toMatchObject({ code: 20 });
    expect((await t.run({ listDatabases: 1 }, "admin"))["databases"]).toEqual([]);
  });

  it("give their memory back when dropped, even with a cursor open", async () => {
    const t = new TestMongod();
    await t.insert("loans", ...Array.from({ length: 500 }, (_, i) => ({ _id: i, text: "x".repeat(100) })));
    await t.createIndex("loans", { text: 1 });
    await t.run({ find: "loans" });
    await t.run({ find: "loans", hint: "text_1" });
    await t.run({ aggregate: "loans", pipeline: [{ $match: { _id: { $gte: 0 } } }], cursor: {} });
    const reference = weakly(t, "library.loans");
    await t.run({ drop: "loans" });
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    await new Promise((resolve) => setTimeout(resolve, 0));
    collectGarbage();
    expect(reference.deref() === undefined).toBe(true);
  });

  it("do not differ in case only", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 });
    expect(await t.reply({ create: "x" }, "Library")).toMatchObject({ code: 13297 });
    expect(await t.reply({ create: "x", viewOn: "y" }, "LIBRARY")).toMatchObject({ code: 13297 });
  });
});

/** A reference to a collection inside a mongod that does not keep it alive. */
function weakly(t: TestMongod, namespace: string): WeakRef<object> {
  const { server } = t.mongod as unknown as { server: { catalog: { find(ns: string): object | undefined } } };
  const collection = server.catalog.find(namespace);
  if (!collection) throw new Error(`no ${namespace}`);
  return new WeakRef(collection);
}

describe("figures", () => {
  it("count bytes as stored: collStats, $collStats and dbStats agree", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 }, { _id: 2, n: 1 }); // 14 + 21 bytes
    await t.createIndex("loans", { n: 1 });
    const stats = await t.run({ collStats: "loans" });
    expect(stats).toMatchObject({
      ns: "library.loans",
      size: 35,
      count: 2,
      avgObjSize: 17, // an int, cut
      nindexes: 2,
      capped: false,
      scaleFactor: 1,
    });
    expect(Object.keys(stats["indexSizes"])).toEqual(["_id_", "n_1"]);
    expect(stats["totalIndexSize"]).toBe(stats["indexSizes"]._id_ + stats["indexSizes"].n_1);
    expect(stats["totalSize"]).toBe(stats["storageSize"] + stats["totalIndexSize"]);
    const [row] = await t.aggregate("loans", [{ $collStats: { storageStats: {}, count: {} } }]);
    expect(row).toMatchObject({
      ns: "library.loans",
      host: "127.0.0.1:27018",
      localTime: new Date(t.environment.time),
      storageStats: { size: 35, count: 2, numOrphanDocs: 0 },
      count: 2,
    });
    expect(await t.run({ dbStats: 1 })).toMatchObject({
      db: "library",
      collections: 1,
      objects: 2,
      dataSize: 35,
      indexes: 2,
    });
    await t.run({ update: "loans", updates: [{ q: { _id: 2 }, u: { $unset: { n: 1 } } }] });
    await t.run({ delete: "loans", deletes: [{ q: { _id: 1 }, limit: 1 }] });
    expect(await t.run({ collStats: "loans" })).toMatchObject({ size: 14, count: 1 });
  });

  it("go on through the pipeline after $collStats, and miss where there is no collection", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1 });
    expect(
      await t.aggregate("loans", [
        { $collStats: { storageStats: {} } },
        { $project: { docs: "$storageStats.count" } },
      ]),
    ).toEqual([{ docs: 1 }]);
    const pipeline = [{ $collStats: { storageStats: {} } }];
    expect(await t.reply({ aggregate: "none", pipeline, cursor: {} })).toMatchObject({ code: 26 });
    expect(
      await t.reply({ aggregate: "loans", pipeline: [{ $match: {} }, ...pipeline], cursor: {} }),
    ).toMatchObject({ code: 40602 });
  });

  it("tell how often each index was used", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1, n: 1 });
    await t.createIndex("loans", { n: 1 });
    await t.find("loans", { n: 1 });
    await t.find("loans", { n: { $gt: 0 } });
    const rows = await t.aggregate("loans", [{ $indexStats: {} }]);
    expect(rows.map(({ name, accesses }) => [name, Number(accesses.ops)])).toEqual([
      ["_id_", 0],
      ["n_1", 2],
    ]);
  });

  it("survive validate", async () => {
    const t = new TestMongod();
    await t.insert("loans", { _id: 1, n: [1, 2] });
    await t.createIndex("loans", { n: 1 });
    expect(await t.run({ validate: "loans" })).toMatchObject({
      valid: true,
      nrecords: 1,
      keysPerIndex: { _id_: 1, n_1: 2 },
    });
    expect(await t.reply({ validate: "none" })).toMatchObject({ code: 26 });
    // pymongo sends an option that servers no longer have.
    expect(await t.run({ validate: "loans", scandata: false, full: false })).toMatchObject({ valid: true });
    expect(await t.reply({ validate: "loans", repair: true })).toMatchObject({ code: 238 });
  });
});
