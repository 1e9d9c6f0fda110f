import type { RawValue } from "../bson/index.js";
import { hash64, objectId, string } from "../bson/index.js";
import type { Environment } from "../protocol/index.js";

/**
 * An ObjectId that a server gives itself: the time it started, and a hash of a name.
 *
 * Nothing is drawn from the environment's random source, so that what follows from a seed does not depend on it.
 */
export function derivedObjectId(environment: Environment, name: string): RawValue {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.floor(environment.now() / 1000) >>> 0);
  view.setBigInt64(4, hash64(string(name)));
  return objectId(bytes);
}
