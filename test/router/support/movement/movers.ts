/** Administrators that split, move, merge, refine, reshard, unshard and shard again, two at a time. */
import { MinKey } from "bson";
import type { Doc } from "../cluster.js";
import type { World } from "./world.js";
import { KEYS, NS, shown } from "./world.js";

/** The collection as the catalog has it when a mover looks. */
interface Layout {
  readonly key: Doc;
  readonly chunks: readonly { min: Doc; max: Doc; shard: string; jumbo?: boolean }[];
}

/** What a mover may hear when the other one was quicker, or chance was against it. */
const MAY_BE_REFUSED = [
  2, // BadValue: nothing to split, bounds that are no chunk's any more, zones that are to be given
  8, // UnknownError: a chunk that is no more
  9, // FailedToParse: bounds of the key that it was
  20, // IllegalOperation
  26, // NamespaceNotFound: nothing is there yet
  61, // ShardKeyNotFound: a bound of the key that it was
  72, // InvalidOptions
  117, // ConflictingOperationInProgress
  118, // NamespaceNotSharded
  23, // AlreadyInitialized: sharded by another key
  153, // ChunkTooBig
  163, // ZoneStillInUse
  177, // ZoneNotFound
  178, // RangeOverlapConflict
  4952607, // a zone without a shard
  11089203, // a range of several chunks: split meanwhile
  338, // ReshardCollectionInProgress
];

/** Changes something at random. @throws Error when that is refused with a code that it must not have */
export async function move(world: World): Promise<void> {
  const layout = await layoutOf(world);
  const command = layout ? world.pick(changes(world))(world, layout) : world.pick(unsharded)(world);
  const name = Object.keys(command)[0]!;
  if (name === "refineCollectionShardKey" || name === "shardCollection")
    await prepare(world, command.key as Doc);
  const number = world.history.push(`begin ${shown(command)}`);
  const reply = await world.cluster.run("admin" in command ? "db" : "admin", command);
  world.history.push(
    `end of ${number}: ${reply.ok === 1 ? "ok" : `${String(reply.code)} ${String(reply.errmsg)}`}`,
  );
  if (reply.ok === 1) world.tally.moves[name] = (world.tally.moves[name] ?? 0) + 1;
  else world.refused(command, reply, MAY_BE_REFUSED);
}

/** The index that a key needs where there are documents. */
async function prepare(world: World, key: Doc): Promise<void> {
  const name = Object.entries(key)
    .map(([field, kind]) => `${field}_${String(kind)}`)
    .join("_");
  const command = { createIndexes: "c", indexes: [{ key, name }] };
  const reply = await world.cluster.run("db", command);
  if (reply.ok !== 1) world.refused(command, reply, MAY_BE_REFUSED);
}

async function layoutOf({ cluster }: World): Promise<Layout | undefined> {
  const [found] = await cluster.all("config", { find: "collections", filter: { _id: NS } });
  if (!found || found.unsplittable) return undefined;
  const chunks = await cluster.all("config", {
    find: "chunks",
    filter: { uuid: found.uuid },
    sort: { min: 1 },
    batchSize: 1000,
  });
  // Between the two reads it may have become another collection.
  return chunks.length > 0
    ? { key: found.key as Doc, chunks: chunks as unknown as Layout["chunks"] }
    : undefined;
}

type Change = (world: World, layout: Layout) => Doc;

function changes({ rules }: World): Change[] {
  const since8: Change[] = [
    (world) => ({ unshardCollection: NS, ...(world.random() < 0.5 && { toShard: anyShard(world) }) }),
    moveRange,
    moveRange,
    () => ({ mergeAllChunksOnShard: NS, shard: "shardA" }),
  ];
  const always: Change[] = [
    ...[split, split, moveChunk, moveChunk, moveChunk, merge],
    ...[zone, zone, zoneRange, zoneRange, noZoneRange, round, round],
    ...[refine, reshard, reshard, movePrimary, clearJumbo],
  ];
  return rules === "8.0" ? [...always, ...since8] : always;
}

const unsharded: ((world: World) => Doc)[] = [
  (world) => ({ shardCollection: NS, key: world.pick(KEYS) }),
  (world) => ({ moveCollection: NS, toShard: anyShard(world) }),
  (world) => movePrimary(world),
];

const anyShard = (world: World): string => world.pick([...world.cluster.shards.keys()]);

/** A value of a key's field; hashed fields have 64-bit numbers. */
function value(world: World, field: string, kind: unknown): unknown {
  if (kind === "hashed") return BigInt(Math.floor((world.random() - 0.5) * 2 ** 50)) * 8192n;
  if (field === "c") return `c${world.below(40)}`;
  if (field === "_id") return 100_000 * (1 + world.below(3)) + world.below(150);
  return world.below(30);
}

/** A point of the key: all values, or MinKey from some field on. */
function point(world: World, key: Doc): Doc {
  const fields = Object.entries(key);
  const whole = 1 + world.below(fields.length);
  return Object.fromEntries(
    fields.map(([field, kind], i) => [field, i < whole ? value(world, field, kind) : new MinKey()]),
  );
}

const split: Change = (world, { key }) => ({ split: NS, middle: point(world, key) });

const moveChunk: Change = (world, { chunks }) => {
  const { min, max } = world.pick(chunks);
  return { moveChunk: NS, bounds: [min, max], to: anyShard(world), forceJumbo: world.random() < 0.7 };
};

const moveRange: Change = (world, { key, chunks }) => {
  const { min, max } = world.pick(chunks);
  const kinds = [{ min, max }, { min: point(world, key) }, { max: point(world, key) }, { min }];
  return {
    moveRange: NS,
    ...world.pick<Doc>(kinds),
    toShard: anyShard(world),
    forceJumbo: world.random() < 0.7,
  };
};

const merge: Change = (world, { chunks }) => {
  const runs = chunks.flatMap((chunk, i) => (chunks[i + 1]?.shard === chunk.shard ? [i] : []));
  const at = runs.length > 0 ? world.pick(runs) : 0;
  return { mergeChunks: NS, bounds: [chunks[at]!.min, (chunks[at + 1] ?? chunks[at]!).max] };
};

const zone: Change = (world) =>
  world.random() < 0.6
    ? { addShardToZone: anyShard(world), zone: world.pick(["x", "y"]) }
    : { removeShardFromZone: anyShard(world), zone: world.pick(["x", "y"]) };

const zoneRange: Change = (world, { chunks }) => {
  const { min, max } = world.pick(chunks);
  return { updateZoneKeyRange: NS, min, max, zone: world.pick(["x", "y"]) };
};

const noZoneRange: Change = (world, { chunks }) => {
  const { min, max } = world.pick(chunks);
  return { updateZoneKeyRange: NS, min, max, zone: null };
};

const round: Change = () => ({ balancerRound: 1 });

const refine: Change = (world, layout) => {
  const { key } = layout;
  const left = ["a", "b", "c", "_id"].filter((field) => !(field in key));
  if (left.length === 0) return split(world, layout);
  const more = world.pick(left);
  return { refineCollectionShardKey: NS, key: { ...key, [more]: 1 } };
};

const reshard: Change = (world, { key, chunks }) => {
  const again = world.rules === "8.0" && world.random() < 0.3;
  const cut = world.pick(chunks);
  return {
    reshardCollection: NS,
    key: again ? key : world.pick(KEYS),
    numInitialChunks: 1 + world.below(6),
    ...(again && { forceRedistribution: true }),
    ...(again && world.random() < 0.5 && { zones: [{ min: cut.min, max: cut.max, zone: "x" }] }),
    ...(!again && { zones: [] }),
    ...(world.rules === "8.0" && { demoMode: world.random() < 0.5 }),
  };
};

const movePrimary = (world: World): Doc => ({ movePrimary: "db", to: anyShard(world) });

const clearJumbo: Change = (world, { chunks }) => {
  const { min, max } = chunks.find(({ jumbo }) => jumbo) ?? world.pick(chunks);
  return { clearJumboFlag: NS, bounds: [min, max] };
};
