/** Which shards updates and deletes reach, under which rules, and with which options (§4.1, §4.3, §4.4). */
import type { RulesVersion } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { idsOn, layout, session, splitAtZero } from "./support/zeroSplit.js";

/** x: -2 … 2; `_id` is x. */
async function withFive(rules: RulesVersion = "8.0"): Promise<TestCluster> {
  const cluster = await splitAtZero(rules);
  const documents = [-2, -1, 0, 1, 2].map((x) => ({ _id: x, x, g: 1, list: [{ k: 1 }, { k: 2 }] }));
  await cluster.ok("test", { insert: "c", documents });
  return cluster;
}

const shardsOf = async (cluster: TestCluster, command: Doc): Promise<string[]> => {
  const [entry] = await cluster.traced(() => cluster.ok("test", command));
  return entry!.shards.map(({ shard }) => shard);
};

describe("writes to many documents go where the filter targets (§4.1)", () => {
  test.each<[Doc, string[]]>([
    [{ x: 1 }, ["shardB"]],
    [{ x: { $in: [-5, -6] } }, ["shardA"]],
    [{ x: { $gt: 0 } }, ["shardB"]],
    // Intervals are closed on both sides: the chunk that begins at 0 is met.
    [{ x: { $lt: 0 } }, ["shardA", "shardB"]],
    [{ g: 1 }, ["shardA", "shardB"]],
    [{ _id: 1 }, ["shardA", "shardB"]],
  ])("%j", async (q, shards) => {
    const cluster = await withFive();
    const updates = [{ q, u: { $set: { v: 1 } }, multi: true }];
    expect(await shardsOf(cluster, { update: "c", updates })).toEqual(shards);
    expect(await shardsOf(cluster, { delete: "c", deletes: [{ q, limit: 0 }] })).toEqual(shards);
  });
});

describe("single writes (§4.3)", () => {
  test("texts of the older rules name the request and the key", async () => {
    const cluster = await withFive("7.0");
    const updated = await cluster.ok("test", {
      update: "c",
      updates: [{ q: { g: 1 }, u: { $set: { v: 1 } } }],
    });
    expect((updated.writeErrors as Doc[])[0]).toMatchObject({
      code: 72,
      errmsg:
        "A {multi:false} update on a sharded collection must contain an exact match on _id (and have the collection " +
        "default collation) or target a single shard (and have the simple collation), but this update targeted 2 " +
        "shards. Update request: { q: { g: 1 }, u: { $set: { v: 1 } } }, shard key pattern: { x: 1 }",
    });
    const deleted = await cluster.ok("test", { delete: "c", deletes: [{ q: { g: 1 }, limit: 1 }] });
    expect((deleted.writeErrors as Doc[])[0]).toMatchObject({ code: 61 });
    const fam = await cluster.run("test", { findAndModify: "c", query: { _id: 1 }, remove: true });
    expect(fam).toMatchObject({
      code: 61,
      errmsg: "Query for sharded findAndModify must contain the shard key",
    });
  });

  test("a replacement goes to the shard of its own key before 7.1, wherever its filter points", async () => {
    const old = await withFive("7.0");
    // { x: -1, g: 1 } is on shardA; so is the key of the replacement: found and replaced.
    const keeps = { update: "c", updates: [{ q: { _id: -1 }, u: { x: -1, v: 1 } }], ...session(1) };
    expect(await old.ok("test", keeps)).toMatchObject({ n: 1, nModified: 1 });
    // The replacement's key is on shardB, which has no such document: nothing matches.
    const elsewhere = { update: "c", updates: [{ q: { _id: -2 }, u: { x: 9 } }], ...session(2) };
    expect(await old.ok("test", elsewhere)).toMatchObject({ n: 0 });
    const array = { update: "c", updates: [{ q: { g: 1 }, u: { x: [9] } }], ...session(3) };
    expect(await old.ok("test", array)).toMatchObject({ writeErrors: [{ code: 61 }] });
    // A replacement without the key has the key null, whatever else the filter pins: on shardA, with { _id: 9 } itself.
    await old.ok("test", { insert: "c", documents: [{ _id: 9, g: 9 }] });
    const without = { update: "c", updates: [{ q: { _id: 9 }, u: { v: 9 } }], ...session(4) };
    expect(await old.ok("test", without)).toMatchObject({ n: 1, nModified: 1 });
    // From 7.1 the document is found first, and moves.
    const now = await withFive();
    expect(await now.ok("test", elsewhere)).toMatchObject({ n: 1, nModified: 1 });
    expect((await layout(now)).B).toContain(-2);
  });

  test("an upsert needs the whole key in its filter before 7.1, even where one shard is targeted (61)", async () => {
    const updates = [
      { q: { x: { $gt: 100 } }, u: { $set: { v: 1 }, $setOnInsert: { x: 200 } }, upsert: true },
    ];
    const old = await splitAtZero("7.0");
    expect(await old.ok("test", { update: "c", updates })).toMatchObject({ writeErrors: [{ code: 61 }] });
    const now = await splitAtZero();
    expect(await now.ok("test", { update: "c", updates })).toMatchObject({ n: 1, upserted: [{ index: 0 }] });
    expect(await idsOn(now, "shardB")).toHaveLength(1);
  });

  test("updateOne with a sort takes the first over all shards (8.0)", async () => {
    const cluster = await withFive();
    for (const [direction, _id] of [
      [1, -2],
      [-1, 2],
    ]) {
      const updates = [{ q: { g: 1 }, u: { $set: { seen: direction } }, sort: { x: direction } }];
      expect(await cluster.ok("test", { update: "c", updates })).toMatchObject({ n: 1 });
      expect(await cluster.all("test", { find: "c", filter: { seen: direction } })).toMatchObject([{ _id }]);
    }
    const many = { q: { x: 1 }, u: { $set: { v: 1 } }, sort: { x: 1 }, multi: true };
    expect(await cluster.ok("test", { update: "c", updates: [many] })).toMatchObject({
      writeErrors: [{ code: 9 }],
    });
  });

  test("options reach the document that is found first: arrayFilters, positional $, let, c, hint", async () => {
    const cluster = await withFive();
    const send = (statement: Doc, extra: Doc = {}): Promise<Doc> =>
      cluster.ok("test", { update: "c", updates: [statement], ...extra });
    const one = { g: 1, "list.k": 2 };
    const by = { sort: { x: 1 } };
    expect(
      await send({ q: one, u: { $set: { "list.$[i].a": 1 } }, arrayFilters: [{ "i.k": { $gt: 1 } }], ...by }),
    ).toMatchObject({ nModified: 1 });
    expect(await send({ q: one, u: { $set: { "list.$.p": 1 } }, ...by })).toMatchObject({ nModified: 1 });
    expect(
      await send(
        { q: { g: 1 }, u: [{ $set: { c: "$$c", l: "$$l" } }], c: { c: 5 }, ...by },
        { let: { l: 6 } },
      ),
    ).toMatchObject({ nModified: 1 });
    expect(await send({ q: { g: 1 }, u: { $set: { h: 1 } }, hint: "x_1", ...by })).toMatchObject({
      nModified: 1,
    });
    expect(await cluster.all("test", { find: "c", filter: { x: -2 } })).toEqual([
      { _id: -2, x: -2, g: 1, list: [{ k: 1 }, { k: 2, a: 1, p: 1 }], c: 5, l: 6, h: 1 },
    ]);
    expect(await send({ q: { g: 1 }, u: { $set: { h: 1 } }, hint: "none" })).toMatchObject({
      writeErrors: [{ code: 2 }],
    });
  });

  test.each<[Doc, number]>([
    [{ q: { g: 1 }, u: { $set: { v: 1 }, w: 1 } }, 12],
    [{ q: { g: 1 }, u: { w: 1, $set: { v: 1 } } }, 12],
    [{ q: { g: 1 }, u: { w: 1 }, multi: true }, 72],
    [{ q: { g: 1 }, u: { $nope: { v: 1 } } }, 9],
    [{ q: { g: 1 }, u: [{ $group: { _id: 1 } }] }, 72],
  ])("%j is refused with %i (§4.4)", async (statement, code) => {
    const cluster = await withFive();
    const reply = await cluster.ok("test", { update: "c", updates: [statement] });
    expect(reply).toMatchObject({ n: 0, writeErrors: [{ index: 0, code }] });
  });
});

describe("collation (§4.1, §4.3)", () => {
  const loose = { locale: "en", strength: 2 };

  async function withNames(rules: RulesVersion): Promise<TestCluster> {
    const cluster = await splitAtZero(rules);
    await cluster.ok("test", {
      insert: "c",
      documents: [
        { _id: "ANN", x: -1, name: "ANN" },
        { _id: "ann", x: 1, name: "ann" },
      ],
    });
    return cluster;
  }

  test("a multi write compares under it on every shard", async () => {
    const cluster = await withNames("8.0");
    const updates = [{ q: { name: "Ann" }, u: { $set: { v: 1 } }, multi: true, collation: loose }];
    expect(await cluster.ok("test", { update: "c", updates })).toMatchObject({ n: 2, nModified: 2 });
    const deletes = [{ q: { name: "aNN" }, limit: 0, collation: loose }];
    expect(await cluster.ok("test", { delete: "c", deletes })).toMatchObject({ n: 2 });
  });

  test("exactly _id counts under the collection's own collation only", async () => {
    const statement = { q: { _id: "Ann" }, u: { $set: { v: 1 } }, collation: loose };
    const old = await withNames("7.0");
    expect(await old.ok("test", { update: "c", updates: [statement] })).toMatchObject({
      writeErrors: [{ code: 72 }],
    });
    // A number has no case: still exact, and asked on both shards.
    const byNumber = { q: { _id: 7 }, u: { $set: { v: 1 } }, collation: loose };
    expect(await old.ok("test", { update: "c", updates: [byNumber] })).toMatchObject({ n: 0 });
    // From 7.1 one of the two that match is found, and only it is written.
    const now = await withNames("8.0");
    expect(await now.ok("test", { update: "c", updates: [statement] })).toMatchObject({ n: 1, nModified: 1 });
    expect(await now.all("test", { find: "c", filter: { v: 1 } })).toHaveLength(1);
    const simple = { ...statement, q: { _id: "ann" }, collation: { locale: "simple" } };
    expect(await now.ok("test", { update: "c", updates: [simple] })).toMatchObject({ n: 1 });
    const removed = {
      findAndModify: "c",
      query: { name: "ann" },
      remove: true,
      collation: loose,
      sort: { x: 1 },
    };
    expect(await now.ok("test", removed)).toMatchObject({ value: { _id: "ANN" } });
  });
});

describe("findAndModify (§4.3)", () => {
  test.each<[Doc, string]>([
    [{ remove: true, update: {} }, "Cannot specify both an update and remove=true"],
    [{ remove: true, upsert: true }, "Cannot specify both upsert=true and remove=true "],
    [{ remove: true, new: true }, "'remove' always returns the deleted document"],
    [{ remove: true, arrayFilters: [] }, "Cannot specify arrayFilters and remove=true"],
    [{ update: [], arrayFilters: [] }, "Cannot specify arrayFilters and a pipeline update"],
    [{}, "Either an update or remove=true must be specified"],
  ])("%j is refused (9), by router and shard alike", async (options, text) => {
    const cluster = await withFive();
    for (const name of ["c", "unsharded"]) {
      const reply = await cluster.run("test", { findAndModify: name, query: { g: 1 }, ...options });
      expect(reply).toMatchObject({ ok: 0, code: 9 });
      expect(reply.errmsg).toContain(text);
    }
  });

  test.each<[string, Doc, Doc]>([
    ["remove", { remove: true }, { lastErrorObject: { n: 1 }, value: { _id: 2, x: 2 } }],
    [
      "operators",
      { update: { $set: { v: 1 } }, new: true, fields: { _id: 0, x: 1, v: 1 } },
      { lastErrorObject: { n: 1, updatedExisting: true }, value: { x: 2, v: 1 } },
    ],
    ["replacement", { update: { x: 2, r: 1 }, new: true }, { value: { _id: 2, x: 2, r: 1 } }],
    ["pipeline", { update: [{ $set: { p: "$$a" } }], let: { a: 3 }, new: true }, { value: { x: 2, p: 3 } }],
    ["fields of the old one", { update: { $set: { v: 1 } }, fields: { g: 1 } }, { value: { _id: 2, g: 1 } }],
  ])("%s, without the key: the first by the sort over all shards", async (_what, options, expected) => {
    const cluster = await withFive();
    const command = { findAndModify: "c", query: { g: 1 }, sort: { x: -1 }, ...options };
    expect(await cluster.ok("test", command)).toMatchObject(expected);
  });

  test("nothing found: no value; with upsert the id", async () => {
    const cluster = await withFive();
    const command = { findAndModify: "c", query: { g: 9, _id: 9 }, update: { $set: { x: 9 } } };
    expect(await cluster.ok("test", command)).toMatchObject({
      lastErrorObject: { n: 0, updatedExisting: false },
      value: null,
    });
    expect(await cluster.ok("test", { ...command, upsert: true })).toMatchObject({
      lastErrorObject: { n: 1, updatedExisting: false, upserted: 9 },
      value: null,
    });
    expect(
      await cluster.run("test", { findAndModify: "c", query: { g: 9, nothing: 1 }, remove: true }),
    ).toMatchObject({
      lastErrorObject: { n: 0 },
      value: null,
    });
  });
});
