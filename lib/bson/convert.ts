/** Between raw values and the JavaScript values of the `bson` package, as the official driver promotes them. */
import { deserialize, serialize, type Document } from "bson";
import { readDouble, readInt32 } from "./bytes.js";
import { BsonError } from "./error.js";
import { getField } from "./raw.js";
import {
  BsonType,
  FALSE,
  NULL,
  TRUE,
  asString,
  double,
  int32,
  int64,
  string,
  type RawValue,
} from "./value.js";
import { DocumentWriter } from "./writer.js";

/**
 * The JavaScript value that the driver would hand out: int32 and double as
 * number, int64 as number where exact and Long beyond, dates as Date, …
 */
export function decodeValue(v: RawValue): unknown {
  switch (v.type) {
    case BsonType.int32:
      return readInt32(v.bytes, v.start);
    case BsonType.double:
      return readDouble(v.bytes, v.start);
    case BsonType.string:
      return asString(v);
    case BsonType.bool:
      return v.bytes[v.start] !== 0;
    case BsonType.null:
      return null;
    default:
      return fromDocument(new DocumentWriter().field("v", v).finish())["v"];
  }
}

/**
 * The BSON value of a JavaScript value, as the driver would send it: integers
 * within 32 bits as int32, other numbers as double, bigint as int64; undefined
 * becomes null. Throws {@link BsonError} for functions and other values without a BSON form.
 */
export function encodeValue(js: unknown): RawValue {
  switch (typeof js) {
    case "number":
      return (js | 0) === js && !Object.is(js, -0) ? int32(js) : double(js);
    case "string":
      return string(js);
    case "boolean":
      return js ? TRUE : FALSE;
    case "bigint":
      if (BigInt.asIntN(64, js) !== js) throw new BsonError(`${js} does not fit into 64 bits`);
      return int64(js);
    case "undefined":
      return NULL;
    default: {
      if (js === null) return NULL;
      const value = getField(toDocument({ v: js }), "v");
      if (value === undefined) throw new BsonError(`a ${typeof js} has no BSON form`);
      return value;
    }
  }
}

/** Raw BSON of an object; fields that are undefined are left out. */
export function toDocument(obj: object): Uint8Array {
  const bytes = serialize(obj as Document, { ignoreUndefined: true });
  // On Node the package may hand out a Buffer, whose slice() means a view: the engine counts on plain Uint8Array.
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The JavaScript object of a raw document, values promoted as the driver does. */
export function fromDocument(bytes: Uint8Array): Document {
  try {
    return deserialize(bytes, { promoteBuffers: false });
  } catch (error) {
    throw new BsonError(error instanceof Error ? error.message : String(error)); // e.g. a string that isn't UTF-8
  }
}
