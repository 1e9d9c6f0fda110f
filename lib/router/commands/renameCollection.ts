/**
 * `renameCollection`: another name for a collection; a sharded one keeps its chunks and its uuid.
 *
 *     source      target            from 5.0                                    before
 *     unsharded   same database     the primary shard renames                   the same
 *     unsharded   other database    only where both have one primary (125)      the same (20)
 *     sharded     same database     all shards and the catalog, as one step     refused (20)
 *     sharded     other database    refused (125)                               refused (20)
 *     any         a sharded one     with dropTarget: it goes                    refused (20)
 */
import { BsonType, isTruthy } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { bodyField, CommandError, ErrorCode, isOk, notSimulated, okReply } from "../../protocol/index.js";
import { forgetAnalyzers } from "../analyze/sampler.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command, RouterContext } from "../context.js";
import { homeOf, isConfigDatabase, wrongType } from "../context.js";
import type { RenameEnd } from "../ddl/rename.js";
import { renameOnShards } from "../ddl/rename.js";
import { describeOn } from "../ddl/shardCollections.js";
import { checkNotResharding } from "../resharding/guard.js";
import type { Namespace } from "../support/arguments.js";
import { namespaceArgument, namespaceOf, stringArgument } from "../support/arguments.js";
import { checkCollectionUuid, checkSameUuid } from "../support/collectionUuid.js";
import { withDatabase } from "../support/databases.js";
import { forwardedRequest } from "../support/forward.js";

/** Bytes of a sharded collection's namespace at most. */
const MAX_SHARDED_NAMESPACE = 235;

export const renameCollection: Command = {
  name: "renameCollection",
  adminOnly: true,
  fields: ["to", "dropTarget", "stayTemp", "collectionUUID"],
  async run(context, request) {
    const source = namespaceArgument(request);
    const target = namespaceOf(stringArgument(request, "to"));
    if (source.ns === target.ns) {
      throw new CommandError(ErrorCode.IllegalOperation, "Can't rename a collection to itself");
    }
    checkDatabases(context, source, target);
    const argument = bodyField(request, "dropTarget");
    const dropTarget = argument?.type === BsonType.binary || isTruthy(argument);
    return context.locks.whileAllExclusive([source.ns, target.ns], () =>
      // A database that does not exist yet begins where the collection is.
      withDatabase(
        context,
        target.db,
        async ({ primary }) => {
          checkNotResharding(context, source.ns);
          checkNotResharding(context, target.ns);
          const from = endOf(context, source, homeOf(context, source.db, source.ns).shard);
          const to = endOf(context, target, context.catalog.tracked(target.ns)?.shard ?? primary);
          if (!from.collection && !to.collection)
            return forgotten(
              context,
              from,
              to,
              await renameUnsharded(context, request, from, to, dropTarget),
            );
          checkUuids(context, request, from, to);
          checkSharded(context, from, to);
          await checkTarget(context, from, to, dropTarget);
          await renameOnShards(context, from, to);
          return forgotten(context, from, to, okReply());
        },
        primaryFor(context, source),
      ),
    );
  },
};

/** Sampling does not go along with a name. */
async function forgotten(
  context: RouterContext,
  from: Namespace,
  to: Namespace,
  reply: Reply,
): Promise<Reply> {
  if (isOk(reply)) for (const { ns } of [from, to]) await forgetAnalyzers(context, ns);
  return reply;
}

/** @throws CommandError IllegalOperation (20) for the catalog itself, NamespaceNotFound (26) for a database that is not there */
function checkDatabases({ catalog }: RouterContext, source: Namespace, target: Namespace): void {
  if (source.db === "config" || target.db === "config") {
    throw new CommandError(ErrorCode.IllegalOperation, "Can't rename collections of the config database");
  }
  if (isConfigDatabase(source.db) || catalog.database(source.db)) return;
  throw new CommandError(
    ErrorCode.NamespaceNotFound,
    `Database ${source.db} does not exist or is drop pending`,
  );
}

function primaryFor(context: RouterContext, { db }: Namespace): string | undefined {
  return isConfigDatabase(db) ? undefined : context.catalog.database(db)?.primary;
}

function endOf(context: RouterContext, namespace: Namespace, primary: string): RenameEnd {
  const { catalog } = context;
  const collection = catalog.collection(namespace.ns) ?? catalog.tracked(namespace.ns);
  return { ...namespace, collection, primary };
}

/** @throws CommandError CollectionUUIDMismatch (361); NotImplemented (238): a moved collection has another UUID on its shard */
function checkUuids(context: RouterContext, request: Request, from: RenameEnd, to: RenameEnd): void {
  const dropTarget = bodyField(request, "dropTarget");
  const named = dropTarget?.type === BsonType.binary ? dropTarget : undefined;
  const isTracked = ({ collection }: RenameEnd): boolean =>
    collection !== undefined && !("chunks" in collection);
  const asked = bodyField(request, "collectionUUID") !== undefined;
  if ((asked && isTracked(from)) || (named && isTracked(to)))
    throw notSimulated("renameCollection of a collection that was moved, by its UUID");
  if (from.collection && "chunks" in from.collection) checkCollectionUuid(context, request, from.collection);
  if (named && to.collection && "chunks" in to.collection) {
    checkSameUuid(context, named, to.collection, () => wrongType(request, "dropTarget", "binData"));
  }
}

/** One shard has both names: it checks and does it. */
async function renameUnsharded(
  context: RouterContext,
  request: Request,
  from: RenameEnd,
  to: RenameEnd,
  dropTarget: boolean,
): Promise<Reply> {
  if (from.primary !== to.primary && from.primary !== CONFIG_SHARD) {
    throw new CommandError(
      ErrorCode.CommandFailed,
      "Source and destination collections must be on same shard",
    );
  }
  if (from.primary !== CONFIG_SHARD) await checkZones(context, to);
  await (dropTarget ? undefined : checkFree(context, to));
  return context.shards.run(from.primary, forwardedRequest(request));
}

/** @throws CommandError IllegalOperation (20) before 5.0, CommandFailed (125) across databases */
function checkSharded(context: RouterContext, { collection, ns, db }: RenameEnd, to: RenameEnd): void {
  if (!context.rules.shardedRename) {
    throw new CommandError(
      ErrorCode.IllegalOperation,
      collection
        ? `source namespace '${ns}' must not be sharded`
        : `cannot rename to sharded collection '${to.ns}'`,
    );
  }
  if (db !== to.db) {
    throw new CommandError(
      ErrorCode.CommandFailed,
      `Source and destination collections must be on the same database because ${collection ? ns : to.ns} is sharded.`,
    );
  }
  if (collection && to.ns.length > MAX_SHARDED_NAMESPACE) {
    throw new CommandError(
      ErrorCode.InvalidNamespace,
      `Namespace of target collection too long. Namespace: ${to.ns} Max: ${MAX_SHARDED_NAMESPACE}`,
    );
  }
}

/** @throws CommandError 26, 73, 166, 48, 125 */
async function checkTarget(
  context: RouterContext,
  from: RenameEnd,
  to: RenameEnd,
  dropTarget: boolean,
): Promise<void> {
  if (to.name.startsWith("system.")) {
    throw new CommandError(
      ErrorCode.InvalidNamespace,
      `error with target namespace: Invalid system namespace: ${to.ns}`,
    );
  }
  const source = await describeOn(context, from.primary, from);
  if (!source) {
    throw new CommandError(ErrorCode.NamespaceNotFound, `Source collection ${from.ns} does not exist`);
  }
  if (source.type === "view") {
    throw new CommandError(ErrorCode.CommandNotSupportedOnView, `cannot rename view: ${from.ns}`);
  }
  if ((await describeOn(context, to.primary, to))?.type === "view") {
    throw new CommandError(
      ErrorCode.CommandNotSupportedOnView,
      `Can't rename to target collection \`${to.ns}\` because it is a view.`,
    );
  }
  if (!dropTarget) await checkFree(context, to);
  await checkZones(context, to);
}

/** @throws CommandError NamespaceExists (48) */
async function checkFree(context: RouterContext, to: RenameEnd): Promise<void> {
  const there = to.collection ?? (await describeOn(context, to.primary, to));
  if (!there || ("type" in there && there.type === "view")) return;
  throw new CommandError(
    ErrorCode.NamespaceExists,
    `Target collection ${to.ns} exists but dropTarget is not set`,
  );
}

/** @throws CommandError CommandFailed (125) where the new name has zone ranges */
async function checkZones(context: RouterContext, to: RenameEnd): Promise<void> {
  if ((await context.catalog.zonesOf(to.ns)).length === 0) return;
  throw new CommandError(
    ErrorCode.CommandFailed,
    `Can't rename to target collection ${to.ns} because it must not have associated zones/tags`,
  );
}
