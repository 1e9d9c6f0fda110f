/**
 * Where updates and deletes go, and which are refused: pure policy.
 *
 * A write to many documents goes wherever the filter targets. A write to *one*
 * document is harder: asked on two shards, each would write one. So it needs
 * something that singles out one shard (facts-mongos.md §4.3):
 *
 *     the whole key by equality ──► one shard
 *     a filter that happens to target one shard ──► that shard (deletes and findAndModify: since 5.0)
 *     exactly `_id` ──► all shards; at most one usually has it
 *     a replacement, before 7.1 ──► the shard that owns the replacement's key
 *     nothing of the kind ──► 7.1+: find one match first, then write it ("two-phase")
 *                             before: refused (72 for updates, 61 for the rest)
 *
 * Exactly `_id` is asked everywhere at once and not in two phases, as a real mongos does: unless `_id` is the key,
 * nothing makes it unique across shards, and where two shards have it, both write, and the counts of both are
 * added (facts-mongos.md §4.3; MongoDB's own sharding tests describe broadcast and sum). It is the
 * application's job to keep `_id` unique. Under a collation that is not the collection's own, `{_id: "a"}` may
 * mean several documents, and is no exact match.
 *
 * An upsert must in addition know where the new document goes (§4.4). Before 7.1, and with `multi`, the filter must
 * say so: it has to pin the whole key.
 *
 * A write that could change the shard key of its document is *careful* too: the
 * document must be looked at before, since it may have to change shards (§4.5).
 * Careful writes run with the collection to themselves (singleDocument.ts).
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  BsonType,
  describeDocument,
  fields,
  firstField,
  sameCollation,
  valuesIdentical,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ExpressionOptions, FilterNode, UpdateOptions } from "../../query/index.js";
import { compileFilter, pinnedValue } from "../../query/index.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { overlap } from "../merging/findPlan.js";
import type { Rules } from "../rules.js";
import type { HasDefaultCollation } from "../support/collations.js";
import { effectiveCollation } from "../support/collations.js";
import type { RoutingTable, Targeting } from "../targeting/target.js";
import { pinnedKey, targetFilter, targetPoint } from "../targeting/target.js";
import type { DeleteStatement, UpdateStatement } from "./statements.js";

/** Characters of a statement that a message quotes. */
const MAX_EXCERPT = 10_000;

/** How one write is carried out. */
export interface WriteRoute {
  /** `plain`: as it is, on every targeted shard. `careful`: one document at a time, alone. */
  readonly kind: "plain" | "careful";
  readonly node: FilterNode;
  readonly target: Targeting;
  /** Whether the filter gives the whole shard key by equality. */
  readonly pinsKey: boolean;
}

/** What routing a write reads of a collection. */
type WriteTable = RoutingTable & HasDefaultCollation;

/** The parts of a statement that decide where it goes. */
type RoutedUpdate = Pick<UpdateStatement, "raw" | "q" | "u" | "multi" | "upsert">;
type RoutedDelete = Pick<DeleteStatement, "raw" | "q" | "single">;

/**
 * Routes one update.
 * @param options what its filter sees, the effective collation included
 * @throws CommandError UnsupportedFormat (12), ShardKeyNotFound (61) or InvalidOptions (72) where the rules refuse it
 */
export function routeUpdate(
  statement: RoutedUpdate,
  table: WriteTable,
  rules: Rules,
  options: ExpressionOptions = {},
): WriteRoute {
  const { multi, upsert, u } = statement;
  checkForm(u, multi);
  const { node } = compileFilter(statement.q, options);
  const pinned = pinnedKey(node, table.key);
  if (upsert && !pinned && (multi || !rules.twoPhaseWrites)) {
    throw new CommandError(
      ErrorCode.ShardKeyNotFound,
      "Failed to target upsert by query :: could not extract exact shard key",
    );
  }
  let target = targetFilter(node, table);
  const exactId = !multi && !upsert && isExactId(node, statement.q, table, options);
  if (!multi && target.shards.length > 1 && !rules.twoPhaseWrites) {
    if (formOf(u) === "replacement") target = targetReplacement(asDocument(u), node, table, rules);
    else if (!exactId) throw tooManyTargets(statement, target, table);
  }
  const pinsKey = pinned !== undefined;
  const singled = multi || target.shards.length === 1 || exactId;
  const plain = singled && !mayChangeKey(u, table.key, pinned) && (!upsert || pinsKey);
  return { kind: plain ? "plain" : "careful", node, target, pinsKey };
}

/**
 * Routes one delete.
 * @param options what its filter sees, the effective collation included
 * @throws CommandError ShardKeyNotFound (61) where the rules refuse it
 */
export function routeDelete(
  statement: RoutedDelete,
  table: WriteTable,
  rules: Rules,
  options: ExpressionOptions = {},
): WriteRoute {
  const { node } = compileFilter(statement.q, options);
  const target = targetFilter(node, table);
  const pinsKey = pinnedKey(node, table.key) !== undefined;
  if (!statement.single) return { kind: "plain", node, target, pinsKey };
  const one = target.shards.length === 1;
  const exactId = isExactId(node, statement.q, table, options);
  const enough = pinsKey || exactId || (one && rules.oneShardSuffices);
  if (!enough && !rules.twoPhaseWrites) {
    throw new CommandError(
      ErrorCode.ShardKeyNotFound,
      "A single delete on a sharded collection must contain an exact match on _id (and have the collection " +
        "default collation) or contain the shard key (and have the simple collation). Delete request: " +
        `${excerpt(statement.raw)}, shard key pattern: ${table.key.text}`,
    );
  }
  return { kind: one || exactId ? "plain" : "careful", node, target, pinsKey };
}

/**
 * Routes a findAndModify: to one shard whole, or carefully. Exactly `_id` is no exception here (§4.3).
 * @param update undefined for a remove
 * @param options what its filter sees, the effective collation included
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
  const pinned = pinnedKey(node, table.key);
  if (!rules.twoPhaseWrites && !(rules.oneShardSuffices ? one : pinned)) {
    throw new CommandError(
      ErrorCode.ShardKeyNotFound,
      "Query for sharded findAndModify must contain the shard key",
    );
  }
  const touchesKey = update !== undefined && mayChangeKey(update.value, table.key, pinned);
  const unsure = update?.upsert === true && pinned === undefined;
  return {
    kind: one && !touchesKey && !unsure ? "plain" : "careful",
    node,
    target,
    pinsKey: pinned !== undefined,
  };
}

/** A router refuses forms that a shard would refuse with another code (§4.4). */
function checkForm(u: RawValue, multi: boolean): void {
  if (u.type !== BsonType.object) return;
  const names = fields(asDocument(u)).map(([name]) => name.startsWith("$"));
  const isReplacement = names[0] !== true;
  if (names.some((isOperator) => isOperator === isReplacement)) {
    throw new CommandError(
      ErrorCode.UnsupportedFormat,
      `update document ${excerpt(asDocument(u))} has mixed $operator and non-$operator style fields`,
    );
  }
  if (multi && isReplacement) {
    throw new CommandError(ErrorCode.InvalidOptions, "Replacement-style updates cannot be {multi:true}");
  }
}

/** A document as text, cut where it would make a message unreadable. */
function excerpt(document: Uint8Array): string {
  const text = describeDocument(document);
  return text.length <= MAX_EXCERPT ? text : `${text.slice(0, MAX_EXCERPT)}...`;
}

function tooManyTargets(statement: RoutedUpdate, target: Targeting, table: WriteTable): CommandError {
  return new CommandError(
    ErrorCode.InvalidOptions,
    "A {multi:false} update on a sharded collection must contain an exact match on _id (and have the " +
      "collection default collation) or target a single shard (and have the simple collation), but this update " +
      `targeted ${target.shards.length} shards. Update request: ${excerpt(statement.raw)}, ` +
      `shard key pattern: ${table.key.text}`,
  );
}

/**
 * Before 7.1 a replacement whose filter targets several shards goes to the one that owns the replacement's key: a
 * replacement that keeps the key finds its document there. An `_id` in the key may come from the filter.
 * @throws CommandError ShardKeyNotFound (61)
 */
function targetReplacement(
  replacement: Uint8Array,
  node: FilterNode,
  { key, chunks }: RoutingTable,
  rules: Rules,
): Targeting {
  const refusal = (why: string): CommandError =>
    new CommandError(ErrorCode.ShardKeyNotFound, `Failed to target update by replacement document :: ${why}`);
  let originals: (RawValue | undefined)[];
  try {
    originals = key.originalsOf(replacement);
  } catch (error) {
    if (error instanceof CommandError) throw refusal("could not extract exact shard key");
    throw error;
  }
  const values = originals.map((value, i) =>
    value === undefined && key.paths[i] === "_id" ? pinnedValue(node, "_id") : value,
  );
  if (!rules.missingKeyFieldsAllowed && values.includes(undefined))
    throw refusal("could not extract exact shard key");
  return targetPoint(key.pointOf(values), chunks);
}

/**
 * Whether a filter pins `_id` to one value: under no collation, under the collection's own (the `_id` index is built
 * with it), or to a value that no collation changes.
 * @param node the filter, compiled with `options`
 */
function isExactId(
  node: FilterNode,
  filter: Uint8Array,
  table: HasDefaultCollation,
  { collation, ...others }: ExpressionOptions,
): boolean {
  if (pinnedValue(node, "_id") !== undefined) return true;
  if (!collation || !sameCollation(collation, effectiveCollation(table, undefined))) return false;
  return pinnedValue(compileFilter(filter, others).node, "_id") !== undefined;
}

/** The options of compileUpdate. */
export function updateOptions(
  arrayFilters: Uint8Array[] | undefined,
  variables: Uint8Array | undefined,
): UpdateOptions {
  return { ...(arrayFilters && { arrayFilters }), ...(variables && { let: variables }) };
}

/** The three forms of an update: operators or a replacement (an object), a pipeline (an array). */
function formOf(value: RawValue): "operators" | "replacement" | "pipeline" {
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
function mayChangeKey(
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
