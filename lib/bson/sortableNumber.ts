/**
 * Numbers in a sortable key: one form for all four types, exact for each.
 *
 *     head, 8 characters | tail
 *
 * The head is the value as a double, rounded *toward zero*, its bits arranged
 * so that byte order is number order (sign bit flipped for positive values,
 * all bits flipped for negative ones; NaN is all zeros, the lowest). The tail
 * says whether anything was cut off:
 *
 *     0                                  the head is exact
 *     1 | rest, 2 characters | fraction digits | 0      2^53 ≤ head < 2^64
 *     1 | exponent, 2 characters | digits | 0           elsewhere
 *
 * Only int64 beyond 2^53 and decimals have anything behind their head. Where
 * both can lie, a compact form serves, because hashed keys are such int64: the
 * rest of the integer part (below 2^11) and a decimal's fraction digits. All
 * other tails spell the value itself in decimal: the exponent of its first
 * digit and its digits. (The value, not the difference from the head: among
 * values with the same head the order is the same, and 34 digits always do.)
 * Digits are written as d + 1, so that the closing 0 is less than any digit;
 * trailing zeros are dropped, so that equal values have equal keys. The tail
 * of a negative value is inverted: the further from zero, the lower.
 *
 * Example: int64 2^53 + 1 has the head of 2^53 and the tail `1 | 0 1 | 0`;
 * decimal 9007199254740993.5 has the same head and `1 | 0 1 | 6 | 0`, greater.
 * A decimal beyond the doubles has the greatest double as its head, one below
 * the least double has ±0: the tail does the rest.
 */
import { doubleOfWords, doubleWords } from "./bytes.js";
import {
  adjustedExponent,
  compareDecimalMagnitudeToDouble,
  decimalToNumber,
  exactDouble,
  readDecimal,
  type Decimal,
} from "./decimal.js";
import type { KeyBuffer } from "./keyBuffer.js";

const words = new Int32Array(2);
const TWO_53 = 9007199254740992;
const TWO_64 = 18446744073709551616;

/** A double, or an int32: the head is exact. */
export function writeDoubleKey(key: KeyBuffer, n: number): void {
  if (n !== n) {
    key.word(0);
    key.word(0);
    key.byte(0);
    return;
  }
  const negative = n < 0;
  writeHead(key, n === 0 ? 0 : n, negative);
  key.byte(negative ? 255 : 0);
}

/** @param negative given apart from `n`, because a tiny negative decimal has the head -0 */
function writeHead(key: KeyBuffer, n: number, negative: boolean): void {
  doubleWords(n, words);
  if (negative) {
    key.word(~words[0]!);
    key.word(~words[1]!);
  } else {
    key.word(words[0]! ^ 0x80000000);
    key.word(words[1]!);
  }
}

/** An int64 of a signed high and a low 32-bit half. */
export function writeInt64Key(key: KeyBuffer, high: number, low: number): void {
  const negative = high < 0;
  // The magnitude, as two unsigned halves; that of -2^63 is 2^63.
  let top = high;
  let bottom = low >>> 0;
  if (negative) {
    bottom = -low >>> 0;
    top = (bottom === 0 ? -high : ~high) >>> 0;
  }
  // A double keeps 53 bits from the first 1 on; `top` has 32 - clz32(top) bits, `bottom` 32.
  const cut = 11 - Math.clz32(top);
  const rest = cut > 0 ? bottom & ((1 << cut) - 1) : 0;
  const head = top * 4294967296 + (bottom - rest);
  writeHead(key, negative ? -head : head, negative);
  if (rest === 0) {
    key.byte(negative ? 255 : 0);
    return;
  }
  const start = key.length;
  key.byte(1);
  key.byte(rest >>> 8);
  key.byte(rest);
  key.byte(0);
  if (negative) key.invert(start);
}

/** The decimal128 at `start`. */
export function writeDecimalKey(key: KeyBuffer, bytes: Uint8Array, start: number): void {
  const d = readDecimal(bytes, start);
  if (d.kind !== "finite" || d.coefficient === 0n) {
    writeDoubleKey(key, decimalToNumber(d));
    return;
  }
  const head = roundTowardZero(d);
  writeHead(key, d.negative ? -head : head, d.negative);
  const tail = key.length;
  if (compareDecimalMagnitudeToDouble(d, head) === 0) key.byte(0);
  else if (head >= TWO_53 && head < TWO_64) writeCompactTail(key, d, head);
  else writeDigitsTail(key, d);
  if (d.negative) key.invert(tail);
}

/** The greatest double not above the decimal's magnitude. */
function roundTowardZero(d: Decimal): number {
  let head = Math.abs(decimalToNumber(d));
  if (head === Infinity) head = Number.MAX_VALUE;
  while (compareDecimalMagnitudeToDouble(d, head) < 0) head = neighbour(head, -1);
  for (;;) {
    const above = neighbour(head, 1);
    if (above === Infinity || compareDecimalMagnitudeToDouble(d, above) < 0) return head;
    head = above;
  }
}

/** The next double above (1) or below (-1) a positive one or zero. */
function neighbour(n: number, step: 1 | -1): number {
  doubleWords(n, words);
  let high = words[0]!;
  let low = words[1]! + step;
  if (step === 1 && words[1] === -1) {
    high++;
    low = 0;
  } else if (step === -1 && words[1] === 0) {
    high--;
    low = -1;
  }
  return doubleOfWords(high, low);
}

function writeCompactTail(key: KeyBuffer, d: Decimal, head: number): void {
  // Between 2^53 and 2^64 the coefficient has at least 16 digits' worth of integer part: |exponent| is small.
  const unit = d.exponent < 0 ? 10n ** BigInt(-d.exponent) : 1n;
  const scaled = d.exponent < 0 ? d.coefficient : d.coefficient * 10n ** BigInt(d.exponent);
  const integer = scaled / unit;
  const fraction = scaled - integer * unit;
  const { mantissa, exponent } = exactDouble(head);
  const rest = Number(integer - (mantissa << BigInt(exponent)));
  key.byte(1);
  key.byte(rest >>> 8);
  key.byte(rest);
  if (fraction !== 0n) writeDigits(key, fraction.toString().padStart(-d.exponent, "0"));
  key.byte(0);
}

function writeDigitsTail(key: KeyBuffer, d: Decimal): void {
  const position = adjustedExponent(d.coefficient, d.exponent) + 0x4000;
  key.byte(1);
  key.byte(position >>> 8);
  key.byte(position);
  writeDigits(key, d.coefficient.toString());
  key.byte(0);
}

/** Decimal digits as 1…10, trailing zeros dropped. */
function writeDigits(key: KeyBuffer, digits: string): void {
  let length = digits.length;
  while (length > 0 && digits.charCodeAt(length - 1) === 48) length--;
  for (let i = 0; i < length; i++) key.byte(digits.charCodeAt(i) - 47);
}
