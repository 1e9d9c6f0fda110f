/**
 * Little-endian reads and writes on a Uint8Array.
 *
 * BSON is little-endian throughout. A DataView would do all of this, but
 * making one for each document costs more than the few reads that a router
 * needs, so integers are put together by hand and only doubles go through one
 * shared eight-byte view. 64-bit integers travel as two 32-bit halves: a
 * signed high half and an unsigned low half; no BigInt on any hot path.
 *
 * A read beyond the end of an array gives 0, never an exception: whoever
 * walks untrusted bytes checks lengths first (see raw.ts).
 */

const scratch = new DataView(new ArrayBuffer(8));

/** Signed 32-bit integer at `at`. */
export function readInt32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** Unsigned 32-bit integer at `at`. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) >>> 0;
}

/** IEEE 754 double at `at`. */
export function readDouble(bytes: Uint8Array, at: number): number {
  scratch.setInt32(0, readInt32(bytes, at), true);
  scratch.setInt32(4, readInt32(bytes, at + 4), true);
  return scratch.getFloat64(0, true);
}

/** Signed 64-bit integer at `at` as the nearest double: exact up to 2^53. */
export function readInt64Lossy(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at + 4) * 4294967296 + readUint32(bytes, at);
}

/** Signed 64-bit integer at `at`. */
export function readInt64(bytes: Uint8Array, at: number): bigint {
  return int64OfWords(readInt32(bytes, at + 4), readInt32(bytes, at));
}

/** The int64 made of a high and a low 32-bit half. */
export function int64OfWords(high: number, low: number): bigint {
  scratch.setInt32(0, low, true);
  scratch.setInt32(4, high, true);
  return scratch.getBigInt64(0, true);
}

/** Writes the low 32 bits of a number, little-endian. */
export function writeInt32(bytes: Uint8Array, at: number, n: number): void {
  bytes[at] = n;
  bytes[at + 1] = n >>> 8;
  bytes[at + 2] = n >>> 16;
  bytes[at + 3] = n >>> 24;
}

/** Writes a double, little-endian. */
export function writeDouble(bytes: Uint8Array, at: number, n: number): void {
  scratch.setFloat64(0, n, true);
  writeInt32(bytes, at, scratch.getInt32(0, true));
  writeInt32(bytes, at + 4, scratch.getInt32(4, true));
}

/** Writes a whole number as int64: a bigint modulo 2^64, or a number, which must be an integer within ±2^63. */
export function writeInt64(bytes: Uint8Array, at: number, n: bigint | number): void {
  if (typeof n === "bigint") {
    scratch.setBigInt64(0, n, true);
    writeInt32(bytes, at, scratch.getInt32(0, true));
    writeInt32(bytes, at + 4, scratch.getInt32(4, true));
    return;
  }
  if (!Number.isInteger(n) || n < -9223372036854775808 || n >= 9223372036854775808) {
    throw new RangeError(`${n} is not a 64-bit integer`);
  }
  const high = Math.floor(n / 4294967296);
  writeInt32(bytes, at, n - high * 4294967296);
  writeInt32(bytes, at + 4, high);
}

/** High and low 32 bits of a double, as `words[0]` (high, signed) and `words[1]` (low, signed). */
export function doubleWords(n: number, words: Int32Array): void {
  scratch.setFloat64(0, n, false);
  words[0] = scratch.getInt32(0, false);
  words[1] = scratch.getInt32(4, false);
}

/** The double of a high and a low 32-bit half. */
export function doubleOfWords(high: number, low: number): number {
  scratch.setInt32(0, high, false);
  scratch.setInt32(4, low, false);
  return scratch.getFloat64(0, false);
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** Text of the UTF-8 bytes [start, end); malformed sequences become U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= 32) {
    let text = "";
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (byte > 127) return decoder.decode(bytes.subarray(start, end));
      text += String.fromCharCode(byte);
    }
    return text;
  }
  return decoder.decode(bytes.subarray(start, end));
}

/** UTF-8 bytes of a text; lone surrogates become U+FFFD. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * Writes a text as UTF-8 into `bytes` from `at`, which must have room for
 * three bytes for each UTF-16 unit. Returns the position behind it.
 */
export function writeUtf8(bytes: Uint8Array, at: number, text: string): number {
  const length = text.length;
  if (length <= 64) {
    let index = 0;
    while (index < length) {
      const code = text.charCodeAt(index);
      if (code > 127) break;
      bytes[at + index++] = code;
    }
    if (index === length) return at + length;
  }
  return at + encoder.encodeInto(text, bytes.subarray(at)).written;
}

const SLAB_BYTES = 4096;
let slab = new Uint8Array(SLAB_BYTES);
let slabAt = 0;

/**
 * `length` zero bytes. An array of more than 64 bytes costs V8 a malloc of its
 * own, three times as long as cutting a piece from a slab, so small ones share
 * slabs of 4 KB: their `buffer` is not theirs alone, and one piece that is
 * kept keeps at most its slab.
 */
export function allocate(length: number): Uint8Array {
  if (length <= 64 || length > SLAB_BYTES / 8) return new Uint8Array(length);
  if (slabAt + length > SLAB_BYTES) {
    slab = new Uint8Array(SLAB_BYTES);
    slabAt = 0;
  }
  const piece = slab.subarray(slabAt, slabAt + length);
  slabAt += length;
  return piece;
}

/** -1, 0 or 1: order of the bytes a[aStart, aEnd) and b[bStart, bEnd), a proper prefix coming first. */
export function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aLength = aEnd - aStart;
  const bLength = bEnd - bStart;
  const common = aLength < bLength ? aLength : bLength;
  for (let i = 0; i < common; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return aLength === bLength ? 0 : aLength < bLength ? -1 : 1;
}
