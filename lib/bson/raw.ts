/**
 * Reading documents where they lie.
 *
 * A document is walked element by element: type byte, name up to its NUL,
 * then as many value bytes as the type says. Nothing is decoded but what the
 * caller asks for, so finding a shard key in a 16 KB document costs the walk
 * over the names in front of it and no more.
 *
 * Documents that come from outside pass `validateDocument` (validate.ts)
 * first. The walk itself is still safe on bytes that did not: every step goes
 * forward and stays below the document's end, or a {@link BsonError} is
 * thrown.
 */
import { allocate, decodeUtf8, encodeUtf8, readInt32, writeInt32 } from "./bytes.js";
import { BsonError } from "./error.js";
import { BsonType, type RawValue } from "./value.js";

/** The document `{}`. */
export const EMPTY_DOCUMENT: Uint8Array = Uint8Array.of(5, 0, 0, 0, 0);

/** Value length of the types of fixed size; -1 for all others. */
const FIXED_LENGTH = new Int8Array(256).fill(-1);
for (const [type, length] of [
  [BsonType.double, 8],
  [BsonType.undefined, 0],
  [BsonType.objectId, 12],
  [BsonType.bool, 1],
  [BsonType.date, 8],
  [BsonType.null, 0],
  [BsonType.int32, 4],
  [BsonType.timestamp, 8],
  [BsonType.int64, 8],
  [BsonType.decimal128, 16],
  [BsonType.minKey, 0],
  [BsonType.maxKey, 0],
] as const) {
  FIXED_LENGTH[type] = length;
}

/** Length in bytes of the document at `offset`. Throws {@link BsonError} when it doesn't fit into `bytes`. */
export function documentLength(bytes: Uint8Array, offset = 0): number {
  const length = readInt32(bytes, offset);
  if (length < 5 || length > bytes.length - offset) {
    throw new BsonError(`document length ${length} does not fit into ${bytes.length - offset} bytes`);
  }
  return length;
}

/**
 * Position of the NUL that closes the document at `offset`: the limit of a
 * walk over its elements. It is checked to be a NUL, so that the search for
 * the end of a name stops there at the latest and needs no limit of its own.
 */
export function closingNul(bytes: Uint8Array, offset: number): number {
  const limit = offset + documentLength(bytes, offset) - 1;
  if (bytes[limit] !== 0) throw new BsonError("a document without its closing NUL");
  return limit;
}

/** Position of the first NUL from `at` on, which must come before `limit`, itself a {@link closingNul}. */
export function endOfName(bytes: Uint8Array, at: number, limit: number): number {
  if (at < limit) while (bytes[at] !== 0) at++;
  if (at >= limit) throw new BsonError("a field name or pattern does not end within its document");
  return at;
}

/**
 * Position behind the value of type `type` that starts at `at`, checked to lie
 * at or before `limit`, the {@link closingNul} of the value's document.
 */
export function endOfValue(bytes: Uint8Array, type: number, at: number, limit: number): number {
  const fixed = FIXED_LENGTH[type]!;
  const end = fixed >= 0 ? at + fixed : endOfVariable(bytes, type, at, limit);
  if (end > limit) throw new BsonError("a value reaches beyond the end of its document");
  return end;
}

function endOfVariable(bytes: Uint8Array, type: number, at: number, limit: number): number {
  if (type === BsonType.regex) return endOfName(bytes, endOfName(bytes, at, limit) + 1, limit) + 1;
  const length = readInt32(bytes, at);
  switch (type) {
    case BsonType.string:
    case BsonType.code:
    case BsonType.symbol:
      if (length < 1) break;
      return at + 4 + length;
    case BsonType.binary:
      if (length < 0) break;
      return at + 5 + length;
    case BsonType.dbPointer:
      if (length < 1) break;
      return at + 16 + length;
    case BsonType.object:
    case BsonType.array:
      if (length < 5) break;
      return at + length;
    case BsonType.codeWithScope:
      if (length < 14) break;
      return at + length;
    default:
      throw new BsonError(`unknown BSON type ${type}`);
  }
  throw new BsonError(`length ${length} is too short for BSON type ${type}`);
}

/**
 * Start of the scope (a document) within a code with scope at [start, end),
 * which is `int32 total, int32 code length, code, NUL, document`.
 */
export function startOfScope(bytes: Uint8Array, start: number, end: number): number {
  const codeLength = readInt32(bytes, start + 4);
  const scope = start + 8 + codeLength;
  if (codeLength < 1 || scope + 5 > end) throw new BsonError("a code with scope of wrong length");
  return scope;
}

/**
 * Calls `visit` for each field in order, until it returns false.
 * @param visit gets the decoded name and the value.
 */
export function forEachField(
  doc: Uint8Array,
  visit: (name: string, value: RawValue) => boolean | void,
): void {
  const limit = closingNul(doc, 0);
  let at = 4;
  while (at < limit) {
    const type = doc[at]! as BsonType;
    const nameEnd = endOfName(doc, at + 1, limit);
    const end = endOfValue(doc, type, nameEnd + 1, limit);
    const value: RawValue = { type, bytes: doc, start: nameEnd + 1, end };
    if (visit(decodeUtf8(doc, at + 1, nameEnd), value) === false) return;
    at = end;
  }
}

/** All fields of a document in order, as [name, value]. */
export function fields(doc: Uint8Array): Array<[name: string, value: RawValue]> {
  const list: Array<[string, RawValue]> = [];
  const limit = closingNul(doc, 0);
  let at = 4;
  while (at < limit) {
    const type = doc[at]! as BsonType;
    const nameEnd = endOfName(doc, at + 1, limit);
    const end = endOfValue(doc, type, nameEnd + 1, limit);
    list.push([decodeUtf8(doc, at + 1, nameEnd), { type, bytes: doc, start: nameEnd + 1, end }]);
    at = end;
  }
  return list;
}

/** Values of an array in order (or of an object, names left aside). */
export function elements(arrayDoc: Uint8Array): RawValue[] {
  const list: RawValue[] = [];
  const limit = closingNul(arrayDoc, 0);
  let at = 4;
  while (at < limit) {
    const type = arrayDoc[at]! as BsonType;
    const start = endOfName(arrayDoc, at + 1, limit) + 1;
    at = endOfValue(arrayDoc, type, start, limit);
    list.push({ type, bytes: arrayDoc, start, end: at });
  }
  return list;
}

/** Number of values of an array, or of fields of an object. */
export function elementCount(doc: Uint8Array): number {
  const limit = closingNul(doc, 0);
  let count = 0;
  for (let at = 4; at < limit; count++)
    at = endOfValue(doc, doc[at]!, endOfName(doc, at + 1, limit) + 1, limit);
  return count;
}

/** Names of a document's own fields, in order. */
export function topLevelNames(doc: Uint8Array): string[] {
  const list: string[] = [];
  const limit = closingNul(doc, 0);
  let at = 4;
  while (at < limit) {
    const nameEnd = endOfName(doc, at + 1, limit);
    list.push(decodeUtf8(doc, at + 1, nameEnd));
    at = endOfValue(doc, doc[at]!, nameEnd + 1, limit);
  }
  return list;
}

/** True for a document without fields. */
export function isEmptyDocument(doc: Uint8Array): boolean {
  return documentLength(doc) === 5;
}

/** The first field of a document, or undefined for `{}`. The name of a command is the name of its first field. */
export function firstField(doc: Uint8Array): [name: string, value: RawValue] | undefined {
  const limit = closingNul(doc, 0);
  if (limit === 4) return undefined;
  const type = doc[4]! as BsonType;
  const nameEnd = endOfName(doc, 5, limit);
  const end = endOfValue(doc, type, nameEnd + 1, limit);
  return [decodeUtf8(doc, 5, nameEnd), { type, bytes: doc, start: nameEnd + 1, end }];
}

/** Where a value lies in the bytes that are being read. */
export interface Place {
  type: BsonType;
  start: number;
  end: number;
}

/**
 * Looks for the field `name` of the document that starts at `offset` in `bytes`, the name given in UTF-8.
 * @param place where its value is, if there is one: the hot paths make no object for each value
 */
export function placeField(bytes: Uint8Array, offset: number, name: Uint8Array, place: Place): boolean {
  const limit = closingNul(bytes, offset);
  const length = name.length;
  let at = offset + 4;
  while (at < limit) {
    const type = bytes[at++]! as BsonType;
    let matched = 0;
    while (matched < length && bytes[at + matched] === name[matched]) matched++;
    const nameEnd = endOfName(bytes, at + matched, limit);
    const end = endOfValue(bytes, type, nameEnd + 1, limit);
    if (matched === length && nameEnd === at + length) {
      place.type = type;
      place.start = nameEnd + 1;
      place.end = end;
      return true;
    }
    at = end;
  }
  return false;
}

const found: Place = { type: BsonType.null, start: 0, end: 0 };

/**
 * The field `name` of the document that starts at `offset` in `bytes`, the
 * name given in UTF-8. Undefined when there is none.
 */
export function findField(bytes: Uint8Array, offset: number, name: Uint8Array): RawValue | undefined {
  if (!placeField(bytes, offset, name, found)) return undefined;
  return { type: found.type, bytes, start: found.start, end: found.end };
}

/** Names in UTF-8. A program uses few different names, so they are kept; a flood of made-up ones starts afresh. */
const encodedNames = new Map<string, Uint8Array>();

/** A field name in UTF-8. The bytes are shared: never write to them. */
export function nameBytes(name: string): Uint8Array {
  let bytes = encodedNames.get(name);
  if (bytes === undefined) {
    bytes = encodeUtf8(name);
    if (bytes.includes(0)) throw new BsonError("a field name cannot contain a NUL");
    if (encodedNames.size >= 2000) encodedNames.clear();
    if (bytes.length <= 200) encodedNames.set(name, bytes);
  }
  return bytes;
}

/** The document that {@link surveyNames} looked at last, and a bit for each of its top-level names. */
let surveyed: Uint8Array | undefined;
let surveyedNames = 0;

/** One of 32 bits for a name: different names may share one. */
function nameBit(bytes: Uint8Array, start: number, end: number): number {
  return start === end ? 1 : 1 << (bytes[start]! * 3 + bytes[end - 1]! + (end - start) * 5);
}

/**
 * Makes {@link getField} quick for names that a document does not have, until another one is surveyed. A server asks
 * a command's body for some forty fields, of which it has five. The document must not change meanwhile; at the end
 * {@link forgetNames} lets go of it.
 */
export function surveyNames(doc: Uint8Array): void {
  const limit = closingNul(doc, 0);
  let names = 0;
  for (let at = 4; at < limit;) {
    const nameEnd = endOfName(doc, at + 1, limit);
    names |= nameBit(doc, at + 1, nameEnd);
    at = endOfValue(doc, doc[at]!, nameEnd + 1, limit);
  }
  surveyed = doc;
  surveyedNames = names;
}

/** See {@link surveyNames}. */
export function forgetNames(): void {
  surveyed = undefined;
}

/** The document's own field `name` (no dots understood), or undefined. */
export function getField(doc: Uint8Array, name: string): RawValue | undefined {
  const bytes = nameBytes(name);
  if (doc === surveyed && (surveyedNames & nameBit(bytes, 0, bytes.length)) === 0) return undefined;
  return findField(doc, 0, bytes);
}

/** Names of fields, for {@link withoutFields}. */
export class NameSet {
  readonly #names: ReadonlySet<string>;
  readonly #bits: number;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
    let bits = 0;
    for (const name of this.#names) {
      const bytes = nameBytes(name);
      bits |= nameBit(bytes, 0, bytes.length);
    }
    this.#bits = bits;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#names.values();
  }

  /** Whether a name in UTF-8 is one of them. */
  hasBytes(bytes: Uint8Array, start: number, end: number): boolean {
    return (this.#bits & nameBit(bytes, start, end)) !== 0 && this.#names.has(decodeUtf8(bytes, start, end));
  }
}

/** A copy of `doc` without the top-level fields of these names; neighbours that stay are copied in one piece. */
export function withoutFields(doc: Uint8Array, names: NameSet): Uint8Array {
  const limit = closingNul(doc, 0);
  const kept = allocate(limit + 1);
  let size = 4;
  let from = 4;
  const keepUpTo = (end: number): void => {
    if (end > from) kept.set(doc.subarray(from, end), size);
    size += end - from;
  };
  for (let at = 4; at < limit;) {
    const nameEnd = endOfName(doc, at + 1, limit);
    const end = endOfValue(doc, doc[at]!, nameEnd + 1, limit);
    if (names.hasBytes(doc, at + 1, nameEnd)) {
      keepUpTo(at);
      from = end;
    }
    at = end;
  }
  keepUpTo(limit);
  writeInt32(kept, 0, size + 1);
  return kept.subarray(0, size + 1);
}

/**
 * A copy of `doc` with one more field in front.
 * @example prependField(doc, "_id", objectId(bytes))
 */
export function prependField(doc: Uint8Array, name: string, value: RawValue): Uint8Array {
  const length = documentLength(doc);
  const encoded = nameBytes(name);
  const valueLength = value.end - value.start;
  const total = length + 2 + encoded.length + valueLength;
  const result = allocate(total);
  writeInt32(result, 0, total);
  result[4] = value.type;
  result.set(encoded, 5);
  let at = 6 + encoded.length;
  result.set(value.bytes.subarray(value.start, value.end), at);
  at += valueLength;
  result.set(doc.subarray(4, length), at);
  return result;
}
