/**
 * The end of a resharding: forward once it was decided, else back. The same for the router that has begun it and for one
 * that finds its document after a crash; every step may run twice.
 *
 *     forward   recipients   db.system.resharding.<uuid> is renamed to the collection's name, in place of what has it
 *               others       the old part is dropped
 *               catalog      the collection's document gets the new UUID and key; the old chunks go
 *     back      recipients   db.system.resharding.<uuid> is dropped
 *               catalog      the new chunks go
 *
 * Whoever calls it has the collection alone, or keeps everybody from it (support/unfinished.ts).
 */
import type { RawValue } from "../../bson/index.js";
import { writeResharded } from "../catalog/reshardWrites.js";
import type { RouterContext } from "../context.js";
import { quietly } from "../ddl/fanOut.js";
import { describeOn, dropOn } from "../ddl/shardCollections.js";
import { Captures } from "./captures.js";
import type { ReshardingOperation } from "./operations.js";
import { findOperation, forgetOperation, removeChunks } from "./operations.js";

/**
 * Brings an operation to its end, whichever it is.
 * @returns whether the collection is resharded now, as far as its document was still there
 * @throws CommandError where the config server or a shard does not answer
 */
export async function finishResharding(context: RouterContext, uuid: RawValue): Promise<boolean> {
  const operation = await findOperation(context, uuid);
  if (!operation) return false;
  await (operation.isDecided ? goForward(context, operation) : goBack(context, operation));
  await forgetOperation(context, uuid);
  return operation.isDecided;
}

/** {@link finishResharding} now, or before the collection is used again where a server is gone or refuses. */
export async function finishReshardingSometime(
  context: RouterContext,
  ns: string,
  uuid: RawValue,
): Promise<boolean> {
  try {
    return await finishResharding(context, uuid);
  } catch (error) {
    await quietly(context, "a resharding is unfinished", () => Promise.reject(error as Error));
    context.unfinished.add(ns, async () => {
      await finishResharding(context, uuid);
    });
    return false;
  }
}

async function goForward(context: RouterContext, operation: ReshardingOperation): Promise<void> {
  const { db, ns, name, temporary, donors, recipients } = operation;
  const { catalog, clock, ids, shards } = context;
  for (const shard of recipients) {
    if (!(await describeOn(context, shard, { db, name: temporary }))) continue;
    const rename = { renameCollection: `${db}.${temporary}`, to: ns, dropTarget: true };
    await shards.must(shard, "admin", rename);
  }
  for (const shard of donors) {
    if (!recipients.includes(shard)) await dropOn(context, shard, { db, name });
  }
  await writeResharded({ config: catalog.config, clock, ids }, operation, context.waiting.now());
  await catalog.load();
}

async function goBack(context: RouterContext, operation: ReshardingOperation): Promise<void> {
  const { db, name, temporary, donors, recipients, uuid } = operation;
  await new Captures(context, { db, name }, uuid, donors).stop();
  for (const shard of recipients) await dropOn(context, shard, { db, name: temporary });
  await removeChunks(context, uuid);
}
