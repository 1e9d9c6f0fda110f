/** The definitions of views: how they come, change, refer to each other and go. */
import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

describe("a view", () => {
  it("is made by create, over a collection that need not exist", async () => {
    const t = new TestMongod();
    const pipeline = [{ $match: { late: true } }];
    expect(await t.run({ create: "late", viewOn: "loans", pipeline })).toEqual({ ok: 1 });
    expect(await t.all({ listCollections: 1, filter: { type: "view" } })).toEqual([
      { name: "late", type: "view", options: { viewOn: "loans", pipeline }, info: { readOnly: true } },
    ]);
    expect(await t.all({ listCollections: 1, nameOnly: true })).toEqual([
      { name: "system.views", type: "collection" },
      { name: "late", type: "view" },
    ]);
    expect(await t.run({ dbStats: 1 })).toMatchObject({ collections: 1, views: 1 });
  });

  it("is a document of system.views, as in MongoDB", async () => {
    const t = new TestMongod();
    await t.run({ create: "v", viewOn: "loans", pipeline: [{ $limit: 1 }] });
    expect(await t.find("system.views")).toEqual([
      { _id: "library.v", viewOn: "loans", pipeline: [{ $limit: 1 }] },
    ]);
    await t.run({ collMod: "v", viewOn: "books", pipeline: [] });
    expect(await t.find("system.views")).toEqual([{ _id: "library.v", viewOn: "books", pipeline: [] }]);
    expect(await t.run({ drop: "v" })).toEqual({ ns: "library.v", ok: 1 });
    expect(await t.find("system.views")).toEqual([]);
    await t.run({ create: "a", viewOn: "b" });
    await t.run({ drop: "system.views" });
    expect(await t.all({ listCollections: 1 })).toEqual([]);
    expect(await t.run({ create: "a", viewOn: "c" })).toEqual({ ok: 1 });
  });

  it("is made once; the same again is no error, another one is", async () => {
    const t = new TestMongod();
    await t.run({ create: "v", viewOn: "a", pipeline: [] });
    expect(await t.run({ create: "v", viewOn: "a" })).toEqual({ ok: 1 });
    expect(await t.reply({ create: "v", viewOn: "b" })).toMatchObject({
      code: 48,
      errmsg: "namespace library.v already exists, but is a view on library.a rather than library.b",
    });
    expect(await t.reply({ create: "v", viewOn: "a", pipeline: [{ $limit: 1 }] })).toMatchObject({
      code: 48,
    });
    expect(await t.reply({ create: "v" })).toMatchObject({ code: 48 });
    await t.run({ create: "c" });
    expect(await t.reply({ create: "c", viewOn: "a" })).toMatchObject({ code: 48 });
  });

  // [what is said of the view, code]
  const bad: [object, number][] = [
    [{ pipeline: [] }, 72],
    [{ viewOn: "" }, 2],
    [{ viewOn: 5 }, 14],
    [{ viewOn: "a", pipeline: {} }, 14],
    [{ viewOn: "a", pipeline: [1] }, 14],
    [{ viewOn: "a", pipeline: [{ $nonsense: 1 }] }, 40324],
    [{ viewOn: "a", pipeline: [{ $limit: 0 }] }, 15958],
    [{ viewOn: "a", pipeline: [{ $match: {} }, { $out: "b" }] }, 167],
    [{ viewOn: "a", pipeline: [{ $merge: { into: "b" } }] }, 167],
    [{ viewOn: "a", pipeline: [{ $changeStream: {} }] }, 167],
    [{ viewOn: "a", pipeline: [{ $currentOp: {} }] }, 73],
    [{ viewOn: "a$b" }, 73],
    [{ viewOn: "a", idIndex: { key: { _id: 1 }, name: "_id_" } }, 72],
    [{ viewOn: "a", capped: true, size: 4096 }, 72],
    [{ viewOn: "a", capped: true, size: 4096, max: 10 }, 72],
    [{ viewOn: "a", validator: { n: 1 } }, 72],
    [{ viewOn: "a", validationLevel: "off" }, 72],
    [{ viewOn: "a", validationAction: "warn" }, 72],
    [{ viewOn: "a", storageEngine: { wiredTiger: {} } }, 72],
    [{ viewOn: "a", indexOptionDefaults: {} }, 72],
  ];
  it.each(bad)("of %j is refused and leaves nothing", async (options, code) => {
    const t = new TestMongod();
    expect(await t.reply({ create: "v", ...options })).toMatchObject({ code });
    expect(await t.all({ listCollections: 1 })).toEqual([]);
  });

  it("takes no write and no change of its figures", async () => {
    const t = new TestMongod();
    await t.run({ create: "v", viewOn: "a" });
    expect(await t.reply({ collStats: "v" })).toMatchObject({
      code: 166,
      errmsg: "Namespace library.v is a view, not a collection",
    });
    expect(await t.reply({ convertToCapped: "v", size: 1000 })).toMatchObject({ code: 166 });
    expect(await t.reply({ collMod: "v", validator: {} })).toMatchObject({
      code: 72,
      errmsg: "option not supported on a view: validator",
    });
    expect(await t.reply({ collMod: "v", index: { name: "a_1", hidden: true } })).toMatchObject({ code: 72 });
  });
});

describe("views on views", () => {
  it("must not go round in circles", async () => {
    const t = new TestMongod();
    expect(await t.reply({ create: "a", viewOn: "a" })).toMatchObject({
      code: 5,
      codeName: "GraphContainsCycle",
      errmsg: "View cycle detected: library.a => library.a => library.a",
    });
    await t.run({ create: "a", viewOn: "b" });
    await t.run({ create: "b", viewOn: "c" });
    expect(await t.reply({ create: "c", viewOn: "a" })).toMatchObject({ code: 5 });
    await t.run({ create: "d", viewOn: "e" });
    expect(await t.reply({ collMod: "b", viewOn: "a" })).toMatchObject({ code: 5 });
    // The refused change left b as it was.
    expect((await t.all({ listCollections: 1, filter: { name: "b" } }))[0]).toMatchObject({
      options: { viewOn: "c" },
    });
    expect(await t.run({ collMod: "b", viewOn: "d" })).toEqual({ ok: 1 });
    expect(await t.reply({ collMod: "d", viewOn: "a" })).toMatchObject({ code: 5 });
  });

  it("must not by way of a $lookup either", async () => {
    const t = new TestMongod();
    await t.run({ create: "a", viewOn: "b" });
    const lookup = { $lookup: { from: "a", localField: "x", foreignField: "y", as: "z" } };
    expect(await t.reply({ create: "b", viewOn: "c", pipeline: [lookup] })).toMatchObject({ code: 5 });
    const union = { $unionWith: { coll: "c", pipeline: [{ $unionWith: "a" }] } };
    expect(await t.reply({ create: "b", viewOn: "c", pipeline: [union] })).toMatchObject({ code: 5 });
  });

  it("are twenty at most, whichever is made last", async () => {
    const t = new TestMongod();
    for (let i = 1; i <= 20; i++) await t.run({ create: `v${i}`, viewOn: `v${i - 1}` });
    const tooDeep = { code: 165, codeName: "ViewDepthLimitExceeded" };
    expect(await t.reply({ create: "v21", viewOn: "v20" })).toMatchObject(tooDeep);
    // v0 is a name that v1 stands on: as a view it would make the chain 21 long, from below.
    expect(await t.reply({ create: "v0", viewOn: "events" })).toMatchObject(tooDeep);
    await t.run({ drop: "v10" });
    expect(await t.run({ create: "v0", viewOn: "events" })).toEqual({ ok: 1 });
    expect(await t.reply({ create: "v10", viewOn: "v9" })).toMatchObject(tooDeep);
  });

  it("have all the same collation", async () => {
    const t = new TestMongod();
    await t.run({ create: "a", viewOn: "events", collation: { locale: "fr" } });
    expect(await t.reply({ create: "b", viewOn: "a" })).toMatchObject({
      code: 167,
      errmsg: "View library.b has a collation that does not match the collation of view library.a",
    });
    expect(await t.run({ create: "b", viewOn: "a", collation: { locale: "fr" } })).toEqual({ ok: 1 });
    expect((await t.all({ listCollections: 1, filter: { name: "b" } }))[0]!["options"]).toMatchObject({
      viewOn: "a",
      pipeline: [],
      collation: { locale: "fr" },
    });
  });

  it("have pipelines of 16 MiB together at most", async () => {
    const t = new TestMongod();
    const big = [{ $match: { x: "y".repeat(9_000_000) } }];
    await t.run({ create: "a", viewOn: "events", pipeline: big });
    expect(await t.reply({ create: "b", viewOn: "a", pipeline: big })).toMatchObject({ code: 195 });
  });
});
