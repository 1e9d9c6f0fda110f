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
  asNumber,
  asString,
  describeValue,
  double,
  fields,
  firstField,
  isNumeric,
  sortableKey,
  topLevelNames,
  type RawValue,
  type SortableKey,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { leastTuple } from "./tuples.js";

export interface SortField {
  readonly path: string;
  readonly direction: 1 | -1;
}

export interface Sort {
  /** The fields in order; one that sorts by metadata has the path `"$meta"`. */
  readonly fields: readonly SortField[];
  /** `{ $natural: 1 | -1 }`: the order of storage, and no fields. */
  readonly natural?: 1 | -1;
  /** The document's place: keys compare with `<`. */
  key(doc: Uint8Array): SortableKey;
  /** The values that make up the key: what `{ $meta: "sortKey" }` shows. */
  values(doc: Uint8Array): RawValue[];
}

const MAX_FIELDS = 32;
/** Metadata of text and vector search, and of geospatial queries, none of which a query here can have. */
const UNAVAILABLE: ReadonlyMap<string, string> = new Map([
  ["textScore", "text score"],
  ["searchScore", "$search score"],
  ["vectorSearchScore", "$vectorSearch distance"],
  ["geoNearDistance", "$geoNear distance"],
]);

/** One component of a sort: a path, or a random number (`{ $meta: "randVal" }`). */
type Part = FieldPath | "random";

/**
 * Compiles a sort specification.
 * @param options `collation`: how strings sort; `random`: the source of `{ $meta: "randVal" }`
 * @throws CommandError 15974 and 15975 for bad directions, 17312, 31138 and 40218 for bad metadata, 7472500 for a
 *   field that comes twice; `key` and `values` throw 2 for documents with parallel arrays on the sort's paths
 */
export function compileSort(spec: Uint8Array, options: ExpressionOptions = {}): Sort {
  const list: SortField[] = [];
  const parts: Part[] = [];
  const seen = new Set<string>();
  for (const [path, value] of fields(spec)) {
    if (value.type === BsonType.object) {
      readMeta(asDocument(value));
      list.push({ path: "$meta", direction: -1 });
      parts.push("random");
      continue;
    }
    const direction = readDirection(path, value);
    if (path === "$natural") return { fields: [], natural: direction, key: () => "", values: () => [] };
    checkPath(path);
    if (seen.has(path))
      throw new CommandError(7472500, `$sort key must not contain duplicate keys (duplicate: '${path}')`);
    seen.add(path);
    list.push({ path, direction });
    parts.push(new FieldPath(path));
  }
  if (list.length > MAX_FIELDS) throw new CommandError(ErrorCode.BadValue, "too many compound keys");
  const descending = list.map(({ direction }) => direction === -1);
  const { collation } = options;
  const values = valuesFunction(parts, descending, options);
  return { fields: list, values, key: (doc) => sortableKey(values(doc), descending, collation) };
}

function readDirection(path: string, value: RawValue): 1 | -1 {
  if (!isNumeric(value)) {
    throw new CommandError(15974, `Illegal key in $sort specification: ${path}: ${describeValue(value)}`);
  }
  const direction = Math.trunc(asNumber(value));
  if (direction === 1 || direction === -1) return direction;
  throw new CommandError(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
}

function readMeta(doc: Uint8Array): void {
  const [name, value] = firstField(doc) ?? [];
  if (name !== "$meta" || value === undefined)
    throw new CommandError(17312, "$meta is the only expression supported by $sort right now");
  if (topLevelNames(doc).length > 1) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      "Cannot have additional keys in a $meta sort specification",
    );
  }
  const what = value.type === BsonType.string ? asString(value) : "";
  if (what === "randVal") return;
  const unavailable = UNAVAILABLE.get(what);
  if (unavailable !== undefined)
    throw new CommandError(40218, `query requires ${unavailable} metadata, but it is not available`);
  throw new CommandError(31138, `Illegal $meta sort: $meta: ${describeValue(value)}`);
}

function checkPath(path: string): void {
  if (path === "") throw new CommandError(40352, "FieldPath cannot be constructed with empty string");
  if (path.endsWith(".")) throw new CommandError(40353, "FieldPath must not end with a '.'.");
  const parts = path.split(".");
  if (parts.includes("")) throw new CommandError(15998, "FieldPath field names may not be empty strings.");
  if (parts.length > 200) throw new CommandError(ErrorCode.Overflow, "FieldPath is too long");
  if (!parts.some((part) => part.startsWith("$") && part !== "$id" && part !== "$ref" && part !== "$db"))
    return;
  throw new CommandError(
    16410,
    "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
  );
}

function valuesFunction(
  parts: readonly Part[],
  descending: readonly boolean[],
  { collation, random }: ExpressionOptions,
): (doc: Uint8Array) => RawValue[] {
  const paths = parts.filter((part) => part !== "random");
  if (paths.length < parts.length) {
    if (random === undefined) throw notSimulated("sorting by random values here");
    const order = descending.filter((_, i) => parts[i] !== "random");
    const ofPaths = pathValues(paths, order, collation);
    return (doc) => {
      const values = ofPaths(doc);
      let next = 0;
      return parts.map((part) => (part === "random" ? double(random()) : values[next++]!));
    };
  }
  return pathValues(paths, descending, collation);
}

function pathValues(
  paths: readonly FieldPath[],
  descending: readonly boolean[],
  collation: ExpressionOptions["collation"],
): (doc: Uint8Array) => RawValue[] {
  return (doc) => {
    const values: RawValue[] = [];
    for (const path of paths) {
      const value = path.get(doc);
      if (
        value === undefined ? path.parts.length > 1 && path.meetsArray(doc) : value.type === BsonType.array
      ) {
        return leastTuple(doc, paths, descending, collation);
      }
      values.push(value ?? NULL);
    }
    return values;
  };
}
