/**
 * `removeShard`: takes a shard out of the cluster, in three answers (facts-mongos.md §8.4).
 *
 *     started     it is marked as draining: nothing new is placed on it, the balancer takes its chunks away
 *     ongoing     chunks or databases are still on it; databases leave by movePrimary or dropDatabase
 *     completed   nothing is left; its document in config.shards is gone
 *
 * Whoever removes a shard asks again and again.
 */
import { DocumentWriter, string } from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { SHARD_LIST } from "../catalog/shards.js";
import type { Command, RouterContext } from "../context.js";
import { stringArgument } from "../support/arguments.js";

export const removeShard: Command = {
  name: "removeShard",
  aliases: ["removeshard"],
  adminOnly: true,
  fields: [],
  async run(context, request) {
    const id = stringArgument(request, request.command);
    return context.locks.whileExclusive(SHARD_LIST, async () => {
      await checkRemovable(context, id);
      if (!context.shards.get(id).draining) return start(context, id);
      // Nothing may come to the shard between the look and the removal.
      const namespaces = context.catalog.collections.map(({ ns }) => ns);
      return context.locks.whileAllExclusive(namespaces, async () => {
        const left = remainingOn(context, id);
        return left.chunks > 0 || left.dbs.length > 0 ? ongoing(context, id, left) : complete(context, id);
      });
    });
  },
};

/** @throws CommandError ShardNotFound (70), IllegalOperation (20), ZoneStillInUse (163) */
async function checkRemovable({ shards, catalog }: RouterContext, id: string): Promise<void> {
  if (!shards.has(id)) throw new CommandError(ErrorCode.ShardNotFound, `Shard ${id} does not exist`);
  if (shards.available.every((other) => other === id)) {
    throw new CommandError(
      ErrorCode.IllegalOperation,
      "Operation not allowed because it would remove the last shard",
    );
  }
  for (const zone of shards.get(id).zones) {
    if (shards.all.some((other) => other.id !== id && other.zones.includes(zone))) continue;
    if (!(await catalog.config.findOne("tags", { tag: zone }))) continue;
    throw new CommandError(
      ErrorCode.ZoneStillInUse,
      `Operation not allowed because it would remove the only shard for zone ${zone} which has a chunk range is associated with it`,
    );
  }
}

/** What is still on a shard. */
interface Remaining {
  readonly chunks: number;
  readonly dbs: readonly string[];
}

function remainingOn({ catalog }: RouterContext, id: string): Remaining {
  let chunks = 0;
  for (const collection of catalog.collections) {
    for (let index = 0; index < collection.chunks.size; index++) {
      if (collection.chunks.ownerOf(index) === id) chunks += 1;
    }
  }
  const dbs = catalog.databases.filter(({ primary }) => primary === id).map(({ name }) => name);
  return { chunks, dbs: dbs.sort() };
}

async function start(context: RouterContext, id: string): Promise<Reply> {
  await context.catalog.log("removeShard.start", "", { shard: id });
  await context.catalog.startDraining(id);
  const answer = new DocumentWriter()
    .string("msg", "draining started successfully")
    .string("state", "started")
    .string("shard", id);
  return okReply(whatToMove(context, answer, remainingOn(context, id)).finish());
}

async function ongoing(context: RouterContext, id: string, left: Remaining): Promise<Reply> {
  const jumbo = await jumboChunksOn(context, id);
  const remaining = new DocumentWriter()
    .int64("chunks", BigInt(left.chunks))
    .int64("dbs", BigInt(left.dbs.length))
    .int64("jumboChunks", BigInt(jumbo));
  if (context.rules.removeShardListsCollections) remaining.int64("collectionsToMove", 0n);
  const answer = new DocumentWriter()
    .string("msg", "draining ongoing")
    .string("state", "ongoing")
    .document("remaining", remaining.finish());
  return okReply(whatToMove(context, answer, left).finish());
}

async function complete(context: RouterContext, id: string): Promise<Reply> {
  await context.catalog.removeShard(id);
  await context.catalog.log("removeShard", "", { shard: id });
  return okReply({ msg: "removeshard completed successfully", state: "completed", shard: id });
}

async function jumboChunksOn({ catalog }: RouterContext, shard: string): Promise<number> {
  let count = 0;
  for await (const _chunk of catalog.config.find("chunks", { shard, jumbo: true })) count += 1;
  return count;
}

/** What somebody has to do by hand. No unsharded collection lives away from its database's primary shard here. */
function whatToMove({ rules }: RouterContext, answer: DocumentWriter, { dbs }: Remaining): DocumentWriter {
  const withCollections = rules.removeShardListsCollections;
  answer
    .string(
      "note",
      withCollections
        ? "you need to call moveCollection for collectionsToMove and afterwards movePrimary for the dbsToMove"
        : "you need to drop or movePrimary these databases",
    )
    .values("dbsToMove", dbs.map(string));
  return withCollections ? answer.values("collectionsToMove", []) : answer;
}
