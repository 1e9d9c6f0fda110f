/** A client that sends bytes as they are and collects whole messages. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { deserialize } from "bson";

export interface RawReply {
  readonly responseTo: number;
  readonly opCode: number;
  readonly document: Record<string, unknown>;
}

export class RawClient {
  readonly socket: Socket;
  /** What has arrived and belongs to no reply yet. */
  #chunks: Buffer[] = [];
  #length = 0;
  #ended = false;
  #wake: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk) => {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
      this.#wake?.();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#ended = true;
      this.#wake?.();
    });
  }

  static async to(port: number): Promise<RawClient> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new RawClient(socket);
  }

  send(...messages: Uint8Array[]): void {
    for (const message of messages) this.socket.write(message);
  }

  /** The next message from the server; undefined when the connection ended instead. */
  async next(): Promise<RawReply | undefined> {
    const bytes = await this.#message();
    if (!bytes) return undefined;
    const header = headerOf(bytes);
    return { ...header, document: deserialize(bytes.subarray(header.opCode === 1 ? 36 : 21)) };
  }

  /** The same without its document, which may hold text that is not UTF-8. */
  async nextHeader(): Promise<Omit<RawReply, "document"> | undefined> {
    const bytes = await this.#message();
    return bytes && headerOf(bytes);
  }

  async #message(): Promise<Buffer | undefined> {
    for (;;) {
      const bytes = this.#take();
      if (bytes || this.#ended) return bytes;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The next whole message, if it is here. */
  #take(): Buffer | undefined {
    while (this.#length >= 4 && this.#chunks[0]!.length < 4) this.#chunks = [Buffer.concat(this.#chunks)];
    if (this.#length < 4 || this.#length < this.#chunks[0]!.readInt32LE(0)) return undefined;
    const bytes = Buffer.concat(this.#chunks);
    const length = bytes.readInt32LE(0);
    this.#chunks = bytes.length > length ? [bytes.subarray(length)] : [];
    this.#length -= length;
    return bytes.subarray(0, length);
  }

  close(): void {
    this.socket.destroy();
  }
}

function headerOf(bytes: Buffer): Omit<RawReply, "document"> {
  return { responseTo: bytes.readInt32LE(8), opCode: bytes.readInt32LE(12) };
}
