/**
 * Where the first chunks of a collection are and how many there are (facts-mongos.md §1.4, §2.4).
 *
 *     with documents                    one chunk where they are (before 6.0.3: cut at chunk size)
 *     empty, zone ranges                one chunk a range and one a hole
 *     empty, key begins with a hash     equal pieces of hash space over all shards
 *     empty, other keys                 one chunk on the primary shard
 */
import type { ChunkStart } from "../catalog/chunkMap.js";
import type { ZoneRange } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { hashedSplitBounds, placeChunks } from "../keys/initialChunks.js";
import type { ShardCollectionOptions } from "./shardCollectionOptions.js";
import { chunkSizePoints } from "./splitKeys.js";
import { zoneChunks } from "./zoneLayout.js";

/**
 * The lower bounds of the first chunks, ascending, with their shards.
 * @param zones the collection's zone ranges, checked
 * @throws CommandError CannotCreateChunkDistribution (405) for a zone without a shard
 */
export async function firstChunks(
  context: RouterContext,
  options: ShardCollectionOptions,
  { primary, empty, zones }: { primary: string; empty: boolean; zones: readonly ZoneRange[] },
): Promise<ChunkStart[]> {
  const { key } = options;
  if (!empty) {
    const bounds = context.rules.splitsExistingData ? await chunkSizePoints(context, options, primary) : [];
    return [key.minimum, ...bounds].map((min) => ({ min, shard: primary }));
  }
  if (zones.length > 0) return inZones(context, options, zones);
  if (key.hashedField !== 0) return [{ min: key.minimum, shard: primary }];
  const order = shardOrder(context, options.ns);
  const count = wantedChunks(context, options) ?? order.length * context.rules.initialChunksPerShard;
  const owners = placeChunks(count, order, Math.max(1, Math.floor(count / order.length)));
  return [key.minimum, ...hashedSplitBounds(key, count).map((values) => key.boundOf(values))].map(
    (min, i) => ({
      min,
      shard: owners[i]!,
    }),
  );
}

function inZones(
  context: RouterContext,
  options: ShardCollectionOptions,
  zones: readonly ZoneRange[],
): ChunkStart[] {
  const { shards, rules } = context;
  const all = shards.all;
  const order = shardOrder(context, options.ns);
  const wanted = wantedChunks(context, options);
  return zoneChunks(zones, options.key, {
    shards: order,
    shardsOf: (zone) => all.filter((shard) => shard.zones.includes(zone)).map(({ id }) => id),
    presplit: options.presplitHashedZones,
    piecesPerShard: wanted === undefined ? rules.initialChunksPerShard : Math.ceil(wanted / order.length),
  });
}

/** Shards that may get chunks, in the order of their turns: ascending up to 7.1, then shuffled. */
function shardOrder({ rules, shards, ids }: RouterContext, ns: string): readonly string[] {
  return rules.initialShardsShuffled ? ids.shuffled(shards.available, ns) : shards.available;
}

function wantedChunks({ rules }: RouterContext, options: ShardCollectionOptions): number | undefined {
  return rules.numInitialChunks === "honoured" ? options.numInitialChunks : undefined;
}
