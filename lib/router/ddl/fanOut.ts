/**
 * One command on every shard that has a part of a collection, and what all of
 * them said: `raw`, one reply a shard under its connection string.
 *
 *     {createIndexes: "loans", …}
 *       → {raw: {"shardA/127.0.0.1:27018": {numIndexesBefore: 1, …, ok: 1}, "shardB/…": {…}}, ok: 1}
 *
 * Shards do not know of each other. When one refuses (a duplicate key that only
 * it has) or is gone, the others have done their part already, so whoever fans
 * out also knows how to take it back: a collection whose parts differ would
 * answer differently from shard to shard.
 */
import { DocumentWriter, forEachField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, errorReply, failureOf, isOk, okReply } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";

/** What one shard said. */
export interface Outcome {
  readonly shard: string;
  /** Its reply; for a shard that gave none, what is to be said about it. */
  readonly body: Uint8Array;
  readonly error?: CommandError;
}

/**
 * Sends a command to shards at the same time and awaits all of them.
 * @returns outcomes in the order of `shards`, failures among them
 */
export function fanOut(
  context: RouterContext,
  shards: readonly string[],
  commandFor: (shard: string) => Request,
): Promise<Outcome[]> {
  return Promise.all(
    shards.map(async (shard): Promise<Outcome> => {
      try {
        const reply = await context.shards.run(shard, commandFor(shard));
        return { shard, body: reply.body, ...(!isOk(reply) && { error: failureOf(reply) }) };
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        return { shard, body: errorReply(error).body, error };
      }
    }),
  );
}

/**
 * The outcomes as one reply. Where a shard failed, the others' work is taken back first.
 * @param undo takes back what these shards have done, or may have done without an answer; it fails quietly, into the
 * log
 * @throws CommandError the first failure, with `raw`
 */
export async function settle(
  context: RouterContext,
  outcomes: readonly Outcome[],
  undo: (done: readonly string[]) => Promise<void>,
): Promise<Reply> {
  const raw = rawReplies(context, outcomes);
  const failed = outcomes.find(({ error }) => error);
  const shardsWith = (which: (outcome: Outcome) => boolean): string[] =>
    outcomes.filter(which).map(({ shard }) => shard);
  if (!failed?.error) return okReply(new DocumentWriter().document("raw", raw).finish());
  await quietly(context, "a change of some shards could not be taken back", () =>
    undo([...shardsWith(({ error }) => !error), ...shardsWith(mayHaveRun)]),
  );
  const { code, message, extra } = failed.error;
  throw new CommandError(code, message, { ...extra, raw });
}

/** No reply came: the shard may have carried the command out. */
function mayHaveRun({ error }: Outcome): boolean {
  return error?.code === ErrorCode.HostUnreachable;
}

/** The reply of the one shard that has an unsharded collection, as a mongos gives it: under `raw`. */
export function rawReply(context: RouterContext, shard: string, reply: Reply): Reply {
  const raw = rawReplies(context, [{ shard, body: reply.body }]);
  if (isOk(reply)) return okReply(new DocumentWriter().document("raw", raw).finish());
  return { body: new DocumentWriter().document("raw", raw).fieldsOf(reply.body).finish() };
}

/** Runs something whose failure must not hide what came before: it goes to the log. */
export async function quietly(
  context: RouterContext,
  message: string,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context.environment.log?.("warn", message, { why });
  }
}

function rawReplies(context: RouterContext, outcomes: readonly Outcome[]): Uint8Array {
  const raw = new DocumentWriter();
  for (const { shard, body } of outcomes) raw.document(context.shards.get(shard).host, withoutTimes(body));
  return raw.finish();
}

/** A shard's reply without what only concerns the two who talk: cluster times and the like. */
export function withoutTimes(body: Uint8Array): Uint8Array {
  const writer = new DocumentWriter();
  forEachField(body, (name, value) => {
    if (!name.startsWith("$") && name !== "operationTime") writer.field(name, value);
  });
  return writer.finish();
}
