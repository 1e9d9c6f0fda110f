/** Which indexes the planner may look at, and which one a hint means. */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { FilterNode, KeyField } from "../../query/index.js";
import { implies } from "../../query/index.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { parseKeyPattern, sameKey } from "../storage/indexSpec.js";
import type { Hint } from "./query.js";

/**
 * The indexes that a filter may use: none that is hidden, and a partial one only where every match of the
 * filter is in it.
 */
export function usableIndexes(
  indexes: readonly CollectionIndex[],
  filter: FilterNode,
): readonly CollectionIndex[] {
  return indexes.filter(({ spec }) => {
    if (spec.hidden) return false;
    return spec.partialFilter === undefined || implies(filter, spec.partialFilter.filter.node);
  });
}

/**
 * The index that a hint names.
 * @throws CommandError BadValue (2) where there is none, or it is hidden
 */
export function hintedIndex(
  indexes: readonly CollectionIndex[],
  hint: Exclude<Hint, { kind: "natural" }>,
): CollectionIndex {
  const wanted = hint.kind === "name" ? undefined : tolerantKeyPattern(hint.keyPattern);
  const index = indexes.find(({ spec }) =>
    hint.kind === "name" ? spec.name === hint.name : sameKey(spec.fields, wanted ?? []),
  );
  if (index && !index.spec.hidden) return index;
  throw new CommandError(
    ErrorCode.BadValue,
    "error processing query: planner returned error :: caused by :: hint provided does not correspond to an existing index",
  );
}

/** A hinted key pattern; one that no index can have simply matches none. */
function tolerantKeyPattern(pattern: Uint8Array): readonly KeyField[] {
  try {
    return parseKeyPattern(pattern);
  } catch {
    return [];
  }
}
