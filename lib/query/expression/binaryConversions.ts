/**
 * Binary data from and to text and numbers, for `$convert` (since MongoDB 8.0).
 *
 * Text is written as base64, base64url, hexadecimal, UTF-8 or, for subtype 4,
 * as a UUID. Numbers are their bytes, the least significant one first unless
 * `byteOrder: "big"`.
 */
import { binary, describeValue, double, int32, int64, string, type RawValue } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { conversionFailure } from "./conversionError.js";

export const BINARY_FORMATS = ["auto", "base64", "base64url", "hex", "utf8", "uuid"] as const;
export type BinaryFormat = (typeof BINARY_FORMATS)[number];

const SUFFIX = "in $convert with no onError value";
const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_URLS = STANDARD.slice(0, 62) + "-_";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function needFormat(format: BinaryFormat | undefined, from: string, to: string): BinaryFormat {
  if (format !== undefined) return format;
  throw new CommandError(4341115, `Format must be speficied when converting from '${from}' to '${to}'`);
}

function encodeBase64(bytes: Uint8Array, alphabet: string, padded: boolean): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const word = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text += alphabet[word >> 18]! + alphabet[(word >> 12) & 63]!;
    if (left > 1) text += alphabet[(word >> 6) & 63]!;
    else if (padded) text += "=";
    if (left > 2) text += alphabet[word & 63]!;
    else if (padded) text += "=";
  }
  return text;
}

function decodeBase64(text: string, alphabet: string, padded: boolean): Uint8Array | undefined {
  if (padded && text.length % 4 !== 0) return undefined;
  const digits = text.replace(/={1,2}$/, "");
  if (digits.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let word = 0;
  let bits = 0;
  let at = 0;
  for (const digit of digits) {
    const n = alphabet.indexOf(digit);
    if (n === -1) return undefined;
    word = ((word << 6) | n) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = word >> bits;
    }
  }
  return bytes;
}

function encodeHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0").toUpperCase();
  return text;
}

function decodeHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || /[^0-9a-fA-F]/.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

const encoder = new TextEncoder();

/** Binary data of a text. A UUID has subtype 4, and subtype 4 is a UUID. */
export function binaryFromText(text: string, format: BinaryFormat | undefined, subtype: number): RawValue {
  const kind = needFormat(format, "string", "binData");
  const fail = (why: string) => conversionFailure(`Failed to parse BinData '${text}' ${SUFFIX}: ${why}`);
  if ((kind === "uuid") !== (subtype === 4)) {
    throw fail("Only the 'uuid' format is allowed with the UUID subtype");
  }
  let bytes: Uint8Array | undefined;
  switch (kind) {
    case "base64":
      bytes = decodeBase64(text, STANDARD, true);
      if (bytes === undefined) throw fail("Invalid base64 string");
      break;
    case "base64url":
      bytes = decodeBase64(text, FOR_URLS, false);
      if (bytes === undefined) throw fail("Invalid base64url string");
      break;
    case "hex":
      bytes = decodeHex(text);
      if (bytes === undefined) throw fail("Invalid hex string");
      break;
    case "utf8":
      bytes = encoder.encode(text);
      break;
    case "uuid":
      bytes = UUID.test(text) ? decodeHex(text.replaceAll("-", "")) : undefined;
      if (bytes === undefined) throw fail(`Invalid UUID string: ${text}`);
      break;
    case "auto":
      throw fail("Invalid format 'auto'");
  }
  return binary(bytes, subtype);
}

/** The text of binary data. */
export function textFromBinary(v: RawValue, format: BinaryFormat | undefined): RawValue {
  const kind = needFormat(format, "binData", "string");
  const bytes = v.bytes.subarray(v.start + 5, v.end);
  const isUuid = v.bytes[v.start + 4] === 4 && bytes.length === 16;
  const fail = (why: string) =>
    conversionFailure(`Failed to convert '${describeValue(v)}' to string ${SUFFIX}: ${why}`);
  switch (kind) {
    case "auto":
      return string(isUuid ? uuidText(bytes) : encodeBase64(bytes, STANDARD, true));
    case "base64":
      return string(encodeBase64(bytes, STANDARD, true));
    case "base64url":
      return string(encodeBase64(bytes, FOR_URLS, false));
    case "hex":
      return string(encodeHex(bytes));
    case "utf8":
      try {
        return string(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
      } catch {
        throw fail("BinData does not represent a valid UTF-8 string");
      }
    case "uuid":
      if (!isUuid) throw fail("BinData does not represent a valid UUID");
      return string(uuidText(bytes));
  }
}

function uuidText(bytes: Uint8Array): string {
  return encodeHex(bytes)
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The number whose bytes binary data are: 1, 2, 4 or 8 of them for integers, 4 or 8 for a double. */
export function numberFromBinary(v: RawValue, kind: "int" | "long" | "double", bigEndian: boolean): RawValue {
  const data = v.bytes.slice(v.start + 5, v.end);
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const little = !bigEndian;
  const sizes = { int: [1, 2, 4], long: [1, 2, 4, 8], double: [4, 8] }[kind];
  if (!sizes.includes(data.length)) {
    throw conversionFailure(
      `Failed to convert '${describeValue(v)}' to number in $convert because of invalid length: ${data.length}`,
    );
  }
  if (kind === "double") {
    return double(data.length === 4 ? view.getFloat32(0, little) : view.getFloat64(0, little));
  }
  if (data.length === 8) return int64(view.getBigInt64(0, little));
  const n =
    data.length === 1
      ? view.getInt8(0)
      : data.length === 2
        ? view.getInt16(0, little)
        : view.getInt32(0, little);
  return kind === "int" ? int32(n) : int64(n);
}

/** The bytes of an int32, int64 or double. */
export function binaryFromNumber(v: RawValue, bigEndian: boolean, subtype: number): RawValue {
  const bytes = v.bytes.slice(v.start, v.end);
  return binary(bigEndian ? bytes.reverse() : bytes, subtype);
}
