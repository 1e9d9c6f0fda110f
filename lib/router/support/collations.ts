/**
 * Which collation a command on a sharded collection runs under.
 *
 * The command's own, or else the collection's default; `{locale: "simple"}` is
 * a collation too, and the way to get byte order on a collection that has
 * another default (facts-mongos.md §4.1 "Collation").
 *
 * Three parts of the router need it:
 *
 * - *routing*: chunk bounds are in byte order, so an equality on a string says
 *   nothing about the chunk once `"Anna"` equals `"anna"`. The filter compiled
 *   with these options carries the collation, and `targetFilter` widens the
 *   bounds of strings, objects and arrays to all of their kind. Numbers, dates
 *   and the like go on to target.
 * - *merging*: sort keys and `distinct`'s duplicates compare under it. The keys
 *   that a collation gives out compare within one `Collation` object only, so
 *   one object serves all shards' documents of a command.
 * - *filters, expressions and stages* that run on the router.
 *
 * A shard applies the collection's default by itself: its part of the
 * collection was created with it.
 */
import type { Collation } from "../../bson/index.js";
import { isEmptyDocument } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import type { ExpressionOptions } from "../../query/index.js";
import { parseCollation } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { expressionOptions, optionalDocument } from "../context.js";

/** What the collection's entry says about strings. */
export type HasDefaultCollation = Pick<ShardedCollection, "defaultCollation">;

/**
 * The collation that a command or statement runs under.
 * @param collection the collection's entry; undefined where there is none (unsharded, `{aggregate: 1}`)
 * @param given the command's or statement's `collation`; `{}` counts as none
 * @returns a fresh object, undefined for the simple collation
 * @throws CommandError as {@link parseCollation}: the shard's codes
 */
export function effectiveCollation(
  collection: HasDefaultCollation | undefined,
  given: Uint8Array | undefined,
): Collation | undefined {
  const own = given && !isEmptyDocument(given) ? given : undefined;
  return parseCollation(own ?? collection?.defaultCollation);
}

/**
 * What filters, sorts, expressions and stages of a command see: its `let`, clock, random source and collation.
 * @param given the `collation` where it isn't the command's own (a statement of an update has one)
 */
export function optionsOn(
  context: RouterContext,
  request: Request,
  collection: HasDefaultCollation | undefined,
  given: Uint8Array | undefined = optionalDocument(request, "collation"),
): ExpressionOptions {
  const collation = effectiveCollation(collection, given);
  return { ...expressionOptions(context, request), ...(collation && { collation }) };
}
