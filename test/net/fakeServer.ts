/** A server that knows a few commands: enough for the official driver, and to see what arrives. */
import type { Endpoint, Reply, Request } from "../../lib/protocol/index.js";
import { asNumber } from "../../lib/bson/index.js";
import {
  bodyField,
  CommandError,
  documentsOf,
  errorReply,
  okReply,
  request,
  throwIfFailed,
} from "../../lib/protocol/index.js";

export class FakeServer implements Endpoint {
  /** Every request, in the order in which they came. */
  readonly seen: Request[] = [];
  /** Documents inserted so far. */
  inserted = 0;
  /** Requests running at this moment, and the most there ever were. */
  running = 0;
  mostRunning = 0;

  async run(incoming: Request): Promise<Reply> {
    this.seen.push(incoming);
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    try {
      return await this.#answer(incoming);
    } finally {
      this.running--;
    }
  }

  async #answer(incoming: Request): Promise<Reply> {
    switch (incoming.command.toLowerCase()) {
      case "hello":
      case "ismaster":
        return okReply({
          ismaster: true,
          isWritablePrimary: true,
          helloOk: true,
          msg: "isdbgrid",
          maxBsonObjectSize: 16_777_216,
          maxMessageSizeBytes: 48_000_000,
          maxWriteBatchSize: 100_000,
          minWireVersion: 0,
          maxWireVersion: 27,
          logicalSessionTimeoutMinutes: 30,
          connectionId: incoming.client?.connectionId,
        });
      case "ping":
      case "endsessions":
        return okReply();
      case "echo":
        return okReply({ echo: number(incoming, "echo") });
      case "wait": // answers after as many turns of the event loop as asked
        for (let i = number(incoming, "wait"); i > 0; i--)
          await new Promise((resolve) => setImmediate(resolve));
        return okReply({ waited: number(incoming, "wait") });
      case "sleep": // milliseconds
        await new Promise((resolve) => setTimeout(resolve, number(incoming, "sleep")));
        return okReply();
      case "large":
        return okReply({ text: "x".repeat(number(incoming, "large")) });
      case "insert":
        this.inserted += documentsOf(incoming, "documents").length;
        return okReply({ n: documentsOf(incoming, "documents").length });
      case "crash":
        throw new TypeError("a fault of ours");
      default:
        return errorReply(new CommandError(59, `no such command: '${incoming.command}'`));
    }
  }
}

function number(incoming: Request, name: string): number {
  const value = bodyField(incoming, name);
  return value ? asNumber(value) : 0;
}

/** Runs one command that must succeed. */
export async function run(endpoint: Endpoint, command: object): Promise<Record<string, unknown>> {
  return throwIfFailed(await endpoint.run(request("admin", command)));
}
