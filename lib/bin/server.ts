/**
 * The server of the program `mongod`: opens what the command line asks for, and gives all of it back at the end.
 */
import { rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { describeMachine, memoryUse, setTimer } from "../cluster/machine.js";
import { seededRandom } from "../cluster/random.js";
import type { MongodOptions } from "../mongod/index.js";
import { JournalError, Mongod, newServerLogs } from "../mongod/index.js";
import type { ConnectionCounts, TcpServer, Traffic } from "../net/index.js";
import { ListenError, serve } from "../net/index.js";
import type { Endpoint, Environment, Reply, Request } from "../protocol/index.js";
import { CommandError, isOk, replyDocument, request } from "../protocol/index.js";
import type { MongodSettings } from "./commandLine.js";
import { DataDirectoryError, holdDirectory } from "./dataDirectory.js";
import { JournalFile } from "./journalFile.js";
import { engineEntry, messages, networkEntry, startupLines } from "./messages.js";
import { ServerLog } from "./log.js";

/** MongoDB's exit codes. */
const EXIT = { clean: 0, failed: 1, abrupt: 14, netError: 48, uncaught: 100 } as const;

/** How long open connections may hold up the end, in milliseconds. */
const FAREWELL_MS = 1_000;

/** What `--storageEngine` may say: MongoDB's engine, and that of its Enterprise edition which keeps nothing either. */
const STORAGE_ENGINES: readonly string[] = ["wiredTiger", "inMemory"];

/** MongoDB's limit where `--maxConns` says nothing. */
const MAX_CONNECTIONS = 1_000_000;

/** Signals that end it: number, and what the system calls it. */
const SIGNALS = [
  ["SIGHUP", 1, "Hangup"],
  ["SIGINT", 2, "Interrupt"],
  ["SIGQUIT", 3, "Quit"],
  ["SIGTERM", 15, "Terminated"],
] as const;

/**
 * Runs a server until a signal or the command `shutdown`; the process ends with MongoDB's exit code.
 * @param settings what the command line asks for
 * @param argv its words, the program first
 */
export async function runServer(settings: MongodSettings, argv: readonly string[]): Promise<void> {
  await new Server(settings, argv).start();
}

class Server {
  readonly #settings: MongodSettings;
  readonly #argv: readonly string[];
  readonly #logs = newServerLogs();
  readonly #log: ServerLog;
  readonly #counts: ConnectionCounts = { current: 0, total: 0 };
  readonly #maxConnections: number;
  readonly #servers: TcpServer[] = [];
  /** What has to be given back at the end. */
  readonly #held: (() => void)[] = [];
  #mongod: Mongod | undefined;
  #journal: JournalFile | undefined;
  #ending = false;

  constructor(settings: MongodSettings, argv: readonly string[]) {
    this.#settings = settings;
    this.#argv = argv;
    this.#maxConnections = settings.maxConnections ?? MAX_CONNECTIONS;
    this.#log = this.#openLog();
    this.#listenForSignals();
  }

  async start(): Promise<void> {
    try {
      this.#checkStorageEngine();
      this.#held.push(holdDirectory(this.#settings.dbPath));
      if (this.#settings.storageEngine !== "inMemory") this.#openJournal();
      this.#writePidFile();
      await this.#listen();
    } catch (error) {
      return this.#startFailed(error);
    }
    for (const line of startupLines(this.#settings)) this.#log.write(line);
    for (const { host } of this.#servers) this.#log.write(messages.listeningOn(host));
    this.#log.write(messages.waiting(this.#servers[0]?.port ?? 0));
    if (await this.#isPrimary()) for (const line of messages.becamePrimary) this.#log.write(line);
  }

  /** It may have been the primary of a set before, and is again. */
  async #isPrimary(): Promise<boolean> {
    const hello = await this.#mongod?.run(request("admin", { hello: 1 }));
    return this.#settings.replSet !== undefined && hello !== undefined && isPrimary(hello);
  }

  #openJournal(): void {
    const journal = new JournalFile(this.#settings.dbPath, (copy) =>
      this.#log.write(messages.journalDamaged(copy)),
    );
    this.#held.push(() => journal.close());
    this.#journal = journal;
  }

  #checkStorageEngine(): void {
    const { storageEngine } = this.#settings;
    if (STORAGE_ENGINES.includes(storageEngine)) return;
    throw new CommandError(18656, `Cannot start server with an unknown storage engine: ${storageEngine}`);
  }

  #startFailed(error: unknown): Promise<void> {
    if (error instanceof ListenError) {
      for (const line of startupLines(this.#settings)) this.#log.write(line);
      const address = this.#settings.bindIps[this.#servers.length] ?? "";
      this.#log.write(messages.listenerFailed(address, this.#settings.port, error.code));
      return this.#end(EXIT.netError);
    }
    const isExpected = [DataDirectoryError, CommandError, JournalError].some((kind) => error instanceof kind);
    if (!isExpected || !(error instanceof Error)) throw error;
    // mongodb-memory-server takes all it reads at a time for this one line, and parses it: it has to be alone.
    const name = error instanceof CommandError ? `${error.codeName}: ` : "";
    this.#log.write(messages.startFailed(name + error.message));
    return this.#end(EXIT.uncaught, []);
  }

  /** Opens the port on every address; the first one fixes it where any free one will do. */
  async #listen(): Promise<void> {
    let port = this.#settings.port;
    for (const host of this.#settings.bindIps) {
      const existing = this.#mongod;
      const server = await serve(
        existing
          ? this.#witness(existing.member)
          : (address) => this.#witness(this.#newMongod(address).member),
        {
          host,
          port,
          counts: this.#counts,
          maxConnections: this.#maxConnections,
          log: (level, message, attributes) => {
            const entry = networkEntry(level, message, attributes, this.#settings);
            if (entry && !this.#ending) this.#log.write(entry);
          },
        },
      );
      this.#servers.push(server);
      port = server.port;
    }
  }

  #newMongod(address: string): Mongod {
    const colon = address.lastIndexOf(":");
    const host = address.slice(0, colon);
    const { replSet, parsed, parameters } = this.#settings;
    const options: MongodOptions = {
      environment: this.#environment(),
      host: `${host === "0.0.0.0" || host === "[::]" ? hostname() : host}${address.slice(colon)}`,
      ...(replSet !== undefined && { replSet, initiated: false }),
      commandLine: { argv: this.#argv, parsed },
      parameters,
      hostInfo: describeMachine,
      memory: memoryUse,
      connections: () => ({
        current: this.#counts.current,
        available: this.#maxConnections - this.#counts.current,
        totalCreated: this.#counts.total,
      }),
      network: () => this.#traffic(),
      pid: process.pid,
      logs: this.#logs,
      ...(this.#journal && { storage: this.#journal }),
      onLogRotate: () => this.#log.rotate(),
      onShutdown: () => {
        this.#log.write(messages.shutdownCommand);
        setImmediate(() => void this.#end(EXIT.clean)); // once the reply is on its way
      },
    };
    return (this.#mongod = new Mongod(options));
  }

  /** Over all addresses. */
  #traffic(): Traffic {
    const sum = { bytesIn: 0, bytesOut: 0 };
    for (const { bytesIn, bytesOut } of this.#servers.map((server) => server.traffic())) {
      sum.bytesIn += bytesIn;
      sum.bytesOut += bytesOut;
    }
    return sum;
  }

  #environment(): Environment {
    const seed = process.env["SHARDLAB_SEED"];
    return {
      now: Date.now,
      setTimer,
      random: seed === undefined ? Math.random : seededRandom(seed),
      log: (level, message, attributes) => {
        const entry = engineEntry(level, message, attributes, this.#settings);
        if (entry) this.#log.write(entry);
      },
    };
  }

  /** Passes requests on; what they changed is kept before anybody hears of it. Says in the log when the set got its primary. */
  #witness(endpoint: Endpoint): Endpoint {
    const journal = this.#journal;
    const run = journal
      ? async (request: Request): Promise<Reply> => {
          const reply = await endpoint.run(request);
          return this.#flushed(journal) ? reply : new Promise(() => undefined);
        }
      : (request: Request): Promise<Reply> => endpoint.run(request);
    const initiate = async (request: Request): Promise<Reply> => {
      const reply = await run(request);
      if (isOk(reply)) for (const line of messages.becamePrimary) this.#log.write(line);
      return reply;
    };
    return { run: (request) => (request.command === "replSetInitiate" ? initiate(request) : run(request)) };
  }

  /** Whether the journal could be written; a server that can't must end, as MongoDB's does. */
  #flushed(journal: JournalFile): boolean {
    try {
      journal.flush();
      return true;
    } catch (error) {
      this.#log.write(messages.journalFailed((error as Error).message));
      void this.#end(EXIT.abrupt);
      return false;
    }
  }

  #listenForSignals(): void {
    for (const [signal, number, name] of SIGNALS) {
      process.on(signal, () => {
        if (this.#ending) return;
        for (const line of messages.received(number, name)) this.#log.write(line);
        void this.#end(EXIT.clean);
      });
    }
    if (process.platform !== "win32") process.on("SIGUSR1", () => this.#log.rotate());
    // A reader that left closes our pipes; the server goes on without them.
    process.stdout.on("error", () => undefined);
    process.stderr.on("error", () => undefined);
    process.on("uncaughtException", (error) => {
      process.stderr.write(`${error.stack}\n`);
      this.#log.write(messages.fatal(error.name));
      void this.#end(EXIT.abrupt);
    });
  }

  #openLog(): ServerLog {
    const { logPath: path, logAppend: append, logRotate: rotate, utc } = this.#settings;
    try {
      return new ServerLog({ path, append, rotate, utc }, this.#logs);
    } catch {
      new ServerLog({ append, rotate, utc }, this.#logs).write(messages.logFailed(path ?? ""));
      process.exit(EXIT.failed);
    }
  }

  #writePidFile(): void {
    const { pidFile } = this.#settings;
    if (pidFile === undefined) return;
    try {
      writeFileSync(pidFile, `${process.pid}\n`);
    } catch (error) {
      const why = (error as Error).message.split(",")[0];
      throw new DataDirectoryError(`FileStreamFailed: ERROR: Cannot write pid file to ${pidFile}: ${why}`);
    }
    this.#held.push(() => rmSync(pidFile, { force: true }));
  }

  /** Gives back what was taken, the latest first, and ends the process. */
  async #end(code: number, lastLines = messages.ended(code)): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    setTimeout(() => process.exit(code), FAREWELL_MS);
    await Promise.all(this.#servers.map((server) => server.close()));
    this.#mongod?.close();
    for (const release of this.#held.reverse()) release();
    for (const line of lastLines) this.#log.write(line);
    process.exit(code);
  }
}

function isPrimary(hello: Reply): boolean {
  return replyDocument(hello)["isWritablePrimary"] === true;
}
