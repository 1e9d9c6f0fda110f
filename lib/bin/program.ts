/**
 * What the programs `mongod` and `mongos` have in common: log, signals, ports, process number, and the way they end.
 *
 *     start: hold what is needed ─► open the ports ─► say so ─► … until a signal or `shutdown`: give it back, exit
 */
import { rmSync, writeFileSync } from "node:fs";
import { setTimer } from "../cluster/machine.js";
import { seededRandom } from "../cluster/random.js";
import type { ServerLogs } from "../mongod/serverLogs.js";
import { newServerLogs } from "../mongod/serverLogs.js";
import type { ConnectionCounts, TcpServer, Traffic } from "../net/index.js";
import { serve } from "../net/index.js";
import type { Endpoint, Environment } from "../protocol/index.js";
import type { ProgramSettings } from "./commandLine.js";
import { DataDirectoryError } from "./dataDirectory.js";
import { ServerLog } from "./log.js";
import { engineEntry, messages, networkEntry } from "./messages.js";

/** MongoDB's exit codes. */
export const EXIT = { clean: 0, failed: 1, abrupt: 14, netError: 48, uncaught: 100 } as const;

/** How long open connections may hold up the end, in milliseconds. */
const FAREWELL_MS = 1_000;

/** MongoDB's limit where `--maxConns` says nothing. */
const MAX_CONNECTIONS = 1_000_000;

/** Signals that end it: number, and what the system calls it. */
const SIGNALS = [
  ["SIGHUP", 1, "Hangup"],
  ["SIGINT", 2, "Interrupt"],
  ["SIGQUIT", 3, "Quit"],
  ["SIGTERM", 15, "Terminated"],
] as const;

/** A server program: subclasses say what answers, and what else starts and ends with it. */
export abstract class Program<S extends ProgramSettings> {
  protected readonly settings: S;
  protected readonly argv: readonly string[];
  protected readonly logs: ServerLogs = newServerLogs();
  protected readonly log: ServerLog;
  protected readonly servers: TcpServer[] = [];
  /** What has to be given back at the end. */
  protected readonly held: (() => void)[] = [];
  protected ending = false;
  readonly #counts: ConnectionCounts = { current: 0, total: 0 };
  readonly #maxConnections: number;

  /**
   * @param settings what the command line asks for
   * @param argv its words, the program first
   */
  constructor(settings: S, argv: readonly string[]) {
    this.settings = settings;
    this.argv = argv;
    this.#maxConnections = settings.maxConnections ?? MAX_CONNECTIONS;
    this.log = this.#openLog();
    this.#listenForSignals();
  }

  /** Ends what answers, before the ports' resources are given back. */
  protected abstract closeEndpoint(): void;

  /**
   * Opens a port on one of the addresses.
   * @throws ListenError
   */
  protected async listen(
    endpoint: Endpoint | ((address: string) => Endpoint),
    host: string,
    port: number,
  ): Promise<TcpServer> {
    const server = await serve(endpoint, {
      host,
      port,
      counts: this.#counts,
      maxConnections: this.#maxConnections,
      log: (level, message, attributes) => {
        const entry = networkEntry(level, message, attributes, this.settings);
        if (entry && !this.ending) this.log.write(entry);
      },
    });
    this.servers.push(server);
    return server;
  }

  /** The lines that harnesses wait for. */
  protected sayListening(): void {
    for (const { host } of this.servers) this.log.write(messages.listeningOn(host));
    this.log.write(messages.waiting(this.servers[0]?.port ?? 0));
  }

  /** Its open connections, for serverStatus. */
  protected connections(): { current: number; available: number; totalCreated: number } {
    const { current, total } = this.#counts;
    return { current, available: this.#maxConnections - current, totalCreated: total };
  }

  /** What went over all addresses. */
  protected traffic(): Traffic {
    const sum = { bytesIn: 0, bytesOut: 0 };
    for (const { bytesIn, bytesOut } of this.servers.map((server) => server.traffic())) {
      sum.bytesIn += bytesIn;
      sum.bytesOut += bytesOut;
    }
    return sum;
  }

  /** Clock, timers, log and random source; SHARDLAB_SEED repeats the last. */
  protected environment(part?: string): Environment {
    const seed = process.env["SHARDLAB_SEED"];
    return {
      now: Date.now,
      setTimer,
      random: seed === undefined ? Math.random : seededRandom(seed, part),
      log: (level, message, attributes) => {
        const entry = engineEntry(level, message, attributes, this.settings);
        if (entry) this.log.write(entry);
      },
    };
  }

  /** A client sent `shutdown`. */
  protected shutDown(): void {
    this.log.write(messages.shutdownCommand);
    setImmediate(() => void this.end(EXIT.clean)); // once the reply is on its way
  }

  protected writePidFile(): void {
    const { pidFile } = this.settings;
    if (pidFile === undefined) return;
    try {
      writeFileSync(pidFile, `${process.pid}\n`);
    } catch (error) {
      const why = (error as Error).message.split(",")[0];
      throw new DataDirectoryError(`FileStreamFailed: ERROR: Cannot write pid file to ${pidFile}: ${why}`);
    }
    this.held.push(() => rmSync(pidFile, { force: true }));
  }

  /** Gives back what was taken, the latest first, and ends the process. */
  protected async end(code: number, lastLines = messages.ended(code)): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    setTimeout(() => process.exit(code), FAREWELL_MS);
    await Promise.all(this.servers.map((server) => server.close()));
    this.closeEndpoint();
    for (const release of this.held.reverse()) release();
    for (const line of lastLines) this.log.write(line);
    process.exit(code);
  }

  #listenForSignals(): void {
    for (const [signal, number, name] of SIGNALS) {
      process.on(signal, () => {
        if (this.ending) return;
        for (const line of messages.received(number, name)) this.log.write(line);
        void this.end(EXIT.clean);
      });
    }
    if (process.platform !== "win32") process.on("SIGUSR1", () => this.log.rotate());
    // A reader that left closes our pipes; the server goes on without them.
    process.stdout.on("error", () => undefined);
    process.stderr.on("error", () => undefined);
    process.on("uncaughtException", (error) => {
      process.stderr.write(`${error.stack}\n`);
      this.log.write(messages.fatal(error.name));
      void this.end(EXIT.abrupt);
    });
  }

  #openLog(): ServerLog {
    const { logPath: path, logAppend: append, logRotate: rotate, utc } = this.settings;
    try {
      return new ServerLog({ path, append, rotate, utc }, this.logs);
    } catch {
      new ServerLog({ append, rotate, utc }, this.logs).write(messages.logFailed(path ?? ""));
      process.exit(EXIT.failed);
    }
  }
}
