/**
 * Whatever moves documents or changes the map, interrupted at every single command: the router dies and another one
 * starts, or the server that gets the command is gone for a while. Afterwards every document is there exactly once, no
 * shard has what is not its own, and the catalog agrees with the shards.
 *
 * `test.c` has ten documents, `{_id: i, x: i - 5}`; chunks [MinKey, 0) on shardA and [0, MaxKey) on shardB, `test.u` is
 * unsharded on shardA.
 */
import { MinKey, UUID } from "bson";
import { describe, expect, it } from "vitest";
import type { Doc } from "./support/cluster.js";
import type { Driven, Moment } from "./support/crash.js";
import { Servers } from "./support/crash.js";

const MIN_KEY = new MinKey();
const SESSION = new UUID("00000000-0000-4000-8000-000000000001");
const TEN = Array.from({ length: 10 }, (_, _id) => ({ _id, x: _id - 5, y: _id % 3 }));

interface Operation {
  readonly db?: string;
  readonly command: Doc;
  /** Ran before, by a router that lives. */
  readonly before?: readonly Doc[];
  /** What the documents may be afterwards, when not as before. */
  readonly after?: readonly Doc[];
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  split: { command: { split: "test.c", middle: { x: -3 } } },
  moveChunk: { command: { moveChunk: "test.c", find: { x: -1 }, to: "shardB" } },
  "moveRange of a part": {
    command: { moveRange: "test.c", min: { x: 1 }, max: { x: 3 }, toShard: "shardA" },
  },
  mergeChunks: {
    before: [{ split: "test.c", middle: { x: -3 } }],
    command: { mergeChunks: "test.c", bounds: [{ x: MIN_KEY }, { x: 0 }] },
  },
  refineCollectionShardKey: {
    before: [],
    command: { refineCollectionShardKey: "test.c", key: { x: 1, y: 1 } },
  },
  "reshardCollection to a hash": {
    command: { reshardCollection: "test.c", key: { _id: "hashed" }, numInitialChunks: 4 },
  },
  "reshardCollection to a range": {
    command: { reshardCollection: "test.c", key: { y: 1 }, numInitialChunks: 2 },
  },
  moveCollection: { command: { moveCollection: "test.u", toShard: "shardB" } },
  unshardCollection: { command: { unshardCollection: "test.c", toShard: "shardA" } },
  movePrimary: { command: { movePrimary: "test", to: "shardB" } },
  balancerRound: {
    before: [
      { addShardToZone: "shardB", zone: "low" },
      { updateZoneKeyRange: "test.c", min: { x: MIN_KEY }, max: { x: -2 }, zone: "low" },
    ],
    command: { balancerRound: 1 },
  },
  "a document whose key value changes": {
    db: "test",
    command: {
      update: "c",
      updates: [{ q: { _id: 4 }, u: { $set: { x: 100 } } }],
      lsid: { id: SESSION },
      txnNumber: 1n,
    },
    after: TEN.map((document) => (document._id === 4 ? { ...document, x: 100 } : document)),
  },
};

async function prepared({ before = [] }: Operation): Promise<{ servers: Servers; router: Driven }> {
  const servers = new Servers();
  const router = await servers.router();
  await router.admin({ enableSharding: "test", primaryShard: "shardA" });
  await router.admin({ shardCollection: "test.c", key: { x: 1 } });
  await router.ok("test", { createIndexes: "c", indexes: [{ key: { x: 1, y: 1 }, name: "x_1_y_1" }] });
  await router.admin({ split: "test.c", middle: { x: 0 } });
  await router.admin({ moveChunk: "test.c", find: { x: 0 }, to: "shardB" });
  await router.ok("test", { insert: "c", documents: TEN });
  await router.ok("test", { insert: "u", documents: TEN });
  for (const command of before) await router.admin(command);
  return { servers, router };
}

/** Everything that has to be so, whoever looks. */
async function check(servers: Servers, router: Driven, { after }: Operation): Promise<void> {
  const found = await router.find("test.c");
  if (after && JSON.stringify(found) !== JSON.stringify(TEN)) expect(found).toEqual(after);
  else expect(found).toEqual(TEN);
  expect(await router.find("test.u")).toEqual(TEN);
  const ids = (name: string): Promise<unknown[]> =>
    servers.idsByShard("test", name).then((byShard) =>
      Object.values(byShard)
        .flat()
        .map(Number)
        .sort((a, b) => a - b),
    );
  expect(await ids("c"), "on the shards").toEqual(TEN.map(({ _id }) => _id));
  expect(await ids("u"), "on the shards").toEqual(TEN.map(({ _id }) => _id));
  const names = Object.values(await servers.collectionsByShard("test")).flat();
  expect(names.filter((name) => name !== "c" && name !== "u")).toEqual([]);
  for (const log of ["migrations", "reshardingOperations"]) {
    expect(await router.find(`config.${log}`), log).toEqual([]);
  }
  const { cursor } = await router.admin({ checkMetadataConsistency: 1 });
  expect((cursor as Doc)["firstBatch"]).toEqual([]);
}

const CASES = Object.entries(OPERATIONS).flatMap(([name, operation]) =>
  (["before", "after"] as const).map((moment): [string, Moment, Operation] => [name, moment, operation]),
);

describe("the router is killed", () => {
  it.each(CASES)("in the middle of %s, %s a command runs", async (_name, moment, operation) => {
    for (let at = 1; ; at++) {
      const { servers, router } = await prepared(operation);
      router.fuse.arm(at, moment, "router");
      const reply = router.run(operation.db ?? "admin", operation.command);
      const outcome = await Promise.race([reply, router.fuse.blown]);
      if (outcome) {
        router.fuse.heal();
        expect(outcome).toMatchObject({ ok: 1 });
        expect(at).toBeGreaterThan(1);
        await check(servers, router, operation);
        return;
      }
      try {
        const next = await servers.router();
        await check(servers, next, operation);
        // Whoever sent it sends it again; it may have happened already.
        await next.run(operation.db ?? "admin", operation.command);
        await check(servers, next, operation);
      } catch (error) {
        throw new Error(`killed at command ${at}, ${moment} ${router.fuse.blownBy}`, { cause: error });
      }
    }
  });
});

describe("a server is gone for a while", () => {
  it.each(CASES)("in the middle of %s, %s a command runs", async (_name, moment, operation) => {
    for (let at = 1; ; at++) {
      const { servers, router } = await prepared(operation);
      router.fuse.arm(at, moment, "server");
      const reply = await router.run(operation.db ?? "admin", operation.command);
      if (!router.fuse.hasBlown) {
        expect(reply).toMatchObject({ ok: 1 });
        return;
      }
      try {
        router.fuse.heal();
        await check(servers, router, operation);
        await check(servers, await servers.router(), operation);
      } catch (error) {
        throw new Error(`gone at command ${at}, ${moment} ${router.fuse.blownBy}`, { cause: error });
      }
    }
  });
});
