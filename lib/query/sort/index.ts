/**
 * Sorting: `{ a: 1, "b.c": -1 }` as a key string per document.
 *
 * The key of a document is a string whose plain `<` order is the wanted order,
 * descending fields already turned around, so that a shard sorts strings and
 * the router merges streams by comparing strings.
 *
 * A missing field sorts as null. An array sorts by its least element where
 * ascending, by its greatest where descending (an empty array as undefined,
 * below null). Several fields through the same array of objects are taken
 * from the same element:
 *
 *     sort { "a.x": 1, "a.y": 1 }, a: [{ x: 2, y: 1 }, { x: 1, y: 9 }]   →   key of (1, 9)
 */
import {
  BsonType,
  FieldPath,
  NULL,
  asDocument,
  fields,
  getField,
  sortableKey,
  type RawValue,
  type SortableKey,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { wholeNumber } from "../values/numeric.js";
import { leastTuple } from "./tuples.js";

export interface SortField {
  readonly path: string;
  readonly direction: 1 | -1;
}

export interface Sort {
  readonly fields: readonly SortField[];
  /** `{ $natural: 1 | -1 }`: the order of storage, and no fields. */
  readonly natural?: 1 | -1;
  /** The document's place: keys compare with `<`. */
  key(doc: Uint8Array): SortableKey;
}

const MAX_FIELDS = 32;

/**
 * Compiles a sort specification.
 * @throws CommandError 15975 for a direction other than 1 and -1, 238 for `$meta`; `key` throws 2 for documents with
 *   parallel arrays on the sort's paths
 */
export function compileSort(spec: Uint8Array): Sort {
  const list: SortField[] = [];
  for (const [path, value] of fields(spec)) {
    if (value.type === BsonType.object && getField(asDocument(value), "$meta") !== undefined) {
      throw notSimulated("sorting by $meta");
    }
    const direction = wholeNumber(value);
    if (direction !== 1 && direction !== -1) {
      throw new CommandError(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
    }
    if (path === "$natural") return { fields: [], natural: direction, key: () => "" };
    if (path === "" || path.split(".").includes("")) {
      throw new CommandError(15998, "FieldPath field names may not be empty strings.");
    }
    if (path.startsWith("$")) {
      throw new CommandError(
        16410,
        "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
      );
    }
    list.push({ path, direction });
  }
  if (list.length > MAX_FIELDS) throw new CommandError(ErrorCode.BadValue, "too many compound keys");
  return { fields: list, key: keyFunction(list) };
}

function keyFunction(list: readonly SortField[]): (doc: Uint8Array) => SortableKey {
  const paths = list.map(({ path }) => new FieldPath(path));
  const descending = list.map(({ direction }) => direction === -1);
  return (doc) => {
    const values: RawValue[] = [];
    for (const path of paths) {
      const value = path.get(doc);
      if (
        value === undefined ? path.parts.length > 1 && path.meetsArray(doc) : value.type === BsonType.array
      ) {
        return sortableKey(leastTuple(doc, paths, descending), descending);
      }
      values.push(value ?? NULL);
    }
    return sortableKey(values, descending);
  };
}
