/** One connection to a server and the request it carries. */
import type { Socket } from "node:net";
import type { Reply, Request } from "../protocol/index.js";
import { encodeMsgRequest, EndpointUnreachableError, errorReply, parseMsgReply } from "../protocol/index.js";
import { MessageReader } from "./reader.js";

/** Carries one request at a time; the pool is in client.ts. */
export class PooledConnection {
  readonly #socket: Socket;
  readonly #address: string;
  readonly #reader = new MessageReader();
  #requests = 0;
  #pending: { id: number; resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;
  #error: Error | undefined;
  /** Whether its end will be news of the server. */
  #broken = true;

  constructor(
    socket: Socket,
    address: string,
    on: { onData: () => void; onClose: (broken: boolean) => void },
  ) {
    this.#socket = socket;
    this.#address = address;
    socket.on("data", (chunk) => {
      on.onData();
      this.#receive(chunk);
    });
    socket.on("error", (error) => (this.#error ??= error));
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      on.onClose(this.#broken);
      this.#fail(this.#error);
    });
  }

  get usable(): boolean {
    return !this.#socket.destroyed && this.#pending === undefined;
  }

  /** @param reason what is wrong with the server, for the request under way; none where we just want no more of it */
  destroy(reason?: string): void {
    if (reason === undefined) this.#broken = false;
    else this.#error ??= new Error(reason);
    this.#socket.destroy();
  }

  /** @param keepsAlive whether the process stays for the reply */
  run(request: Request, keepsAlive = true): Promise<Reply> {
    const id = (this.#requests = (this.#requests + 1) & 0x7fffffff);
    let pieces: Uint8Array[];
    try {
      pieces = encodeMsgRequest(request, id);
    } catch (error) {
      return Promise.resolve(errorReply(error));
    }
    return new Promise((resolve, reject) => {
      this.#pending = { id, resolve, reject };
      if (this.#socket.destroyed) return this.#fail(this.#error);
      // A request under way keeps the process alive, an idle connection does not.
      if (keepsAlive) this.#socket.ref();
      else this.#socket.unref();
      this.#socket.cork();
      for (const piece of pieces) this.#socket.write(piece);
      this.#socket.uncork();
    });
  }

  #receive(chunk: Uint8Array): void {
    const messages: Uint8Array[] = [];
    try {
      this.#reader.push(chunk, messages);
      for (const message of messages) this.#settle(message);
    } catch (error) {
      this.#error ??= error as Error;
      this.#socket.destroy();
    }
  }

  #settle(message: Uint8Array): void {
    const { responseTo, reply } = parseMsgReply(message);
    const pending = this.#pending;
    if (pending?.id !== responseTo) throw new Error(`reply to request ${responseTo}, which nobody made`);
    this.#pending = undefined;
    this.#socket.unref();
    pending.resolve(reply);
  }

  #fail(cause: unknown): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(new EndpointUnreachableError(this.#address, cause));
  }
}
