/** A resharding in the routing trace: its phases, and what was copied. */
import type { TraceRecord } from "../trace.js";
import type { RunningResharding, ShardProgress } from "./running.js";

/** The record of a resharding that is over. */
export function reshardingRecord(
  { plan, phases, donors, recipients, times }: RunningResharding,
  now: number,
  error: unknown,
): TraceRecord {
  const sum = (progress: ReadonlyMap<string, ShardProgress>, field: keyof ShardProgress): number =>
    [...progress.values()].reduce((total, one) => total + one[field], 0);
  return {
    at: times.started,
    op: plan.provenance,
    ns: plan.ns,
    targeting: "none",
    ...("collection" in plan.source && { key: plan.source.collection.key }),
    resharding: {
      key: plan.key.text,
      chunks: plan.starts.length,
      phases: phases.map(({ state, at }, i) => ({ state, ms: (phases[i + 1]?.at ?? now) - at })),
      documents: sum(donors, "documentsCopied"),
      bytes: sum(donors, "bytesCopied"),
      writesApplied: sum(recipients, "writesApplied"),
      ...(error !== undefined && { error: error instanceof Error ? error.message : String(error) }),
    },
    shards: [
      ...[...donors].map(([shard, { documentsCopied }]) => ({
        shard,
        step: "copy" as const,
        sent: documentsCopied,
      })),
      ...[...recipients].map(([shard, { documentsCopied, writesApplied }]) => ({
        shard,
        step: "insert" as const,
        sent: documentsCopied + writesApplied,
      })),
    ],
    merge: { kind: "none" },
  };
}
