/**
 * Sending batches of writes to shards: one after the other where the client's
 * order matters, all at once where it does not.
 */
import { bool } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError } from "../../protocol/index.js";
import { asWriteFailure } from "../catalog/unreachable.js";
import type { RouterContext } from "../context.js";
import { forwardedWith } from "../support/forward.js";
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
  if (!ordered) {
    await Promise.all(
      batches.map((batch) => sendBatch(context, request, sequence, batch, false, replies, work)),
    );
    return;
  }
  for (const batch of batches) {
    await sendBatch(context, request, sequence, batch, true, replies, work);
    if (replies.failed) return;
  }
}

async function sendBatch(
  context: RouterContext,
  request: Request,
  sequence: string,
  batch: ShardBatch,
  ordered: boolean,
  replies: WriteReplies,
  work: ShardWork[],
): Promise<void> {
  const started = context.environment.now();
  const command = forwardedWith(request, sequence, batch.documents, {
    ordered: bool(ordered),
    collectionUUID: undefined,
  });
  try {
    const reply = await context.shards.run(batch.shard, command);
    replies.add(reply, batch.indexes, ordered, batch.shard);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    replies.addFailure(batch.indexes, asWriteFailure(error, batch.shard), ordered);
  }
  const ms = context.environment.now() - started;
  const known = work.find(({ shard }) => shard === batch.shard);
  if (known) {
    known.sent = (known.sent ?? 0) + batch.documents.length;
    known.ms = (known.ms ?? 0) + ms;
  } else {
    work.push({ shard: batch.shard, sent: batch.documents.length, ms });
  }
}
