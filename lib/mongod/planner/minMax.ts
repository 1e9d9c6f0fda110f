/** `min` and `max`: a stretch of the hinted index, given by keys instead of conditions. */
import type { RawValue } from "../../bson/index.js";
import { describeDocument, DocumentWriter, fields, MAX_KEY, MIN_KEY, sortableKey } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { ABOVE } from "./bounds/keyIntervals.js";
import { fieldCodecs, indexCollation } from "./indexInfo.js";
import type { Query } from "./query.js";

/** Keys with `from` ≤ key < `to`, and the values they were made of. */
export interface RawRange {
  readonly from: string;
  readonly to: string;
  /** The first key, as explain shows it. */
  readonly startKey: Uint8Array;
  readonly endKey: Uint8Array;
}

/**
 * The stretch of an index from `min`, inclusive, to `max`, exclusive.
 * @throws CommandError 51174 where they are not the index's fields, 51175 where min is not before max
 */
export function minMaxRange(index: CollectionIndex, query: Query): RawRange {
  const min = query.min && boundValues(index, query.min);
  const max = query.max && boundValues(index, query.max);
  const { descending } = index.keys;
  const encode = (values: readonly RawValue[]): string =>
    sortableKey(values, descending, indexCollation(index));
  const from = min ? encode(min) : "";
  const to = max ? encode(max) : ABOVE;
  if (min && max && from >= to) {
    throw new CommandError(
      51175,
      "The value provided for min() does not come before the value provided for max()",
    );
  }
  const ends = fieldCodecs(index).map(({ field }) =>
    field.kind === -1 ? { first: MAX_KEY, last: MIN_KEY } : { first: MIN_KEY, last: MAX_KEY },
  );
  return {
    from,
    to,
    startKey: keyDocument(min ?? ends.map(({ first }) => first)),
    endKey: keyDocument(max ?? ends.map(({ last }) => last)),
  };
}

/** `min` and `max` without the hint that they need. */
export function minMaxNeedsHint(): CommandError {
  return new CommandError(51173, "When using min()/max() a hint of which index to use must be provided");
}

/** Explain's bounds: the two keys as text. */
export function describeRange({ startKey, endKey }: RawRange): Record<string, unknown> {
  return { startKey: describeDocument(startKey), endKey: describeDocument(endKey) };
}

/** The values of a bound; its fields must be the index's, in order. */
function boundValues(index: CollectionIndex, bound: Uint8Array): RawValue[] {
  const given = fields(bound);
  const own = index.spec.fields;
  if (given.length !== own.length || given.some(([name], i) => name !== own[i]?.path))
    throw new CommandError(51174, "The index chosen is not compatible with min/max");
  return given.map(([, value]) => value);
}

/** A key without field names, as MongoDB shows it: `{ : 1, : "a" }`. */
function keyDocument(values: readonly RawValue[]): Uint8Array {
  const writer = new DocumentWriter();
  for (const value of values) writer.field("", value);
  return writer.finish();
}
