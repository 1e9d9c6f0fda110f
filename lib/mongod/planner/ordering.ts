/**
 * The order in which an access gives its records.
 *
 *     index {a: 1, b: 1, c: -1}, a: [5, 5]
 *
 *     sort {b: 1, c: -1}    given: a is always 5
 *     sort {b: -1, c: 1}    given backwards
 *     sort {b: 1, c: 1}     not given
 *
 * A few single values before the wanted order can be taken apart: `a: {$in:
 * [5, 7]}` sorted by b is two scans, each in order of b, that are merged
 * (SORT_MERGE). That is what makes "equality, sort, range" a good order for an
 * index's fields.
 *
 * In a multikey field a document stands at each of its elements. It may be in
 * order of the first one met only if all of them are looked at: sorting by an
 * array's field by index needs bounds from MinKey to MaxKey there.
 */
import type { Collation } from "../../bson/index.js";
import { sameCollation } from "../../bson/index.js";
import type { Sort, SortField } from "../../query/index.js";
import type { IndexAccess, OrAccess, ScanAccess } from "./access.js";
import { isPoint, mayHoldStrings, type FieldIntervals } from "./bounds/keyIntervals.js";
import { fieldCodecs, indexCollation, multikeyPrefixes } from "./indexInfo.js";

/** More scans than this are not made of one. */
const MOST_SCANS = 200;

/** An access in a wanted order. */
export interface OrderedAccess {
  readonly access: IndexAccess;
  /** It would have been in order, but for too many scans. */
  readonly tooManyScans: boolean;
  readonly ordered: boolean;
}

/** Turns or divides an access so that it gives the order, where that is possible. */
export function inOrder(access: IndexAccess, sort: Sort, collation: Collation | undefined): OrderedAccess {
  const wanted = sort.fields;
  const failed = (tooManyScans = false): OrderedAccess => ({ access, ordered: false, tooManyScans });
  if (access.kind === "scan") {
    const direction = directionFor(access, wanted, collation);
    if (direction !== 0) return { access: turned(access, direction), ordered: true, tooManyScans: false };
    const parts = partsOf(access, wanted, collation);
    if (!parts) return failed();
    if (parts === "too many") return failed(true);
    const divided: OrAccess = {
      kind: "or",
      branches: parts,
      merged: true,
      overlapping: access.index.multikey,
    };
    return { access: divided, ordered: true, tooManyScans: false };
  }
  const branches: ScanAccess[] = [];
  for (const branch of access.branches) {
    const one = inOrder(branch, sort, collation);
    if (!one.ordered) return failed(one.tooManyScans);
    if (one.access.kind === "scan") branches.push(one.access);
    else branches.push(...one.access.branches);
  }
  if (branches.length > MOST_SCANS) return failed(true);
  return { access: { ...access, branches, merged: true }, ordered: true, tooManyScans: false };
}

function turned(scan: ScanAccess, direction: 1 | -1): ScanAccess {
  const backward = direction === -1;
  return scan.backward === backward ? scan : { ...scan, backward };
}

/**
 * Whether the scan gives the wanted order forwards (1) or backwards (-1); 0 when neither.
 * Fields with a single possible value may be left out of the sort or stand anywhere in it.
 */
export function directionFor(
  { index, bounds, rawRange }: ScanAccess,
  wanted: readonly SortField[],
  collation: Collation | undefined,
): 1 | -1 | 0 {
  const { fields } = index.spec;
  const foreign = !sameCollation(indexCollation(index), collation);
  const codecs = fieldCodecs(index);
  const intervalsOf = (i: number): FieldIntervals =>
    rawRange ? (codecs[i]?.all ?? []) : (bounds[i] as FieldIntervals);
  const isPinned = (i: number): boolean => {
    const [only, second] = intervalsOf(i);
    return only !== undefined && !second && isPoint(only) && fields[i]?.kind !== "hashed";
  };
  let direction: 1 | -1 | 0 = 0;
  let at = 0;
  for (const { path, direction: wantedDirection } of wanted) {
    const position = fields.findIndex((field) => field.path === path);
    if (position === -1) return 0;
    const prefixes = multikeyPrefixes(index, position);
    if (prefixes.length === 0 && isPinned(position)) {
      // Equal under the index's collation is not equal under another.
      if (foreign && mayHoldStrings(intervalsOf(position), fields[position]!)) return 0;
      continue;
    }
    while (at < position && isPinned(at)) at++;
    const field = fields[at];
    if (at !== position || !field || field.kind === "hashed") return 0;
    if (foreign && mayHoldStrings(intervalsOf(at), field)) return 0;
    if (prefixes.length > 0 && !seesWholeArrays(index, prefixes, intervalsOf)) return 0;
    const turn = field.kind === wantedDirection ? 1 : -1;
    if (direction !== 0 && direction !== turn) return 0;
    direction = turn;
    at++;
  }
  return direction === 0 ? 1 : direction;
}

/** Whether no field through one of these arrays is bounded: then a document is met at its first element. */
function seesWholeArrays(
  index: ScanAccess["index"],
  prefixes: readonly string[],
  intervalsOf: (i: number) => FieldIntervals,
): boolean {
  return fieldCodecs(index).every(
    (codec, i) =>
      codec.isAll(intervalsOf(i)) || !multikeyPrefixes(index, i).some((prefix) => prefixes.includes(prefix)),
  );
}

/** One scan for each combination of the single values before the sort's fields. */
function partsOf(
  scan: ScanAccess,
  wanted: readonly SortField[],
  collation: Collation | undefined,
): readonly ScanAccess[] | "too many" | undefined {
  const { bounds, rawRange } = scan;
  if (rawRange) return undefined;
  let leading = 0;
  let count = 1;
  while (leading < bounds.length) {
    const intervals = bounds[leading] as FieldIntervals;
    if (intervals.length === 0 || !intervals.every(isPoint)) break;
    count *= intervals.length;
    leading++;
  }
  // Nothing to take apart, or no field left to give an order.
  if (count < 2 || leading === bounds.length) return undefined;
  const sample = part(scan, leading, 0);
  const direction = directionFor(sample, wanted, collation);
  if (direction === 0) return undefined;
  if (count > MOST_SCANS) return "too many";
  return Array.from({ length: count }, (_, n) => turned(part(scan, leading, n), direction));
}

/** The n-th combination of the leading fields' single values. */
function part(scan: ScanAccess, leading: number, n: number): ScanAccess {
  let rest = n;
  const bounds = [...scan.bounds];
  for (let i = leading - 1; i >= 0; i--) {
    const intervals = scan.bounds[i] as FieldIntervals;
    bounds[i] = [intervals[rest % intervals.length]!];
    rest = Math.floor(rest / intervals.length);
  }
  return { ...scan, bounds };
}
