/**
 * Cursors across shards: whose they are, how they go on, how they end.
 *
 * Key {x: 1}, cut at 50: x = 0 … 49 on shardA, 50 … 99 on shardB.
 */
import { Long } from "bson";
import { EndpointUnreachableError } from "shardlab/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

interface Cursor {
  id: bigint;
  ns: string;
  firstBatch?: Doc[];
  nextBatch?: Doc[];
  partialResultsReturned?: boolean;
}

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 50 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 50 }, to: "shardB" });
  await cluster.ok("test", {
    insert: "c",
    documents: Array.from({ length: 100 }, (_, x) => ({ _id: x, x })),
  });
  await cluster.ok("test", { insert: "plain", documents: Array.from({ length: 5 }, (_, i) => ({ _id: i })) });
});

const open = async (command: Doc): Promise<Cursor> =>
  (await cluster.ok("test", command)).cursor as unknown as Cursor;
const more = async (id: bigint, command: Doc = {}): Promise<Cursor> =>
  (await cluster.ok("test", { getMore: id, collection: "c", ...command })).cursor as unknown as Cursor;
const xs = (documents: Doc[] | undefined): number[] => (documents ?? []).map(({ x }) => Number(x));

/** How many cursors a shard has open. */
async function openOn(shard: string): Promise<number> {
  const { metrics } = await cluster.shard(shard, "admin", { serverStatus: 1 });
  return Number((metrics as { cursor: { open: { total: number } } }).cursor.open.total);
}

/** Makes a shard answer nothing any more. */
function kill(shard: string): void {
  const gone = new EndpointUnreachableError("127.0.0.1:27019", "connection refused", false);
  cluster.shards.get(shard)!.failWhen = () => gone;
}

describe("batches", () => {
  test("the client's batchSize is what shards are asked for, at first and later", async () => {
    const seen: unknown[] = [];
    const shard = cluster.shards.get("shardA")!;
    const run = shard.run.bind(shard);
    const { fromDocument } = await import("shardlab/bson");
    shard.run = (command) => {
      if (["find", "getMore"].includes(command.command)) seen.push(fromDocument(command.body).batchSize);
      return run(command);
    };
    const cursor = await open({ find: "c", sort: { x: 1 }, batchSize: 3 });
    expect(xs(cursor.firstBatch)).toEqual([0, 1, 2]);
    expect(xs((await more(cursor.id, { batchSize: 2 })).nextBatch)).toEqual([3, 4]);
    // 0 … 4 took two batches of three from shardA.
    expect(seen).toEqual([3, 3]);
    // Without a size of its own a getMore gives all that is left.
    const rest = await more(cursor.id);
    expect(xs(rest.nextBatch)).toEqual(Array.from({ length: 95 }, (_, i) => i + 5));
    expect(String(rest.id)).toBe("0");
  });

  test("batchSize 0 opens the cursor, and a batch of nothing is not its end", async () => {
    const cursor = await open({ find: "c", batchSize: 0, sort: { x: -1 }, limit: 2 });
    expect(cursor.firstBatch).toEqual([]);
    expect(cursor.id).not.toBe(0n);
    expect(xs((await more(cursor.id)).nextBatch)).toEqual([99, 98]);
  });

  test("singleBatch ends the cursor on every shard", async () => {
    const cursor = await open({ find: "c", batchSize: 2, singleBatch: true });
    expect(String(cursor.id)).toBe("0");
    expect([await openOn("shardA"), await openOn("shardB")]).toEqual([0, 0]);
  });
});

describe("getMore checks", () => {
  const session = (n: number): Doc => ({ id: new Uint8Array(16).fill(n) });

  test.each<[string, Doc, number, string]>([
    ["no such cursor", { getMore: 5n, collection: "c" }, 43, "Cursor not found (id: 5)."],
    [
      "an int32 for a number",
      { getMore: 5, collection: "c" },
      14,
      "BSON field 'getMore.getMore' is the wrong type 'int', expected type 'long'",
    ],
    [
      "no collection",
      { getMore: 5n },
      40414,
      "BSON field 'getMore.collection' is missing but a required field",
    ],
    [
      "a number for the collection",
      { getMore: 5n, collection: 7 },
      14,
      "BSON field 'getMore.collection' is the wrong type 'int', expected type 'string'",
    ],
    [
      "a negative batchSize",
      { getMore: 5n, collection: "c", batchSize: -1 },
      51024,
      "BSON field 'batchSize' value must be >= 0, actual value '-1'",
    ],
    [
      "a text for the batchSize",
      { getMore: 5n, collection: "c", batchSize: "x" },
      14,
      "BSON field 'getMore.batchSize' is the wrong type 'string', expected type 'long'",
    ],
    [
      "an unknown field",
      { getMore: 5n, collection: "c", limit: 1 },
      40415,
      "BSON field 'getMore.limit' is an unknown field.",
    ],
  ])("%s", async (_what, command, code, errmsg) => {
    const getMore = typeof command.getMore === "bigint" ? Long.fromBigInt(command.getMore) : command.getMore;
    expect(await cluster.run("test", { ...command, getMore })).toMatchObject({ ok: 0, code, errmsg });
  });

  test.each(["c", "plain"])("a wrong request leaves the cursor on %s as it was", async (collection) => {
    const { id } = await open({ find: collection, batchSize: 1, lsid: session(1) });
    const wrong = (command: Doc): Promise<Doc> =>
      cluster.run("test", { getMore: id, collection, ...command });
    expect(await wrong({ collection: "other", lsid: session(1) })).toMatchObject({
      code: 13,
      errmsg: `Requested getMore on namespace 'test.other', but cursor belongs to a different namespace test.${collection}`,
    });
    // A mongos's own numbers: 50799 to 50801.
    expect(await wrong({})).toMatchObject({ code: 50800 });
    expect(await wrong({ lsid: session(2) })).toMatchObject({ code: 50801 });
    expect(await wrong({ lsid: session(1), maxTimeMS: 10 })).toMatchObject({
      code: 2,
      errmsg: "maxTimeMS can only be used with getMore for tailable, awaitData cursors",
    });
    const left = (await more(id, { collection, lsid: session(1) })).nextBatch;
    expect(left).toHaveLength(collection === "c" ? 99 : 4);
    const without = await open({ find: collection, batchSize: 1 });
    expect(await cluster.run("test", { getMore: without.id, collection, lsid: session(1) })).toMatchObject({
      code: 50799,
    });
  });
});

describe("the end of a cursor", () => {
  test("killCursors ends it on every shard", async () => {
    const cursor = await open({ find: "c", batchSize: 1 });
    expect([await openOn("shardA"), await openOn("shardB")]).toEqual([1, 1]);
    expect(await cluster.ok("test", { killCursors: "c", cursors: [cursor.id, 7n] })).toMatchObject({
      cursorsKilled: [cursor.id],
      cursorsNotFound: [7],
      cursorsAlive: [],
      cursorsUnknown: [],
    });
    expect([await openOn("shardA"), await openOn("shardB")]).toEqual([0, 0]);
  });

  test("one shard's failure to open takes back the others' cursors", async () => {
    cluster.shards.get("shardB")!.failWhen = (name) =>
      name === "find" ? new EndpointUnreachableError("127.0.0.1:27019", "refused", false) : undefined;
    expect(await cluster.run("test", { find: "c", batchSize: 1 })).toMatchObject({ ok: 0, code: 133 });
    expect(await openOn("shardA")).toBe(0);
  });

  test("a shard that is gone fails the getMore, and the cursor is closed on the others", async () => {
    const cursor = await open({ find: "c", batchSize: 1 });
    kill("shardB");
    await more(cursor.id, { batchSize: 1 });
    const reply = await cluster.run("test", { getMore: cursor.id, collection: "c" });
    expect(reply).toMatchObject({ ok: 0 });
    expect(String(reply.errmsg)).toContain("shardB");
    expect(await openOn("shardA")).toBe(0);
    expect(await cluster.run("test", { getMore: cursor.id, collection: "c" })).toMatchObject({ code: 43 });
  });
});

describe("allowPartialResults", () => {
  test("a shard that is gone: the others' documents, and a word about it", async () => {
    kill("shardB");
    const command = { find: "c", sort: { x: -1 }, batchSize: 2 };
    const refused = await cluster.run("test", command);
    expect(refused).toMatchObject({ ok: 0, code: 133 });
    expect(String(refused.errmsg)).toContain("shardB");
    const cursor = await open({ ...command, allowPartialResults: true });
    expect(cursor.partialResultsReturned).toBe(true);
    expect(xs(cursor.firstBatch)).toEqual([49, 48]);
    const next = await more(cursor.id);
    expect(next.partialResultsReturned).toBe(true);
    expect(next.nextBatch).toHaveLength(48);
  });

  test("it dies between batches: what is buffered still comes", async () => {
    const cursor = await open({ find: "c", sort: { x: 1 }, batchSize: 2, allowPartialResults: true });
    expect(cursor).not.toHaveProperty("partialResultsReturned");
    kill("shardB");
    const rest = await more(cursor.id);
    expect(rest.partialResultsReturned).toBe(true);
    // 50 and 51 had arrived with the first batch.
    expect(xs(rest.nextBatch)).toEqual([...Array.from({ length: 48 }, (_, i) => i + 2), 50, 51]);
    expect(String(rest.id)).toBe("0");
  });

  test("the only shard that is asked is gone: nothing, and a word about it", async () => {
    const live = await open({
      find: "c",
      filter: { x: { $gt: 60 } },
      batchSize: 1,
      allowPartialResults: true,
    });
    kill("shardB");
    const cursor = await open({ find: "c", filter: { x: 70 }, allowPartialResults: true });
    expect(cursor).toMatchObject({ firstBatch: [], partialResultsReturned: true, ns: "test.c" });
    expect(await more(live.id)).toMatchObject({ nextBatch: [], partialResultsReturned: true });
    expect(await cluster.run("test", { find: "c", filter: { x: 70 } })).toMatchObject({ ok: 0, code: 133 });
  });

  test("what shards refuse is refused", async () => {
    const bad = { find: "c", hint: "nothing", allowPartialResults: true };
    expect(await cluster.run("test", bad)).toMatchObject({ ok: 0, code: 2 });
  });
});
