/**
 * Reshardings in `$currentOp` (facts-mongos.md §8.2): one row for each donor and recipient, one for the coordinator on the
 * config server.
 */
import { DocumentWriter, forEachField } from "../../bson/index.js";
import { encodeTree, isGeneric } from "../../protocol/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { RouterContext } from "../context.js";
import { uuidText } from "../support/values.js";
import type { CoordinatorState, RunningResharding, ShardProgress } from "./running.js";

/** What donors are doing while the coordinator is in a state. */
const DONOR_STATES: Readonly<Record<CoordinatorState, string>> = {
  initializing: "unused",
  "preparing-to-donate": "preparing-to-donate",
  cloning: "donating-initial-data",
  applying: "donating-oplog-entries",
  "blocking-writes": "blocking-writes",
  committing: "blocking-writes",
  aborting: "error",
  done: "done",
};

/** The same of recipients. */
const RECIPIENT_STATES: Readonly<Record<CoordinatorState, string>> = {
  initializing: "unused",
  "preparing-to-donate": "creating-collection",
  cloning: "cloning",
  applying: "applying",
  "blocking-writes": "strict-consistency",
  committing: "strict-consistency",
  aborting: "error",
  done: "done",
};

/** The rows of all that are going on. */
export function reshardingOperations(context: RouterContext): Uint8Array[] {
  const now = context.waiting.now();
  return context.resharding.all.flatMap((running) => [
    ...[...running.recipients].map(([shard, progress]) => recipientRow(running, shard, progress, now)),
    ...[...running.donors].map(([shard, progress]) => donorRow(running, shard, progress, now)),
    coordinatorRow(running, now),
  ]);
}

function recipientRow(
  running: RunningResharding,
  shard: string,
  progress: ShardProgress,
  now: number,
): Uint8Array {
  return encodeTree({
    ...common(running, shard, "ReshardingRecipientService", now),
    remainingOperationTimeEstimatedSecs: seconds(remaining(running, progress, now)),
    approxDocumentsToCopy: BigInt(progress.documentsToCopy),
    approxBytesToCopy: BigInt(progress.bytesToCopy),
    documentsCopied: BigInt(progress.documentsCopied),
    bytesCopied: BigInt(progress.bytesCopied),
    totalCopyTimeElapsedSecs: copyTime(running, now),
    oplogEntriesFetched: BigInt(progress.writesApplied),
    oplogEntriesApplied: BigInt(progress.writesApplied),
    totalApplyTimeElapsedSecs: since(running.times.applyStarted, now),
    recipientState: RECIPIENT_STATES[running.state],
    opStatus: "running",
  });
}

function donorRow(
  running: RunningResharding,
  shard: string,
  progress: ShardProgress,
  now: number,
): Uint8Array {
  return encodeTree({
    ...common(running, shard, "ReshardingDonorService", now),
    countWritesDuringCriticalSection: 0n,
    totalCriticalSectionTimeElapsedSecs: since(running.times.criticalSectionStarted, now),
    countReadsDuringCriticalSection: 0n,
    approxDocumentsToCopy: BigInt(progress.documentsToCopy),
    documentsCopied: BigInt(progress.documentsCopied),
    donorState: DONOR_STATES[running.state],
    opStatus: "running",
  });
}

function coordinatorRow(running: RunningResharding, now: number): Uint8Array {
  const recipients = [...running.recipients.values()].map((progress) => remaining(running, progress, now));
  return encodeTree({
    ...common(running, CONFIG_SHARD, "ReshardingCoordinatorService", now),
    allShardsLowestRemainingOperationTimeEstimatedSecs: seconds(Math.min(...recipients)),
    allShardsHighestRemainingOperationTimeEstimatedSecs: seconds(Math.max(...recipients)),
    totalCopyTimeElapsedSecs: copyTime(running, now),
    totalApplyTimeElapsedSecs: since(running.times.applyStarted, now),
    totalCriticalSectionTimeElapsedSecs: since(running.times.criticalSectionStarted, now),
    coordinatorState: running.state,
    opStatus: "running",
  });
}

function common(
  { plan, times }: RunningResharding,
  shard: string,
  service: string,
  now: number,
): Record<string, unknown> {
  return {
    shard,
    type: "op",
    desc: `${service} ${uuidText(plan.uuid)}`,
    op: "command",
    ns: plan.ns,
    originatingCommand: withoutGeneric(plan.originatingCommand),
    provenance: plan.provenance,
    totalOperationTimeElapsedSecs: since(times.started, now),
  };
}

/** What is left to copy takes as long as the rest did; and not before the minimum duration is over. */
function remaining(
  { plan, times, request }: RunningResharding,
  { documentsToCopy, documentsCopied }: ShardProgress,
  now: number,
): number {
  const { copyStarted, started } = times;
  const elapsed = copyStarted === undefined ? 0 : now - copyStarted;
  const left = Math.max(0, documentsToCopy - documentsCopied);
  const copying = documentsCopied > 0 ? (elapsed * left) / documentsCopied : 0;
  const waiting = request === "commit" ? 0 : started + plan.minimumDurationMs - now;
  return Math.max(0, copying, waiting);
}

function copyTime({ times }: RunningResharding, now: number): bigint {
  return since(times.copyStarted, times.copyEnded ?? now);
}

function since(start: number | undefined, now: number): bigint {
  return seconds(start === undefined ? 0 : now - start);
}

function seconds(milliseconds: number): bigint {
  return BigInt(Math.max(0, Math.floor(milliseconds / 1000)));
}

/** The command without what belongs to the connection: session, cluster time. */
function withoutGeneric(command: Uint8Array): Uint8Array {
  const writer = new DocumentWriter();
  forEachField(command, (name, value) => {
    if (!name.startsWith("$") && !isGeneric(name)) writer.field(name, value);
  });
  return writer.finish();
}
