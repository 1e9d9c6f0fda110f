/**
 * What the policies need to know about a collection, gathered from the catalog and the shards.
 */
import { compareDocuments, describeDocument } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import type { ShardedCollection, ZoneRange } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { maxChunkSize, partOnShard } from "../ddl/chunkSize.js";
import { fullRange } from "../ddl/zoneRanges.js";
import { Distribution } from "./distribution.js";
import type { Situation } from "./policy.js";

/**
 * The zone ranges of a collection, ascending, with bounds of the whole key. A range that somebody wrote by hand and that
 * is none of this key, or overlaps with the one before, is passed over: nothing can be placed by it.
 */
export async function zonesOf(context: RouterContext, collection: ShardedCollection): Promise<ZoneRange[]> {
  const ranges: ZoneRange[] = [];
  let end: Uint8Array | undefined;
  for (const { min, max, zone } of await context.catalog.zonesOf(collection.ns)) {
    const range = wholeRange(collection, { min, max, zone });
    const fits =
      range && compareDocuments(range.min, range.max) < 0 && (!end || compareDocuments(range.min, end) >= 0);
    if (!fits) {
      const text = `${describeDocument(min)} -->> ${describeDocument(max)}`;
      context.environment.log?.("warn", "the balancer passes over a zone range", { ns: collection.ns, text });
      continue;
    }
    ranges.push(range);
    end = range.max;
  }
  return ranges;
}

function wholeRange(collection: ShardedCollection, zone: ZoneRange): ZoneRange | undefined {
  try {
    return { ...fullRange(zone, collection.key), zone: zone.zone };
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

/**
 * How a collection's chunks lie now, and under `dataSize` how much of it each shard has.
 * @param unreachable gets the ids of shards that did not say how much they have
 */
export async function situationOf(
  context: RouterContext,
  collection: ShardedCollection,
  zones: readonly ZoneRange[],
  unreachable: Set<string>,
): Promise<Situation> {
  const { shards, rules } = context;
  const situation: Situation = {
    shards: shards.all.map(({ id, draining, zones: own }) => ({ id, draining, zones: own })),
    distribution: new Distribution(collection.chunks, zones, collection.jumbo),
    balancesBy: rules.balancesBy,
  };
  if (rules.balancesBy !== "dataSize") return situation;
  const sizes = new Map<string, number>();
  for (const shard of collection.chunks.owningShards()) {
    if (!shards.has(shard)) continue;
    try {
      sizes.set(shard, (await partOnShard(context, collection, shard)).bytes);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      unreachable.add(shard);
    }
  }
  return { ...situation, sizes, maxChunkSize: maxChunkSize(context, collection) };
}
