/**
 * How a query reads its collection: the planner's choice.
 *
 * A candidate is an index whose first field the filter bounds, or whose order
 * is the wanted one. Sizes are exact here (the tree counts a range without
 * reading it), so the candidate that examines least wins, where MongoDB lets
 * the candidates run for a while and keeps the most productive; both agree
 * wherever one index is plainly better.
 *
 *     {_id: 7} alone                         EXPRESS_IXSCAN
 *     a bounded index                        IXSCAN, then FETCH
 *     $or, each branch with a bounded index  OR of IXSCANs, then FETCH
 *     nothing of it                          COLLSCAN
 *
 * A sparse index lacks the documents without its fields. It may answer only
 * where the bounds of one of its fields leave out null (unless hinted: then
 * the caller gets what the index has, as in MongoDB). Hidden indexes are not seen.
 */
import type { RawValue } from "../../bson/index.js";
import {
  describeDocument,
  FieldPath,
  hashedValue,
  MAX_KEY,
  MIN_KEY,
  NULL,
  sortableKey,
  topLevelNames,
  getField,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { FieldBounds, FilterNode, KeyField } from "../../query/index.js";
import { keyBounds } from "../../query/index.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { parseKeyPattern, sameKey } from "../storage/indexSpec.js";
import {
  ABOVE,
  describeInterval,
  isFull,
  isPoint,
  type KeyRange,
  keyRanges,
  withinBounds,
} from "./keyRanges.js";
import type { Hint, Query } from "./query.js";
import type { IndexAccess } from "./scans.js";

/** A way to read the collection. */
export type Access =
  | { readonly kind: "collection"; readonly backward: boolean; readonly sorted: boolean }
  | { readonly kind: "express"; readonly key: string }
  | ({ readonly kind: "index" } & IndexCandidate)
  | { readonly kind: "or"; readonly branches: readonly IndexCandidate[] };

/** One index and how well it serves. */
export interface IndexCandidate extends IndexAccess {
  /** The ranges and the residual say all that the filter says. */
  readonly exact: boolean;
  /** The index gives the wanted order. */
  readonly sorted: boolean;
  /** Keys that will be examined. */
  readonly keys: number;
  /** Leading fields that the filter bounds. */
  readonly bounded: number;
}

/**
 * Chooses how to read.
 * @throws CommandError for a hint that names no index (2), and for min or max without a fitting one (51173, 51174, 51175)
 */
export function chooseAccess(collection: Collection, query: Query): Access {
  const { hint } = query;
  if (hint?.kind === "natural") {
    if (query.min || query.max) throw minMaxNeedsHint();
    return { kind: "collection", backward: hint.backward, sorted: !query.sort };
  }
  if (hint) {
    const index = findHinted(collection, hint);
    if (query.min || query.max) return { kind: "index", ...minMaxAccess(index, query) };
    return { kind: "index", ...candidate(index, query.filter.node, query) };
  }
  if (query.min || query.max) throw minMaxNeedsHint();
  return (
    expressAccess(collection, query) ??
    bestIndex(collection, query) ??
    orAccess(collection, query) ?? { kind: "collection", backward: false, sorted: !query.sort }
  );
}

/** `{_id: value}` and nothing else. */
function expressAccess(collection: Collection, query: Query): Access | undefined {
  const { node } = query.filter;
  if (node.op !== "eq" || node.path !== "_id" || query.skip > 0) return undefined;
  const bounds = keyBounds(node, collection.idIndex.spec.fields, { multikey: false });
  const [range] = keyRanges(collection.idIndex.spec.fields, bounds.fields).ranges;
  if (!bounds.exact || range?.point === undefined) return undefined;
  return { kind: "express", key: range.point };
}

function bestIndex(collection: Collection, query: Query): Access | undefined {
  const candidates = candidatesFor(collection, query.filter.node, query);
  const best = cheapest(candidates, collection.records.count, query);
  return best && { kind: "index", ...best };
}

function candidatesFor(collection: Collection, node: FilterNode, query: Query | undefined): IndexCandidate[] {
  const result: IndexCandidate[] = [];
  for (const index of collection.indexes) {
    if (index.spec.hidden) continue;
    const found = candidate(index, node, query);
    const missesSome = index.spec.sparse && !leavesOutNull(index, node);
    if ((found.bounded > 0 || (found.sorted && query?.sort)) && !missesSome) result.push(found);
  }
  return result;
}

/** The candidate that examines least; on a tie one in the wanted order, then the more bounded, then the older one. */
function cheapest(
  candidates: readonly IndexCandidate[],
  documents: number,
  query: Query,
): IndexCandidate | undefined {
  const fewest = Math.min(documents, ...candidates.map((one) => one.keys));
  const wanted = query.limit > 0 ? query.limit + query.skip : Infinity;
  const cost = (one: IndexCandidate): number => {
    if (one.keys === 0) return 0;
    if (!one.sorted) return one.keys * (1 + Math.log2(one.keys + 2) / 16);
    // In order, the scan ends once it has enough; matches are assumed to lie evenly among its keys.
    return Math.min(one.keys, (wanted * one.keys) / Math.max(1, fewest));
  };
  let best: IndexCandidate | undefined;
  for (const one of candidates) {
    if (!best) {
      best = one;
      continue;
    }
    const difference =
      cost(one) - cost(best) || Number(best.sorted) - Number(one.sorted) || best.bounded - one.bounded;
    if (difference < 0) best = one;
  }
  return best;
}

/** An `$or` whose branches all have a bounded index. */
function orAccess(collection: Collection, query: Query): Access | undefined {
  const { node } = query.filter;
  const or = node.op === "and" ? node.children.find((child) => child.op === "or") : node;
  if (or?.op !== "or") return undefined;
  const branches: IndexCandidate[] = [];
  for (const child of or.children) {
    const best = cheapest(candidatesFor(collection, child, undefined), collection.records.count, query);
    if (!best) return undefined;
    branches.push(best);
  }
  return { kind: "or", branches };
}

/** How one index would serve a filter and, when given, the query's order. */
function candidate(index: CollectionIndex, node: FilterNode, query: Query | undefined): IndexCandidate {
  const { fields } = index.spec;
  const bounds = keyBounds(node, fields, { multikey: index.multikey });
  const { ranges, narrowed } = keyRanges(fields, bounds.fields);
  const unnarrowed = fields
    .map((field, i) => ({ field, bounds: bounds.fields[i] ?? [] }))
    .filter((one, i) => i >= narrowed && !isFull(one.bounds));
  const residual = unnarrowed.length > 0 && !index.multikey ? keyCheck(unnarrowed) : undefined;
  const direction = query?.sort ? orderOf(index, bounds.fields, query.sort.compiled.fields) : 1;
  const backward = direction === -1;
  let bounded = 0;
  while (bounded < fields.length && !isFull(bounds.fields[bounded] ?? [])) bounded++;
  return {
    index,
    ranges,
    backward,
    ...(residual && { residual }),
    describeBounds: (down) => describeBounds(fields, bounds.fields, down),
    exact: bounds.exact && (unnarrowed.length === 0 || residual !== undefined),
    sorted: direction !== 0,
    keys: countKeys(index, ranges),
    bounded,
  };
}

function keyCheck(
  unnarrowed: readonly { field: KeyField; bounds: FieldBounds }[],
): (document: Uint8Array) => boolean {
  const checks = unnarrowed.map(({ field, bounds }) => ({
    path: new FieldPath(field.path),
    hashed: field.kind === "hashed",
    bounds,
  }));
  return (document) =>
    checks.every(({ path, hashed, bounds }) => {
      const value = path.get(document);
      return withinBounds(hashed ? hashedValue(value) : (value ?? NULL), bounds);
    });
}

function countKeys(index: CollectionIndex, ranges: readonly KeyRange[]): number {
  let keys = 0;
  for (const range of ranges) {
    if (range.point !== undefined && index.pointLookup) keys += index.find(range.point) === undefined ? 0 : 1;
    else if (range.from === "" && range.to === ABOVE) keys += index.size;
    else keys += index.ordered.count(range.from, range.to);
  }
  return keys;
}

/**
 * Whether the index, read forwards (1) or backwards (-1), gives the wanted order; 0 when neither.
 * Fields with a single possible value may be left out of the sort or stand anywhere in it.
 */
function orderOf(
  index: CollectionIndex,
  bounds: readonly FieldBounds[],
  wanted: readonly { readonly path: string; readonly direction: number }[],
): 1 | -1 | 0 {
  if (index.multikey) return 0;
  const pinned = (i: number): boolean => {
    const [only] = bounds[i] ?? [];
    return (
      bounds[i]?.length === 1 &&
      only !== undefined &&
      isPoint(only) &&
      index.spec.fields[i]?.kind !== "hashed"
    );
  };
  const pinnedPaths = new Set(index.spec.fields.filter((_, i) => pinned(i)).map((field) => field.path));
  let direction: 1 | -1 | 0 = 0;
  let at = 0;
  for (const { path, direction: wantedDirection } of wanted) {
    if (pinnedPaths.has(path)) continue;
    while (at < index.spec.fields.length && pinned(at)) at++;
    const field = index.spec.fields[at];
    if (!field || field.path !== path || field.kind === "hashed") return 0;
    const turn = field.kind === wantedDirection ? 1 : -1;
    if (direction !== 0 && direction !== turn) return 0;
    direction = turn;
    at++;
  }
  return direction === 0 ? 1 : direction;
}

/** Whether the filter keeps documents without any of the index's fields out. */
function leavesOutNull(index: CollectionIndex, node: FilterNode): boolean {
  const bounds = keyBounds(node, index.spec.fields, { multikey: index.multikey });
  return index.spec.fields.some((field, i) => {
    const missing = field.kind === "hashed" ? hashedValue(undefined) : NULL;
    return !withinBounds(missing, bounds.fields[i] ?? []);
  });
}

function describeBounds(
  fields: readonly KeyField[],
  bounds: readonly FieldBounds[],
  backward: boolean,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.map(({ path, kind }, i) => {
      const down = (kind === -1) !== backward;
      const texts = (bounds[i] ?? []).map((interval) => describeInterval(interval, down));
      return [path, down ? texts.reverse() : texts];
    }),
  );
}

function findHinted(collection: Collection, hint: Exclude<Hint, { kind: "natural" }>): CollectionIndex {
  const index = collection.indexes.find(({ spec }) =>
    hint.kind === "name"
      ? spec.name === hint.name
      : sameKey(spec.fields, tolerantKeyPattern(hint.keyPattern)),
  );
  if (!index || index.spec.hidden) {
    throw new CommandError(
      ErrorCode.BadValue,
      "error processing query: planner returned error :: caused by :: hint provided does not correspond to an existing index",
    );
  }
  return index;
}

/** A hinted key pattern; one that no index can have simply matches none. */
function tolerantKeyPattern(pattern: Uint8Array): readonly KeyField[] {
  try {
    return parseKeyPattern(pattern);
  } catch {
    return [];
  }
}

/** All keys from `min` to below `max`. */
function minMaxAccess(index: CollectionIndex, query: Query): IndexCandidate {
  const { fields } = index.spec;
  const { descending } = index.keys;
  const encode = (bound: Uint8Array): string => sortableKey(boundValues(fields, bound), descending);
  const from = query.min ? encode(query.min) : "";
  const to = query.max ? encode(query.max) : ABOVE;
  if (query.min && query.max && from >= to)
    throw new CommandError(
      51175,
      "The value provided for min() does not come before the value provided for max()",
    );
  const ranges: KeyRange[] = [{ from, to }];
  const wanted = query.sort?.compiled.fields;
  const full = fields.map((): FieldBounds => [
    { low: MIN_KEY, lowInclusive: true, high: MAX_KEY, highInclusive: true },
  ]);
  const direction = wanted ? orderOf(index, full, wanted) : 1;
  return {
    index,
    ranges,
    backward: direction === -1,
    describeBounds: () => ({
      startKey: query.min ? describeDocument(query.min) : "",
      endKey: query.max ? describeDocument(query.max) : "",
    }),
    exact: false,
    sorted: direction !== 0,
    keys: index.ordered.count(from, to),
    bounded: fields.length,
  };
}

/** The values of a min or max document; its fields must be the index's, in order. */
function boundValues(fields: readonly KeyField[], bound: Uint8Array): RawValue[] {
  const names = topLevelNames(bound);
  if (names.length !== fields.length || names.some((name, i) => name !== fields[i]?.path))
    throw new CommandError(51174, "The index chosen is not compatible with min/max");
  return names.map((name) => getField(bound, name) as RawValue);
}

function minMaxNeedsHint(): CommandError {
  return new CommandError(51173, "When using min()/max() a hint of which index to use must be provided");
}
