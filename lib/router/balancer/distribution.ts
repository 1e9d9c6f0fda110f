/**
 * How a collection's chunks lie over shards and zones: what the balancer's policies look at.
 *
 *     zones                     [0 ──── EU ──── 20)
 *     chunks   [MinKey, 0)  [0, 10)  [10, 20)  [20, MaxKey)
 *     on         shardA      shardA    shardB      shardB
 *
 *     count("shardA", "EU") = 1      count("shardA", NO_ZONE) = 1      firstMovable("shardB", "EU") = 2
 *
 * A chunk is in a zone when it lies wholly in one of the zone's ranges; one that sticks out of a range is in none, until
 * the balancer has cut it at the range's bounds. Everything is counted in one walk along the chunks, since a collection
 * may have hundreds of thousands of them.
 */
import type { SortableKey } from "../../bson/index.js";
import { documentSortableKey } from "../../bson/index.js";
import type { ChunkMap } from "../catalog/chunkMap.js";
import type { ZoneRange } from "../catalog/entries.js";

/** The "zone" of chunks that are in none. */
export const NO_ZONE = "";

/** Chunks of one shard in one zone. */
interface Part {
  chunks: number;
  /** The first that is not jumbo. */
  firstMovable: number | undefined;
}

/** A collection's chunks by shard and zone. */
export class Distribution {
  /** Number of chunks. */
  readonly size: number;
  /** Zones that have a range, ascending. */
  readonly zones: readonly string[];
  readonly #parts = new Map<string, Map<string, Part>>();
  readonly #ofZone = new Map<string, number>();

  /**
   * @param ranges the collection's zone ranges, ascending, not overlapping, with bounds of the whole key
   * @param jumbo where the chunks begin that must not be moved
   */
  constructor(chunks: ChunkMap, ranges: readonly ZoneRange[], jumbo: ReadonlySet<SortableKey> = new Set()) {
    this.size = chunks.size;
    this.zones = [...new Set(ranges.map(({ zone }) => zone))].sort();
    const zones = ranges.map(({ min, max, zone }) => ({
      begin: documentSortableKey(min),
      end: documentSortableKey(max),
      zone,
    }));
    const end = documentSortableKey(chunks.chunk(chunks.size - 1).max);
    let at = 0;
    for (let index = 0; index < chunks.size; index++) {
      const begin = chunks.beginOf(index);
      const next = index + 1 < chunks.size ? chunks.beginOf(index + 1) : end;
      while (at < zones.length && zones[at]!.end <= begin) at += 1;
      const range = zones[at];
      const inside = range !== undefined && range.begin <= begin && next <= range.end;
      this.#add(index, chunks.ownerOf(index), inside ? range.zone : NO_ZONE, jumbo.has(begin));
    }
  }

  /** Chunks of a shard in a zone. */
  count(shard: string, zone: string): number {
    return this.#parts.get(shard)?.get(zone)?.chunks ?? 0;
  }

  /** Chunks in a zone. */
  countOf(zone: string): number {
    return this.#ofZone.get(zone) ?? 0;
  }

  /** The first chunk of a shard in a zone that is not jumbo, by its index in the map. */
  firstMovable(shard: string, zone: string): number | undefined {
    return this.#parts.get(shard)?.get(zone)?.firstMovable;
  }

  /** Zones that a shard has chunks in, ascending, {@link NO_ZONE} first. */
  zonesOn(shard: string): string[] {
    return [...(this.#parts.get(shard)?.keys() ?? [])].sort();
  }

  #add(index: number, shard: string, zone: string, isJumbo: boolean): void {
    let parts = this.#parts.get(shard);
    if (!parts) this.#parts.set(shard, (parts = new Map()));
    let part = parts.get(zone);
    if (!part) parts.set(zone, (part = { chunks: 0, firstMovable: undefined }));
    part.chunks += 1;
    if (!isJumbo) part.firstMovable ??= index;
    this.#ofZone.set(zone, this.countOf(zone) + 1);
  }
}

/**
 * Where chunks stick out of zone ranges: there they have to be cut before they can be where they belong.
 * @returns by index of the chunk, the bounds strictly inside it, ascending
 */
export function cutsAtZones(chunks: ChunkMap, ranges: readonly ZoneRange[]): Map<number, Uint8Array[]> {
  const bounds = new Map<SortableKey, Uint8Array>();
  for (const { min, max } of ranges) {
    for (const bound of [min, max]) bounds.set(documentSortableKey(bound), bound);
  }
  const end = documentSortableKey(chunks.chunk(chunks.size - 1).max);
  const cuts = new Map<number, Uint8Array[]>();
  for (const [key, bound] of [...bounds].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (key >= end) continue;
    const index = chunks.find(key);
    if (chunks.beginOf(index) === key) continue;
    const points = cuts.get(index);
    if (points) points.push(bound);
    else cuts.set(index, [bound]);
  }
  return cuts;
}
