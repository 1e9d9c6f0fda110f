/** How strings compare where byte order is not wanted. */
export interface Collation {
  /** The complete specification, as explain and `listIndexes` show it. */
  readonly spec: Uint8Array;
  /** Negative, 0 or positive: the order of two strings. */
  compare(a: string, b: string): number;
  /** A string of characters 1–254 whose `<` and `===` are that order among all keys this collation has given. */
  key(text: string): string;
}

/** Whether two collations order alike; absent is the simple one. */
export function sameCollation(a: Collation | undefined, b: Collation | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.spec.length === b.spec.length && a.spec.every((byte, i) => byte === b.spec[i]);
}
