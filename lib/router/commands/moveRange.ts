/**
 * `moveRange`: moves a range of the shard key to another shard, cutting it out of its chunk (facts-mongos.md §3.2).
 *
 *     {moveRange: ns, min: {x: 10}, max: {x: 20}, toShard: "shardB"}
 *     {moveRange: ns, min: {x: 10}, toShard: "shardB"}                  at most a chunk size from there on
 */
import { describeDocument } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command } from "../context.js";
import { flag, optionalDocument } from "../context.js";
import { moveRange as move } from "../ddl/moveRange.js";
import { checkShard, mustBeSharded, namespaceArgument, stringArgument } from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

/** @since MongoDB 6.0 */
export const moveRange: Command = {
  name: "moveRange",
  adminOnly: true,
  fields: [
    "toShard",
    "min",
    "max",
    "forceJumbo",
    "secondaryThrottle",
    "_secondaryThrottle",
    "waitForDelete",
    "_waitForDelete",
    "collectionTimestamp",
  ],
  help: "Example: move a range starting at min, up to max or a chunk size, to another shard",
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    const to = stringArgument(request, "toShard");
    const forceJumbo = flag(request, "forceJumbo");
    await withCollectionAlone(context, ns, async (found) => {
      const collection = mustBeSharded(found, ns);
      const min = boundArgument(request, "min", collection);
      const max = boundArgument(request, "max", collection);
      checkShard(context, to);
      await move(context, collection, { min, max }, to, { forceJumbo, op: "moveRange" });
    });
    return okReply();
  },
};

/** @throws CommandError InvalidOptions (72) for a bound that is no full shard key */
function boundArgument(
  request: Request,
  name: string,
  { key, ns }: ShardedCollection,
): Uint8Array | undefined {
  const bound = optionalDocument(request, name);
  if (!bound) return undefined;
  if (key.isBound(bound)) return bound.slice();
  throw new CommandError(
    ErrorCode.InvalidOptions,
    `Bound ${name} ${describeDocument(bound)} is not valid for the shard key ${key.text} of ${ns}`,
  );
}
