/**
 * `$bitsAllSet`, `$bitsAllClear`, `$bitsAnySet`, `$bitsAnyClear`.
 *
 * The operand says which bits: as a mask (a number or binary data) or as a
 * list of positions; bit 0 is the lowest of the first byte. What is tested is
 * a number that is a whole 64-bit integer, or binary data. A number goes on
 * with its sign bit for ever, binary data with zeros.
 *
 *     { a: { $bitsAllSet: [1, 5] } }, { a: { $bitsAllSet: 34 } }, … BinData "Ig==" (0x22)   all match { a: 54 }
 *
 * @since MongoDB 3.2
 */
import { BsonType, asDocument, describeValue, elements, isNumeric, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { exactInt64, nonNegativeInteger, readNonNegative } from "./integers.js";
import type { ValueTest } from "./paths.js";

export type BitsOp = "bitsAllSet" | "bitsAllClear" | "bitsAnySet" | "bitsAnyClear";

/** True for the name of a bitwise operator, without its `$`. */
export function isBitsOp(name: string): name is BitsOp {
  return name === "bitsAllSet" || name === "bitsAllClear" || name === "bitsAnySet" || name === "bitsAnyClear";
}

/**
 * Positions of the bits that an operand names, in ascending order. Those of binary data are read off it each time:
 * 10 MB name up to 80 million.
 * @throws CommandError 2 or 9 for an operand that names none
 */
export function bitPositions(path: string, v: RawValue): Iterable<number> {
  if (v.type === BsonType.array) {
    const positions = elements(asDocument(v)).map((element, i) => {
      const position = readNonNegative(String(i), element, 32);
      if (typeof position === "number") return position;
      throw new CommandError(ErrorCode.BadValue, `Failed to parse bit position. ${position}`);
    });
    return [...new Set(positions)].sort((a, b) => a - b);
  }
  if (isNumeric(v)) {
    nonNegativeInteger(path, v);
    const mask = exactInt64(v)!;
    return Array.from({ length: 63 }, (_, i) => i).filter((i) => ((mask >> BigInt(i)) & 1n) === 1n);
  }
  if (v.type === BsonType.binary) return setBits(v);
  throw new CommandError(
    ErrorCode.BadValue,
    `${path} takes an Array, a number, or a BinData but received: ${path}: ${describeValue(v)}`,
  );
}

/** Where the data of a binary value begins: behind its length and subtype. */
const DATA = 5;

function setBits({ bytes, start, end }: RawValue): Iterable<number> {
  return {
    *[Symbol.iterator]() {
      for (let at = start + DATA; at < end; at++) {
        if (bytes[at] === 0) continue;
        for (let bit = 0; bit < 8; bit++) {
          if ((bytes[at]! & (1 << bit)) !== 0) yield (at - start - DATA) * 8 + bit;
        }
      }
    },
  };
}

/** The test of a value against bit positions. */
export function bitsTest(op: BitsOp, positions: Iterable<number>): ValueTest {
  const wanted = op === "bitsAllSet" || op === "bitsAnySet";
  const all = op === "bitsAllSet" || op === "bitsAllClear";
  return (v) => {
    const isSet = v === undefined ? undefined : bitReader(v);
    if (isSet === undefined) return false;
    for (const position of positions) {
      if ((isSet(position) === wanted) !== all) return !all;
    }
    return all;
  };
}

function bitReader(v: RawValue): ((position: number) => boolean) | undefined {
  if (v.type === BsonType.binary) {
    const { bytes, start, end } = v;
    return (position) => {
      const at = start + DATA + (position >> 3);
      return at < end && (bytes[at]! & (1 << (position & 7))) !== 0;
    };
  }
  const n = exactInt64(v);
  if (n === undefined) return undefined;
  return (position) => ((n >> BigInt(Math.min(position, 63))) & 1n) === 1n;
}
