/**
 * A document moves from one shard to another, and one of them fails on the way.
 * Through the router the document is there exactly once, before or after.
 */
import { EndpointUnreachableError } from "shardlab/protocol";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { layout, session, splitAtZero } from "./support/zeroSplit.js";

const MOVE = { update: "c", updates: [{ q: { x: -1 }, u: { $set: { x: 10 } } }] };
const OLD = { _id: 1, x: -1 };
const NEW = { _id: 1, x: 10 };

async function withOne(): Promise<TestCluster> {
  const cluster = await splitAtZero();
  await cluster.ok("test", { insert: "c", documents: [OLD] });
  return cluster;
}

/** What everybody sees of the document. */
async function seen(cluster: TestCluster): Promise<Doc[]> {
  const found = await cluster.all("test", { find: "c", filter: { _id: 1 } });
  expect(await cluster.ok("test", { count: "c" })).toMatchObject({ n: found.length });
  return found;
}

type Loss = "request" | "reply";

/** Makes a shard lose a command: before it runs, or its reply after it has run. */
function lose(cluster: TestCluster, shard: string, command: string, loss: Loss, times = Infinity): void {
  const watched = cluster.shards.get(shard)!;
  let left = times;
  watched.failWhen = (name) => {
    if (name !== command || left-- <= 0) return undefined;
    if (loss === "request") return new EndpointUnreachableError(shard, undefined, true);
    return undefined;
  };
  if (loss === "request") return;
  const { inner } = watched;
  Object.assign(watched, {
    inner: {
      run: async (request: Parameters<typeof inner.run>[0]) => {
        const reply = await inner.run(request);
        if (request.command === command && left-- > 0)
          throw new EndpointUnreachableError(shard, undefined, true);
        return reply;
      },
    },
  });
  watched.failWhen = undefined;
}

describe("the insert over there", () => {
  test.each<Loss>(["request", "reply"])("whose %s is lost: the document stays what it was", async (loss) => {
    const cluster = await withOne();
    lose(cluster, "shardB", "insert", loss, 1);
    const reply = await cluster.ok("test", { ...MOVE, ...session(1) });
    expect(reply).toMatchObject({ n: 0, writeErrors: [{ code: 6 }] });
    // If a copy has arrived, it goes before shardB is asked anything else.
    expect(await seen(cluster)).toEqual([OLD]);
    expect(await layout(cluster)).toEqual({ A: [1], B: [] });
    expect(await cluster.ok("test", { ...MOVE, ...session(1) })).toMatchObject({ n: 1, nModified: 1 });
    expect(await seen(cluster)).toEqual([NEW]);
  });

  test("whose reply is lost where the _id was taken: the other document stays too", async () => {
    const cluster = await withOne();
    await cluster.ok("test", { insert: "c", documents: [{ _id: 1, x: 50 }] });
    lose(cluster, "shardB", "insert", "reply", 1);
    await cluster.ok("test", { ...MOVE, ...session(1) });
    expect(await seen(cluster)).toHaveLength(2);
  });

  test("that the shard refuses: an error in its context, nothing has happened", async () => {
    const cluster = await withOne();
    // The document is older than the rule, which only inserts have to keep.
    const rule = { validator: { x: { $lt: 5 } }, validationAction: "error" };
    for (const shard of ["shardA", "shardB"]) await cluster.shard(shard, "test", { collMod: "c", ...rule });
    const reply = await cluster.ok("test", { ...MOVE, ...session(1) });
    expect(reply).toMatchObject({ n: 0, writeErrors: [{ code: 121 }] });
    expect(String((reply.writeErrors as Doc[])[0]!.errmsg)).toContain(
      "Update operation was converted into a distributed transaction",
    );
    expect(await seen(cluster)).toEqual([OLD]);
    // The command may ask to pass the rule by; the move does then.
    const bypassing = { ...MOVE, bypassDocumentValidation: true, ...session(2) };
    expect(await cluster.ok("test", bypassing)).toMatchObject({ n: 1 });
    expect(await layout(cluster)).toEqual({ A: [], B: [1] });
  });
});

describe("the delete here", () => {
  test.each<Loss>(["request", "reply"])(
    "whose %s is lost: the move counts, and is finished first",
    async (loss) => {
      const cluster = await withOne();
      lose(cluster, "shardA", "delete", loss, 1);
      expect(await cluster.ok("test", { ...MOVE, ...session(1) })).toMatchObject({ n: 1, nModified: 1 });
      expect(await seen(cluster)).toEqual([NEW]);
      expect(await layout(cluster)).toEqual({ A: [], B: [1] });
    },
  );

  test("while the shard is gone, nobody sees the old document; others are read", async () => {
    const cluster = await withOne();
    lose(cluster, "shardA", "delete", "request");
    await cluster.ok("test", { ...MOVE, ...session(1) });
    expect(await cluster.run("test", { find: "c", filter: { x: -1 } })).toMatchObject({ ok: 0, code: 6 });
    expect(await cluster.all("test", { find: "c", filter: { x: 10 } })).toEqual([NEW]);
    cluster.shards.get("shardA")!.failWhen = undefined;
    expect(await cluster.all("test", { find: "c", filter: { x: -1 } })).toEqual([]);
    expect(await seen(cluster)).toEqual([NEW]);
  });

  test("that certainly never arrived: the copy is taken back", async () => {
    const cluster = await withOne();
    cluster.shards.get("shardA")!.failWhen = (name) =>
      name === "delete" ? new EndpointUnreachableError("shardA", undefined, false) : undefined;
    const reply = await cluster.ok("test", { ...MOVE, ...session(1) });
    expect(reply).toMatchObject({ n: 0, writeErrors: [{ code: 133 }] });
    cluster.shards.get("shardA")!.failWhen = undefined;
    expect(await seen(cluster)).toEqual([OLD]);
    expect(await layout(cluster)).toEqual({ A: [1], B: [] });
  });

  test("and the copy cannot be taken back at once: it goes before it is seen", async () => {
    const cluster = await withOne();
    for (const shard of ["shardA", "shardB"]) {
      cluster.shards.get(shard)!.failWhen = (name) =>
        name === "delete" ? new EndpointUnreachableError(shard, undefined, false) : undefined;
    }
    expect(await cluster.ok("test", { ...MOVE, ...session(1) })).toMatchObject({
      writeErrors: [{ code: 133 }],
    });
    for (const shard of cluster.shards.values()) shard.failWhen = undefined;
    expect(await seen(cluster)).toEqual([OLD]);
  });
});

test("findAndModify that cannot move its document fails, and the document stays", async () => {
  const cluster = await withOne();
  lose(cluster, "shardB", "insert", "request", 1);
  const change = { findAndModify: "c", query: { x: -1 }, update: { $set: { x: 10 } }, ...session(1) };
  expect(await cluster.run("test", change)).toMatchObject({ ok: 0, code: 6 });
  expect(await seen(cluster)).toEqual([OLD]);
  expect(await cluster.ok("test", change)).toMatchObject({ value: OLD });
  expect(await seen(cluster)).toEqual([NEW]);
});
