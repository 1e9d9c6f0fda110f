/**
 * Cuts a stream of bytes into messages, however the bytes arrive.
 *
 * TCP delivers what it likes: half a header, three messages and a bit, one byte
 * at a time. The first four bytes of a message say its length; as soon as they
 * are here, one buffer of exactly that size is made and filled. So
 *
 * - every byte is copied once, never again when more arrives;
 * - every message has a buffer of its own. Documents are stored as slices of
 *   it, and a slice keeps its whole buffer alive: it must not be a buffer that
 *   other connections' bytes share.
 */
import { messageLength } from "../protocol/index.js";

const LENGTH_BYTES = 4;

export class MessageReader {
  readonly #lengthBytes = new Uint8Array(LENGTH_BYTES);
  #lengthFilled = 0;
  #message: Uint8Array | undefined;
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
      const count = Math.min(chunk.length - offset, this.#message.length - this.#filled);
      this.#message.set(chunk.subarray(offset, offset + count), this.#filled);
      this.#filled += count;
      offset += count;
      if (this.#filled < this.#message.length) return;
      messages.push(this.#message);
      this.#message = undefined;
    }
  }

  /** Collects the four length bytes and starts the message. */
  #readLength(chunk: Uint8Array, start: number): number {
    let offset = start;
    while (this.#lengthFilled < LENGTH_BYTES && offset < chunk.length) {
      this.#lengthBytes[this.#lengthFilled++] = chunk[offset++] as number;
    }
    if (this.#lengthFilled === LENGTH_BYTES) {
      this.#message = new Uint8Array(messageLength(this.#lengthBytes));
      this.#message.set(this.#lengthBytes);
      this.#filled = LENGTH_BYTES;
      this.#lengthFilled = 0;
    }
    return offset;
  }
}
