/**
 * Hashes that were computed a moment ago.
 *
 * A document under a hashed shard key is hashed twice in this process: by the
 * router, which looks for its chunk, and by the shard's index. And many
 * collections have far fewer values than documents. Comparing a few words with
 * what was hashed last costs a fraction of an MD5.
 *
 * The memo is a table with one place for each remainder of a cheap mix of the
 * value's bytes; a newcomer takes the place of whoever was there. An entry
 * holds the whole value, so an answer from here is never a guess:
 *
 *     entry   type and length | up to 7 words of the value | its hash, 2 words
 *
 * The last word of a value overlaps the one before where its length is no
 * multiple of four. Values of other lengths than 4 to 28 bytes are not kept.
 */
import { readInt32 } from "./bytes.js";
import { state } from "./md5.js";
import type { RawValue } from "./value.js";

const PLACES = 4_096;
const LONGEST = 28;
/** Where the hash is in an entry. */
const HASH = 1 + LONGEST / 4;
const ENTRY = HASH + 2;

/** Made with the first hash: 160 KB. */
let table: Int32Array | undefined;
/** Where the entry of the value at hand is, or will be; -1 for one that is not kept. */
let entry = -1;

/**
 * Looks for the hash of a value.
 * @returns whether the first two words of {@link state} are its hash now
 */
export function recall({ type, bytes, start, end }: RawValue): boolean {
  const length = end - start;
  if (length < 4 || length > LONGEST) {
    entry = -1;
    return false;
  }
  const head = (type << 8) | length;
  const tail = readInt32(bytes, end - 4);
  let mix = head ^ tail;
  for (let at = start; at < end - 4; at += 4)
    mix = Math.imul(mix ^ (mix >>> 15) ^ readInt32(bytes, at), 0x9e3779b1);
  const known = (table ??= new Int32Array(PLACES * ENTRY));
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  entry = (mix >>> 20) * ENTRY;
  if (known[entry] !== head) return false;
  let word = entry + 1;
  for (let at = start; at < end - 4; at += 4) if (known[word++] !== readInt32(bytes, at)) return false;
  if (known[word] !== tail) return false;
  state[0] = known[entry + HASH]!;
  state[1] = known[entry + HASH + 1]!;
  return true;
}

/** Keeps the hash that was just computed, of the value that {@link recall} did not know. */
export function remember({ type, bytes, start, end }: RawValue): void {
  if (entry < 0 || !table) return;
  table[entry] = (type << 8) | (end - start);
  let word = entry + 1;
  for (let at = start; at < end - 4; at += 4) table[word++] = readInt32(bytes, at);
  table[word] = readInt32(bytes, end - 4);
  table[entry + HASH] = state[0]!;
  table[entry + HASH + 1] = state[1]!;
}
