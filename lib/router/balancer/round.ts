/**
 * One round of the balancer: what policy.ts says is done, collection by collection (facts-mongos.md §3.3).
 *
 *     for each collection     not where noBalance is set, migrations are forbidden or it is being resharded
 *       1 split               chunks that stick out of a zone range, at its bounds
 *       2 plan                what has to move, with the shards that have no migration in this round yet
 *       3 move                each range as its own step: clients get in between
 *     where nothing moved     chunks that belong together are merged (7.0+), once an hour
 *
 * Between planning and moving clients may change everything. So each move looks again, with the collection alone,
 * whether its chunk is still where it was. Whatever fails is part of the answer; the other migrations go on.
 */
import { describeDocument, documentSortableKey } from "../../bson/index.js";
import type { SortableKey } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { moveRange } from "../ddl/moveRange.js";
import { splitAt } from "../ddl/splitAt.js";
import { withCollectionAlone } from "../support/collections.js";
import { cutsAtZones } from "./distribution.js";
import { splitOrMarkJumbo } from "./jumbo.js";
import type { PlannedMove, Reason } from "./policy.js";
import { plan } from "./policy.js";
import { situationOf, zonesOf } from "./situation.js";

/** A range that a round moved, or should have. */
export interface RoundMigration {
  readonly ns: string;
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  readonly from: string;
  readonly to: string;
  readonly reason: Reason;
  readonly documents: number;
  readonly bytes: number;
  readonly error?: CommandError;
}

/** A chunk that a round cut at the bounds of zones. */
export interface RoundSplit {
  readonly ns: string;
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  readonly points: readonly Uint8Array[];
}

/** What a round did. */
export interface Round {
  readonly migrations: RoundMigration[];
  readonly splits: RoundSplit[];
  /** What kept a collection from being looked at. */
  readonly errors: CommandError[];
}

/** A migration that is due, named so that it can be found again. */
interface DueMove extends Omit<PlannedMove, "chunk"> {
  readonly ns: string;
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  readonly begin: SortableKey;
}

/**
 * Runs a round over all collections.
 * @param first which collection comes first, so that each one does some time
 * @returns what was done; never rejects for what a shard or the config server said
 */
export async function runRound(context: RouterContext, first: number): Promise<Round> {
  const round: Round = { migrations: [], splits: [], errors: [] };
  const available = new Set(context.shards.ids);
  const names = context.catalog.collections.map(({ ns }) => ns);
  const start = names.length > 0 ? first % names.length : 0;
  for (const ns of [...names.slice(start), ...names.slice(0, start)]) {
    if (context.balancer.isClosed) break;
    try {
      const due = await withCollectionAlone(context, ns, (collection) =>
        prepare(context, collection, available, round),
      );
      for (const move of due) {
        if (context.balancer.isClosed) break;
        const done = await withCollectionAlone(context, ns, (found) => carryOut(context, found, move));
        if (done) round.migrations.push(done);
      }
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      round.errors.push(error);
    }
  }
  return round;
}

/** Whether the balancer may touch a collection. */
export function isBalanced(context: RouterContext, collection: ShardedCollection): boolean {
  const { noBalance, allowMigrations, ns } = collection;
  return !noBalance && allowMigrations && !context.resharding.get(ns);
}

/** Cuts what has to be cut and plans what has to move. */
async function prepare(
  context: RouterContext,
  collection: ShardedCollection | undefined,
  available: Set<string>,
  round: Round,
): Promise<DueMove[]> {
  if (!collection || !isBalanced(context, collection)) return [];
  const zones = await zonesOf(context, collection);
  await splitAtZones(context, collection, zones, round);
  if (available.size < 2) return [];
  const unreachable = new Set<string>();
  const situation = await situationOf(context, collection, zones, unreachable);
  for (const shard of unreachable) available.delete(shard);
  const { ns, chunks } = collection;
  return plan(situation, available).map(({ chunk: index, ...move }) => {
    const { min, max } = chunks.chunk(index);
    return { ...move, ns, min, max, begin: chunks.beginOf(index) };
  });
}

async function splitAtZones(
  context: RouterContext,
  collection: ShardedCollection,
  zones: Awaited<ReturnType<typeof zonesOf>>,
  round: Round,
): Promise<void> {
  const { ns } = collection;
  // From the last chunk to the first: a cut changes the places of those behind it.
  for (const [index, points] of [...cutsAtZones(collection.chunks, zones)].reverse()) {
    const chunk = collection.chunks.chunk(index);
    await splitAt(context, collection, chunk, points);
    round.splits.push({ ns, min: chunk.min, max: chunk.max, points });
  }
}

async function carryOut(
  context: RouterContext,
  collection: ShardedCollection | undefined,
  { ns, min, max, begin, from, to, reason }: DueMove,
): Promise<RoundMigration | undefined> {
  if (!collection || !isBalanced(context, collection)) return undefined;
  const { shards, rules } = context;
  if (!shards.has(to) || shards.get(to).draining) return undefined;
  const index = collection.chunks.find(begin);
  if (collection.chunks.beginOf(index) !== begin || collection.chunks.ownerOf(index) !== from)
    return undefined;
  const bySize = rules.balancesBy === "dataSize";
  const end = bySize ? undefined : collection.chunks.chunk(index).max;
  // What is too large to be moved still leaves a draining shard, or that would never be empty.
  const options = { op: bySize ? "moveRange" : "moveChunk", reason, forceJumbo: reason === "draining" };
  const move = { ns, min, from, to, reason };
  try {
    const moved = await moveRange(context, collection, { min, max: end }, to, options);
    const range = collection.chunks.chunk(collection.chunks.find(documentSortableKey(min)));
    return { ...move, max: range.max, ...moved };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const text = `${ns} ${describeDocument(min)}`;
    context.environment.log?.("warn", "a migration of the balancer failed", { text, code: error.code });
    if (error.code === ErrorCode.ChunkTooBig) await splitOrMarkJumbo(context, collection, min);
    return { ...move, max, documents: 0, bytes: 0, error };
  }
}
