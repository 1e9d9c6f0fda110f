/**
 * What `$currentOp` shows through a router: the operations of all shards, each with its shard's name in front of its
 * number, so that `killOp` finds it again (`"shardB:4711"`); or the router's own, with `localOps`.
 */
import { asNumber, DocumentWriter, forEachField, getField, string } from "../../bson/index.js";
import { encodeTree, readCursorReply, request } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import { reshardingOperations } from "../resharding/currentOps.js";
import type { RunningOperation } from "./state.js";

/**
 * The rows of `$currentOp`, by shard.
 * @param options the stage's options, which go to the shards as they are
 * @throws CommandError what a shard refuses, and where one does not answer
 */
export async function currentOperations(context: RouterContext, options: Uint8Array): Promise<Uint8Array[]> {
  const stage = new DocumentWriter().document("$currentOp", options).finish();
  const command = new DocumentWriter()
    .int32("aggregate", 1)
    .arrayOf("pipeline", [stage])
    .document("cursor", new DocumentWriter().int32("batchSize", 1_000_000).finish())
    .finish();
  const byShard = await Promise.all(
    context.shards.ids.map(async (shard) => {
      const reply = await context.shards.run(shard, request("admin", command));
      return readCursorReply(reply).batch.map((row) => ofShard(shard, row));
    }),
  );
  return [...byShard.flat(), ...reshardingOperations(context)];
}

/** `client` is who asked the router's shard, the router itself; a mongos calls it `client_s`. */
function ofShard(shard: string, row: Uint8Array): Uint8Array {
  const writer = new DocumentWriter().string("shard", shard);
  forEachField(row, (name, value) => {
    if (name === "opid") writer.field(name, string(`${shard}:${asNumber(value)}`));
    else writer.field(name === "client" ? "client_s" : name, value);
  });
  return writer.finish();
}

/** The commands that the router itself is working on. */
export function localOperations(context: RouterContext): Uint8Array[] {
  const { running } = context.server;
  return [...running].map(([opid, operation]) => describe(context, opid, operation));
}

function describe(
  { host, environment }: RouterContext,
  opid: number,
  operation: RunningOperation,
): Uint8Array {
  const { request, since } = operation;
  const lsid = getField(request.body, "lsid");
  const now = environment.now();
  const microseconds = Math.max(0, Math.round((now - since) * 1000));
  return encodeTree({
    type: "op",
    host,
    ...(request.client && {
      desc: `conn${request.client.connectionId}`,
      connectionId: request.client.connectionId,
      client: request.client.address,
    }),
    active: true,
    currentOpTime: new Date(now).toISOString(),
    isFromUserConnection: request.client !== undefined,
    threaded: true,
    opid,
    ...(lsid && { lsid }),
    secs_running: BigInt(Math.floor(microseconds / 1_000_000)),
    microsecs_running: BigInt(microseconds),
    op: "command",
    ns: `${request.db}.$cmd`,
    redacted: false,
    command: request.body,
    numYields: 0,
  });
}
