import { toDocument } from "shardlab/bson";
import type { Endpoint } from "shardlab/protocol";
import { EndpointUnreachableError, readCursorReply, request } from "shardlab/protocol";
import { expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

/** Key {x: 1}, cut at 50, all on shardA, x = 0 … 99. */
async function hundred(options?: Parameters<typeof startCluster>[0]): Promise<TestCluster> {
  const cluster = await startCluster(options);
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.ok("test", { createIndexes: "c", indexes: [{ key: { tag: 1 }, name: "tag_1" }] });
  await cluster.admin({ split: "test.c", middle: { x: 50 } });
  await cluster.ok("test", {
    insert: "c",
    documents: Array.from({ length: 100 }, (_, x) => ({ _id: x, x })),
  });
  return cluster;
}

const counts = async (cluster: TestCluster): Promise<number[]> =>
  Promise.all(
    [...cluster.shards.keys()].map(async (shard) =>
      Number((await cluster.shard(shard, "test", { count: "c" })).n),
    ),
  );

const move = { moveChunk: "test.c", find: { x: 50 }, to: "shardB" };

test("the documents go with their chunk, indexes too", async () => {
  const cluster = await hundred();
  expect(await cluster.admin(move)).toMatchObject({ ok: 1 });
  expect(await counts(cluster)).toEqual([50, 50]);
  expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 100 });
  const reply = await cluster.shard("shardB", "test", { listIndexes: "c" });
  expect((reply.cursor as { firstBatch: Doc[] }).firstBatch.map(({ name }) => name)).toEqual([
    "_id_",
    "x_1",
    "tag_1",
  ]);
});

test("versions: the moved chunk gets a new major, one chunk of the donor too; history grows (§3.4)", async () => {
  const cluster = await hundred();
  await cluster.admin(move);
  const chunks = await cluster.all("config", { find: "chunks", sort: { min: 1 } });
  const version = ({ lastmod }: Doc): string => {
    const { t, i } = lastmod as { t: number; i: number };
    return `${t}|${i}`;
  };
  // created as 1|0, split into 1|1 and 1|2, moved as 2|0 with 2|1 for the donor's
  expect(chunks.map(version)).toEqual(["2|1", "2|0"]);
  expect((chunks[1]!.history as Doc[]).map(({ shard }) => shard)).toEqual(["shardB", "shardA"]);
  const log = await cluster.all("config", { find: "changelog", filter: { what: /^moveChunk/ } });
  expect(log.map(({ what }) => what)).toEqual([
    "moveChunk.start",
    "moveChunk.commit",
    "moveChunk.from",
    "moveChunk.to",
  ]);
});

test("moving to where it is already, or to nowhere", async () => {
  const cluster = await hundred();
  expect(await cluster.admin({ ...move, to: "shardA" })).toMatchObject({ ok: 1 });
  expect(await cluster.run("admin", { ...move, to: "shardX" })).toMatchObject({ code: 70 });
  expect(await cluster.run("admin", { moveChunk: "test.c", to: "shardB" })).toMatchObject({ ok: 0, code: 8 });
  expect(await cluster.run("admin", { moveChunk: "test.none", find: { x: 1 }, to: "shardB" })).toMatchObject({
    code: 118,
  });
});

test("an open cursor sees every document once, though their chunks move under it", async () => {
  const cluster = await hundred();
  for (const sort of [undefined, { x: 1 }]) {
    const command = { find: "c", batchSize: 10, ...(sort && { sort }) };
    const first = (await cluster.ok("test", command)).cursor as { id: bigint; firstBatch: Doc[] };
    const seen = [...first.firstBatch];
    let id: unknown = first.id;
    for (let round = 0; String(id) !== "0"; round++) {
      await cluster.admin({
        ...move,
        find: { x: round % 2 ? 0 : 50 },
        to: round % 4 < 2 ? "shardB" : "shardA",
      });
      const next = (await cluster.ok("test", { getMore: id, collection: "c", batchSize: 10 })).cursor as {
        id: bigint;
        nextBatch: Doc[];
      };
      seen.push(...next.nextBatch);
      id = next.id;
    }
    expect(seen.map(({ x }) => Number(x)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, x) => x),
    );
  }
});

test("what a migration read ahead for a cursor does not outlive its collection", async () => {
  for (const sort of [undefined, { x: 1 }]) {
    const cluster = await hundred();
    const command = { find: "c", batchSize: 10, ...(sort && { sort }) };
    const { id } = (await cluster.ok("test", command)).cursor as { id: bigint };
    await cluster.admin(move);
    await cluster.ok("test", { drop: "c" });
    const getMore = { getMore: id, collection: "c", batchSize: 10 };
    expect(await cluster.run("test", getMore)).toMatchObject({ ok: 0, code: 175 });
    expect(await cluster.run("test", getMore)).toMatchObject({ ok: 0, code: 43 });
  }
});

test("a cursor that is killed while a migration reads it ahead does not stop the migration", async () => {
  const cluster = await hundred();
  const pad = "x".repeat(1_000_000); // 40 MB: three batches to read ahead
  await cluster.ok("test", {
    update: "c",
    updates: [{ q: { x: { $lt: 40 } }, u: { $set: { pad } }, multi: true }],
  });
  const { id } = (await cluster.ok("test", { find: "c", batchSize: 1 })).cursor as { id: bigint };
  const shardA = cluster.shards.get("shardA")!;
  let killed: Promise<Doc> | undefined;
  shardA.failWhen = (command) => {
    if (command === "getMore") killed ??= cluster.ok("test", { killCursors: "c", cursors: [id] });
    return undefined;
  };
  expect(await cluster.admin(move)).toMatchObject({ ok: 1 });
  expect(await killed).toMatchObject({ cursorsKilled: [id] });
  expect(await counts(cluster)).toEqual([50, 50]);
});

test("clients that read and write meanwhile see one step", async () => {
  const cluster = await hundred();
  let moving = true;
  const reader = async (): Promise<void> => {
    while (moving) {
      const found = await cluster.all("test", { find: "c", filter: { x: { $lt: 1000 } }, batchSize: 7 });
      expect(new Set(found.map(({ _id }) => _id)).size).toBe(found.length);
      expect(found.filter(({ x }) => Number(x) < 100)).toHaveLength(100);
    }
  };
  const writer = async (): Promise<number> => {
    let written = 0;
    while (moving) {
      await cluster.ok("test", {
        insert: "c",
        documents: [{ _id: 1000 + written, x: 20 + written }].map((d) => ({ ...d, x: Number(d.x) + 1000 })),
      });
      written += 1;
    }
    return written;
  };
  const mover = async (): Promise<void> => {
    for (let round = 0; round < 20; round++)
      await cluster.admin({ ...move, to: round % 2 ? "shardA" : "shardB" });
    moving = false;
  };
  const [, written] = await Promise.all([reader(), writer(), mover()]);
  expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 100 + written });
});

test("a document that cannot be copied stops the move and nothing has changed (§7)", async () => {
  const cluster = await hundred();
  await cluster.admin(move);
  // _id 10 exists on shardA (x: 10); a second one on shardB blocks the way back.
  await cluster.ok("test", { insert: "c", documents: [{ _id: 10, x: 77.5 }] });
  const reply = await cluster.run("admin", { ...move, to: "shardA" });
  expect(reply).toMatchObject({ ok: 0, code: 11000 });
  expect(await counts(cluster)).toEqual([50, 51]);
  expect(await cluster.all("test", { find: "c", filter: { x: 77.5 } })).toHaveLength(1);
});

test("when the donor fails at its last step, its leftovers are gone before anything is read", async () => {
  const cluster = await hundred();
  const donor = cluster.shards.get("shardA")!;
  donor.failWhen = (name) => (name === "delete" ? new EndpointUnreachableError("gone") : undefined);
  expect(await cluster.run("admin", move)).toMatchObject({ ok: 0, code: 6 });
  // While the donor cannot delete, the collection can't be read: a wrong answer would be worse.
  expect(await cluster.run("test", { count: "c" })).toMatchObject({ ok: 0, code: 6 });
  donor.failWhen = undefined;
  expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 100 });
  expect(await counts(cluster)).toEqual([50, 50]);
});

test("a failed copy leaves no trace on the recipient", async () => {
  const cluster = await hundred();
  const recipient = cluster.shards.get("shardB")!;
  recipient.failWhen = (name) => (name === "insert" ? new EndpointUnreachableError("gone") : undefined);
  expect(await cluster.run("admin", move)).toMatchObject({ ok: 0, code: 6 });
  recipient.failWhen = undefined;
  expect(await counts(cluster)).toEqual([100, 0]);
  expect(await cluster.admin(move)).toMatchObject({ ok: 1 });
  expect(await counts(cluster)).toEqual([50, 50]);
});

test("keys at the very ends, and of hashed and compound keys, move completely", async () => {
  for (const key of [{ x: 1 }, { x: "hashed" }, { x: 1, y: 1 }, { y: "hashed", x: 1 }] as Doc[]) {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "test.k", key });
    const values: unknown[] = [null, 1, "a", { z: 1 }, new Date(0), true, -1e300];
    await cluster.ok("test", {
      insert: "k",
      documents: [{ _id: "missing" }, ...values.map((x, i) => ({ _id: i, x, y: i }))],
    });
    const total = values.length + 1;
    for (const to of ["shardB", "shardA", "shardB"]) {
      const chunks = await cluster.all("config", { find: "chunks" });
      for (const { min, max } of chunks) await cluster.admin({ moveChunk: "test.k", bounds: [min, max], to });
      const reply = await cluster.shard(to, "test", { count: "k" });
      expect(reply.n, JSON.stringify(key)).toBe(total);
      expect(await cluster.ok("test", { count: "k" })).toMatchObject({ n: total });
    }
  }
});

test("a chunk of more small documents than one insert may carry moves under an open cursor", async () => {
  const total = 150_000; // a write command carries 100,000 at most; 16 MB of these are far more
  const cluster = await startCluster();
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { _id: 1 } });
  for (let from = 0; from < total; from += 50_000) {
    const documents = Array.from({ length: 50_000 }, (_, i) => toDocument({ _id: from + i }));
    await cluster.ok("test", { insert: "c", ordered: false }, { documents });
  }
  const first = (await cluster.ok("test", { find: "c", batchSize: 1 })).cursor as { id: bigint };
  await cluster.admin({ moveChunk: "test.c", find: { _id: 0 }, to: "shardB" });
  expect(await counts(cluster)).toEqual([0, total]);
  const rest = await cluster.router.run(request("test", { getMore: first.id, collection: "c" }));
  expect(readCursorReply(rest)).toMatchObject({ id: 0n, batch: { length: total - 1 } });
});

/** Makes an endpoint lose its reply to a command, once, after the command has run. */
function loseReply(endpoint: Endpoint, command: string): void {
  const run = endpoint.run.bind(endpoint);
  let lost = false;
  Object.assign(endpoint, {
    run: async (request: Parameters<Endpoint["run"]>[0]) => {
      const reply = await run(request);
      if (lost || request.command !== command) return reply;
      lost = true;
      throw new EndpointUnreachableError("the server", undefined, true);
    },
  });
}

test("copies that have arrived without anybody knowing are gone before the recipient is asked again", async () => {
  const cluster = await hundred();
  await cluster.admin({ split: "test.c", middle: { x: 70 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 70 }, to: "shardB" });
  // Another document with the `_id` of one that is to move: it is none of the copies (§7).
  await cluster.ok("test", { insert: "c", documents: [{ _id: 50, x: 500 }] });
  await cluster.ok("test", { delete: "c", deletes: [{ q: { _id: 50, x: 50 }, limit: 1 }] });
  loseReply(cluster.shards.get("shardB")!.inner, "insert");
  expect(await cluster.run("admin", move)).toMatchObject({ ok: 0, code: 6 });
  expect(await cluster.all("test", { find: "c" })).toHaveLength(100);
  expect(await counts(cluster)).toEqual([69, 31]);
  expect(await cluster.admin(move)).toMatchObject({ ok: 1 });
  expect(await counts(cluster)).toEqual([50, 50]);
});

test("a commit whose reply is lost has happened: no document is lost, none is there twice", async () => {
  const cluster = await hundred();
  loseReply(cluster.config, "bulkWrite");
  expect(await cluster.run("admin", move)).toMatchObject({ ok: 0, code: 6 });
  expect(await cluster.all("test", { find: "c" })).toHaveLength(100);
  expect(await counts(cluster)).toEqual([50, 50]);
  expect((await chunksOf(cluster, "test.c")).map(({ shard }) => shard)).toEqual(["shardA", "shardB"]);
});

test("the donor deletes what it gave away before anything else can fail", async () => {
  const cluster = await hundred();
  const { config } = cluster;
  const run = config.run.bind(config);
  let moved = false;
  Object.assign(config, {
    run: (request: Parameters<Endpoint["run"]>[0]) => {
      moved ||= request.command === "bulkWrite";
      return moved && request.command === "insert"
        ? Promise.reject(new EndpointUnreachableError("config", undefined, false))
        : run(request);
    },
  });
  // The change log can't be written, the chunk has moved all the same.
  expect(await cluster.run("admin", move)).toMatchObject({ ok: 0, code: 133 });
  expect(await counts(cluster)).toEqual([50, 50]);
});

const eventsOf = async (cluster: TestCluster): Promise<unknown[]> =>
  (await cluster.all("config", { find: "changelog", filter: { what: /^moveChunk/ } })).map(
    ({ what }) => what,
  );

test("a chunk is counted before it moves: 1.3 times what fits by the average document (§12.6)", async () => {
  // {_id: int, x: int} has 21 bytes, so 20 documents fit into 420 bytes and 26 may move; the chunk has 50.
  const cluster = await hundred({ chunkSizeBytes: 420 });
  expect(await cluster.run("admin", move)).toMatchObject({
    ok: 0,
    code: 153,
    codeName: "ChunkTooBig",
    errmsg:
      "Cannot move chunk: the maximum number of documents for a chunk is 26, the maximum chunk size is 420, " +
      "average document size is 21. Found 50 documents in chunk  ns: test.c { x: 50 } -> { x: MaxKey }",
  });
  expect(await eventsOf(cluster)).toEqual(["moveChunk.start", "moveChunk.error"]);
  expect(await counts(cluster)).toEqual([100, 0]);
  const reply = await cluster.shard("shardB", "test", { listCollections: 1 });
  expect(reply).toMatchObject({ cursor: { firstBatch: [] } });
  // 26 of them are not too many: [50, 76).
  await cluster.admin({ moveRange: "test.c", min: { x: 50 }, max: { x: 76 }, toShard: "shardB" });
  expect(await counts(cluster)).toEqual([74, 26]);
  const more = { moveRange: "test.c", min: { x: 0 }, max: { x: 27 }, toShard: "shardB" };
  expect(await cluster.run("admin", more)).toMatchObject({ code: 153 });
  expect(await cluster.admin({ ...more, forceJumbo: true })).toMatchObject({ ok: 1 });
  expect(await counts(cluster)).toEqual([47, 53]);
});

test("the collection's own chunk size goes before the cluster's, and the command's before both", async () => {
  const cluster = await hundred();
  const small = { $set: { maxChunkSizeBytes: 420 } };
  await cluster.ok("config", { update: "collections", updates: [{ q: { _id: "test.c" }, u: small }] });
  expect(await cluster.run("admin", move)).toMatchObject({ code: 153 });
  expect(await cluster.admin({ ...move, maxChunkSizeBytes: 21 * 50 })).toMatchObject({ ok: 1 });
  expect(await counts(cluster)).toEqual([50, 50]);
});

test("a chunk that moves with forceJumbo is no longer marked", async () => {
  const cluster = await hundred();
  const mark = { q: { "min.x": 50 }, u: { $set: { jumbo: true } } };
  await cluster.ok("config", { update: "chunks", updates: [mark] });
  expect(await cluster.admin({ ...move, forceJumbo: true })).toMatchObject({ ok: 1 });
  expect(await cluster.all("config", { find: "chunks", filter: { jumbo: true } })).toEqual([]);
});

test("migrations that are not allowed do not even begin (117)", async () => {
  const cluster = await hundred();
  const forbidden = { $set: { allowMigrations: false } };
  await cluster.ok("config", { update: "collections", updates: [{ q: { _id: "test.c" }, u: forbidden }] });
  expect(await cluster.run("admin", move)).toMatchObject({
    code: 117,
    errmsg: "Collection is undergoing changes so moveChunk is not allowed.",
  });
  expect(await eventsOf(cluster)).toEqual([]);
});

test("a recipient that is not there costs nothing: no note, and the collection can be used", async () => {
  const cluster = await hundred();
  cluster.shards.get("shardB")!.failWhen = () => new EndpointUnreachableError("gone", undefined, false);
  expect(await cluster.run("admin", move)).toMatchObject({ ok: 0, code: 133 });
  expect(await cluster.all("config", { find: "migrations" })).toEqual([]);
  expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: 100 });
});
