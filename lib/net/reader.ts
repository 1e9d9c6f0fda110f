/**
 * Cuts a stream of bytes into messages, however the bytes arrive.
 *
 * TCP delivers what it likes: half a header, three messages and a bit, one byte
 * at a time. The first four bytes of a message say its length; as soon as they
 * are here, one buffer of exactly that size is made and filled. So
 *
 * - every byte is copied once, never again when more arrives;
 * - every message has a buffer of its own: a slice of it may be kept without
 *   keeping other connections' bytes.
 *
 * A length is a promise of the client's. Above a megabyte the buffer grows with
 * what has come, so that four bytes can't make the server set 48 MB aside.
 */
import { messageLength } from "../protocol/index.js";

const LENGTH_BYTES = 4;
/** Bytes that are set aside at once. */
const AT_ONCE = 1_048_576;

export class MessageReader {
  readonly #lengthBytes = new Uint8Array(LENGTH_BYTES);
  #lengthFilled = 0;
  /** The message being filled, or as much of it as there is room for yet. */
  #message: Uint8Array | undefined;
  #length = 0;
  #filled = 0;

  /**
   * Takes the next bytes of the stream.
   * @param chunk bytes; the caller may reuse the buffer afterwards
   * @param messages gets every message that is now complete
   * @throws FramingError when a length makes no sense; the reader is of no use afterwards
   */
  push(chunk: Uint8Array, messages: Uint8Array[]): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (!this.#message) offset = this.#readLength(chunk, offset);
      if (!this.#message) return;
      if (this.#filled === this.#message.length) this.#grow(this.#message);
      const count = Math.min(chunk.length - offset, this.#message.length - this.#filled);
      this.#message.set(chunk.subarray(offset, offset + count), this.#filled);
      this.#filled += count;
      offset += count;
      if (this.#filled < this.#length) continue;
      messages.push(this.#message);
      this.#message = undefined;
    }
  }

  #grow(message: Uint8Array): void {
    this.#message = new Uint8Array(Math.min(this.#length, message.length * 4));
    this.#message.set(message);
  }

  /** Collects the four length bytes and starts the message. */
  #readLength(chunk: Uint8Array, start: number): number {
    let offset = start;
    while (this.#lengthFilled < LENGTH_BYTES && offset < chunk.length) {
      this.#lengthBytes[this.#lengthFilled++] = chunk[offset++] as number;
    }
    if (this.#lengthFilled === LENGTH_BYTES) {
      this.#length = messageLength(this.#lengthBytes);
      this.#message = new Uint8Array(Math.min(this.#length, AT_ONCE));
      this.#message.set(this.#lengthBytes);
      this.#filled = LENGTH_BYTES;
      this.#lengthFilled = 0;
    }
    return offset;
  }
}
