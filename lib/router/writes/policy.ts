/**
 * Where updates and deletes go, and which are refused: pure policy.
 *
 * A write to many documents goes wherever the filter targets. A write to *one*
 * document is harder: asked on two shards, each would write one. So it needs
 * something that singles out one shard (facts-mongos.md §4.3):
 *
 *     the whole key by equality ──► one shard
 *     a filter that happens to target one shard ──► that shard
 *     exactly `_id` ──► all shards; at most one usually has it
 *     nothing of the kind ──► 7.1+: find one match first, then write it ("two-phase")
 *                             before: refused (72 for updates, 61 for the rest)
 *
 * Exactly `_id` is asked everywhere at once and not in two phases, as a real mongos does: unless `_id` is the key,
 * nothing makes it unique across shards, and where two shards have it, both write, and the counts of both are
 * added (facts-mongos.md §4.3; MongoDB's own sharding tests describe broadcast and sum). It is the
 * application's job to keep `_id` unique.
 *
 * A write that could change the shard key of its document is *careful* too: the
 * document must be looked at before, since it may have to change shards (§4.5).
 * Careful writes run with the collection to themselves (singleDocument.ts).
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asString, BsonType, fields, firstField, valuesIdentical } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions, FilterNode, UpdateOptions } from "../../query/index.js";
import { compileFilter, pinnedValue } from "../../query/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { overlap } from "../merging/findPlan.js";
import type { Rules } from "../rules.js";
import type { RoutingTable, Targeting } from "../targeting/target.js";
import { pinnedKey, targetFilter } from "../targeting/target.js";
import type { DeleteStatement, UpdateStatement } from "./statements.js";

/** How one write is carried out. */
export interface WriteRoute {
  /** `plain`: as it is, on every targeted shard. `careful`: one document at a time, alone. */
  readonly kind: "plain" | "careful";
  readonly node: FilterNode;
  readonly target: Targeting;
}

/**
 * Routes one update.
 * @throws CommandError 61 or 72 where the rules refuse it
 */
export function routeUpdate(
  statement: UpdateStatement,
  table: RoutingTable,
  rules: Rules,
  options: ExpressionOptions = {},
): WriteRoute {
  const { node } = compileFilter(statement.q, options);
  const target = targetFilter(node, table);
  const pinned = pinnedKey(node, table.key);
  const touchesKey = mayChangeKey(statement.u, table.key, pinned);
  const { multi, upsert } = statement;

  if (multi && formOf(statement.u) === "replacement") {
    throw new CommandError(ErrorCode.InvalidOptions, "Replacement-style updates cannot be {multi:true}");
  }
  if (upsert && !pinned && (multi || (target.shards.length > 1 && !rules.twoPhaseWrites))) {
    throw new CommandError(
      ErrorCode.ShardKeyNotFound,
      "Failed to target upsert by query :: could not extract exact shard key",
    );
  }
  if (!multi && !upsert) {
    refuseUnlessOneTarget(
      node,
      target,
      rules,
      (shards) =>
        new CommandError(
          ErrorCode.InvalidOptions,
          "A {multi:false} update on a sharded collection must contain an exact match on _id (and have the " +
            `collection default collation) or target a single shard, but this update targeted ${shards} shards`,
        ),
    );
  }
  const singled = multi || target.shards.length === 1 || (!upsert && isExactId(node));
  const plain = singled && !touchesKey && (!upsert || pinned !== undefined);
  return { kind: plain ? "plain" : "careful", node, target };
}

/**
 * Routes one delete.
 * @throws CommandError ShardKeyNotFound (61) where the rules refuse it
 */
export function routeDelete(
  statement: DeleteStatement,
  table: RoutingTable,
  rules: Rules,
  options: ExpressionOptions = {},
): WriteRoute {
  const { node } = compileFilter(statement.q, options);
  const target = targetFilter(node, table);
  if (!statement.single) return { kind: "plain", node, target };
  refuseUnlessOneTarget(
    node,
    target,
    rules,
    () =>
      new CommandError(
        ErrorCode.ShardKeyNotFound,
        "A single delete on a sharded collection must contain an exact match on _id (and have the collection " +
          "default collation) or contain the shard key (and have the simple collation)",
      ),
  );
  const plain = target.shards.length === 1 || isExactId(node);
  return { kind: plain ? "plain" : "careful", node, target };
}

/**
 * Routes a findAndModify: to one shard whole, or carefully.
 * @param update undefined for a remove
 * @throws CommandError ShardKeyNotFound (61) where the rules refuse it
 */
export function routeFindAndModify(
  filter: Uint8Array,
  update: { value: RawValue; upsert: boolean } | undefined,
  table: RoutingTable,
  rules: Rules,
  options: ExpressionOptions = {},
): WriteRoute {
  const { node } = compileFilter(filter, options);
  const target = targetFilter(node, table);
  const one = target.shards.length === 1;
  if (!one && !rules.twoPhaseWrites) {
    throw new CommandError(
      ErrorCode.ShardKeyNotFound,
      "Query for sharded findAndModify must contain the shard key",
    );
  }
  const pinned = pinnedKey(node, table.key);
  const touchesKey = update !== undefined && mayChangeKey(update.value, table.key, pinned);
  const unsure = update?.upsert === true && pinned === undefined;
  return { kind: one && !touchesKey && !unsure ? "plain" : "careful", node, target };
}

function refuseUnlessOneTarget(
  node: FilterNode,
  target: Targeting,
  rules: Rules,
  refusal: (shards: number) => CommandError,
): void {
  if (rules.twoPhaseWrites || target.shards.length === 1 || isExactId(node)) return;
  throw refusal(target.shards.length);
}

/** Whether a filter pins `_id` to one value. */
export function isExactId(node: FilterNode): boolean {
  const id = pinnedValue(node, "_id");
  return id !== undefined && id.type !== BsonType.array && id.type !== BsonType.regex;
}

/** The options of compileUpdate. */
export function updateOptions(
  arrayFilters: Uint8Array[] | undefined,
  variables: Uint8Array | undefined,
): UpdateOptions {
  return { ...(arrayFilters && { arrayFilters }), ...(variables && { let: variables }) };
}

/** The three forms of an update: operators or a replacement (an object), a pipeline (an array). */
export function formOf(value: RawValue): "operators" | "replacement" | "pipeline" {
  if (value.type === BsonType.array) return "pipeline";
  return firstField(asDocument(value))?.[0].startsWith("$") ? "operators" : "replacement";
}

/**
 * Whether an update could give its document another shard key.
 *
 * Operators name the paths they write. A replacement writes everything, but one
 * that repeats the key values its filter pins keeps the document where it is. A
 * pipeline can do anything.
 */
export function mayChangeKey(
  value: RawValue,
  key: ShardKeyPattern,
  pinned: readonly RawValue[] | undefined,
): boolean {
  switch (formOf(value)) {
    case "pipeline":
      return true;
    case "replacement":
      return !pinned || !replacementKeeps(asDocument(value), key, pinned);
    case "operators":
      return writtenPaths(asDocument(value)).some((path) => key.paths.some((field) => overlap(path, field)));
  }
}

/** The paths that update operators write: `{$set: {a: 1}, $rename: {b: "c"}}` → a, b, c. */
function writtenPaths(update: Uint8Array): string[] {
  return fields(update).flatMap(([operator, argument]) => {
    if (argument.type !== BsonType.object) return [];
    return fields(asDocument(argument)).flatMap(([path, value]) =>
      operator === "$rename" && value.type === BsonType.string ? [path, asString(value)] : [path],
    );
  });
}

function replacementKeeps(document: Uint8Array, key: ShardKeyPattern, pinned: readonly RawValue[]): boolean {
  try {
    const next = key.originalsOf(document);
    return next.every((field, i) => field !== undefined && valuesIdentical(field, pinned[i]!));
  } catch (error) {
    // An array in the key: not kept, and refused later with the right code.
    if (error instanceof CommandError) return false;
    throw error;
  }
}
