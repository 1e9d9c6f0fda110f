import { Double, Int32 } from "bson";
import type { RulesVersion } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { layout, session, splitAtZero } from "./support/zeroSplit.js";

/** One update statement; the reply, or its write error. */
async function update(cluster: TestCluster, statement: Doc, options: Doc = session(1)): Promise<Doc> {
  const reply = await cluster.run("test", { update: "c", updates: [statement], ...options });
  return reply.writeErrors ? (reply.writeErrors as Doc[])[0]! : reply;
}

/** x: -2, -1 on shardA, x: 1, 2 on shardB; `_id` is x. */
async function withFour(rules: RulesVersion = "8.0"): Promise<TestCluster> {
  const cluster = await splitAtZero(rules);
  const documents = [-2, -1, 1, 2].map((x) => ({ _id: x, x, g: 1 }));
  await cluster.ok("test", { insert: "c", documents });
  return cluster;
}

const HERE = { A: [-2, -1], B: [1, 2] };

describe("refusals, in the order in which a shard checks (§4.5)", () => {
  const toArray = { q: { x: -2 }, u: { $set: { x: [1] } } };
  test.each<[string, RulesVersion, Doc, Doc, number, string]>([
    [
      "an array before everything else",
      "7.0",
      { ...toArray, q: { _id: -2 } },
      {},
      54,
      "the field 'x' was found to be an array",
    ],
    [
      "any change before 4.2",
      "2.4",
      { q: { x: -2 }, u: { $set: { x: 5 } } },
      session(1),
      66,
      "was found to have been altered",
    ],
    [
      "4.2: the key may not go missing",
      "4.2",
      { q: { x: -2 }, u: { $unset: { x: 1 } } },
      session(1),
      4,
      "missing the required field 'x'",
    ],
    [
      "the whole key, also without a retryable write",
      "7.0",
      { q: { _id: -2 }, u: { $set: { x: 5 } } },
      {},
      31025,
      "without specifying the full shard key",
    ],
    [
      "the same for multi",
      "6.0",
      { q: { _id: -2 }, u: { $set: { x: 5 } }, multi: true },
      {},
      31025,
      "full shard key",
    ],
    [
      "multi",
      "8.0",
      { q: { g: 1 }, u: { $set: { x: 5 } }, multi: true },
      {},
      72,
      "Multi-update operations are not allowed when updating the shard key field.",
    ],
    [
      "no retryable write",
      "8.0",
      { q: { _id: -2 }, u: { $set: { x: 5 } } },
      {},
      20,
      "Must run update to shard key field in a multi-statement transaction or with retryWrites: true.",
    ],
    [
      "no retryable write, also on the same shard",
      "8.0",
      { q: { x: -2 }, u: { $inc: { x: -1 } } },
      {},
      20,
      "retryWrites: true",
    ],
    ["_id, whatever the key", "8.0", { q: { x: -2 }, u: { $set: { _id: 9, x: 5 } } }, session(1), 66, "_id"],
  ])("%s (rules %s)", async (_what, rules, statement, options, code, text) => {
    const cluster = await withFour(rules);
    const error = await update(cluster, statement, options);
    expect(error).toMatchObject({ code });
    expect(error.errmsg).toContain(text);
    expect(await layout(cluster)).toEqual(HERE);
  });

  test("a key with _id in it never changes (66)", async () => {
    const cluster = await splitAtZero();
    await cluster.admin({ shardCollection: "test.byId", key: { _id: 1 } });
    await cluster.ok("test", { insert: "byId", documents: [{ _id: 1 }] });
    const updates = [{ q: { _id: 1 }, u: { $set: { _id: 2 } } }];
    expect(await cluster.ok("test", { update: "byId", updates, ...session(1) })).toMatchObject({
      writeErrors: [{ code: 66 }],
    });
  });
});

describe("what counts as a change (§4.5)", () => {
  test("1 to 1.0 does: keys are compared byte for byte", async () => {
    const cluster = await withFour();
    const toDouble = { q: { x: 1 }, u: { $set: { x: new Double(1) } } };
    expect(await update(cluster, toDouble, {})).toMatchObject({ code: 20 });
    expect(await update(cluster, toDouble)).toMatchObject({ n: 1, nModified: 1 });
    expect(await layout(cluster)).toEqual(HERE);
    // The same bytes again do not.
    expect(await update(cluster, { q: { x: 1 }, u: { $set: { x: new Double(1) } } }, {})).toMatchObject({
      n: 1,
      nModified: 0,
    });
  });

  test("missing to null does not, by any kind of update; null to a value does", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: [1, 2, 3].map((_id) => ({ _id })) });
    const many = { q: { x: null, _id: { $lt: 3 } }, u: { $set: { x: null } }, multi: true };
    expect(await update(cluster, many, {})).toMatchObject({ n: 2, nModified: 2 });
    expect(await update(cluster, { q: { _id: 3 }, u: [{ $set: { x: null } }] }, {})).toMatchObject({
      n: 1,
      nModified: 1,
    });
    expect(await update(cluster, { q: { _id: 3 }, u: { $set: { x: 3 } } }, {})).toMatchObject({ code: 20 });
    expect(await update(cluster, { q: { _id: 3 }, u: { $set: { x: 3 } } })).toMatchObject({ n: 1 });
    expect(await layout(cluster)).toEqual({ A: [1, 2], B: [3] });
  });

  test("a multi update may write the key as long as no document's key changes", async () => {
    const cluster = await withFour();
    const same = { q: { x: { $lt: 0 } }, u: [{ $set: { x: { $add: ["$x", 0] }, v: 1 } }], multi: true };
    expect(await update(cluster, same, {})).toMatchObject({ n: 2, nModified: 2 });
    expect(await cluster.all("test", { find: "c", filter: { v: 1 } })).toHaveLength(2);
  });
});

describe("moving a document (§4.5)", () => {
  test.each<[string, Doc]>([
    ["$set", { q: { x: -2 }, u: { $set: { x: 10 } } }],
    ["$inc", { q: { x: -2 }, u: { $inc: { x: 12 } } }],
    ["a replacement", { q: { x: -2 }, u: { x: 10, g: 1 } }],
    ["a pipeline with constants", { q: { x: -2 }, u: [{ $set: { x: "$$to" } }], c: { to: 10 } }],
    ["a filter without the key", { q: { _id: -2 }, u: { $set: { x: 10 } } }],
    ["a filter without key and _id, with a sort", { q: { g: 1 }, u: { $set: { x: 10 } }, sort: { x: 1 } }],
  ])("by %s", async (_what, statement) => {
    const cluster = await withFour();
    expect(await update(cluster, statement)).toMatchObject({ n: 1, nModified: 1 });
    expect(await layout(cluster)).toEqual({ A: [-1], B: [-2, 1, 2] });
    expect(await cluster.all("test", { find: "c", filter: { x: 10 } })).toEqual([{ _id: -2, x: 10, g: 1 }]);
  });

  test("within its shard it stays where it is", async () => {
    const cluster = await withFour();
    expect(await update(cluster, { q: { x: -2 }, u: { $set: { x: -9 } } })).toMatchObject({ n: 1 });
    expect(await layout(cluster)).toEqual(HERE);
  });

  test.each([
    [true, 1],
    [false, 2],
  ])("in a larger batch it is refused, and nothing has moved (72, ordered: %s)", async (ordered, n) => {
    const cluster = await withFour();
    const updates = [
      { q: { x: -2 }, u: { $set: { step: 1 } } },
      { q: { x: -2, step: 1 }, u: { $set: { x: 10 } } },
      { q: { x: 1 }, u: { $set: { step: 2 } } },
    ];
    const reply = await cluster.ok("test", { update: "c", updates, ordered, ...session(1) });
    expect(reply).toMatchObject({ n, nModified: n });
    expect(reply.writeErrors).toEqual([
      {
        index: 1,
        code: 72,
        errmsg:
          "Document shard key value updates that cause the doc to move shards must be sent with write batch of size 1",
      },
    ]);
    expect(await layout(cluster)).toEqual(HERE);
  });

  test("in a larger batch a change on the same shard keeps its place", async () => {
    const cluster = await withFour();
    const updates = [
      { q: { x: -2 }, u: { $set: { step: 1 } } },
      { q: { x: -2, step: 1 }, u: { $set: { x: -10 } } },
      { q: { x: -10, step: 1 }, u: { $set: { step: 2 } } },
    ];
    expect(await cluster.ok("test", { update: "c", updates, ...session(1) })).toMatchObject({
      n: 3,
      nModified: 3,
    });
    expect(await cluster.all("test", { find: "c", filter: { step: 2 } })).toEqual([
      { _id: -2, x: -10, g: 1, step: 2 },
    ]);
  });

  test("sent again under its number, it has happened once", async () => {
    const cluster = await withFour();
    const move = { q: { x: -2 }, u: { $inc: { x: 12, moves: 1 } } };
    for (let i = 0; i < 3; i++) expect(await update(cluster, move)).toMatchObject({ n: 1, nModified: 1 });
    expect(await cluster.all("test", { find: "c", filter: { _id: -2 } })).toMatchObject([
      { x: 10, moves: 1 },
    ]);
  });

  test("a duplicate _id over there: 11000 in its context, and nothing has moved (§7)", async () => {
    const cluster = await withFour();
    await cluster.ok("test", { insert: "c", documents: [{ _id: -2, x: 50 }] });
    const error = await update(cluster, { q: { x: -2 }, u: { $set: { x: 10 } } });
    expect(error).toMatchObject({ index: 0, code: 11000, keyPattern: { _id: 1 }, keyValue: { _id: -2 } });
    expect(error.errmsg).toBe(
      "Failed to update document's shard key field. There is either an orphan for this document or _id for this " +
        "collection is not globally unique. :: caused by :: E11000 duplicate key error collection: test.c " +
        "index: _id_ dup key: { _id: -2 }",
    );
    expect(await layout(cluster)).toEqual({ A: [-2, -1], B: [-2, 1, 2] });
  });

  test("its values keep their types, and validation is the new shard's", async () => {
    const cluster = await withFour();
    await update(cluster, { q: { x: -2 }, u: { $set: { x: 10, n: new Int32(7), d: new Double(7) } } });
    const typed = { x: 10, n: { $type: "int" }, d: { $type: "double" } };
    expect(await cluster.all("test", { find: "c", filter: typed })).toHaveLength(1);
  });
});

describe("findAndModify through a move (§4.5)", () => {
  const change = { findAndModify: "c", query: { x: -2 }, update: { $set: { x: 10 } }, fields: { x: 1 } };

  test.each([
    [false, { _id: -2, x: -2 }],
    [true, { _id: -2, x: 10 }],
  ])("with new: %s", async (wantsNew, value) => {
    const cluster = await withFour();
    const reply = await cluster.ok("test", { ...change, new: wantsNew, ...session(1) });
    expect(reply).toMatchObject({ lastErrorObject: { n: 1, updatedExisting: true }, value });
    expect(await layout(cluster)).toEqual({ A: [-1], B: [-2, 1, 2] });
    expect(await cluster.ok("test", { ...change, new: wantsNew, ...session(1) })).toMatchObject({ value });
  });

  test("is refused as updates are", async () => {
    const cluster = await withFour();
    expect(await cluster.run("test", change)).toMatchObject({ ok: 0, code: 20 });
    const old = await withFour("6.0");
    const lacking = { ...change, query: { x: { $lte: -2 } }, ...session(1) };
    expect(await old.run("test", lacking)).toMatchObject({ ok: 0, code: 31025 });
  });
});

describe("upserts whose document belongs elsewhere (§4.4)", () => {
  const elsewhere = { q: { x: -7 }, u: { $set: { x: 7, _id: "new" } }, upsert: true };

  test("need a retryable write where the filter targets one shard (20)", async () => {
    const cluster = await splitAtZero();
    expect(await update(cluster, elsewhere, {})).toMatchObject({ code: 20 });
    expect(await layout(cluster)).toEqual({ A: [], B: [] });
    expect(await update(cluster, elsewhere)).toMatchObject({ n: 1, upserted: [{ index: 0, _id: "new" }] });
    expect(await layout(cluster)).toEqual({ A: [], B: ["new"] });
  });

  test("are changes of an immutable key before 4.2 (66)", async () => {
    const cluster = await splitAtZero("2.4");
    expect(await update(cluster, elsewhere)).toMatchObject({ code: 66 });
  });

  test("need nothing where the filter targets several: two phases", async () => {
    const cluster = await splitAtZero();
    const statement = { q: { g: 1 }, u: { $set: { _id: "new", x: 7 } }, upsert: true };
    expect(await update(cluster, statement, {})).toMatchObject({ n: 1, upserted: [{ _id: "new" }] });
    expect(await layout(cluster)).toEqual({ A: [], B: ["new"] });
  });

  test("by updateMany, whose filter has the whole key", async () => {
    const cluster = await splitAtZero();
    const many = { ...elsewhere, multi: true };
    expect(await update(cluster, many, {})).toMatchObject({ code: 20 });
    const stays = { q: { x: -7 }, u: [{ $set: { _id: "new", x: -7 } }], upsert: true, multi: true };
    expect(await update(cluster, stays, {})).toMatchObject({ n: 1, upserted: [{ _id: "new" }] });
    // Now there is a match: it is updated where it is.
    expect(await update(cluster, { ...stays, u: [{ $set: { v: 1 } }] }, {})).toMatchObject({
      n: 1,
      nModified: 1,
    });
    expect(await layout(cluster)).toEqual({ A: ["new"], B: [] });
  });

  test("an array in the new key is 54, a filter with $expr 224", async () => {
    const cluster = await splitAtZero();
    expect(await update(cluster, { q: { x: 1 }, u: { $set: { x: [1] } }, upsert: true })).toMatchObject({
      code: 54,
    });
    const withExpr = { q: { $expr: { $eq: ["$a", 1] } }, u: { $set: { x: 1 } }, upsert: true };
    expect(await update(cluster, withExpr)).toMatchObject({ code: 224 });
  });
});
