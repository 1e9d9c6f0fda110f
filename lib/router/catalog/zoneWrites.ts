/**
 * Writing zones: which shards are in one (`tags` in config.shards) and which ranges of a collection belong to one
 * (config.tags; facts-mongos.md §10). Nothing moves here: the balancer does that.
 */
import { DocumentWriter, string } from "../../bson/index.js";
import type { RouterContext } from "../context.js";
import type { ZoneRange } from "./entries.js";

/** Puts a shard into a zone, or takes it out; the zone comes and goes with its shards. */
export async function writeShardZone(
  { catalog }: RouterContext,
  shard: string,
  zone: string,
  isMember: boolean,
): Promise<void> {
  const tags = new DocumentWriter().string("tags", zone).finish();
  const update = new DocumentWriter().document(isMember ? "$addToSet" : "$pull", tags).finish();
  await catalog.config.update("shards", { _id: shard }, update);
  const entry = catalog.shards.get(shard);
  const others = entry.zones.filter((other) => other !== zone);
  entry.zones = isMember ? [...others, zone] : others;
}

/** Adds a zone range. */
export async function writeZoneRange(
  { catalog, ids }: RouterContext,
  ns: string,
  { min, max, zone }: ZoneRange,
): Promise<void> {
  const document = new DocumentWriter()
    .field("_id", ids.objectId())
    .string("ns", ns)
    .document("min", min)
    .document("max", max)
    .string("tag", zone);
  await catalog.config.insert("tags", [document.finish()]);
}

/** Removes a zone range, if there is one with exactly these bounds. */
export async function removeZoneRange(
  { catalog }: RouterContext,
  ns: string,
  { min, max }: Omit<ZoneRange, "zone">,
): Promise<void> {
  const range = new DocumentWriter().field("ns", string(ns)).document("min", min).document("max", max);
  await catalog.config.remove("tags", range.finish());
}
