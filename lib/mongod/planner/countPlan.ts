/**
 * Plans that only count.
 *
 * Without a filter the collection knows its size (RECORD_STORE_FAST_COUNT);
 * where one stretch of an index says all that the filter says, keys are counted
 * and no document is looked at (COUNT_SCAN); else the matching records are
 * found and counted (COUNT over any plan, which fetches no more than it has to
 * check).
 */
import type { Collection } from "../storage/collection.js";
import type { ScanAccess } from "./access.js";
import { singleRange } from "./bounds/keyIntervals.js";
import { candidatesFor } from "./candidates.js";
import { fieldCodecs } from "./indexInfo.js";
import type { Interrupt } from "./interrupt.js";
import { planningRecord, planQuery } from "./plan.js";
import { matchesEverything, type Query } from "./query.js";
import { EofStage } from "./stages/collectionScan.js";
import { CountScan, CountStage } from "./stages/countScans.js";

export { CountStage } from "./stages/countScans.js";

/**
 * Plans a count.
 * @throws CommandError see planQuery
 */
export function planCount(
  collection: Collection | undefined,
  query: Query,
  interrupt: Interrupt,
): CountStage {
  const { skip, limit } = query;
  if (!collection) return new CountStage(new EofStage("nonExistentNamespace"), undefined, skip, limit);
  if (matchesEverything(query) && !query.hint) return new CountStage(undefined, collection, skip, limit);
  // Skip and limit are COUNT's own: the plan below finds everything.
  const counted: Query = { ...query, skip: 0, limit: 0, countLike: true };
  if (query.filter.node.op !== "alwaysFalse") {
    for (const { access } of candidatesFor(collection.indexes, counted).candidates) {
      if (access.kind !== "scan") continue;
      const scan = countScan(access, interrupt);
      if (!scan) continue;
      access.index.accesses++;
      const stage = new CountStage(scan, collection, skip, limit);
      if (interrupt.explains) stage.planning = planningRecord(collection, query);
      return stage;
    }
  }
  const plan = planQuery(collection, counted, interrupt);
  const stage = new CountStage(plan, collection, skip, limit);
  if (plan.planning) stage.planning = plan.planning;
  return stage;
}

/** Counting the keys of one stretch, where they are all that is asked for. */
function countScan(access: ScanAccess, interrupt: Interrupt): CountScan | undefined {
  const { index, bounds, fetchFilter, keyFilter, rawRange } = access;
  if (fetchFilter || keyFilter || rawRange) return undefined;
  if (bounds.some((intervals) => intervals.length === 0)) return undefined;
  const range = singleRange(bounds, fieldCodecs(index));
  return range && new CountScan(access, range, interrupt);
}
