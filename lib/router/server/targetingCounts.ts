/**
 * How many shards operations went to: `serverStatus.shardingStatistics.numHostsTargeted`. A good shard key shows in
 * it: many under `oneShard`, few under `allShards`.
 */
import type { TraceRecord } from "../trace.js";

/** The kinds of operation that are counted. */
const OPERATIONS = ["find", "insert", "update", "delete", "aggregate"] as const;
type Operation = (typeof OPERATIONS)[number];

/** Against the shards that own chunks of the collection. */
interface Counts {
  allShards: number;
  manyShards: number;
  oneShard: number;
  unsharded: number;
}

/** Counts operations by the reach of their targeting. */
export class TargetingCounts {
  readonly byOperation: Readonly<Record<Operation, Counts>> = {
    find: newCounts(),
    insert: newCounts(),
    update: newCounts(),
    delete: newCounts(),
    aggregate: newCounts(),
  };

  /** Counts one operation that was routed. */
  add({ op, chunks, shards }: TraceRecord): void {
    if (!isCounted(op)) return;
    const owning = chunks?.owningShards().length ?? 0;
    const asked = shards.length;
    const counts = this.byOperation[op];
    if (owning === 0) counts.unsharded += 1;
    else if (asked <= 1) counts.oneShard += 1;
    else if (asked >= owning) counts.allShards += 1;
    else counts.manyShards += 1;
  }
}

function newCounts(): Counts {
  return { allShards: 0, manyShards: 0, oneShard: 0, unsharded: 0 };
}

function isCounted(op: string): op is Operation {
  return (OPERATIONS as readonly string[]).includes(op);
}
