/**
 * Which index lets the values of a candidate shard key be counted (facts-mongos.md §9.3): pure policy.
 *
 * It is laxer than the rule for sharding by the key (ddl/indexRules.ts): names count, kinds don't, because an index
 * that is hashed where the key is ranged has the same values in it.
 *
 *     candidate {a: 1}      {a: "hashed"} yes      {a: -1, b: 1} yes      {b: 1, a: 1} no
 */
import { fields, getField, isTruthy } from "../../bson/index.js";
import type { IndexSpec } from "../ddl/indexRules.js";
import { objections } from "../ddl/indexRules.js";
import type { ShardKeyPattern } from "../keys/shardKeyPattern.js";

/** The index to count with. */
export interface AnalysisIndex {
  readonly index: IndexSpec;
  /** No two documents have the same key: the index is unique and on exactly the key's fields. */
  readonly isUnique: boolean;
}

/**
 * The indexes that can serve, the best first: fewest fields, then unique.
 * @param indexes the collection's indexes; multikey ones are the caller's to leave out
 */
export function analysisIndexes(indexes: readonly IndexSpec[], key: ShardKeyPattern): AnalysisIndex[] {
  return indexes
    .filter((index) => startsWith(index, key) && isComplete(index))
    .map((index) => ({ index, isUnique: isUnique(index) && fields(index.key).length === key.fields.length }))
    .sort(
      (a, b) =>
        fields(a.index.key).length - fields(b.index.key).length || Number(b.isUnique) - Number(a.isUnique),
    );
}

function startsWith({ key }: IndexSpec, { paths }: ShardKeyPattern): boolean {
  const names = fields(key).map(([name]) => name);
  return paths.every((path, i) => names[i] === path);
}

/** Whether every document is in the index, under its own value. A hidden index is: only planners pass it over. */
function isComplete(index: IndexSpec): boolean {
  return objections(index).every((reason) => reason === "Index is hidden.");
}

/** An index that only prepares to be unique may still hold a value twice. */
function isUnique({ name, raw }: IndexSpec): boolean {
  return name === "_id_" || isTruthy(getField(raw, "unique"));
}
