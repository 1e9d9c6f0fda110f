import type { ScanAccess } from "./access.js";
import { ABOVE, isPoint, singleRange, type FieldIntervals, type KeyInterval } from "./bounds/keyIntervals.js";
import { fieldCodecs } from "./indexInfo.js";

/** Stretches that are counted one by one; beyond that only the leading fields count. */
const MOST_STRETCHES = 64;

/**
 * How many keys a scan will examine, about: exact for one stretch, since the tree knows how many entries
 * lie between two keys.
 */
export function estimateKeys({ index, bounds, rawRange }: ScanAccess): number {
  if (rawRange) return index.ordered.count(rawRange.from, rawRange.to);
  if (bounds.some((intervals) => intervals.length === 0)) return 0;
  const single = singleRange(bounds, fieldCodecs(index));
  if (single) return index.ordered.count(single.from, single.to);
  let prefixes = [""];
  for (const intervals of bounds) {
    if (prefixes.length * intervals.length > MOST_STRETCHES) break;
    if (!intervals.every(isPoint)) return sumOf(prefixes, intervals, index.ordered);
    prefixes = prefixes.flatMap((prefix) => intervals.map(({ low }) => prefix + low));
  }
  let keys = 0;
  for (const prefix of prefixes) keys += index.ordered.count(prefix, prefix + ABOVE);
  return keys;
}

function sumOf(
  prefixes: readonly string[],
  intervals: FieldIntervals,
  tree: { count(from: string, to: string): number },
): number {
  let keys = 0;
  for (const prefix of prefixes) for (const interval of intervals) keys += stretch(prefix, interval, tree);
  return keys;
}

function stretch(
  prefix: string,
  { low, lowInclusive, high, highInclusive }: KeyInterval,
  tree: { count(from: string, to: string): number },
): number {
  const from = prefix + low + (lowInclusive ? "" : ABOVE);
  return tree.count(from, prefix + high + (highInclusive ? ABOVE : ""));
}
