import type { RawValue } from "../bson/index.js";
import type { Environment } from "../protocol/index.js";
import { derivedObjectId } from "./derivedObjectId.js";

/** What clients can set on a server beside its parameters, and what tells it from others. */
export class ServerSettings {
  /** `setDefaultRWConcern`; undefined: the implicit ones. */
  defaultReadConcern: Uint8Array | undefined;
  defaultWriteConcern: Uint8Array | undefined;
  /** When a default was set last, milliseconds. */
  defaultsSetAt: number | undefined;
  /** Operations slower than this many milliseconds count as slow: `profile`. */
  slowms = 100;
  /** The part of the slow operations that is looked at. */
  sampleRate = 1;
  /** Tells this server from every other: `_isSelf`. */
  readonly instanceId: RawValue;

  constructor(environment: Environment, host: string) {
    this.instanceId = derivedObjectId(environment, host);
  }
}
