/** Small helpers on raw values. */
import type { RawValue } from "../../bson/index.js";
import { rawValue } from "../../bson/index.js";

/** A copy of a value that does not keep alive the reply or batch it came in. */
export function detached(value: RawValue): RawValue {
  const bytes = value.bytes.slice(value.start, value.end);
  return rawValue(value.type, bytes, 0, bytes.length);
}
