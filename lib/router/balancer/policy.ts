/**
 * What the balancer moves next: pure policy (facts-mongos.md §3.3).
 *
 * In each collection it looks for three things, in this order:
 *
 *     1 draining        chunks of shards that are being removed go, as far as their zone lets them
 *     2 zoneViolation   chunks of a zone that lie on a shard without that zone go to one that has it
 *     3 chunksImbalance in each zone, and for the chunks in none, from the fullest shard to the emptiest
 *
 * A shard takes part in at most one migration of a round, as donor or as recipient. So n shards can have ⌊n/2⌋
 * migrations at once, and what 1 has taken is not there for 3. Jumbo chunks are passed over.
 *
 * "Full" means, by release:
 *
 *     dataSize         bytes of the collection on the shard. Something moves when they differ by three chunk sizes or
 *       (6.0.3+)       more: with the 128 MB of today 384 MB. Then at most one chunk size of it moves.
 *     chunks           number of chunks. The donor must have more, the recipient fewer than its share: all chunks of the
 *       (3.4 – 6.0.2)  zone through its shards, rounded. For chunks in no zone it is all chunks through all shards.
 *     chunkDifference  number of chunks. Something moves when they differ by 2 with less than 20 chunks, by 4 with less
 *       (2.4)          than 80, by 8 with more. One migration at a time.
 *
 * Between equals the lower shard id comes first; a real balancer takes any of them.
 */
import type { Rules } from "../rules.js";
import { type Distribution, NO_ZONE } from "./distribution.js";

/** Why a chunk has to move, as balancerCollectionStatus says it. */
export type Reason = "draining" | "zoneViolation" | "chunksImbalance";

/** A shard, as the policies see it. */
export interface BalancedShard {
  readonly id: string;
  readonly draining: boolean;
  readonly zones: readonly string[];
}

/** What a decision is made from. */
export interface Situation {
  /** All shards, ascending by id. */
  readonly shards: readonly BalancedShard[];
  readonly distribution: Distribution;
  readonly balancesBy: Rules["balancesBy"];
  /** Bytes of the collection by shard; what counts under `dataSize`. */
  readonly sizes?: ReadonlyMap<string, number>;
  /** In bytes; for `dataSize`. */
  readonly maxChunkSize?: number;
}

/** A migration that is due. */
export interface PlannedMove {
  /** Index of the chunk in the map. */
  readonly chunk: number;
  readonly from: string;
  readonly to: string;
  readonly reason: Reason;
}

/** Bytes on the two shards must differ by so many chunk sizes. */
const SIZE_THRESHOLD = 3;

/** By how many chunks the fullest and the emptiest shard must differ, up to 2.4. */
export function differenceThreshold(chunks: number): number {
  if (chunks < 20) return 2;
  return chunks < 80 ? 4 : 8;
}

/**
 * The migrations of one collection that are due.
 * @param available ids of shards that have no migration in this round yet; those that get one are taken out
 */
export function plan(situation: Situation, available: Set<string>): PlannedMove[] {
  const one = situation.balancesBy === "chunkDifference";
  const moves: PlannedMove[] = [];
  for (const step of [draining, violations, imbalances]) {
    for (const move of step(situation, available)) {
      moves.push(move);
      available.delete(move.from);
      available.delete(move.to);
      if (one) return moves;
    }
  }
  return moves;
}

function* draining(situation: Situation, available: Set<string>): Generator<PlannedMove> {
  for (const shard of situation.shards) {
    if (shard.draining) yield* anyOf(situation, available, shard.id, () => true, "draining");
  }
}

function* violations(situation: Situation, available: Set<string>): Generator<PlannedMove> {
  for (const { id, zones } of situation.shards) {
    const isWrong = (zone: string): boolean => zone !== NO_ZONE && !zones.includes(zone);
    yield* anyOf(situation, available, id, isWrong, "zoneViolation");
  }
}

/** The first chunk of a shard, zone by zone, that some other shard can take. */
function* anyOf(
  situation: Situation,
  available: Set<string>,
  from: string,
  among: (zone: string) => boolean,
  reason: Reason,
): Generator<PlannedMove> {
  const { distribution } = situation;
  if (!available.has(from)) return;
  for (const zone of distribution.zonesOn(from).filter(among)) {
    const chunk = distribution.firstMovable(from, zone);
    const to = emptiest(situation, available, zone, from);
    if (chunk === undefined || to === undefined) continue;
    yield { chunk, from, to, reason };
    return;
  }
}

function* imbalances(situation: Situation, available: Set<string>): Generator<PlannedMove> {
  for (const zone of [...situation.distribution.zones, NO_ZONE]) {
    for (let move = imbalance(situation, available, zone); move;) {
      yield move;
      move = imbalance(situation, available, zone);
    }
  }
}

function imbalance(situation: Situation, available: Set<string>, zone: string): PlannedMove | undefined {
  const from = fullest(situation, available, zone);
  const to = emptiest(situation, available, zone, from);
  if (from === undefined || to === undefined || !isUneven(situation, zone, from, to)) return undefined;
  const chunk = situation.distribution.firstMovable(from, zone);
  return chunk === undefined ? undefined : { chunk, from, to, reason: "chunksImbalance" };
}

/** Whether two shards differ by so much that something has to move. */
function isUneven(situation: Situation, zone: string, from: string, to: string): boolean {
  const { balancesBy, distribution, shards, maxChunkSize = 0 } = situation;
  const most = load(situation, from, zone);
  const least = load(situation, to, zone);
  if (balancesBy === "chunkDifference") {
    const total = zone === NO_ZONE ? distribution.size : distribution.countOf(zone);
    return most - least >= differenceThreshold(total);
  }
  const sharing = shards.filter(({ zones }) => zone === NO_ZONE || zones.includes(zone));
  if (balancesBy === "chunks") {
    const total = zone === NO_ZONE ? distribution.size : distribution.countOf(zone);
    const share = Math.round(total / sharing.length);
    return most > share && least < share;
  }
  const total = sharing.reduce((sum, { id }) => sum + (situation.sizes?.get(id) ?? 0), 0);
  const share = Math.floor(total / sharing.length);
  return most > share && least < share && most - least >= SIZE_THRESHOLD * maxChunkSize;
}

/** How full a shard is. */
function load({ balancesBy, sizes, distribution }: Situation, shard: string, zone: string): number {
  return balancesBy === "dataSize" ? (sizes?.get(shard) ?? 0) : distribution.count(shard, zone);
}

function fullest(situation: Situation, available: Set<string>, zone: string): string | undefined {
  return best(situation, available, zone, (one, other) => one > other);
}

/** Of the shards that may have chunks of the zone, the one with the least. */
function emptiest(
  situation: Situation,
  available: Set<string>,
  zone: string,
  except: string | undefined,
): string | undefined {
  const suitable = situation.shards.filter(
    ({ id, draining: leaving, zones }) =>
      id !== except && !leaving && available.has(id) && (zone === NO_ZONE || zones.includes(zone)),
  );
  return best(situation, new Set(suitable.map(({ id }) => id)), zone, (one, other) => one < other);
}

function best(
  situation: Situation,
  available: ReadonlySet<string>,
  zone: string,
  better: (one: number, other: number) => boolean,
): string | undefined {
  let found: string | undefined;
  let value = 0;
  for (const { id } of situation.shards) {
    if (!available.has(id)) continue;
    const own = load(situation, id, zone);
    if (found !== undefined && !better(own, value)) continue;
    found = id;
    value = own;
  }
  return found;
}
