/**
 * Does a key grow (or fall) as documents are inserted? (facts-mongos.md §9.3)
 *
 * Record ids are given in the order of insertion. So read the documents in the order of the key and look at their
 * record ids: of a timestamp they come 1, 2, 3, …, of a random value in no order. How much of an order there is says
 * Pearson's correlation of the record ids with 1, 2, …, n:
 *
 *     key order       1  2  3  4        1  2  3  4        1  2  3  4
 *     record ids      1  2  3  4        4  3  2  1        2  4  1  3
 *     correlation        1                -1                 0
 *                     monotonic         monotonic         not monotonic
 *
 * A falling key counts as well: all inserts go to one end of it, which end does not matter.
 */

/** How a key was found to go with the order of insertion. */
export interface Monotonicity {
  readonly type: "monotonic" | "not monotonic" | "unknown";
  /** From -1 to 1, with ten decimals; absent for `unknown`. */
  readonly coefficient?: number;
}

/** Decimals of the figures that analyzeShardKey reports. */
const DECIMALS = 1e10;

/** A figure as analyzeShardKey reports it: ten decimals, halves away from zero. */
export function rounded(value: number): number {
  return (Math.sign(value) * Math.round(Math.abs(value) * DECIMALS)) / DECIMALS;
}

/**
 * Judges record ids in the order of the key.
 * @param allEqual every document has the same key: then their order means nothing
 * @param threshold from which absolute correlation on a key is monotonic; MongoDB's default is 0.7
 */
export function judge(recordIds: readonly number[], allEqual: boolean, threshold = 0.7): Monotonicity {
  if (allEqual || recordIds.length < 2) return { type: "not monotonic", coefficient: 0 };
  const coefficient = rounded(correlationWithOrder(recordIds));
  return { type: Math.abs(coefficient) >= threshold ? "monotonic" : "not monotonic", coefficient };
}

/** Pearson's correlation of (1, 2, …, n) with the values; 0 where they are all the same. */
export function correlationWithOrder(values: readonly number[]): number {
  const n = values.length;
  const meanX = (n + 1) / 2;
  const meanY = values.reduce((sum, y) => sum + y, 0) / n;
  let xy = 0;
  let xx = 0;
  let yy = 0;
  values.forEach((value, i) => {
    const x = i + 1 - meanX;
    const y = value - meanY;
    xy += x * y;
    xx += x * x;
    yy += y * y;
  });
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0;
}
