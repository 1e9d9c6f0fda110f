/**
 * Asking several shards at once.
 *
 * All shards get their command at the same time and all answers are awaited,
 * also when one has failed by then: nothing may still run on a shard when the
 * client learns the outcome.
 */
import type { Reply, Request } from "../../protocol/index.js";
import { failureOf, isOk, readCursorReply } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import type { TraceRecord } from "../trace.js";
import type { ShardCursorOptions } from "./shardCursor.js";
import { isPassedOver, ShardCursor } from "./shardCursor.js";

/** One shard's successful reply. */
export interface ShardReply {
  readonly shard: string;
  readonly reply: Reply;
}

/**
 * Sends commands to shards in parallel.
 * @returns replies in the order of `shards`
 * @throws the failure of the first shard (in that order) that failed
 */
export async function askShards(
  context: RouterContext,
  shards: readonly string[],
  commandFor: (shard: string) => Request,
  record?: TraceRecord,
): Promise<ShardReply[]> {
  const settled = await gather(context, shards, commandFor, record);
  throwFirstFailure(settled);
  return succeeded(settled);
}

/**
 * Opens a cursor on every shard. If one fails, the others' cursors are closed.
 * @param options for the getMores; with `partial` a shard that is gone gets an empty cursor, marked as lost
 * @throws like {@link askShards}
 */
export async function openCursors(
  context: RouterContext,
  shards: readonly string[],
  commandFor: (shard: string) => Request,
  record?: TraceRecord,
  options: ShardCursorOptions = {},
): Promise<ShardCursor[]> {
  const settled = await gather(context, shards, commandFor, record);
  const isLost = (result: PromiseSettledResult<ShardReply>): boolean =>
    options.partial === true && result.status === "rejected" && isPassedOver(result.reason);
  const cursors = settled.flatMap((result, i) => {
    if (result.status === "fulfilled") {
      const { shard, reply } = result.value;
      return [new ShardCursor(context.shards, shard, readCursorReply(reply), options)];
    }
    return isLost(result)
      ? [ShardCursor.lost(context.shards, shards[i]!, `${commandFor(shards[i]!).db}.`)]
      : [];
  });
  try {
    throwFirstFailure(settled.filter((result) => !isLost(result)));
  } catch (error) {
    await Promise.all(cursors.map((cursor) => cursor.close()));
    throw error;
  }
  for (const cursor of cursors) {
    const work = record?.shards.find(({ shard }) => shard === cursor.shard);
    if (work) work.returned = cursor.buffered;
  }
  return cursors;
}

function gather(
  context: RouterContext,
  shards: readonly string[],
  commandFor: (shard: string) => Request,
  record: TraceRecord | undefined,
): Promise<PromiseSettledResult<ShardReply>[]> {
  return Promise.allSettled(
    shards.map(async (shard) => {
      const started = context.environment.now();
      const reply = await context.shards.run(shard, commandFor(shard));
      record?.shards.push({ shard, ms: context.environment.now() - started });
      if (!isOk(reply)) throw failureOf(reply);
      return { shard, reply };
    }),
  );
}

function succeeded(settled: readonly PromiseSettledResult<ShardReply>[]): ShardReply[] {
  return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

function throwFirstFailure(settled: readonly PromiseSettledResult<ShardReply>[]): void {
  const failed = settled.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}
