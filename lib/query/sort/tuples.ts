/**
 * The sort key of a document whose sort paths lead through arrays.
 *
 * An array gives one tuple of values per element, as it gives an index one
 * key per element, and the document takes the place of the tuple that comes
 * first. Paths through the same array go on in the same element; paths into
 * two different arrays would multiply and are refused, as in MongoDB.
 */
import {
  BsonType,
  NULL,
  UNDEFINED,
  asDocument,
  compareValues,
  describeValue,
  document,
  elements,
  getField,
  type Collation,
  type FieldPath,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { isArrayIndex } from "../values/types.js";

/** One path on its way: at its value, or standing in front of an array with `parts[at…]` still to go. */
type Walk =
  | { readonly arrived: true; readonly value: RawValue }
  | {
      readonly arrived: false;
      readonly array: RawValue;
      readonly parts: readonly string[];
      readonly at: number;
    };

const MISSING: Walk = { arrived: true, value: NULL };

/** The tuple that comes first in the sort, among all that the document's arrays give. */
export function leastTuple(
  doc: Uint8Array,
  paths: readonly FieldPath[],
  descending: readonly boolean[],
  collation?: Collation,
): RawValue[] {
  const start = document(doc);
  let best: RawValue[] | undefined;
  for (const tuple of tuples(paths.map(({ parts }) => advance(start, parts, 0)))) {
    if (best === undefined || precedes(tuple, best, descending, collation)) best = tuple;
  }
  return best!;
}

function precedes(
  a: readonly RawValue[],
  b: readonly RawValue[],
  descending: readonly boolean[],
  collation: Collation | undefined,
): boolean {
  for (let i = 0; i < a.length; i++) {
    const order = compareValues(a[i]!, b[i]!, collation);
    if (order !== 0) return descending[i] ? order > 0 : order < 0;
  }
  return false;
}

/** Follows parts[at…] through objects, up to the value or to the first array. */
function advance(from: RawValue, parts: readonly string[], at: number): Walk {
  let value: RawValue | undefined = from;
  for (let i = at; ; i++) {
    if (value === undefined) return MISSING;
    if (value.type === BsonType.array) return { arrived: false, array: value, parts, at: i };
    if (i === parts.length) return { arrived: true, value };
    if (value.type !== BsonType.object) return MISSING;
    value = getField(asDocument(value), parts[i]!);
  }
}

function* tuples(walks: readonly Walk[]): Iterable<RawValue[]> {
  const waiting = walks.find((walk) => !walk.arrived);
  if (waiting === undefined) {
    yield walks.map((walk) => (walk as Walk & { arrived: true }).value);
    return;
  }
  const { array } = waiting as Walk & { arrived: false };
  for (const walk of walks) {
    if (!walk.arrived && (walk.array.bytes !== array.bytes || walk.array.start !== array.start)) {
      throw new CommandError(ErrorCode.BadValue, "cannot sort with keys that are parallel arrays");
    }
  }
  const list = elements(asDocument(array));
  if (list.length === 0) {
    yield walks.map((walk) => (walk.arrived ? walk.value : walk.at === walk.parts.length ? UNDEFINED : NULL));
    return;
  }
  for (const element of list) {
    yield* tuples(
      walks.map((walk) => (walk.arrived ? walk : enter(walk.parts, walk.at, element, list, array))),
    );
  }
}

/** Into one element; a number in the path picks its own. An array within an array is not spread again. */
function enter(
  parts: readonly string[],
  at: number,
  element: RawValue,
  list: readonly RawValue[],
  whole: RawValue,
): Walk {
  if (at === parts.length) return { arrived: true, value: element };
  const part = parts[at]!;
  if (isArrayIndex(part) && Number(part) < list.length) {
    if (element.type === BsonType.object && getField(asDocument(element), part) !== undefined) {
      throw new CommandError(
        16746,
        "Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), " +
          `field: '${part}' for array: ${describeValue(whole)}`,
      );
    }
    return advance(list[Number(part)]!, parts, at + 1);
  }
  return element.type === BsonType.object ? advance(element, parts, at) : MISSING;
}
