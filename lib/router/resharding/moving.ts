/**
 * Planning what ends with a whole collection on one shard: moveCollection and unshardCollection (facts-mongos.md §8.3).
 *
 *     moveCollection      unsharded on A  ──►  unsharded on B, known to the catalog
 *     unshardCollection   chunks on A, B  ──►  unsharded on A, known to the catalog
 */
import type { RawValue } from "../../bson/index.js";
import { toDocument } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { homeOf, isConfigDatabase } from "../context.js";
import { describeOn } from "../ddl/shardCollections.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import type { Namespace } from "../support/arguments.js";
import { leastLoadedShard } from "../support/databases.js";
import { detached } from "../support/values.js";
import { inProgress } from "./guard.js";
import type { Provenance, ReshardingPlan, ReshardingSource } from "./plan.js";

/** What it takes at least, milliseconds: moves share a resharding's reshardingMinimumOperationDurationMillis. */
const MINIMUM_MS = 300_000;

/** The key of what is not sharded. */
const ID_KEY = ShardKeyPattern.parse(toDocument({ _id: 1 }));

/** @throws CommandError ShardNotFound (70) for a shard that is not there, or is about to leave */
export function checkRecipient({ shards }: RouterContext, to: string): void {
  if (!shards.has(to)) throw new CommandError(ErrorCode.ShardNotFound, `Shard ${to} not found`);
  if (shards.get(to).draining) throw new CommandError(ErrorCode.ShardNotFound, `Shard ${to} is draining`);
}

/**
 * Plans a moveCollection.
 * @returns undefined when the collection is there already
 * @throws CommandError NamespaceNotFound (26) for none, or a sharded one; CommandNotSupportedOnView (166)
 */
export async function planMove(
  context: RouterContext,
  request: Request,
  names: Namespace,
  sharded: ShardedCollection | undefined,
  to: string,
): Promise<ReshardingPlan | undefined> {
  checkFree(context, names);
  const found = sharded ? undefined : await unsharded(context, names);
  if (!found) {
    throw new CommandError(
      ErrorCode.NamespaceNotFound,
      "MoveCollection can only be called on an unsharded collection.",
    );
  }
  if (found.shard === to) return undefined;
  return planOn(context, request, "moveCollection", names, found, to);
}

/**
 * Plans an unshardCollection.
 * @param to absent: the shard with the least data
 * @returns undefined when the collection is unsharded already
 * @throws CommandError NamespaceNotFound (26); NamespaceNotSharded (118) for one that is unsharded on another shard
 */
export async function planUnshard(
  context: RouterContext,
  request: Request,
  names: Namespace,
  sharded: ShardedCollection | undefined,
  to: string | undefined,
): Promise<ReshardingPlan | undefined> {
  checkFree(context, names);
  if (sharded) {
    const shard = to ?? (await leastLoadedShard(context));
    const plan = planOn(context, request, "unshardCollection", names, { collection: sharded }, shard);
    // Its zone ranges were ranges of its shard key.
    return { ...plan, zones: [] };
  }
  const found = await unsharded(context, names);
  if (!found) throw new CommandError(ErrorCode.NamespaceNotFound, `Collection ${names.ns} does not exist`);
  if (to === undefined || to === found.shard) return undefined;
  throw new CommandError(
    ErrorCode.NamespaceNotSharded,
    "Collection is already unsharded. Call moveCollection if you want to move it to a different shard.",
  );
}

/** @throws CommandError IllegalOperation (20) for what is not the user's, ReshardCollectionInProgress (338) */
function checkFree({ resharding }: RouterContext, { ns, db, name }: Namespace): void {
  if (isConfigDatabase(db) || name.startsWith("system.")) {
    throw new CommandError(ErrorCode.IllegalOperation, `Can't move an internal collection: ${ns}`);
  }
  if (resharding.get(ns)) throw inProgress(ns);
}

/** Where an unsharded collection is; undefined where there is none. @throws CommandError 166 for a view */
async function unsharded(
  context: RouterContext,
  names: Namespace,
): Promise<{ shard: string; uuid: RawValue } | undefined> {
  const { shard, exists } = homeOf(context, names.db, names.ns);
  const description = exists ? await describeOn(context, shard, names) : undefined;
  if (!description) return undefined;
  if (description.type === "view") {
    throw new CommandError(ErrorCode.CommandNotSupportedOnView, `Namespace ${names.ns} is a view`);
  }
  const uuid = context.catalog.tracked(names.ns)?.uuid ?? description.uuid ?? context.ids.uuid();
  return { shard, uuid: detached(uuid) };
}

function planOn(
  context: RouterContext,
  request: Request,
  provenance: Provenance,
  { ns }: Namespace,
  source: ReshardingSource,
  to: string,
): ReshardingPlan {
  return {
    provenance,
    ns,
    source,
    key: ID_KEY,
    starts: [{ min: ID_KEY.minimum, shard: to }],
    unsplittable: true,
    uuid: context.ids.uuid(),
    originatingCommand: request.body.slice(),
    minimumDurationMs: MINIMUM_MS,
  };
}
