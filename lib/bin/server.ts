/**
 * The server of the program `mongod`: opens what the command line asks for, and gives all of it back at the end.
 */
import { hostname } from "node:os";
import { describeMachine, memoryUse } from "../cluster/machine.js";
import type { MongodOptions } from "../mongod/index.js";
import { JournalError, Mongod } from "../mongod/index.js";
import { ListenError } from "../net/index.js";
import type { Endpoint, Reply, Request } from "../protocol/index.js";
import { CommandError, isOk, replyDocument, request } from "../protocol/index.js";
import type { MongodSettings } from "./commandLine.js";
import { DataDirectoryError, holdDirectory } from "./dataDirectory.js";
import { Followers } from "./follower.js";
import { JournalFile } from "./journalFile.js";
import { messages, startupLines } from "./messages.js";
import { EXIT, Program } from "./program.js";

/** What `--storageEngine` may say: MongoDB's engine, and that of its Enterprise edition which keeps nothing either. */
const STORAGE_ENGINES: readonly string[] = ["wiredTiger", "inMemory"];

/**
 * Runs a server until a signal or the command `shutdown`; the process ends with MongoDB's exit code.
 * @param settings what the command line asks for
 * @param argv its words, the program first
 */
export async function runServer(settings: MongodSettings, argv: readonly string[]): Promise<void> {
  await new Server(settings, argv).start();
}

class Server extends Program<MongodSettings> {
  #mongod: Mongod | undefined;
  #followers: Followers | undefined;
  #journal: JournalFile | undefined;

  async start(): Promise<void> {
    try {
      this.#checkStorageEngine();
      this.held.push(holdDirectory(this.settings.dbPath));
      if (this.settings.storageEngine !== "inMemory") this.#openJournal();
      this.writePidFile();
      await this.#listen();
    } catch (error) {
      return this.#startFailed(error);
    }
    for (const line of startupLines(this.settings)) this.log.write(line);
    this.sayListening();
    this.#followers?.announce();
    if (await this.#isPrimary()) for (const line of messages.becamePrimary) this.log.write(line);
  }

  protected closeEndpoint(): void {
    this.#followers?.close();
    this.#mongod?.close();
  }

  /** It may have been the primary of a set before, and is again. */
  async #isPrimary(): Promise<boolean> {
    const hello = await this.#mongod?.run(request("admin", { hello: 1 }));
    return this.settings.replSet !== undefined && hello !== undefined && isPrimary(hello);
  }

  #openJournal(): void {
    const journal = new JournalFile(this.settings.dbPath, {
      damaged: (copy) => this.log.write(messages.journalDamaged(copy)),
      failed: (error) => {
        this.log.write(messages.journalFailed(error.message));
        void this.end(EXIT.abrupt);
      },
    });
    this.held.push(() => journal.close());
    this.#journal = journal;
  }

  #checkStorageEngine(): void {
    const { storageEngine } = this.settings;
    if (STORAGE_ENGINES.includes(storageEngine)) return;
    throw new CommandError(18656, `Cannot start server with an unknown storage engine: ${storageEngine}`);
  }

  #startFailed(error: unknown): Promise<void> {
    if (error instanceof ListenError) {
      for (const line of startupLines(this.settings)) this.log.write(line);
      const address = this.settings.bindIps[this.servers.length] ?? "";
      this.log.write(messages.listenerFailed(address, this.settings.port, error.code));
      return this.end(EXIT.netError);
    }
    const isExpected = [DataDirectoryError, CommandError, JournalError].some((kind) => error instanceof kind);
    if (!isExpected || !(error instanceof Error)) throw error;
    // mongodb-memory-server takes all it reads at a time for this one line, and parses it: it has to be alone.
    const name = error instanceof CommandError ? `${error.codeName}: ` : "";
    this.log.write(messages.startFailed(name + error.message));
    return this.end(EXIT.uncaught, []);
  }

  /** Opens the port on every address; the first one fixes it where any free one will do. */
  async #listen(): Promise<void> {
    let port = this.settings.port;
    for (const host of this.settings.bindIps) {
      const existing = this.#followers;
      const endpoint = existing
        ? this.#witness(existing.endpoint)
        : (address: string): Endpoint => {
            this.#mongod = this.#newMongod(address);
            this.#followers = new Followers(this.#mongod);
            return this.#witness(this.#followers.endpoint);
          };
      ({ port } = await this.listen(endpoint, host, port));
    }
  }

  #newMongod(address: string): Mongod {
    const colon = address.lastIndexOf(":");
    const host = address.slice(0, colon);
    const { replSet, clusterRole, parsed, parameters } = this.settings;
    const options: MongodOptions = {
      environment: this.environment(),
      host: `${host === "0.0.0.0" || host === "[::]" ? hostname() : host}${address.slice(colon)}`,
      ...(replSet !== undefined && { replSet, initiated: false }),
      ...(clusterRole && { clusterRole }),
      severalMembers: true,
      commandLine: { argv: this.argv, parsed },
      parameters,
      hostInfo: describeMachine,
      memory: memoryUse,
      connections: () => this.connections(),
      network: () => this.traffic(),
      pid: process.pid,
      logs: this.logs,
      ...(this.#journal && { storage: this.#journal }),
      onLogRotate: () => this.log.rotate(),
      onShutdown: () => this.shutDown(),
    };
    return new Mongod(options);
  }

  /** Passes requests on; what they changed is kept before anybody hears of it. Says in the log when the set got its primary. */
  #witness(endpoint: Endpoint): Endpoint {
    const journal = this.#journal;
    const run = journal
      ? async (request: Request): Promise<Reply> => {
          const reply = await endpoint.run(request);
          // A server that can't keep it must end, as MongoDB's does, and answers nothing more.
          return journal.flush() ? reply : new Promise(() => undefined);
        }
      : (request: Request): Promise<Reply> => endpoint.run(request);
    const initiate = async (request: Request): Promise<Reply> => {
      const reply = await run(request);
      if (isOk(reply) && (await this.#isPrimary()))
        for (const line of messages.becamePrimary) this.log.write(line);
      return reply;
    };
    return { run: (request) => (request.command === "replSetInitiate" ? initiate(request) : run(request)) };
  }
}

function isPrimary(hello: Reply): boolean {
  return replyDocument(hello)["isWritablePrimary"] === true;
}
