/** Reads `collation` documents. */
import type { Collation } from "../bson/index.js";
import { notSimulated } from "../protocol/index.js";

/**
 * A collation from its specification.
 * @returns undefined for the simple one
 */
export function parseCollation(spec: Uint8Array | undefined): Collation | undefined {
  if (spec === undefined || spec.length === 5) return undefined;
  throw notSimulated("a collation other than {locale: 'simple'}");
}
