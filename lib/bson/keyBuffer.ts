import type { KeyBytes } from "./keyBytes.js";

/** The bytes of a sortable key under construction. One buffer serves all keys, one after another. */
export class KeyBuffer {
  #bytes = new Uint8Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  #reserve(extra: number): void {
    if (this.#length + extra <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + extra));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  /** 32 bits, most significant byte first. */
  word(word: number): void {
    this.#reserve(4);
    const bytes = this.#bytes;
    const at = this.#length;
    bytes[at] = word >>> 24;
    bytes[at + 1] = word >>> 16;
    bytes[at + 2] = word >>> 8;
    bytes[at + 3] = word;
    this.#length = at + 4;
  }

  copy(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = start; i < end; i++) bytes[at++] = source[i]!;
    this.#length = at;
  }

  /** Bytes of any content, made prefix-free: 0 becomes 1 1, 1 becomes 1 2, and 0 ends them. */
  escaped(source: Uint8Array, start: number, end: number): void {
    this.#reserve(2 * (end - start) + 1);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = start; i < end; i++) {
      const byte = source[i]!;
      if (byte > 1) {
        bytes[at++] = byte;
      } else {
        bytes[at] = 1;
        bytes[at + 1] = byte + 1;
        at += 2;
      }
    }
    bytes[at] = 0;
    this.#length = at + 1;
  }

  /** Characters 2–255, ended by 0. */
  text(characters: string): void {
    this.#reserve(characters.length + 1);
    for (let i = 0; i < characters.length; i++) this.#bytes[this.#length++] = characters.charCodeAt(i);
    this.#bytes[this.#length++] = 0;
  }

  /** Turns the order of what was written from `start` on. */
  invert(start: number): void {
    const bytes = this.#bytes;
    for (let at = start; at < this.#length; at++) bytes[at] = 255 - bytes[at]!;
  }

  /** The key as bytes of somebody else's. */
  copyInto(target: KeyBytes): void {
    const length = this.#length;
    const source = this.#bytes;
    const bytes = target.make(length);
    if (length > 64) bytes.set(source.subarray(0, length));
    else for (let i = 0; i < length; i++) bytes[i] = source[i]!;
    if (source.length > 1_048_576) this.#bytes = new Uint8Array(1024);
  }

  /** The key as a string. */
  take(): string {
    const bytes = this.#bytes;
    const length = this.#length;
    const text = length <= 256 ? shortText(bytes, length) : longText(bytes, length);
    // One huge value must not keep its buffer for ever.
    if (bytes.length > 1_048_576) this.#bytes = new Uint8Array(1024);
    return text;
  }
}

function longText(bytes: Uint8Array, length: number): string {
  let text = "";
  for (let at = 0; at < length; at += 4096) {
    text += String.fromCharCode(...bytes.subarray(at, Math.min(at + 4096, length)));
  }
  return text;
}

/** One array of each length, lent to {@link shortText}. */
const characters = Array.from({ length: 257 }, (_, length) => new Array<number>(length).fill(0));

/** One call for the whole key: a string put together from parts would stay a tree of them until it is compared. */
function shortText(bytes: Uint8Array, length: number): string {
  const codes = characters[length]!;
  for (let i = 0; i < length; i++) codes[i] = bytes[i]!;
  return String.fromCharCode(...codes);
}
