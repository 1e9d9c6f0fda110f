/**
 * What moves documents, interrupted at every single command: the router dies and another one starts, or a server is gone
 * for a while. Either it has happened or not; every document is there exactly once, on the shard that owns it.
 *
 * `test.c` has ten documents, `{_id: i, x: i - 5}`; chunks [MinKey, 0) on shardA and [0, MaxKey) on shardB.
 */
import { MaxKey, MinKey, ObjectId, UUID } from "bson";
import { describe, expect, it, test } from "vitest";
import type { Doc } from "./support/cluster.js";
import type { Driven } from "./support/crash.js";
import { Servers } from "./support/crash.js";

const SESSION = new UUID("00000000-0000-4000-8000-000000000001");
const TEN = Array.from({ length: 10 }, (_, _id) => ({ _id, x: _id - 5 }));

interface Operation {
  readonly db: string;
  readonly command: Doc;
  /** `_id` values by shard before and afterwards, worked out by hand. */
  readonly before: Record<string, number[]>;
  readonly after: Record<string, number[]>;
  /** Key value of `_id` 4 afterwards, when not -1. */
  readonly x?: number;
  /** Bounds at which chunks begin afterwards, beside MinKey. */
  readonly bounds: readonly number[];
}

const HALVES = { shardA: [0, 1, 2, 3, 4], shardB: [5, 6, 7, 8, 9] };

const OPERATIONS: Readonly<Record<string, Operation>> = {
  moveChunk: {
    db: "admin",
    command: { moveChunk: "test.c", find: { x: 3 }, to: "shardA" },
    before: HALVES,
    after: { shardA: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], shardB: [] },
    bounds: [0],
  },
  "moveRange of a part": {
    db: "admin",
    command: { moveRange: "test.c", min: { x: 1 }, max: { x: 3 }, toShard: "shardA" },
    before: HALVES,
    after: { shardA: [0, 1, 2, 3, 4, 6, 7], shardB: [5, 8, 9] },
    bounds: [0, 1, 3],
  },
  "a document whose key value changes": {
    db: "test",
    command: {
      findAndModify: "c",
      query: { _id: 4, x: -1 },
      update: { $set: { x: 100 } },
      lsid: { id: SESSION },
      txnNumber: 1n,
    },
    before: HALVES,
    after: { shardA: [0, 1, 2, 3], shardB: [4, 5, 6, 7, 8, 9] },
    x: 100,
    bounds: [0],
  },
};

async function halves(): Promise<{ servers: Servers; router: Driven }> {
  const servers = new Servers();
  const router = await servers.router();
  await router.admin({ enableSharding: "test", primaryShard: "shardA" });
  await router.admin({ shardCollection: "test.c", key: { x: 1 } });
  await router.admin({ split: "test.c", middle: { x: 0 } });
  await router.admin({ moveChunk: "test.c", find: { x: 0 }, to: "shardB" });
  await router.ok("test", { insert: "c", documents: TEN });
  return { servers, router };
}

/** It has happened, or it has not: documents, shards and map say the same. */
async function check(servers: Servers, router: Driven, operation: Operation): Promise<void> {
  const found = await router.find("test.c");
  const x = operation.x ?? -1;
  const moved = TEN.map((document) => (document._id === 4 ? { ...document, x } : document));
  expect([TEN, moved]).toContainEqual(found);
  // Whatever is sent to a shard that was gone, it hears first what it has to delete.
  await router.admin({ listDatabases: 1 });
  const byShard = await servers.idsByShard("test", "c");
  expect([operation.before, operation.after]).toContainEqual(byShard);
  const chunks = await router.ok("config", { find: "chunks", sort: { min: 1 } });
  const batch = (chunks["cursor"] as { firstBatch: { min: { x: unknown }; shard: string }[] }).firstBatch;
  const begins = batch.map(({ min }) => min.x).slice(1);
  // A range that was cut out and did not move stays cut.
  expect([[0], operation.bounds]).toContainEqual(begins);
  for (const { _id, x: at } of found as { _id: number; x: number }[]) {
    const owner = batch.filter(({ min }, i) => i === 0 || Number(min.x) <= at).at(-1)!.shard;
    expect(byShard[owner], `_id ${_id}`).toContain(_id);
    // Exactly the shard that owns the key finds it, too.
    expect(await router.ok("test", { count: "c", query: { x: at } })).toMatchObject({ n: 1 });
  }
  for (const log of ["migrations", "movingDocuments"]) {
    expect(await router.find(`config.${log}`), log).toEqual([]);
  }
}

const CASES = Object.entries(OPERATIONS).flatMap(([name, operation]) =>
  (["before", "after"] as const).map((moment) => ({ name, moment, operation })),
);

/** The longer ones of two that go through the same steps; all of them: crash.full.test.ts. */
const LONGER = CASES.filter(({ name }) => name !== "moveChunk");

describe("the router is killed", () => {
  it.each(LONGER)("in the middle of $name, $moment a command runs", async ({ moment, operation }) => {
    for (let at = 1; ; at++) {
      const { servers, router } = await halves();
      router.fuse.arm(at, moment, "router");
      const outcome = await Promise.race([router.run(operation.db, operation.command), router.fuse.blown]);
      if (outcome) {
        router.fuse.heal();
        expect(outcome).toMatchObject({ ok: 1 });
        expect(at).toBeGreaterThan(5);
        await check(servers, router, operation);
        expect(await servers.idsByShard("test", "c")).toEqual(operation.after);
        return;
      }
      try {
        const next = await servers.router();
        await check(servers, next, operation);
        // Whoever sent it sends it again; it may have happened already.
        await next.run(operation.db, operation.command);
        await check(servers, next, operation);
        expect(await servers.idsByShard("test", "c")).toEqual(operation.after);
      } catch (error) {
        throw new Error(`killed at command ${at}, ${moment} ${router.fuse.blownBy}`, { cause: error });
      }
    }
  });
});

describe("a server is gone for a while", () => {
  it.each(CASES)("in the middle of $name, $moment a command runs", async ({ moment, operation }) => {
    for (let at = 1; ; at++) {
      const { servers, router } = await halves();
      router.fuse.arm(at, moment, "server");
      const reply = await router.run(operation.db, operation.command);
      if (!router.fuse.hasBlown) {
        expect(reply).toMatchObject({ ok: 1 });
        return;
      }
      try {
        router.fuse.heal();
        await check(servers, router, operation);
        await check(servers, await servers.router(), operation);
        if (reply["ok"] === 1) expect(await servers.idsByShard("test", "c")).toEqual(operation.after);
      } catch (error) {
        throw new Error(`gone at command ${at}, ${moment} ${router.fuse.blownBy}`, { cause: error });
      }
    }
  });

  it.each(LONGER)("and the router dies meanwhile: $name, $moment", async ({ moment, operation }) => {
    for (let at = 1; ; at++) {
      const { servers, router } = await halves();
      router.fuse.arm(at, moment, "server");
      await router.run(operation.db, operation.command);
      if (!router.fuse.hasBlown) return;
      try {
        // The one that is gone comes back, the router that knew of it does not.
        await check(servers, await servers.router(), operation);
      } catch (error) {
        throw new Error(`gone at command ${at}, ${moment} ${router.fuse.blownBy}`, { cause: error });
      }
    }
  });
});

/** A cluster in which a server has died after a command of an operation, and is still gone. */
async function goneAfter(blownBy: string, command: Doc): Promise<{ servers: Servers; router: Driven }> {
  for (let at = 1; ; at++) {
    const { servers, router } = await halves();
    router.fuse.arm(at, "after", "server");
    await router.run("admin", command);
    if (router.fuse.blownBy === blownBy) return { servers, router };
    if (!router.fuse.hasBlown) throw new Error(`there was no ${blownBy}`);
  }
}

test("a recipient that died holds up nobody who does not need it", async () => {
  const command = { moveChunk: "test.c", find: { x: 3 }, to: "shardA" };
  const { servers, router } = await goneAfter("insert to shardA", command);
  expect(await servers.idsByShard("test", "c")).toEqual({ ...HALVES, shardA: TEN.map(({ _id }) => _id) });
  expect(await router.ok("test", { find: "c", filter: { x: 3 } })).toMatchObject({
    cursor: { firstBatch: [{ _id: 8, x: 3 }] },
  });
  expect(await router.run("test", { find: "c", filter: { x: -3 } })).toMatchObject({ ok: 0, code: 133 });
  // The next router finds it gone as well, and is as useful.
  const next = await servers.router();
  expect(await next.find("test.c")).toEqual(TEN);
  router.fuse.heal();
  expect(await router.find("test.c")).toEqual(TEN);
  expect(await servers.idsByShard("test", "c")).toEqual(HALVES);
  expect(await router.find("config.migrations")).toEqual([]);
});

test("a commit that nobody has heard of is found out before the collection is used", async () => {
  const command = { moveChunk: "test.c", find: { x: 3 }, to: "shardA" };
  const { servers, router } = await goneAfter("bulkWrite to config", command);
  // The config server is what has died: whether the chunk has moved is not known.
  expect(await router.run("test", { find: "c", filter: { x: 3 } })).toMatchObject({ ok: 0 });
  router.fuse.heal();
  expect(await router.find("test.c")).toEqual(TEN);
  expect(await servers.idsByShard("test", "c")).toEqual({ shardA: TEN.map(({ _id }) => _id), shardB: [] });
});

/** A document that could not be removed when its migration was over; since then the collection has changed. */
test.each([
  ["whose chunk was cut and moved since", undefined],
  ["of a collection that is no more", new UUID("00000000-0000-4000-8000-000000000002")],
])("an old migration %s costs no document that is where it belongs", async (_what, uuid) => {
  const { servers, router } = await halves();
  const [entry] = await router.find("config.collections");
  const moving = { ns: "test.c", uuid: uuid ?? entry!.uuid, from: "shardA", to: "shardB" };
  const everything = { min: { x: new MinKey() }, max: { x: new MaxKey() } };
  await router.ok("config", {
    insert: "migrations",
    documents: [{ _id: new ObjectId(), ...moving, ...everything }],
  });
  const next = await servers.router();
  expect(await next.find("test.c")).toEqual(TEN);
  expect(await servers.idsByShard("test", "c")).toEqual(HALVES);
  expect(await next.find("config.migrations")).toEqual([]);
});

const NAMES = {
  "a renaming": { db: "admin", command: { renameCollection: "test.c", to: "test.u", dropTarget: true } },
  "a drop": { db: "test", command: { drop: "c" } },
};

describe("a router is killed while names change", () => {
  test.each(Object.entries(NAMES))("%s happens whole or not at all", async (_what, { db, command }) => {
    const seen = new Set<string>();
    for (let at = 1; ; at++) {
      const servers = new Servers();
      const router = await servers.router();
      await router.admin({ enableSharding: "test", primaryShard: "shardA" });
      await router.admin({ shardCollection: "test.c", key: { x: 1 } });
      await router.admin({ split: "test.c", middle: { x: 0 } });
      await router.admin({ moveChunk: "test.c", find: { x: 0 }, to: "shardB" });
      await router.ok("test", { insert: "c", documents: TEN });
      await router.ok("test", { insert: "u", documents: [{ _id: "old" }] });
      router.fuse.arm(at, "after", "router");
      const outcome = await Promise.race([router.run(db, command), router.fuse.blown]);
      if (outcome) break;
      const next = await servers.router();
      const count = async (name: string): Promise<number> => (await next.find(`test.${name}`)).length;
      seen.add(`c ${await count("c")}, u ${await count("u")}`);
      const names = Object.values(await servers.collectionsByShard("test")).flat();
      expect(names.filter((name) => name !== "c" && name !== "u")).toEqual([]);
      const { cursor } = await next.admin({ checkMetadataConsistency: 1 });
      expect((cursor as Doc)["firstBatch"]).toEqual([]);
    }
    const after = "drop" in command ? "c 0, u 1" : "c 0, u 10";
    expect([...seen]).toEqual(["c 10, u 1", after]);
  });
});

test("a database whose creation was not answered is there, and can be used", async () => {
  const servers = new Servers();
  const router = await servers.router();
  router.fuse.arm(1, "after", "server");
  expect(await router.run("admin", { enableSharding: "test", primaryShard: "shardB" })).toMatchObject({
    code: 6,
  });
  router.fuse.heal();
  expect(await router.run("admin", { enableSharding: "test", primaryShard: "shardB" })).toMatchObject({
    ok: 1,
  });
});
