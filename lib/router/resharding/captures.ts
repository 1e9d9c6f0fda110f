/**
 * What clients change on the donors while their documents are copied: the shards of this simulator remember it
 * (mongod/commands/captureWrites.ts). Others don't, and the collection is then kept from writers for the whole copy.
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asNumber, DocumentWriter, elements, getField, isTruthy } from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import { ErrorCode, failureOf, isOk, request } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import { quietly } from "../ddl/fanOut.js";
import type { Names } from "../ddl/shardCollections.js";
import { detached } from "../support/values.js";

/** The captures of one resharding on its donors. */
export class Captures {
  /** Number of the last change that has come, by donor. */
  readonly #last = new Map<string, number>();

  /** @param owner the operation's UUID */
  constructor(
    private readonly context: RouterContext,
    private readonly names: Names,
    private readonly owner: RawValue,
    private readonly donors: readonly string[],
  ) {}

  /**
   * Begins on all donors. The caller has the collection alone.
   * @returns false when one of them can't; none captures then
   * @throws CommandError what a donor says
   */
  async start(): Promise<boolean> {
    for (const donor of this.donors) {
      const reply = await this.#send(donor, "start");
      if (isOk(reply)) continue;
      await this.stop();
      const failure = failureOf(reply);
      if (failure.code === ErrorCode.CommandNotFound) return false;
      throw failure;
    }
    return true;
  }

  /**
   * The documents that one donor has changed since the last time, each once.
   * @throws CommandError what the donor says: NamespaceNotFound (26) when it was started again meanwhile
   */
  async *changesOn(donor: string): AsyncGenerator<RawValue[]> {
    for (;;) {
      const reply = await this.#send(donor, "fetch", this.#last.get(donor) ?? 0);
      if (!isOk(reply)) throw failureOf(reply);
      const ids = elements(asDocument(getField(reply.body, "ids")!)).map(detached);
      this.#last.set(donor, asNumber(getField(reply.body, "last")!));
      if (ids.length > 0) yield ids;
      if (!isTruthy(getField(reply.body, "more"))) return;
    }
  }

  /** Ends on all donors. One that is gone remembers nothing; one that does not know the command neither. */
  async stop(): Promise<void> {
    await Promise.all(
      this.donors.map((donor) =>
        quietly(this.context, "writes are still captured", () => this.#send(donor, "stop")),
      ),
    );
  }

  #send(donor: string, action: string, after?: number): Promise<Reply> {
    const command = new DocumentWriter()
      .string("_shardlabCaptureWrites", this.names.name)
      .field("owner", this.owner)
      .string("action", action);
    if (after !== undefined) command.int64("after", BigInt(after));
    return this.context.shards.run(donor, request(this.names.db, command.finish()));
  }
}
