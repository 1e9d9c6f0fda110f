/**
 * Which keys a document has in an index.
 *
 * One key for most documents; a missing field is null in it. An array makes the
 * index *multikey*: the document gets one key for each element.
 *
 *     index {a: 1}          {a: 5}                   → (5)
 *                           {}                       → (null)
 *                           {a: [1, 2, 2]}           → (1) (2)
 *                           {a: []}                  → (undefined)
 *     index {a.b: 1, c: 1}  {a: [{b: 1}, {b: 2}], c: 7} → (1, 7) (2, 7)
 *                           {a: [1], c: 7}           → (null, 7)
 *
 * Two fields of a compound index may lie in the same array and are then taken
 * element by element; two different arrays would need every combination, which
 * MongoDB refuses (CannotIndexParallelArrays, 171). A hashed field holds the
 * 64-bit hash of its value (facts-mongos.md §2); an index with one cannot meet an array (16766).
 * Strings are ordered by the index's collation, where it has one.
 *
 * Almost every document takes the short way: no array, each value read once
 * from raw BSON.
 */
import type { Collation, KeyBytes, RawValue, SortableKey } from "../../bson/index.js";
import {
  addHashToKey,
  addHashWordsToKey,
  addToKey,
  asDocument,
  beginKey,
  BsonType,
  elements,
  FieldPath,
  getField,
  hashedValue,
  keyInto,
  NULL,
  sortableHash,
  sortableKey,
  sortableValue,
  UNDEFINED,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { KeyField } from "../../query/index.js";

/** The hash of the value at one path of a document. No array lies on that path. */
export interface KnownHash {
  readonly path: string;
  high: number;
  low: number;
}

/** The value that {@link IndexKeys.writeKey} looks at: one object for all of them. */
const spot = { type: NULL.type as BsonType, bytes: NULL.bytes, start: 0, end: 0 };

/** Extracts the keys of one index from documents. */
export class IndexKeys {
  /** By field: whether it is stored in descending order. */
  readonly descending: readonly boolean[];
  private readonly paths: readonly FieldPath[];
  private readonly hashed: readonly boolean[];
  private readonly single: boolean;

  /** @param collation the index's own object */
  constructor(
    private readonly fields: readonly KeyField[],
    private readonly collation?: Collation,
  ) {
    this.paths = fields.map((field) => new FieldPath(field.path));
    this.hashed = fields.map((field) => field.kind === "hashed");
    this.descending = fields.map((field) => field.kind === -1);
    this.single = fields.length === 1 && fields[0]?.kind !== -1;
  }

  /**
   * The document's key, or its keys when it is multikey here.
   * @param sparse leave out documents that have none of the fields: `[]`
   * @throws CommandError 171 for parallel arrays, 16766 for an array on a hashed index's path
   */
  of(document: Uint8Array, sparse: boolean): SortableKey | SortableKey[] {
    if (this.single) {
      const path = this.paths[0] as FieldPath;
      const value = path.get(document);
      if (!meetsArray(path, value, document)) {
        if (sparse && value === undefined) return [];
        return this.hashed[0] ? sortableHash(value) : sortableValue(value ?? NULL, this.collation);
      }
    }
    const values = this.plainValues(document);
    if (values) {
      if (sparse && values.every((value) => value === undefined)) return [];
      return this.encode(values);
    }
    const tuples = this.tuples(document);
    if (sparse)
      return distinct(tuples.filter((tuple) => tuple.some(Boolean)).map((tuple) => this.encode(tuple)));
    return distinct(tuples.map((tuple) => this.encode(tuple)));
  }

  /**
   * Writes the key of a document that has exactly one, without arrays, without a string: the way of nearly every insert.
   * @param known a hash of the document
   * @returns false where {@link of} must be asked
   */
  writeKey(document: Uint8Array, sparse: boolean, target: KeyBytes, known?: KnownHash): boolean {
    spot.bytes = document;
    const written = this.writeFields(document, sparse, target, known);
    // Nothing here may keep a client's message.
    spot.bytes = NULL.bytes;
    return written;
  }

  private writeFields(document: Uint8Array, sparse: boolean, target: KeyBytes, known?: KnownHash): boolean {
    const { paths } = this;
    let present = !sparse;
    beginKey(this.collation);
    for (let i = 0; i < paths.length; i++) {
      const path = paths[i] as FieldPath;
      // A sparse index must know whether there is a value at all.
      if (known !== undefined && this.hashed[i] && !sparse && path.path === known.path) {
        addHashWordsToKey(known.high, known.low);
        continue;
      }
      const found = path.place(document, spot);
      if (found ? spot.type === BsonType.array : path.parts.length > 1 && path.meetsArray(document))
        return false;
      present ||= found;
      if (this.hashed[i]) addHashToKey(found ? spot : undefined);
      else addToKey(found ? spot : NULL, this.descending[i] as boolean);
    }
    if (present) keyInto(target);
    return present;
  }

  /**
   * The document's key values, one tuple for each key; undefined stands for a missing field.
   * The slow way; also tells what a duplicate key's `keyValue` is.
   */
  tuples(document: Uint8Array): (RawValue | undefined)[][] {
    const values = this.plainValues(document);
    if (values) return [values];
    if (this.hashed.includes(true)) {
      const found = this.arrayPrefixes(document).flat()[0] ?? "";
      throw new CommandError(
        16766,
        `Error: hashed indexes do not currently support array values. Found array at path: ${found}`,
      );
    }
    const result: (RawValue | undefined)[][] = [];
    const root: RawValue = { type: BsonType.object, bytes: document, start: 0, end: document.length };
    const walks = this.paths.map((path) => ({ parts: path.parts, at: 0, value: root, done: false }));
    expand(walks, result);
    return result;
  }

  /** The sortable key of one tuple. */
  encode(tuple: readonly (RawValue | undefined)[]): SortableKey {
    if (this.single) {
      const value = tuple[0];
      return this.hashed[0] ? sortableHash(value) : sortableValue(value ?? NULL, this.collation);
    }
    return sortableKey(
      tuple.map((value, i) => (this.hashed[i] ? hashedValue(value) : (value ?? NULL))),
      this.descending,
      this.collation,
    );
  }

  /** For each field, the prefixes of its path that lead to arrays in this document, shortest first. */
  arrayPrefixes(document: Uint8Array): string[][] {
    const root: RawValue = { type: BsonType.object, bytes: document, start: 0, end: document.length };
    return this.paths.map(({ parts }) => {
      const prefixes = new Set<string>();
      collectArrays(root, parts, 0, prefixes);
      return [...prefixes].sort((a, b) => a.length - b.length);
    });
  }

  /** The values at the index's paths, or undefined when one of them meets an array. */
  plainValues(document: Uint8Array): (RawValue | undefined)[] | undefined {
    const values: (RawValue | undefined)[] = [];
    for (const path of this.paths) {
      const value = path.get(document);
      if (meetsArray(path, value, document)) return undefined;
      values.push(value);
    }
    return values;
  }
}

/** Adds the prefixes of a path at which arrays are met from `value` on; `at` components have been walked. */
function collectArrays(
  value: RawValue | undefined,
  parts: readonly string[],
  at: number,
  prefixes: Set<string>,
): void {
  if (value?.type === BsonType.object) {
    if (at < parts.length)
      collectArrays(getField(asDocument(value), parts[at] as string), parts, at + 1, prefixes);
    return;
  }
  if (value?.type !== BsonType.array) return;
  const element = at < parts.length ? elementAt(value, parts[at] as string) : undefined;
  if (element) {
    collectArrays(element, parts, at + 1, prefixes);
    return;
  }
  prefixes.add(parts.slice(0, at).join("."));
  if (at === parts.length) return;
  for (const member of elements(asDocument(value)))
    if (member.type === BsonType.object) collectArrays(member, parts, at, prefixes);
}

/** Whether a path that was read as `value` has an array on it. */
function meetsArray(path: FieldPath, value: RawValue | undefined, document: Uint8Array): boolean {
  if (value) return value.type === BsonType.array;
  return path.parts.length > 1 && path.meetsArray(document);
}

/** How far one field of the index has walked into the document. */
interface Walk {
  readonly parts: readonly string[];
  readonly at: number;
  readonly value: RawValue | undefined;
  /** At the end of its path, or at an array element that is taken as it is. */
  readonly done: boolean;
}

/** Adds the tuples of all `walks` to `result`, going into at most one array at a time. */
function expand(walks: readonly Walk[], result: (RawValue | undefined)[][]): void {
  const here = walks.map(walkToArray);
  const first = here.find((walk) => !walk.done);
  if (!first?.value) {
    result.push(here.map((walk) => walk.value));
    return;
  }
  const array = first.value;
  for (const walk of here) {
    if (!walk.done && walk.value && !samePlace(walk.value, array)) {
      throw new CommandError(
        ErrorCode.CannotIndexParallelArrays,
        `cannot index parallel arrays [${fieldReached(walk)}] [${fieldReached(first)}]`,
      );
    }
  }
  const members = elements(asDocument(array));
  const choices: readonly RawValue[] = members.length > 0 ? members : [UNDEFINED];
  for (const member of choices) {
    expand(
      here.map((walk): Walk => {
        if (walk.done) return walk;
        if (walk.at === walk.parts.length) return { ...walk, value: member, done: true };
        // Only objects are entered: an element that is a scalar or an array lacks the rest of the path.
        if (member.type !== BsonType.object) return { ...walk, value: undefined, done: true };
        return { ...walk, value: member };
      }),
      result,
    );
  }
}

/** Follows the path until it ends, breaks off or stands on an array. */
function walkToArray(walk: Walk): Walk {
  if (walk.done) return walk;
  const { parts } = walk;
  let { at, value } = walk;
  while (value && at < parts.length) {
    const name = parts[at] as string;
    if (value.type === BsonType.object) {
      value = getField(asDocument(value), name);
    } else if (value.type === BsonType.array) {
      const element = elementAt(value, name);
      if (!element) return { parts, at, value, done: false };
      value = element;
    } else {
      value = undefined;
    }
    at++;
  }
  return { parts, at, value, done: value?.type !== BsonType.array };
}

/** The element that a path component like `"0"` names, if the array has it. */
function elementAt(array: RawValue, name: string): RawValue | undefined {
  if (!/^(?:0|[1-9]\d*)$/.test(name)) return undefined;
  const members = elements(asDocument(array));
  const element = members[Number(name)];
  if (!element) return undefined;
  if (members.some((member) => member.type === BsonType.object && getField(asDocument(member), name))) {
    throw new CommandError(
      16746,
      `Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '${name}'`,
    );
  }
  return element;
}

/** Whether two values are the same bytes of the same document. */
function samePlace(a: RawValue, b: RawValue): boolean {
  return a.bytes.buffer === b.bytes.buffer && a.bytes.byteOffset + a.start === b.bytes.byteOffset + b.start;
}

function fieldReached(walk: Walk): string {
  return walk.parts[Math.max(0, walk.at - 1)] ?? "";
}

function distinct(keys: SortableKey[]): SortableKey[] {
  return keys.length < 2 ? keys : [...new Set(keys)];
}
