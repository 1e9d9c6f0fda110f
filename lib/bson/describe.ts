/**
 * Values as text, in the shell's manner: what MongoDB's error messages show,
 * e.g. the key in `E11000 … dup key: { x: 1, y: "abc" }`.
 */
import { decodeUtf8, readDouble, readInt32, readInt64, readUint32 } from "./bytes.js";
import { decimalToString, readDecimal } from "./decimal.js";
import { elements, endOfName, fields, startOfScope } from "./raw.js";
import { BsonType, asDocument, asString, type RawValue } from "./value.js";

/** A document as text: `{ x: 1, y: MinKey }`. */
export function describeDocument(doc: Uint8Array): string {
  const parts = fields(doc).map(([name, value]) => `${name}: ${describeValue(value)}`);
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}

/** A value as text: `1`, `1.0` (a double), `"abc"`, `ObjectId('…')`, `[ 1, 2 ]`, `MinKey`; `missing` for undefined. */
export function describeValue(v: RawValue | undefined): string {
  if (v === undefined) return "missing";
  const { bytes, start, end } = v;
  switch (v.type) {
    case BsonType.double:
      return describeDouble(readDouble(bytes, start));
    case BsonType.string:
    case BsonType.symbol:
      return JSON.stringify(asString(v));
    case BsonType.object:
      return describeDocument(asDocument(v));
    case BsonType.array: {
      const parts = elements(asDocument(v)).map(describeValue);
      return parts.length === 0 ? "[]" : `[ ${parts.join(", ")} ]`;
    }
    case BsonType.binary:
      return describeBinary(bytes, start, end);
    case BsonType.undefined:
      return "undefined";
    case BsonType.objectId:
      return `ObjectId('${hex(bytes, start, end)}')`;
    case BsonType.bool:
      return bytes[start] === 0 ? "false" : "true";
    case BsonType.date:
      return `new Date(${readInt64(bytes, start)})`;
    case BsonType.null:
      return "null";
    case BsonType.regex: {
      const patternEnd = endOfName(bytes, start, end);
      return `/${decodeUtf8(bytes, start, patternEnd)}/${decodeUtf8(bytes, patternEnd + 1, end - 1)}`;
    }
    case BsonType.dbPointer:
      return `DBRef('${decodeUtf8(bytes, start + 4, end - 13)}',${hex(bytes, end - 12, end)})`;
    case BsonType.code:
      return asString(v);
    case BsonType.codeWithScope: {
      const scope = startOfScope(bytes, start, end);
      const code = decodeUtf8(bytes, start + 8, scope - 1);
      return `CodeWScope( ${code}, ${describeDocument(bytes.subarray(scope, end))})`;
    }
    case BsonType.int32:
      return String(readInt32(bytes, start));
    case BsonType.timestamp:
      return `Timestamp(${readUint32(bytes, start + 4)}, ${readUint32(bytes, start)})`;
    case BsonType.int64:
      return readInt64(bytes, start).toString();
    case BsonType.decimal128:
      return decimalToString(readDecimal(bytes, start));
    case BsonType.minKey:
      return "MinKey";
    case BsonType.maxKey:
      return "MaxKey";
  }
}

/** Doubles show that they are doubles: 1.0, 0.5, 1e+30. */
function describeDouble(n: number): string {
  if (Number.isNaN(n)) return "nan.0";
  if (!Number.isFinite(n)) return n > 0 ? "inf.0" : "-inf.0";
  if (Object.is(n, -0)) return "-0.0";
  const text = String(n);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function hex(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at++) text += bytes[at]!.toString(16).padStart(2, "0");
  return text;
}

function describeBinary(bytes: Uint8Array, start: number, end: number): string {
  const subtype = bytes[start + 4]!;
  const text = hex(bytes, start + 5, end);
  if (subtype === 4 && text.length === 32) {
    return `UUID("${text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")}")`;
  }
  return `BinData(${subtype}, ${text.toUpperCase()})`;
}
