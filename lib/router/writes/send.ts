/**
 * Sending batches of writes to shards: one after the other where the client's
 * order matters, all at once where it does not.
 */
import type { Request } from "../../protocol/index.js";
import { CommandError } from "../../protocol/index.js";
import { asWriteFailure } from "../catalog/unreachable.js";
import type { RouterContext } from "../context.js";
import { forwardedBatch, withDocuments } from "../support/forward.js";
import type { ShardWork } from "../trace.js";
import type { ShardBatch } from "./batches.js";
import type { WriteReplies } from "./replies.js";

/**
 * Sends batches and collects their outcome.
 * @param sequence `documents`, `updates` or `deletes`
 * @param ordered stop at the first failure
 * @param work receives what each shard was sent
 */
export async function sendBatches(
  context: RouterContext,
  request: Request,
  sequence: string,
  batches: readonly ShardBatch[],
  ordered: boolean,
  replies: WriteReplies,
  work: ShardWork[],
): Promise<void> {
  const body = forwardedBatch(request, ordered);
  const send = async ({ shard, documents, indexes, hashes }: ShardBatch): Promise<void> => {
    const started = context.environment.now();
    const command = withDocuments(request, body, sequence, documents, hashes);
    try {
      const reply = await context.shards.run(shard, command);
      replies.add(reply, indexes, ordered, shard);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      replies.addFailure(indexes, asWriteFailure(error, shard), ordered);
    }
    note(work, shard, documents.length, context.environment.now() - started);
  };
  if (!ordered) {
    await Promise.all(batches.map(send));
    return;
  }
  for (const batch of batches) {
    await send(batch);
    if (replies.failed) return;
  }
}

/** Adds what a shard was sent to the trace. */
function note(work: ShardWork[], shard: string, sent: number, ms: number): void {
  const known = work.find((entry) => entry.shard === shard);
  if (!known) {
    work.push({ shard, sent, ms });
    return;
  }
  known.sent = (known.sent ?? 0) + sent;
  known.ms = (known.ms ?? 0) + ms;
}
