/**
 * A sortable key as bytes, for as long as something is looked for or put in.
 *
 * Keys travel as strings and lie in the nodes of an index as bytes. One of
 * these serves a whole search: the key is unpacked once and then compared with
 * many entries.
 */
export class KeyBytes {
  bytes = new Uint8Array(256);
  length = 0;
  /** Another number for every key that is put in here. */
  serial = 0;

  /** Holds `key` from now on. */
  load(key: string): this {
    const { length } = key;
    const bytes = this.make(length);
    for (let i = 0; i < length; i++) bytes[i] = key.charCodeAt(i);
    return this;
  }

  /** Room for a key of so many bytes, to be filled by the caller. */
  make(length: number): Uint8Array {
    if (length > this.bytes.length) this.bytes = new Uint8Array(length * 2);
    // One huge key must not keep its buffer for ever.
    else if (length <= 256 && this.bytes.length > 65_536) this.bytes = new Uint8Array(256);
    this.length = length;
    this.serial++;
    return this.bytes;
  }
}

/** The key that `length` bytes from `start` on stand for. */
export function keyOfBytes(bytes: Uint8Array, start: number, length: number): string {
  if (length <= 512) return String.fromCharCode(...bytes.subarray(start, start + length));
  let key = "";
  for (let at = 0; at < length; at += 4096)
    key += String.fromCharCode(...bytes.subarray(start + at, start + Math.min(at + 4096, length)));
  return key;
}
