/** A write sent again under its number happens once, and is answered as the first time. */
import { EndpointUnreachableError } from "shardlab/protocol";
import { describe, expect, test } from "vitest";
import type { Doc } from "./support/cluster.js";
import { idsOn, session, splitAtZero } from "./support/zeroSplit.js";

describe("retryable writes", () => {
  test("a repeated number gets the first reply and nothing runs twice", async () => {
    const cluster = await splitAtZero();
    const command = {
      insert: "c",
      documents: [
        { _id: 1, x: -1 },
        { _id: 2, x: 1 },
      ],
      ...session(1),
    };
    const first = await cluster.ok("test", command);
    const again = await cluster.ok("test", command);
    expect([first.n, again.n, again.writeErrors]).toEqual([2, 2, undefined]);

    const increment = { update: "c", updates: [{ q: { x: 1 }, u: { $inc: { v: 1 } } }], ...session(2) };
    await Promise.all([cluster.ok("test", increment), cluster.ok("test", increment)]);
    expect(await cluster.all("test", { find: "c", filter: { x: 1 } })).toEqual([{ _id: 2, x: 1, v: 1 }]);
  });

  test("a number below the latest is refused (225)", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: [{ x: 1 }], ...session(5) });
    expect(await cluster.run("test", { insert: "c", documents: [{ x: 2 }], ...session(4) })).toMatchObject({
      ok: 0,
      code: 225,
    });
  });

  test("statements are known one by one: those that ran count, the others run", async () => {
    const cluster = await splitAtZero();
    const documents = [-1, 1, 2].map((x) => ({ _id: x, x }));
    const write = (...list: Doc[]): Promise<Doc> =>
      cluster.ok("test", { insert: "c", documents: list, ...session(1) });
    expect(await write(documents[0]!, documents[1]!)).toMatchObject({ n: 2 });
    // Another document under statement 0: one statement, which has run.
    expect(await write({ _id: 9, x: 9 })).toMatchObject({ n: 1 });
    expect(await write(...documents)).toMatchObject({ n: 3 });
    const more = { insert: "c", documents: [documents[2], { _id: 3, x: 3 }], stmtIds: [2, 3], ...session(1) };
    expect(await cluster.ok("test", more)).toMatchObject({ n: 2 });
    expect(await cluster.all("test", { find: "c", sort: { x: 1 }, projection: { x: 1, _id: 0 } })).toEqual(
      [-1, 1, 2, 3].map((x) => ({ x })),
    );
  });

  test("statements that failed run again, under their own positions", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: [{ _id: 1, x: 1 }] });
    const documents = [0, 1, 2].map((x) => ({ _id: x, x }));
    const command = { insert: "c", documents, ordered: false, ...session(1) };
    expect(await cluster.ok("test", command)).toMatchObject({
      n: 2,
      writeErrors: [{ index: 1, code: 11000 }],
    });
    expect(await cluster.ok("test", command)).toMatchObject({
      n: 2,
      writeErrors: [{ index: 1, code: 11000 }],
    });
    await cluster.ok("test", { delete: "c", deletes: [{ q: { x: 1 }, limit: 1 }] });
    const last = await cluster.ok("test", command);
    expect([last.n, last.writeErrors]).toEqual([3, undefined]);
  });

  test("an ordered batch that failed gives the same reply again, across shards, and goes on once it can", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: [{ _id: 2, x: 2 }] });
    const documents = [-1, 1, 2, -3].map((x) => ({ _id: x, x }));
    const command = { insert: "c", documents, ...session(1) };
    const failure = { n: 2, writeErrors: [{ index: 2, code: 11000, keyValue: { _id: 2 } }] };
    for (let i = 0; i < 3; i++) expect(await cluster.ok("test", command)).toMatchObject(failure);
    expect(await idsOn(cluster, "shardA")).toEqual([-1]);
    await cluster.ok("test", { delete: "c", deletes: [{ q: { x: 2 }, limit: 1 }] });
    const last = await cluster.ok("test", command);
    expect([last.n, last.writeErrors]).toEqual([4, undefined]);
    expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 4 });
  });

  test("updates and upserts keep their counts and ids; a part of an uneven batch is refused", async () => {
    const cluster = await splitAtZero();
    await cluster.ok("test", { insert: "c", documents: [{ _id: 1, x: 1 }] });
    const set = (x: number, upsert = false): Doc => ({ q: { x }, u: { $inc: { n: 1 } }, upsert });
    const send = (updates: Doc[], extra: Doc = {}): Promise<Doc> =>
      cluster.run("test", { update: "c", updates, ...session(1), ...extra });
    const first = await send([set(1), set(50), set(-7, true)]);
    expect(first).toMatchObject({ n: 2, nModified: 1, upserted: [{ index: 2 }] });
    const again = await send([set(1), set(50), set(-7, true), set(1)]);
    expect(again).toMatchObject({ n: 3, nModified: 2, upserted: first.upserted });
    expect(await send([set(1)])).toMatchObject({ ok: 0, code: 238 });
    expect(await cluster.all("test", { find: "c", filter: { x: 1 } })).toEqual([{ _id: 1, x: 1, n: 2 }]);
  });

  test("a number that another kind of command has used is refused, by a shard too", async () => {
    const cluster = await splitAtZero();
    const first = { insert: "c", documents: [{ _id: 1, x: 1 }], ...session(1) };
    const other = { delete: "c", deletes: [{ q: { x: 1 }, limit: 1 }], ...session(1) };
    await cluster.ok("test", first);
    expect(await cluster.run("test", other)).toMatchObject({ ok: 0, code: 72 });
    expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 1 });
    await cluster.shard("shardA", "alone", first);
    expect(await cluster.shard("shardA", "alone", other)).toMatchObject({ ok: 0, code: 72 });
  });

  test("an _id that two shards have is written on both, as by a real mongos", async () => {
    const cluster = await splitAtZero();
    const documents = [-1, 1].map((x) => ({ _id: 1, x }));
    await cluster.ok("test", { insert: "c", documents });
    const updates = [{ q: { _id: 1 }, u: { $set: { v: 1 } } }];
    expect(await cluster.ok("test", { update: "c", updates })).toMatchObject({ n: 2, nModified: 2 });
    const deletes = [{ q: { _id: 1 }, limit: 1 }];
    expect(await cluster.ok("test", { delete: "c", deletes })).toMatchObject({ n: 2 });
    expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 0 });
  });

  test("a command that failed whole runs when it is repeated", async () => {
    const cluster = await splitAtZero();
    const command = {
      findAndModify: "c",
      query: { x: 1 },
      update: { $set: { v: 1 } },
      upsert: true,
      ...session(1),
    };
    const shard = cluster.shards.get("shardB")!;
    shard.failWhen = (name) => (name === "findAndModify" ? new EndpointUnreachableError("gone") : undefined);
    expect(await cluster.run("test", command)).toMatchObject({ ok: 0, code: 6 });
    shard.failWhen = undefined;
    expect(await cluster.run("test", command)).toMatchObject({
      ok: 1,
      lastErrorObject: { n: 1, updatedExisting: false },
    });
  });
});
