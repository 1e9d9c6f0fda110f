/**
 * Builds a document by appending fields, without decoding any of them.
 *
 *     new DocumentWriter().string("ns", "library.events").int32("n", 3).field("min", bound).finish()
 *
 * The bytes grow in a buffer that is lent from a small pool and given back by
 * `finish`, which hands out a copy of exactly the right size: a writer costs
 * one allocation however many fields it gets, and small results share a slab.
 */
import { allocate, writeDouble, writeInt32, writeInt64, writeUtf8 } from "./bytes.js";
import { BsonError } from "./error.js";
import { documentLength } from "./raw.js";
import { BsonType, type RawValue } from "./value.js";

const POOL_LIMIT = 8;
const POOLED_BYTES = 65_536;
const pool: Uint8Array[] = [];
const FINISHED = new Uint8Array(0);

export class DocumentWriter {
  #buffer: Uint8Array = pool.pop() ?? new Uint8Array(1024);
  #at = 4;

  /** Makes room for `extra` more bytes. */
  #reserve(extra: number): void {
    if (this.#at + extra <= this.#buffer.length) return;
    if (this.#buffer === FINISHED) throw new BsonError("this document is finished");
    const grown = new Uint8Array(Math.max(this.#buffer.length * 2, this.#at + extra));
    grown.set(this.#buffer.subarray(0, this.#at));
    this.#buffer = grown;
  }

  /** Writes type byte and name, leaving room for `valueLength` more bytes. */
  #element(type: BsonType, name: string, valueLength: number): void {
    this.#reserve(name.length * 3 + 2 + valueLength);
    const buffer = this.#buffer;
    const start = this.#at + 1;
    buffer[this.#at] = type;
    const end = writeUtf8(buffer, start, name);
    if (name.includes("\0")) throw new BsonError("a field name cannot contain a NUL");
    buffer[end] = 0;
    this.#at = end + 1;
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    const buffer = this.#buffer;
    let at = this.#at;
    if (end - start <= 32) for (let i = start; i < end; i++) buffer[at++] = bytes[i]!;
    else buffer.set(bytes.subarray(start, end), at);
    this.#at += end - start;
  }

  /** Any value, its bytes as they are. */
  field(name: string, value: RawValue): this {
    this.#element(value.type, name, value.end - value.start);
    this.#copy(value.bytes, value.start, value.end);
    return this;
  }

  /** Throws RangeError for anything but a 32-bit integer. */
  int32(name: string, n: number): this {
    if ((n | 0) !== n) throw new RangeError(`${name}: ${n} is not a 32-bit integer`);
    this.#element(BsonType.int32, name, 4);
    writeInt32(this.#buffer, this.#at, n);
    this.#at += 4;
    return this;
  }

  int64(name: string, n: bigint | number): this {
    this.#element(BsonType.int64, name, 8);
    writeInt64(this.#buffer, this.#at, n);
    this.#at += 8;
    return this;
  }

  double(name: string, n: number): this {
    this.#element(BsonType.double, name, 8);
    writeDouble(this.#buffer, this.#at, n);
    this.#at += 8;
    return this;
  }

  string(name: string, s: string): this {
    this.#element(BsonType.string, name, 5 + s.length * 3);
    const start = this.#at + 4;
    const end = writeUtf8(this.#buffer, start, s);
    this.#buffer[end] = 0;
    writeInt32(this.#buffer, this.#at, end + 1 - start);
    this.#at = end + 1;
    return this;
  }

  bool(name: string, b: boolean): this {
    this.#element(BsonType.bool, name, 1);
    this.#buffer[this.#at++] = b ? 1 : 0;
    return this;
  }

  null(name: string): this {
    this.#element(BsonType.null, name, 0);
    return this;
  }

  /** @param ms milliseconds since 1970, an integer */
  date(name: string, ms: number | bigint): this {
    this.#element(BsonType.date, name, 8);
    writeInt64(this.#buffer, this.#at, ms);
    this.#at += 8;
    return this;
  }

  /** An embedded object. */
  document(name: string, doc: Uint8Array): this {
    const length = documentLength(doc);
    this.#element(BsonType.object, name, length);
    this.#copy(doc, 0, length);
    return this;
  }

  /** An array of documents. */
  arrayOf(name: string, docs: readonly Uint8Array[]): this {
    const start = this.#openArray(name);
    for (let i = 0; i < docs.length; i++) {
      const doc = docs[i]!;
      const length = documentLength(doc);
      this.#indexed(BsonType.object, i, length);
      this.#copy(doc, 0, length);
    }
    return this.#close(start);
  }

  /** An array of values. */
  values(name: string, values: readonly RawValue[]): this {
    const start = this.#openArray(name);
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      this.#indexed(value.type, i, value.end - value.start);
      this.#copy(value.bytes, value.start, value.end);
    }
    return this.#close(start);
  }

  /** Copies of all fields of `doc`. */
  fieldsOf(doc: Uint8Array): this {
    const length = documentLength(doc);
    this.#reserve(length);
    this.#copy(doc, 4, length - 1);
    return this;
  }

  /** Copies the whole elements, names and all, that lie at [start, end) of a document. */
  elements(bytes: Uint8Array, start: number, end: number): this {
    this.#reserve(end - start);
    this.#copy(bytes, start, end);
    return this;
  }

  #openArray(name: string): number {
    this.#element(BsonType.array, name, 5);
    this.#at += 4;
    return this.#at - 4;
  }

  /** Type byte and index of one array element, leaving room for its value. */
  #indexed(type: BsonType, index: number, valueLength: number): void {
    this.#reserve(valueLength + 12);
    const buffer = this.#buffer;
    buffer[this.#at++] = type;
    let digits = 1;
    for (let rest = index; rest >= 10; rest = (rest / 10) | 0) digits++;
    this.#at += digits;
    for (let at = this.#at - 1, rest = index; at >= this.#at - digits; at--, rest = (rest / 10) | 0) {
      buffer[at] = 48 + (rest % 10);
    }
    buffer[this.#at++] = 0;
  }

  /** Ends the embedded document that began at `start`. */
  #close(start: number): this {
    this.#reserve(1);
    this.#buffer[this.#at++] = 0;
    writeInt32(this.#buffer, start, this.#at - start);
    return this;
  }

  /** The document, in bytes of its own. The writer cannot be used any more. */
  finish(): Uint8Array {
    this.#reserve(1);
    this.#buffer[this.#at++] = 0;
    writeInt32(this.#buffer, 0, this.#at);
    const result = allocate(this.#at);
    result.set(this.#buffer.subarray(0, this.#at));
    if (pool.length < POOL_LIMIT && this.#buffer.length <= POOLED_BYTES) pool.push(this.#buffer);
    this.#buffer = FINISHED;
    return result;
  }
}

/** An array value of the given values. */
export function array(values: readonly RawValue[]): RawValue {
  const doc = new DocumentWriter().values("", values).finish();
  // { "": [ … ] }: the array begins behind length (4), type byte and the empty name's NUL.
  return { type: BsonType.array, bytes: doc, start: 6, end: doc.length - 1 };
}
