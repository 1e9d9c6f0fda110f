/**
 * Dotted paths, compiled once and used on many documents.
 *
 * Three questions are asked of a path, and they treat arrays differently:
 *
 * - {@link FieldPath.get}: the shard key's view. Objects are entered, arrays
 *   are not: a key value never lies inside an array.
 * - {@link FieldPath.meetsArray}: may this document be inserted at all? A
 *   shard key path must not meet an array (facts §2.3, ShardKeyNotFound).
 * - {@link FieldPath.valuesOf}: a multikey index's view. One document gives
 *   one key for each array element.
 *
 *     path "a.b"      { a: { b: 1 } }       get → 1          valuesOf → [1]
 *                     { a: [{ b: 1 }, {}] } get → undefined  valuesOf → [1, null]
 *                     { a: { b: [1, 2] } }  get → [1, 2]     valuesOf → [1, 2]
 */
import { BsonError } from "./error.js";
import { closingNul, endOfName, endOfValue, findField, nameBytes, placeField, type Place } from "./raw.js";
import { BsonType, NULL, UNDEFINED, type RawValue } from "./value.js";

/** What a multikey index sees of one path in one document. */
export interface PathValues {
  /** One value for each array element met; null where a spot of the path is missing; never empty. May repeat. */
  readonly values: RawValue[];
  /** The path leads nowhere in this document: what keeps it out of a sparse index. */
  readonly missing: boolean;
  /** An array was spread. */
  readonly multikey: boolean;
}

export class FieldPath {
  readonly path: string;
  readonly parts: readonly string[];
  readonly #names: readonly Uint8Array[];

  /** @param path one or more field names separated by dots, e.g. "address.zip" */
  constructor(path: string) {
    this.path = path;
    this.parts = path.split(".");
    this.#names = this.parts.map(nameBytes);
  }

  /** The value at the path, entering objects only; undefined when it is missing or behind an array. */
  get(doc: Uint8Array): RawValue | undefined {
    const names = this.#names;
    let value = findField(doc, 0, names[0]!);
    for (let i = 1; i < names.length; i++) {
      if (value === undefined || value.type !== BsonType.object) return undefined;
      value = findField(doc, value.start, names[i]!);
    }
    return value;
  }

  /**
   * {@link get} without an object for the value.
   * @param place where the value is in `doc`, if there is one
   */
  place(doc: Uint8Array, place: Place): boolean {
    const names = this.#names;
    if (!placeField(doc, 0, names[0]!, place)) return false;
    for (let i = 1; i < names.length; i++) {
      if (place.type !== BsonType.object || !placeField(doc, place.start, names[i]!, place)) return false;
    }
    return true;
  }

  /** True when an array stands at any component of the path, the last included. */
  meetsArray(doc: Uint8Array): boolean {
    const names = this.#names;
    let value = findField(doc, 0, names[0]!);
    for (let i = 1; i < names.length; i++) {
      if (value === undefined || value.type !== BsonType.object) break;
      value = findField(doc, value.start, names[i]!);
    }
    return value !== undefined && value.type === BsonType.array;
  }

  /**
   * The index keys of the path: arrays spread, one level at each component.
   * An empty array at the end counts as undefined, as in MongoDB's indexes. A
   * number in the path picks an array's element when it has one there.
   */
  valuesOf(doc: Uint8Array): PathValues {
    const found: Found = { values: [], present: false, multikey: false };
    this.#collect(doc, 0, 0, found);
    return { values: found.values, missing: !found.present, multikey: found.multikey };
  }

  /** Collects from component `part` on, in the object at `offset`. */
  #collect(bytes: Uint8Array, offset: number, part: number, found: Found): void {
    this.#follow(findField(bytes, offset, this.#names[part]!), part, found);
  }

  /** Goes on from the value of component `part`. */
  #follow(value: RawValue | undefined, part: number, found: Found): void {
    const last = part === this.#names.length - 1;
    if (value === undefined) {
      found.values.push(NULL);
    } else if (value.type === BsonType.array) {
      this.#spread(value, part, last, found);
    } else if (last) {
      found.present = true;
      found.values.push(value);
    } else if (value.type === BsonType.object) {
      this.#collect(value.bytes, value.start, part + 1, found);
    } else {
      found.values.push(NULL);
    }
  }

  #spread(array: RawValue, part: number, last: boolean, found: Found): void {
    if (!last && isIndex(this.parts[part + 1]!)) {
      const element = findField(array.bytes, array.start, this.#names[part + 1]!);
      if (element !== undefined) {
        this.#follow(element, part + 1, found);
        return;
      }
    }
    found.multikey = true;
    const { bytes } = array;
    const limit = closingNul(bytes, array.start);
    let at = array.start + 4;
    if (at === limit) {
      if (last) found.present = true;
      found.values.push(last ? UNDEFINED : NULL);
    }
    while (at < limit) {
      const type = bytes[at]! as BsonType;
      const start = endOfName(bytes, at + 1, limit) + 1;
      at = endOfValue(bytes, type, start, limit);
      if (last) {
        found.present = true;
        found.values.push({ type, bytes, start, end: at });
      } else if (type === BsonType.object) {
        this.#collect(bytes, start, part + 1, found);
      } else {
        found.values.push(NULL);
      }
    }
  }
}

interface Found {
  values: RawValue[];
  present: boolean;
  multikey: boolean;
}

/** A component that can be an array's index: "0", "7", "12", but not "01" or "". */
function isIndex(part: string): boolean {
  return /^(0|[1-9][0-9]*)$/.test(part);
}

/** Compiled paths of {@link getPath}; few different ones are in use. */
const compiled = new Map<string, FieldPath>();

/**
 * The value at a dotted path, entering objects only: an array on the way
 * gives undefined. For one path on many documents, keep a {@link FieldPath}.
 */
export function getPath(doc: Uint8Array, path: string): RawValue | undefined {
  let fieldPath = compiled.get(path);
  if (fieldPath === undefined) {
    if (path.length > 1000) throw new BsonError("a path of more than 1000 characters");
    fieldPath = new FieldPath(path);
    if (compiled.size >= 1000) compiled.clear();
    compiled.set(path, fieldPath);
  }
  return fieldPath.get(doc);
}
