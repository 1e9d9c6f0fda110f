import { fromDocument, toDocument } from "shardlab/bson";
import { expect, test } from "vitest";
import { CursorStore } from "../../lib/router/merging/cursorStore.js";
import { BufferStream } from "../../lib/router/merging/streams.js";
import { IdSource } from "../../lib/router/support/ids.js";
import type { Doc } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const MINUTE = 60_000;

test("whoever opens or reads a cursor sweeps out those that nobody read for ten minutes", async () => {
  let now = Date.UTC(2026, 0, 1);
  const clock = (): number => now;
  const store = new CursorStore(new IdSource({ now: clock, random: Math.random }), clock);
  const open = async (noTimeout = false): Promise<bigint> => {
    const documents = [toDocument({ x: 1 }), toDocument({ x: 2 })];
    const stream = new BufferStream(documents);
    const { body } = await store.firstReply("test.c", stream, [], 1, false, { noTimeout });
    return BigInt(String((fromDocument(body).cursor as { id: unknown }).id));
  };
  const idle = await open();
  const read = await open();
  now += 6 * MINUTE;
  expect(store.get(read).id).toBe(read);
  now += 5 * MINUTE;
  expect(store.get(read).id).toBe(read);
  expect(store.size).toBe(1);
  expect(() => store.get(idle)).toThrow(/not found/);
  now += 11 * MINUTE;
  const kept = await open(true);
  expect(store.size).toBe(1);
  // noCursorTimeout: for hours, if need be.
  now += 600 * MINUTE;
  await open();
  expect(store.size).toBe(2);
  expect(store.get(kept).id).toBe(kept);
});

test("killCursors ends a cursor although its batch is being made just now, and others with it", async () => {
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.ok("test", { insert: "one", documents: [{}, {}, {}] });
  await cluster.admin({ shardCollection: "test.two", key: { k: "hashed" } });
  await cluster.ok("test", { insert: "two", documents: Array.from({ length: 300 }, (_, k) => ({ k })) });
  for (const collection of ["one", "two"]) {
    const open = async (): Promise<bigint> =>
      ((await cluster.ok("test", { find: collection, batchSize: 1 })).cursor as { id: bigint }).id;
    const [busy, other] = [await open(), await open()];
    const reading = cluster.run("test", { getMore: busy, collection, batchSize: 250 });
    const killed = await cluster.ok("test", { killCursors: collection, cursors: [busy, other] });
    expect(killed).toMatchObject({ cursorsKilled: [busy, other], cursorsNotFound: [] });
    expect(await reading).toMatchObject({ ok: 0, code: 237, codeName: "CursorKilled" });
    for (const id of [busy, other])
      expect(await cluster.run("test", { getMore: id, collection })).toMatchObject({ code: 43 });
    const status = await cluster.shard("shardA", "admin", { serverStatus: 1 });
    expect((status.metrics as { cursor: { open: Doc } }).cursor.open).toMatchObject({ total: 0 });
  }
});
