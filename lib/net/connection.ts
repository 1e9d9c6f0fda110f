/**
 * One client of a server: its messages in, its replies out, in order.
 *
 * A client may send its next message before the last one is answered
 * (pipelining). Messages of one connection run one after the other, as in
 * MongoDB: a find that follows an unacknowledged insert sees the insert, and
 * the replies are in the order of the requests without anybody sorting them.
 *
 *     bytes → MessageReader → queue → endpoint.run → reply → socket
 *                              ↑ full: stop reading     ↑ full: wait for drain
 *
 * A client that sends faster than it is served, or doesn't read its replies, is
 * held back in both places, so its bytes wait in the kernel and not in our memory.
 *
 * Bad framing ends this connection only, after the replies to what came before.
 */
import type { Socket } from "node:net";
import type { ClientInfo, Endpoint, FramingError, IncomingRequest, Reply } from "../protocol/index.js";
import { CommandError, encodeReply, errorReply, parseRequest } from "../protocol/index.js";
import { MessageReader } from "./reader.js";

/** Waiting messages, and their bytes, at which reading stops. */
const QUEUE_MESSAGES = 64;
const QUEUE_BYTES = 64 * 1024 * 1024;
/** How long a refused client gets to read the end of the stream before its socket is dropped. */
const LINGER_MS = 1_000;

export type Log = (level: "debug" | "info" | "warn", message: string, attributes?: object) => void;

export class Connection {
  readonly #socket: Socket;
  readonly #endpoint: Endpoint;
  readonly #client: ClientInfo;
  readonly #log: Log | undefined;
  readonly #reader = new MessageReader();
  readonly #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #working = false;
  #replies = 0;
  /** Set by bad framing: nothing that arrives afterwards counts. */
  #refusal: FramingError | undefined;

  constructor(socket: Socket, endpoint: Endpoint, client: ClientInfo, log?: Log) {
    this.#socket = socket;
    this.#endpoint = endpoint;
    this.#client = client;
    this.#log = log;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#receive(chunk));
    // A reset is an ordinary end of a connection; "close" follows and cleans up.
    socket.on("error", (error) => log?.("debug", "connection error", { ...client, error: error.message }));
    socket.on("close", () => (this.#queue.length = 0));
  }

  #receive(chunk: Uint8Array): void {
    if (this.#refusal) return;
    const before = this.#queue.length;
    try {
      this.#reader.push(chunk, this.#queue);
    } catch (error) {
      this.#refusal = error as FramingError;
    }
    for (let i = before; i < this.#queue.length; i++) this.#queuedBytes += this.#queue[i]?.length ?? 0;
    if (this.#queue.length > QUEUE_MESSAGES || this.#queuedBytes > QUEUE_BYTES) this.#socket.pause();
    if (!this.#working) void this.#work();
  }

  /** Answers the queue until it is empty. */
  async #work(): Promise<void> {
    this.#working = true;
    for (let message = this.#queue.shift(); message; message = this.#queue.shift()) {
      this.#queuedBytes -= message.length;
      if (this.#queue.length === 0 && this.#socket.isPaused()) this.#socket.resume();
      try {
        await this.#answer(parseRequest(message));
      } catch (error) {
        this.#refusal = error as FramingError;
        this.#queue.length = 0;
      }
    }
    this.#working = false;
    if (this.#refusal) this.#refuse(this.#refusal);
  }

  async #answer(incoming: IncomingRequest): Promise<void> {
    const { content } = incoming;
    let reply: Reply;
    if (content instanceof CommandError) {
      reply = errorReply(content);
    } else {
      try {
        reply = await this.#endpoint.run({ ...content, client: this.#client });
      } catch (error) {
        reply = errorReply(error);
      }
    }
    if (!incoming.noReply && !this.#socket.destroyed) await this.#send(reply, incoming);
  }

  async #send(reply: Reply, incoming: IncomingRequest): Promise<void> {
    const requestId = ++this.#replies | 0;
    let pieces: Uint8Array[];
    try {
      pieces = encodeReply(reply, incoming, requestId);
    } catch (error) {
      pieces = encodeReply(errorReply(error), incoming, requestId);
    }
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
    if (this.#socket.writableNeedDrain) await this.#drained();
  }

  #drained(): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve) => {
      const done = (): void => {
        socket.off("drain", done).off("close", done);
        resolve();
      };
      socket.on("drain", done).on("close", done);
    });
  }

  /** Says goodbye cleanly: the client reads everything we answered, then the end of the stream. */
  #refuse(reason: FramingError): void {
    const socket = this.#socket;
    if (socket.destroyed || socket.writableEnded) return;
    this.#log?.("warn", "connection closed for bad framing", { ...this.#client, reason: reason.message });
    socket.resume();
    if (reason.farewell) socket.end(reason.farewell);
    else socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.on("close", () => clearTimeout(timer));
  }
}
