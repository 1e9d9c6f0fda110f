/** Small helpers on raw values. */
import type { RawValue } from "../../bson/index.js";
import { rawValue } from "../../bson/index.js";

/** A copy of a value that does not keep alive the reply or batch it came in. */
export function detached(value: RawValue): RawValue {
  const bytes = value.bytes.slice(value.start, value.end);
  return rawValue(value.type, bytes, 0, bytes.length);
}

/** A UUID as text: `8d3c1f0a-…`. */
export function uuidText({ bytes, end }: RawValue): string {
  const hex = Array.from(bytes.subarray(end - 16, end), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Whether two UUIDs are the same. */
export function sameUuid(a: RawValue, b: RawValue): boolean {
  const left = a.bytes.subarray(a.start, a.end);
  const right = b.bytes.subarray(b.start, b.end);
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}
