/**
 * `reshardCollection`: gives a collection another shard key, or spreads it out anew under the same one
 * (facts-mongos.md §8.2).
 *
 *     1 check    the arguments; the key, the zones and the indexes against the collection
 *     2 plan     where the new chunks begin, from samples of the new key; who gets them (resharding/splitPolicy.ts)
 *     3 reshard  resharding/reshard.ts; takes five minutes at least, unless it is a demonstration
 *
 * Asked again for the same key while it runs, it waits for the one that runs.
 */
import { compareDocuments } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { ShardedCollection, ZoneRange } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { checkSupport, checkUniqueIndexes, supportingIndexes } from "../ddl/indexRules.js";
import { indexesOn, multikeyOn } from "../ddl/shardCollections.js";
import { existsUnsharded } from "../ddl/refine.js";
import { checkZonesFit } from "../ddl/zoneLayout.js";
import { inProgress } from "../resharding/guard.js";
import type { ReshardOptions } from "../resharding/options.js";
import { readReshardCollection, RESHARD_FIELDS } from "../resharding/options.js";
import type { ReshardingPlan } from "../resharding/plan.js";
import { reshard } from "../resharding/reshard.js";
import { sampleKeys } from "../resharding/sampling.js";
import { splitBySamples } from "../resharding/splitPolicy.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
import { withCollection } from "../support/collections.js";

/** What it takes at least, milliseconds (reshardingMinimumOperationDurationMillis). */
const MINIMUM_MS = 300_000;

/** @since MongoDB 5.0 */
export const reshardCollection: Command = {
  name: "reshardCollection",
  adminOnly: true,
  fields: RESHARD_FIELDS,
  help: "Example: give a collection another shard key",
  async run(context, request) {
    const options = readReshardCollection(request, context.rules, context.shards.available.length);
    const running = context.resharding.get(options.ns);
    if (running) {
      const { plan, over } = running;
      if (plan.provenance !== "reshardCollection" || !plan.key.equals(options.key)) {
        throw inProgress(options.ns);
      }
      const { error } = await over;
      if (error !== undefined) throw error;
      return okReply();
    }
    const plan = await withCollection(context, options.ns, async (collection) =>
      planFor(context, request, options, await mustBeThere(context, collection, options)),
    );
    if (plan) await reshard(context, plan);
    return okReply();
  },
};

/** @throws CommandError NamespaceNotFound (26), NamespaceNotSharded (118) */
async function mustBeThere(
  context: RouterContext,
  collection: ShardedCollection | undefined,
  options: ReshardOptions,
): Promise<ShardedCollection> {
  if (collection) return collection;
  if (await existsUnsharded(context, options)) {
    throw new CommandError(ErrorCode.NamespaceNotSharded, "Collection has to be a sharded collection.");
  }
  throw new CommandError(ErrorCode.NamespaceNotFound, `Namespace ${options.ns} does not exist`);
}

/** @returns undefined when there is nothing to do */
async function planFor(
  context: RouterContext,
  request: Request,
  options: ReshardOptions,
  collection: ShardedCollection,
): Promise<ReshardingPlan | undefined> {
  const { ns, key, forceRedistribution } = options;
  checkCollectionUuid(context, request, collection);
  const isSame = collection.key.equals(key);
  if (forceRedistribution && !isSame) {
    throw new CommandError(
      ErrorCode.InvalidOptions,
      `The new shard key must be the same as the original shard key when using the forceRedistribution option`,
    );
  }
  if (isSame && !forceRedistribution) return undefined;
  const zones = await zonesFor(context, options);
  await checkIndexes(context, collection, options);
  const size = options.numInitialChunks * options.numSamplesPerChunk;
  const samples = options.numInitialChunks > 1 ? await sampleKeys(context, collection, key, size) : [];
  const { shards, rules, ids } = context;
  const order = rules.initialShardsShuffled ? ids.shuffled(shards.available, ns) : shards.available;
  const starts = splitBySamples(samples, {
    key,
    chunks: options.numInitialChunks,
    samplesPerChunk: options.numSamplesPerChunk,
    zones,
    shards: order,
    shardsOf: (zone) => order.filter((id) => shards.get(id).zones.includes(zone)),
  });
  return {
    provenance: "reshardCollection",
    ns,
    source: { collection },
    key,
    starts,
    unsplittable: false,
    uuid: ids.uuid(),
    originatingCommand: request.body.slice(),
    minimumDurationMs: options.demoMode ? 0 : MINIMUM_MS,
    zones: isSame && !options.zones ? undefined : zones,
  };
}

/** @throws CommandError BadValue (2) where there are zones and none are given, RangeOverlapConflict (178) */
async function zonesFor(
  context: RouterContext,
  { ns, key, zones, forceRedistribution }: ReshardOptions,
): Promise<readonly ZoneRange[]> {
  const present = await context.catalog.zonesOf(ns);
  if (!zones && present.length > 0 && !forceRedistribution) {
    throw new CommandError(ErrorCode.BadValue, "Must specify value for zones field");
  }
  const sorted = [...(zones ?? present)].sort((a, b) => compareDocuments(a.min, b.min));
  checkZonesFit(sorted, key);
  for (const { zone } of sorted) {
    if (context.shards.all.some((shard) => shard.zones.includes(zone))) continue;
    throw new CommandError(
      4952607,
      `Cannot reshard with zone ${zone} which is not associated with any shard`,
    );
  }
  return sorted;
}

/** @throws CommandError InvalidOptions (72) */
async function checkIndexes(
  context: RouterContext,
  collection: ShardedCollection,
  { key, implicitlyCreateIndex }: ReshardOptions,
): Promise<void> {
  const owners = collection.chunks.owningShards();
  const indexes = await indexesOn(context, owners[0]!, collection);
  checkUniqueIndexes(indexes, key);
  const multikey = new Set(
    (
      await Promise.all(
        owners.map((shard) => multikeyOn(context, shard, collection, supportingIndexes(indexes, key))),
      )
    ).flatMap((found) => [...found]),
  );
  const support = { unique: false, enforceUniqueness: false, empty: implicitlyCreateIndex, multikey };
  checkSupport(indexes, key, support);
}
