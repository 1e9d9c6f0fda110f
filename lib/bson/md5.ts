/**
 * MD5 (RFC 1321) in plain JavaScript.
 *
 * MongoDB's hashed indexes take the first eight bytes of an MD5, so every
 * insert into a hashed collection computes one. Almost every key fits into a
 * single 64-byte block, and for one block a straight line of 64 steps in local
 * variables is several times faster than calling a native hash function and
 * wrapping its result. Hence the unrolled body below: it is the inner loop of
 * the router, and the one place of this project that is written to be fast
 * first.
 *
 * The message is built in a buffer of this module, padded in place and read as
 * 32-bit words:
 *
 *     message | 0x80 | zeros | bit length, int64 LE        a multiple of 64 bytes
 *
 * The result stays in {@link state}: words A, B, C, D, little-endian each.
 */
import { writeInt32 } from "./bytes.js";

const LITTLE_ENDIAN = new Uint8Array(Int32Array.of(1).buffer)[0] === 1;
const SMALL = 1024;

/** The message to hash; write to it after {@link reserve}. Replaced when it must grow. */
export let message = new Uint8Array(SMALL);
let words = new Int32Array(message.buffer);

/** The digest of the last {@link md5}: four 32-bit words. */
export const state = new Int32Array(4);

/** Bytes that a message of `length` bytes takes with its padding. */
function paddedLength(length: number): number {
  return ((length + 8) >>> 6) * 64 + 64;
}

/** Makes room for a message of `length` bytes, keeping the first `kept` bytes that are there. */
export function reserve(length: number, kept: number): void {
  const needed = paddedLength(length);
  if (needed > message.length) replaceMessage(needed * 2, kept);
}

function replaceMessage(size: number, kept: number): void {
  const grown = new Uint8Array(size);
  grown.set(message.subarray(0, kept));
  message = grown;
  words = new Int32Array(grown.buffer);
}

/** Hashes message[0, length) into {@link state}. */
export function md5(length: number): void {
  const total = paddedLength(length);
  let at = length;
  message[at++] = 0x80;
  while ((at & 3) !== 0) message[at++] = 0;
  for (let word = at >>> 2; word < (total >>> 2) - 2; word++) words[word] = 0;
  writeInt32(message, total - 8, length << 3);
  writeInt32(message, total - 4, length >>> 29);
  if (!LITTLE_ENDIAN) swapWords(total);
  state[0] = 0x67452301;
  state[1] = 0xefcdab89;
  state[2] = 0x98badcfe;
  state[3] = 0x10325476;
  for (let word = 0; word < total >>> 2; word += 16) block(word);
  // One huge value must not keep its buffer for ever.
  if (message.length > 1_048_576) replaceMessage(SMALL, 0);
}

/** On a big-endian machine the words must be turned before they are read as such. */
function swapWords(total: number): void {
  for (let at = 0; at < total; at += 4) message.subarray(at, at + 4).reverse();
}

/** The block of sixteen words that starts at word `at`. */
function block(at: number): void {
  const x0 = words[at]!;
  const x1 = words[at + 1]!;
  const x2 = words[at + 2]!;
  const x3 = words[at + 3]!;
  const x4 = words[at + 4]!;
  const x5 = words[at + 5]!;
  const x6 = words[at + 6]!;
  const x7 = words[at + 7]!;
  const x8 = words[at + 8]!;
  const x9 = words[at + 9]!;
  const x10 = words[at + 10]!;
  const x11 = words[at + 11]!;
  const x12 = words[at + 12]!;
  const x13 = words[at + 13]!;
  const x14 = words[at + 14]!;
  const x15 = words[at + 15]!;
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let t: number;
  // Round 1: d ^ (b & (c ^ d)) chooses c or d by b
  t = (a + (d ^ (b & (c ^ d))) + x0 + 0xd76aa478) | 0;
  a = (((t << 7) | (t >>> 25)) + b) | 0;
  t = (d + (c ^ (a & (b ^ c))) + x1 + 0xe8c7b756) | 0;
  d = (((t << 12) | (t >>> 20)) + a) | 0;
  t = (c + (b ^ (d & (a ^ b))) + x2 + 0x242070db) | 0;
  c = (((t << 17) | (t >>> 15)) + d) | 0;
  t = (b + (a ^ (c & (d ^ a))) + x3 + 0xc1bdceee) | 0;
  b = (((t << 22) | (t >>> 10)) + c) | 0;
  t = (a + (d ^ (b & (c ^ d))) + x4 + 0xf57c0faf) | 0;
  a = (((t << 7) | (t >>> 25)) + b) | 0;
  t = (d + (c ^ (a & (b ^ c))) + x5 + 0x4787c62a) | 0;
  d = (((t << 12) | (t >>> 20)) + a) | 0;
  t = (c + (b ^ (d & (a ^ b))) + x6 + 0xa8304613) | 0;
  c = (((t << 17) | (t >>> 15)) + d) | 0;
  t = (b + (a ^ (c & (d ^ a))) + x7 + 0xfd469501) | 0;
  b = (((t << 22) | (t >>> 10)) + c) | 0;
  t = (a + (d ^ (b & (c ^ d))) + x8 + 0x698098d8) | 0;
  a = (((t << 7) | (t >>> 25)) + b) | 0;
  t = (d + (c ^ (a & (b ^ c))) + x9 + 0x8b44f7af) | 0;
  d = (((t << 12) | (t >>> 20)) + a) | 0;
  t = (c + (b ^ (d & (a ^ b))) + x10 + 0xffff5bb1) | 0;
  c = (((t << 17) | (t >>> 15)) + d) | 0;
  t = (b + (a ^ (c & (d ^ a))) + x11 + 0x895cd7be) | 0;
  b = (((t << 22) | (t >>> 10)) + c) | 0;
  t = (a + (d ^ (b & (c ^ d))) + x12 + 0x6b901122) | 0;
  a = (((t << 7) | (t >>> 25)) + b) | 0;
  t = (d + (c ^ (a & (b ^ c))) + x13 + 0xfd987193) | 0;
  d = (((t << 12) | (t >>> 20)) + a) | 0;
  t = (c + (b ^ (d & (a ^ b))) + x14 + 0xa679438e) | 0;
  c = (((t << 17) | (t >>> 15)) + d) | 0;
  t = (b + (a ^ (c & (d ^ a))) + x15 + 0x49b40821) | 0;
  b = (((t << 22) | (t >>> 10)) + c) | 0;
  // Round 2: the same with the roles turned
  t = (a + (c ^ (d & (b ^ c))) + x1 + 0xf61e2562) | 0;
  a = (((t << 5) | (t >>> 27)) + b) | 0;
  t = (d + (b ^ (c & (a ^ b))) + x6 + 0xc040b340) | 0;
  d = (((t << 9) | (t >>> 23)) + a) | 0;
  t = (c + (a ^ (b & (d ^ a))) + x11 + 0x265e5a51) | 0;
  c = (((t << 14) | (t >>> 18)) + d) | 0;
  t = (b + (d ^ (a & (c ^ d))) + x0 + 0xe9b6c7aa) | 0;
  b = (((t << 20) | (t >>> 12)) + c) | 0;
  t = (a + (c ^ (d & (b ^ c))) + x5 + 0xd62f105d) | 0;
  a = (((t << 5) | (t >>> 27)) + b) | 0;
  t = (d + (b ^ (c & (a ^ b))) + x10 + 0x02441453) | 0;
  d = (((t << 9) | (t >>> 23)) + a) | 0;
  t = (c + (a ^ (b & (d ^ a))) + x15 + 0xd8a1e681) | 0;
  c = (((t << 14) | (t >>> 18)) + d) | 0;
  t = (b + (d ^ (a & (c ^ d))) + x4 + 0xe7d3fbc8) | 0;
  b = (((t << 20) | (t >>> 12)) + c) | 0;
  t = (a + (c ^ (d & (b ^ c))) + x9 + 0x21e1cde6) | 0;
  a = (((t << 5) | (t >>> 27)) + b) | 0;
  t = (d + (b ^ (c & (a ^ b))) + x14 + 0xc33707d6) | 0;
  d = (((t << 9) | (t >>> 23)) + a) | 0;
  t = (c + (a ^ (b & (d ^ a))) + x3 + 0xf4d50d87) | 0;
  c = (((t << 14) | (t >>> 18)) + d) | 0;
  t = (b + (d ^ (a & (c ^ d))) + x8 + 0x455a14ed) | 0;
  b = (((t << 20) | (t >>> 12)) + c) | 0;
  t = (a + (c ^ (d & (b ^ c))) + x13 + 0xa9e3e905) | 0;
  a = (((t << 5) | (t >>> 27)) + b) | 0;
  t = (d + (b ^ (c & (a ^ b))) + x2 + 0xfcefa3f8) | 0;
  d = (((t << 9) | (t >>> 23)) + a) | 0;
  t = (c + (a ^ (b & (d ^ a))) + x7 + 0x676f02d9) | 0;
  c = (((t << 14) | (t >>> 18)) + d) | 0;
  t = (b + (d ^ (a & (c ^ d))) + x12 + 0x8d2a4c8a) | 0;
  b = (((t << 20) | (t >>> 12)) + c) | 0;
  // Round 3: parity
  t = (a + (b ^ c ^ d) + x5 + 0xfffa3942) | 0;
  a = (((t << 4) | (t >>> 28)) + b) | 0;
  t = (d + (a ^ b ^ c) + x8 + 0x8771f681) | 0;
  d = (((t << 11) | (t >>> 21)) + a) | 0;
  t = (c + (d ^ a ^ b) + x11 + 0x6d9d6122) | 0;
  c = (((t << 16) | (t >>> 16)) + d) | 0;
  t = (b + (c ^ d ^ a) + x14 + 0xfde5380c) | 0;
  b = (((t << 23) | (t >>> 9)) + c) | 0;
  t = (a + (b ^ c ^ d) + x1 + 0xa4beea44) | 0;
  a = (((t << 4) | (t >>> 28)) + b) | 0;
  t = (d + (a ^ b ^ c) + x4 + 0x4bdecfa9) | 0;
  d = (((t << 11) | (t >>> 21)) + a) | 0;
  t = (c + (d ^ a ^ b) + x7 + 0xf6bb4b60) | 0;
  c = (((t << 16) | (t >>> 16)) + d) | 0;
  t = (b + (c ^ d ^ a) + x10 + 0xbebfbc70) | 0;
  b = (((t << 23) | (t >>> 9)) + c) | 0;
  t = (a + (b ^ c ^ d) + x13 + 0x289b7ec6) | 0;
  a = (((t << 4) | (t >>> 28)) + b) | 0;
  t = (d + (a ^ b ^ c) + x0 + 0xeaa127fa) | 0;
  d = (((t << 11) | (t >>> 21)) + a) | 0;
  t = (c + (d ^ a ^ b) + x3 + 0xd4ef3085) | 0;
  c = (((t << 16) | (t >>> 16)) + d) | 0;
  t = (b + (c ^ d ^ a) + x6 + 0x04881d05) | 0;
  b = (((t << 23) | (t >>> 9)) + c) | 0;
  t = (a + (b ^ c ^ d) + x9 + 0xd9d4d039) | 0;
  a = (((t << 4) | (t >>> 28)) + b) | 0;
  t = (d + (a ^ b ^ c) + x12 + 0xe6db99e5) | 0;
  d = (((t << 11) | (t >>> 21)) + a) | 0;
  t = (c + (d ^ a ^ b) + x15 + 0x1fa27cf8) | 0;
  c = (((t << 16) | (t >>> 16)) + d) | 0;
  t = (b + (c ^ d ^ a) + x2 + 0xc4ac5665) | 0;
  b = (((t << 23) | (t >>> 9)) + c) | 0;
  // Round 4
  t = (a + (c ^ (b | ~d)) + x0 + 0xf4292244) | 0;
  a = (((t << 6) | (t >>> 26)) + b) | 0;
  t = (d + (b ^ (a | ~c)) + x7 + 0x432aff97) | 0;
  d = (((t << 10) | (t >>> 22)) + a) | 0;
  t = (c + (a ^ (d | ~b)) + x14 + 0xab9423a7) | 0;
  c = (((t << 15) | (t >>> 17)) + d) | 0;
  t = (b + (d ^ (c | ~a)) + x5 + 0xfc93a039) | 0;
  b = (((t << 21) | (t >>> 11)) + c) | 0;
  t = (a + (c ^ (b | ~d)) + x12 + 0x655b59c3) | 0;
  a = (((t << 6) | (t >>> 26)) + b) | 0;
  t = (d + (b ^ (a | ~c)) + x3 + 0x8f0ccc92) | 0;
  d = (((t << 10) | (t >>> 22)) + a) | 0;
  t = (c + (a ^ (d | ~b)) + x10 + 0xffeff47d) | 0;
  c = (((t << 15) | (t >>> 17)) + d) | 0;
  t = (b + (d ^ (c | ~a)) + x1 + 0x85845dd1) | 0;
  b = (((t << 21) | (t >>> 11)) + c) | 0;
  t = (a + (c ^ (b | ~d)) + x8 + 0x6fa87e4f) | 0;
  a = (((t << 6) | (t >>> 26)) + b) | 0;
  t = (d + (b ^ (a | ~c)) + x15 + 0xfe2ce6e0) | 0;
  d = (((t << 10) | (t >>> 22)) + a) | 0;
  t = (c + (a ^ (d | ~b)) + x6 + 0xa3014314) | 0;
  c = (((t << 15) | (t >>> 17)) + d) | 0;
  t = (b + (d ^ (c | ~a)) + x13 + 0x4e0811a1) | 0;
  b = (((t << 21) | (t >>> 11)) + c) | 0;
  t = (a + (c ^ (b | ~d)) + x4 + 0xf7537e82) | 0;
  a = (((t << 6) | (t >>> 26)) + b) | 0;
  t = (d + (b ^ (a | ~c)) + x11 + 0xbd3af235) | 0;
  d = (((t << 10) | (t >>> 22)) + a) | 0;
  t = (c + (a ^ (d | ~b)) + x2 + 0x2ad7d2bb) | 0;
  c = (((t << 15) | (t >>> 17)) + d) | 0;
  t = (b + (d ^ (c | ~a)) + x9 + 0xeb86d391) | 0;
  b = (((t << 21) | (t >>> 11)) + c) | 0;
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
}
