/**
 * How an explained command would be carried out: targeted as if it ran, and what each shard would be sent.
 */
import {
  array,
  asDocument,
  BsonType,
  document,
  getField,
  int32,
  isEmptyDocument,
  isTruthy,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, documentsOf, ErrorCode } from "../../protocol/index.js";
import { pinnedValue } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { countLimit } from "../commands/count.js";
import type { RouterContext } from "../context.js";
import { documentField, flag, optionalCount, optionalDocument } from "../context.js";
import { limitOfShards, planFind } from "../merging/findPlan.js";
import type { Changes } from "../support/forward.js";
import { forwardedBody } from "../support/forward.js";
import { optionsOn } from "../support/collations.js";
import { targetRead } from "../support/reading.js";
import type { Targeting } from "../targeting/target.js";
import type { WriteRoute } from "../writes/policy.js";
import { routeDelete, routeFindAndModify, routeUpdate } from "../writes/policy.js";
import { readDelete, readUpdate } from "../writes/statements.js";
import type { ExplainedCommand } from "./shapes.js";
import { WRITE } from "./shapes.js";

/** The plan of a command on a sharded collection. */
export interface CommandPlan {
  readonly command: ExplainedCommand;
  readonly target: Targeting;
  /** The command that each shard explains. */
  readonly shardBody: Uint8Array;
  /** Set for a single write that finds its document before it writes (7.1+). */
  readonly searchesFirst?: WriteRoute;
}

/** Commands that write, by the field with their statements; findAndModify is one statement itself. */
const WRITES: ReadonlyMap<string, "updates" | "deletes" | undefined> = new Map([
  ["update", "updates"],
  ["delete", "deletes"],
  ["findAndModify", undefined],
  ["findandmodify", undefined],
]);

/** What of a command decides the shape of its explanation. */
export function shapeOfCommand(inner: Request): ExplainedCommand {
  if (WRITES.has(inner.command)) return WRITE;
  const sort = inner.command === "find" ? optionalDocument(inner, "sort") : undefined;
  return {
    isWrite: false,
    sorts: sort !== undefined && !isEmptyDocument(sort) && !getField(sort, "$natural"),
    skip: inner.command === "distinct" ? 0 : (optionalCount(inner, "skip") ?? 0),
    limit: limitOf(inner),
  };
}

function limitOf(inner: Request): number | undefined {
  if (inner.command === "distinct") return undefined;
  return inner.command === "count" ? countLimit(inner) : optionalCount(inner, "limit") || undefined;
}

/**
 * Plans a command on a sharded collection.
 * @throws CommandError whatever the command itself would throw before it asks a shard
 */
export function planCommand(
  context: RouterContext,
  inner: Request,
  collection: ShardedCollection,
): CommandPlan {
  return WRITES.has(inner.command)
    ? planWrite(context, inner, collection)
    : planRead(context, inner, collection, shapeOfCommand(inner));
}

function planRead(
  context: RouterContext,
  inner: Request,
  collection: ShardedCollection,
  command: ExplainedCommand,
): CommandPlan {
  const { target, filter } = targetRead(
    context,
    inner,
    collection,
    inner.command === "find" ? "filter" : "query",
  );
  const changes: Changes = {
    ...(target.shards.length > 1 && shareOfShards(inner, command)),
    // No express plan where orphans must be filtered, but by _id: the default batch size says so to a shard.
    ...(inner.command === "find" &&
      target.kind !== "shardKey" &&
      command.limit !== undefined &&
      pinnedValue(filter.node, "_id") === undefined &&
      !getField(inner.body, "batchSize") && { batchSize: int32(101) }),
  };
  return { command, target, shardBody: forwardedBody(inner.body, changes) };
}

/** What several shards are asked for instead of the whole. */
function shareOfShards(inner: Request, { sorts, skip, limit }: ExplainedCommand): Changes {
  if (inner.command === "count") return { skip: undefined, limit: limitOfShards(limit, skip) };
  if (inner.command === "distinct") return {};
  const sort = sorts ? optionalDocument(inner, "sort") : undefined;
  return planFind({
    sort,
    projection: optionalDocument(inner, "projection"),
    skip,
    limit,
    showRecordId: flag(inner, "showRecordId"),
    returnKey: flag(inner, "returnKey"),
  }).shardChanges;
}

function planWrite(context: RouterContext, inner: Request, collection: ShardedCollection): CommandPlan {
  const { route, shardBody } = routeOf(context, inner, collection);
  const several = route.kind === "careful" && route.target.shards.length > 1;
  return {
    command: WRITE,
    target: route.target,
    shardBody,
    ...(several && context.rules.twoPhaseWrites && { searchesFirst: route }),
  };
}

function routeOf(
  context: RouterContext,
  inner: Request,
  collection: ShardedCollection,
): { route: WriteRoute; shardBody: Uint8Array } {
  const sequence = WRITES.get(inner.command);
  if (sequence === undefined) {
    const options = optionsOn(context, inner, collection);
    const value = getField(inner.body, "update");
    const change = value && { value, upsert: isTruthy(getField(inner.body, "upsert")) };
    const query = documentField(inner, "query");
    const route = routeFindAndModify(query, change, collection, context.rules, options);
    return { route, shardBody: forwardedBody(inner.body) };
  }
  const statement = onlyStatement(inner, sequence);
  const given = getField(statement, "collation");
  const options = optionsOn(
    context,
    inner,
    collection,
    given?.type === BsonType.object ? asDocument(given) : undefined,
  );
  const route =
    sequence === "updates"
      ? routeUpdate(readUpdate(statement), collection, context.rules, options)
      : routeDelete(readDelete(statement), collection, context.rules, options);
  return { route, shardBody: forwardedBody(inner.body, { [sequence]: array([document(statement)]) }) };
}

/**
 * The one statement of a write.
 * @throws CommandError InvalidLength (16)
 */
export function onlyStatement(inner: Request, sequence: "updates" | "deletes"): Uint8Array {
  const [statement, ...others] = documentsOf(inner, sequence);
  if (!statement || others.length > 0) {
    throw new CommandError(ErrorCode.InvalidLength, "explained write batches must be of size 1");
  }
  return statement;
}
