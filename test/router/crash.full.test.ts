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
  /** What the collections of `test` may be afterwards, when not as before; `c` and `u` are there before. */
  readonly after?: Readonly<Record<string, readonly Doc[]>>;
  /** Two, where it does not say. */
  readonly shards?: number;
}

const MOVE_U: Doc = { moveCollection: "test.u", toShard: "shardB" };
const ZONE = [
  { addShardToZone: "shardA", zone: "low" },
  { updateZoneKeyRange: "test.c", min: { x: MIN_KEY }, max: { x: -2 }, zone: "low" },
];

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
    after: { c: TEN.map((document) => (document._id === 4 ? { ...document, x: 100 } : document)), u: TEN },
  },
  mergeAllChunksOnShard: {
    before: [{ split: "test.c", middle: { x: -3 } }],
    command: { mergeAllChunksOnShard: "test.c", shard: "shardA" },
  },
  clearJumboFlag: {
    before: [
      {
        bulkWrite: 1,
        ops: [{ update: 0, filter: {}, updateMods: { $set: { jumbo: true } }, multi: true }],
        nsInfo: [{ ns: "config.chunks" }],
      },
    ],
    command: { clearJumboFlag: "test.c", find: { x: -3 } },
  },
  setAllowMigrations: { command: { setAllowMigrations: "test.c", allowMigrations: false } },
  configureCollectionBalancing: {
    command: { configureCollectionBalancing: "test.c", chunkSize: 5, enableAutoMerger: false },
  },
  balancerStop: { command: { balancerStop: 1 } },
  balancerStart: { before: [{ balancerStop: 1 }], command: { balancerStart: 1 } },
  addShardToZone: { command: ZONE[0]! },
  removeShardFromZone: {
    before: [ZONE[0]!],
    command: { removeShardFromZone: "shardA", zone: "low" },
  },
  updateZoneKeyRange: { before: [ZONE[0]!], command: ZONE[1]! },
  "updateZoneKeyRange to none": { before: ZONE, command: { ...ZONE[1]!, zone: null } },
  "refineCollectionShardKey with zones": {
    before: ZONE,
    command: { refineCollectionShardKey: "test.c", key: { x: 1, y: 1 } },
  },
  "shardCollection of what is there": { command: { shardCollection: "test.u", key: { _id: 1 } } },
  "shardCollection of what was moved": {
    before: [MOVE_U],
    command: { shardCollection: "test.u", key: { _id: 1 } },
  },
  "movePrimary to a moved collection": { before: [MOVE_U], command: { movePrimary: "test", to: "shardB" } },
  drop: { db: "test", command: { drop: "c" }, after: { u: TEN } },
  dropDatabase: { db: "test", command: { dropDatabase: 1 }, after: {} },
  renameCollection: { command: { renameCollection: "test.c", to: "test.d" }, after: { d: TEN, u: TEN } },
  "renameCollection to a name that is taken": {
    command: { renameCollection: "test.c", to: "test.u", dropTarget: true },
    after: { u: TEN },
  },
  "renameCollection, unsharded, to the name of a sharded one": {
    command: { renameCollection: "test.u", to: "test.c", dropTarget: true },
    after: { c: TEN },
  },
  "renameCollection of what was moved, to the name of a sharded one": {
    before: [MOVE_U],
    command: { renameCollection: "test.u", to: "test.c", dropTarget: true },
    after: { c: TEN },
  },
  "renameCollection to the name of what was moved": {
    before: [MOVE_U],
    command: { renameCollection: "test.c", to: "test.u", dropTarget: true },
    after: { u: TEN },
  },
  "removeShard to the end": {
    shards: 3,
    before: [{ removeShard: "shardC" }],
    command: { removeShard: "shardC" },
  },
};

async function prepared({ before = [], shards }: Operation): Promise<{ servers: Servers; router: Driven }> {
  const servers = new Servers(shards);
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

const DROPS = ["drop", "dropDatabase"];

/** Everything that has to be so, whoever looks. */
async function check(servers: Servers, router: Driven, { command, after }: Operation): Promise<void> {
  // Everybody is asked something: that is when a server that was gone does what it owes.
  await router.admin({ listDatabases: 1 });
  const found: Record<string, readonly Doc[]> = {};
  for (const name of ["c", "d", "u"]) {
    const documents = await router.find(`test.${name}`);
    if (documents.length > 0) found[name] = documents;
    const byShard = await servers.idsByShard("test", name);
    const ids = Object.values(byShard).flat().map(Number);
    const seen = documents.map(({ _id }) => Number(_id));
    expect(
      ids.sort((a, b) => a - b),
      `${name} on the shards`,
    ).toEqual(seen);
  }
  const before: typeof found = { c: TEN, u: TEN };
  const isDropping = DROPS.some((drop) => drop in command);
  // Collections are dropped one by one; each of them whole.
  const states = [before, after ?? before, ...(isDropping ? [{ u: TEN }] : [])];
  expect(states).toContainEqual(found);
  const names = Object.values(await servers.collectionsByShard("test")).flat();
  expect(names.filter((name) => !["c", "d", "u"].includes(name))).toEqual([]);
  for (const log of ["migrations", "reshardingOperations", "renames", "drops"]) {
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
