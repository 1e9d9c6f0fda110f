/**
 * Identifiers that the router makes itself: `_id` of documents that came
 * without one, ids of chunks, uuids of collections. They come from the
 * injected clock and random source, so that a seed repeats a whole session.
 */
import type { RawValue } from "../../bson/index.js";
import { objectId, uuid } from "../../bson/index.js";
import type { Environment } from "../../protocol/index.js";

/** Makes ObjectIds, UUIDs and numbers. */
export class IdSource {
  readonly #environment: Environment;
  /** Five random bytes of this process and a three-byte counter, as an ObjectId has them. */
  readonly #process = new Uint8Array(5);
  #counter: number;
  readonly #seed: number;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#seed = Math.floor(environment.random() * 0x100000000);
    for (let i = 0; i < 5; i++) this.#process[i] = this.#byte();
    this.#counter = Math.floor(environment.random() * 0x1000000);
  }

  /** The number that stands for this process in the ids: the first three of its random bytes. */
  get machine(): number {
    const [high = 0, middle = 0, low = 0] = this.#process;
    return (high << 16) | (middle << 8) | low;
  }

  /** A new ObjectId: 4 bytes of seconds, 5 of this process, 3 of a counter. */
  objectId(): RawValue {
    const bytes = new Uint8Array(12);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, Math.floor(this.#environment.now() / 1000) >>> 0);
    bytes.set(this.#process, 4);
    this.#counter = (this.#counter + 1) & 0xffffff;
    bytes[9] = this.#counter >>> 16;
    view.setUint16(10, this.#counter & 0xffff);
    return objectId(bytes);
  }

  /** A new random UUID (version 4). */
  uuid(): RawValue {
    const bytes = new Uint8Array(16);
    for (let i = 0; i < 16; i++) bytes[i] = this.#byte();
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return uuid(bytes);
  }

  /** A positive cursor id; never zero. */
  cursorId(): bigint {
    const high = BigInt(1 + Math.floor(this.#environment.random() * 0x7ffffffe));
    return (high << 32n) | BigInt(Math.floor(this.#environment.random() * 0x100000000));
  }

  /**
   * A shuffled copy (Fisher and Yates). The order follows from the seed and the
   * label alone, not from what happened before: a lesson that makes one query
   * more still sees the same collection placed in the same way.
   * @param label e.g. a namespace
   */
  shuffled<T>(items: readonly T[], label: string): T[] {
    const random = generator(this.#seed ^ fnv1a(label));
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [copy[i], copy[j]] = [copy[j]!, copy[i]!];
    }
    return copy;
  }

  #byte(): number {
    return Math.floor(this.#environment.random() * 256);
  }
}

/** A small generator of numbers in [0, 1), mulberry32. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000;
  };
}

/** A 32-bit hash of a text. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
