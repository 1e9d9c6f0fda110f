import type { RawValue } from "../bson/index.js";
import { array, document, DocumentWriter, encodeValue } from "../bson/index.js";
import type { Reply } from "./endpoint.js";
import { okReply } from "./errors.js";

/**
 * Encodes a reply that mixes JavaScript values with raw BSON.
 *
 * A `Uint8Array` stands for a raw *document*, a {@link RawValue} for a raw
 * value; both are copied as they are, so that a key pattern or an `_id` comes
 * back exactly as it was stored. Integers within 32 bits become int32, bigints
 * int64; undefined fields are left out.
 *
 * @example encodeTree({ n: 1, keyPattern: rawDocument, size: 5n })
 */
export function encodeTree(tree: Readonly<Record<string, unknown>>): Uint8Array {
  const writer = new DocumentWriter();
  for (const [name, value] of Object.entries(tree))
    if (value !== undefined) writer.field(name, encode(value));
  return writer.finish();
}

/** A successful reply of such a tree, with `ok: 1` at its end. */
export function treeReply(tree: Readonly<Record<string, unknown>>): Reply {
  return okReply(encodeTree(tree));
}

function encode(value: unknown): RawValue {
  if (value instanceof Uint8Array) return document(value);
  if (Array.isArray(value)) return array(value.map(encode));
  if (isRawValue(value)) return value;
  if (isPlainObject(value)) return document(encodeTree(value));
  return encodeValue(value);
}

function isRawValue(value: unknown): value is RawValue {
  return (
    typeof value === "object" && value !== null && "bytes" in value && "start" in value && "end" in value
  );
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
