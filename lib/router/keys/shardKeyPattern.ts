/**
 * The shard key: which fields of a document decide where it lives.
 *
 * A pattern is an ordered list of paths, each ranged (`1`) or hashed. It turns a
 * document into a point of *chunk space*, the line that chunks cut into ranges:
 *
 *     key { region: 1, device: "hashed" }
 *     document { device: "dev-42", region: "EU", … }
 *       original values   ("EU", "dev-42")
 *       chunk space       ("EU", NumberLong("7632986869154119240"))
 *       sortable key      a string; `<` on it is BSON order on the tuple
 *
 * Rules (facts-mongos.md §1.3, §2.3, §4.2): a missing field counts as null; an
 * array anywhere on a key's path is refused; at most one field is hashed; a
 * hashed field sits in chunk space as the 64-bit hash, so ranges over the
 * original values mean nothing there.
 *
 * Nothing here decodes a document. Extraction walks the raw bytes to the key's
 * fields and stops.
 */
import type { RawValue, SortableKey } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  describeDocument,
  DocumentWriter,
  fields,
  FieldPath,
  firstField,
  hashedValue,
  hashWords,
  isNumeric,
  MAX_KEY,
  MIN_KEY,
  NULL,
  sortableHash,
  sortableKey,
  sortableValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { KeyField } from "../../query/index.js";
import type { ChunkMap } from "../catalog/chunkMap.js";
import type { Rules } from "../rules.js";

/** What extraction found on a document. */
export interface ExtractedKey {
  /** The document's point of chunk space. */
  readonly key: SortableKey;
  /** The same point as values, hashed where the key is hashed. */
  readonly values: readonly RawValue[];
}

/** A parsed shard key. */
export class ShardKeyPattern {
  /** The pattern as the user gave it, e.g. `{deviceId: "hashed"}`. */
  readonly document: Uint8Array;
  /** Its fields in order. */
  readonly fields: readonly KeyField[];
  /** Shell-like text, for messages and traces: `{ deviceId: "hashed" }`. */
  readonly text: string;
  /** Position of the hashed field, or -1. */
  readonly hashedField: number;
  /** The path of a key that is one hashed field; else undefined. */
  readonly onlyHashed: string | undefined;
  /** Whether `_id`, or a field inside it, is part of the key. */
  readonly includesId: boolean;
  /** The lower end of chunk space: every field MinKey. */
  readonly minimum: Uint8Array;
  /** The upper end: every field MaxKey. */
  readonly maximum: Uint8Array;
  readonly #paths: readonly FieldPath[];

  private constructor(document: Uint8Array, keyFields: readonly KeyField[]) {
    this.document = document;
    this.fields = keyFields;
    this.text = describeDocument(document);
    this.hashedField = keyFields.findIndex((field) => field.kind === "hashed");
    this.onlyHashed = keyFields.length === 1 && this.isHashed ? keyFields[0]!.path : undefined;
    this.#paths = keyFields.map((field) => new FieldPath(field.path));
    this.includesId = this.#paths.some((path) => path.parts[0] === "_id");
    this.minimum = this.boundOf(keyFields.map(() => MIN_KEY));
    this.maximum = this.boundOf(keyFields.map(() => MAX_KEY));
  }

  /**
   * Parses and checks a key pattern.
   * @param document e.g. `{region: 1, device: "hashed"}`
   * @param rules for what the release allows; absent when the pattern comes from the catalog
   * @throws CommandError BadValue (2), §1.3
   */
  static parse(document: Uint8Array, rules?: Rules): ShardKeyPattern {
    const pairs = fields(document);
    if (pairs.length === 0) throw new CommandError(ErrorCode.BadValue, "Shard key is empty");
    let hashed = 0;
    const keyFields = pairs.map(([path, value]): KeyField => {
      checkPath(path);
      const isHashed = value.type === BsonType.string && asString(value) === "hashed";
      const isRanged = isNumeric(value) && asNumber(value) === 1;
      if ((!isHashed && !isRanged) || (isHashed && ++hashed > 1)) {
        throw new CommandError(
          ErrorCode.BadValue,
          `Shard key ${describeDocument(document)} can contain at most one 'hashed' field, and/or multiple ` +
            `numerical fields set to a value of 1. Failed to parse field ${path}`,
        );
      }
      return { path, kind: isHashed ? "hashed" : 1 };
    });
    if (new Set(pairs.map(([path]) => path)).size < pairs.length) {
      throw new CommandError(
        ErrorCode.BadValue,
        `Shard key ${describeDocument(document)} names a field twice`,
      );
    }
    if (hashed > 0 && keyFields.length > 1 && rules && !rules.compoundHashedKeys) {
      throw new CommandError(
        ErrorCode.BadValue,
        `hashed shard keys currently only support single field keys, not ${describeDocument(document)}`,
      );
    }
    return new ShardKeyPattern(document.slice(), keyFields);
  }

  get isHashed(): boolean {
    return this.hashedField >= 0;
  }

  /** The field names in order. */
  get paths(): readonly string[] {
    return this.fields.map((field) => field.path);
  }

  /**
   * The chunk that a document belongs to: the hot path of every insert.
   * @param hash of a key that is one hashed field: gets the two words of the hash, low before high …
   * @param at … at this position and the next
   * @throws CommandError ShardKeyNotFound (61) for an array on the path
   */
  chunkOf(document: Uint8Array, chunks: ChunkMap, hash?: Int32Array, at = 0): number {
    if (this.onlyHashed === undefined) return chunks.find(this.keyOf(document));
    const value = placedValue(this.#paths[0]!, document);
    const words = hashWords(value);
    const low = words[0]!;
    const high = words[1]!;
    if (hash) {
      hash[at] = low;
      hash[at + 1] = high;
    }
    return chunks.hashLine()?.find(high, low) ?? chunks.find(sortableHash(value));
  }

  /**
   * The document's sortable key.
   * @throws CommandError ShardKeyNotFound (61) for an array on the path
   */
  keyOf(document: Uint8Array): SortableKey {
    if (this.#paths.length === 1) {
      const value = originalValue(this.#paths[0]!, document);
      return this.hashedField === 0 ? sortableHash(value) : sortableValue(value ?? NULL);
    }
    return sortableKey(this.valuesOf(document));
  }

  /** The document's point of chunk space as values. Same error as {@link keyOf}. */
  valuesOf(document: Uint8Array): RawValue[] {
    return this.#paths.map((_, position) => this.#chunkSpaceValue(document, position));
  }

  /** Both at once. */
  extract(document: Uint8Array): ExtractedKey {
    const values = this.valuesOf(document);
    return { key: sortableKey(values), values };
  }

  /**
   * The document's own key values, not hashed, missing as undefined.
   * @throws CommandError ShardKeyNotFound (61) for an array on the path
   */
  originalsOf(document: Uint8Array): (RawValue | undefined)[] {
    return this.#paths.map((path) => originalValue(path, document));
  }

  /** The first path of the key that meets an array in the document, or undefined. */
  arrayPath(document: Uint8Array): string | undefined {
    return this.#paths.find((path) => isArrayAt(path, document, path.get(document)))?.path;
  }

  /** Paths of the key that the document has no value for. */
  missingFrom(document: Uint8Array): string[] {
    return this.#paths.filter((path) => path.get(document) === undefined).map((path) => path.path);
  }

  /**
   * The point of chunk space for given original values, one per field.
   * @param originals missing as undefined
   */
  pointOf(originals: readonly (RawValue | undefined)[]): RawValue[] {
    return originals.map((value, i) => (i === this.hashedField ? hashedValue(value) : (value ?? NULL)));
  }

  /** A bound document `{field: value, …}` from chunk-space values. */
  boundOf(values: readonly RawValue[]): Uint8Array {
    const writer = new DocumentWriter();
    this.fields.forEach((field, i) => writer.field(field.path, values[i]!));
    return writer.finish();
  }

  /**
   * The values of a bound given by a user, e.g. `{x: 5}` of `split … middle`.
   * @returns undefined unless it has exactly the key's fields, in its order
   */
  valuesOfBound(bound: Uint8Array): RawValue[] | undefined {
    const pairs = fields(bound);
    if (pairs.length !== this.fields.length) return undefined;
    return pairs.every(([name], i) => name === this.fields[i]!.path)
      ? pairs.map(([, value]) => value)
      : undefined;
  }

  /**
   * Whether a document can be a bound of chunks: exactly the key's fields, in its order, each with a value that a
   * document could have there; for a hashed field that is a hash.
   */
  isBound(bound: Uint8Array): boolean {
    const values = this.valuesOfBound(bound);
    return values?.every((value, i) => isBoundValue(value, i === this.hashedField)) ?? false;
  }

  /** Whether the two patterns have the same fields, kinds and order. */
  equals(other: ShardKeyPattern): boolean {
    return (
      this.fields.length === other.fields.length &&
      this.fields.every(
        (field, i) => field.path === other.fields[i]!.path && field.kind === other.fields[i]!.kind,
      )
    );
  }

  #chunkSpaceValue(document: Uint8Array, position: number): RawValue {
    const value = originalValue(this.#paths[position]!, document);
    if (position === this.hashedField) return hashedValue(value);
    return value ?? NULL;
  }
}

/** A bound can be anything that a document can have: no array, no pattern, no operator. */
function isBoundValue(value: RawValue, hashed: boolean): boolean {
  const { type } = value;
  if (type === BsonType.minKey || type === BsonType.maxKey) return true;
  if (hashed) return type === BsonType.int64;
  if (type === BsonType.object) return !(firstField(asDocument(value))?.[0].startsWith("$") ?? false);
  return type !== BsonType.array && type !== BsonType.regex && type !== BsonType.undefined;
}

/** The value that was last looked at by {@link placedValue}. */
const spot: { type: BsonType; bytes: Uint8Array; start: number; end: number } = { ...NULL };

/** {@link originalValue} without an object for it: what it returns is valid until the next call. */
function placedValue(path: FieldPath, document: Uint8Array): RawValue | undefined {
  if (!path.place(document, spot) || spot.type === BsonType.array) return originalValue(path, document);
  spot.bytes = document;
  return spot;
}

/** The value at a key's path, refusing arrays (§4.2). `undefined` of BSON stays what it is. */
function originalValue(path: FieldPath, document: Uint8Array): RawValue | undefined {
  const value = path.get(document);
  if (isArrayAt(path, document, value)) {
    throw new CommandError(
      ErrorCode.ShardKeyNotFound,
      "Shard key cannot contain array values or array descendants.",
    );
  }
  return value;
}

/** @param value what the path leads to */
function isArrayAt(path: FieldPath, document: Uint8Array, value: RawValue | undefined): boolean {
  return value === undefined
    ? path.parts.length > 1 && path.meetsArray(document)
    : value.type === BsonType.array;
}

function checkPath(path: string): void {
  const complain = (what: string): never => {
    throw new CommandError(ErrorCode.BadValue, `Field ${path} ${what}`);
  };
  if (path === "") complain("is empty");
  if (path.startsWith(".") || path.endsWith(".")) complain("contains extra dot");
  const parts = path.split(".");
  if (parts.includes("")) complain("contains empty parts");
  if (parts.some((part) => part.startsWith("$"))) complain("contains parts that start with '$'");
}
