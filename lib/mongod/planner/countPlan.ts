/**
 * Plans that only count.
 *
 * Without a filter the collection knows its size (RECORD_STORE_FAST_COUNT);
 * where one range of an index says all that the filter says, keys are counted
 * and no document is looked at (COUNT_SCAN); else the matching documents are
 * found and counted (COUNT over any plan).
 */
import type { Collection } from "../storage/collection.js";
import { chooseAccess } from "./access.js";
import type { Interrupt } from "./interrupt.js";
import { planQuery } from "./plan.js";
import { PlanStage } from "./planStage.js";
import type { Query } from "./query.js";
import { isEmpty } from "./query.js";
import { EofStage, IndexScan } from "./scans.js";

/** Counts what comes from below, or asks the collection. */
export class CountStage extends PlanStage {
  private total = 0;

  constructor(
    override readonly input: PlanStage | undefined,
    private readonly collection: Collection | undefined,
    private readonly skip: number,
    private readonly limit: number,
  ) {
    super(input ? "COUNT" : "RECORD_STORE_FAST_COUNT", input);
  }

  /** The count; runs the plan at its first call. */
  count(): number {
    while (this.next());
    return this.total;
  }

  /** Counting returns no documents: all is done in one step. */
  protected step(): boolean {
    if (this.input) {
      while (this.input.next()) this.total++;
    } else {
      const all = Math.max(0, (this.collection?.records.count ?? 0) - this.skip);
      this.total = this.limit > 0 ? Math.min(all, this.limit) : all;
    }
    return false;
  }
}

/**
 * Plans a count.
 * @throws CommandError see chooseAccess
 */
export function planCount(
  collection: Collection | undefined,
  query: Query,
  interrupt: Interrupt,
): CountStage {
  const { skip, limit } = query;
  if (!collection) return new CountStage(new EofStage("nonExistentNamespace"), undefined, skip, limit);
  if (isEmpty(query.filterDocument) && !query.hint) return new CountStage(undefined, collection, skip, limit);
  if (query.filter.node.op !== "alwaysFalse" && skip === 0 && limit === 0) {
    const access = chooseAccess(collection, query);
    if (
      access.kind === "index" &&
      access.exact &&
      !access.residual &&
      !access.index.multikey &&
      access.ranges.length === 1
    ) {
      access.index.accesses++;
      return new CountStage(new IndexScan(collection, access, interrupt, "COUNT_SCAN"), collection, 0, 0);
    }
  }
  return new CountStage(planQuery(collection, query, interrupt), collection, skip, limit);
}
