/**
 * Engines `process` and `mongod`: every server is a program of its own, started by mongodb-memory-server as it
 * starts any mongod. With `process` the program is ours (`lib/bin/mongod`), with `mongod` it is MongoDB's; from
 * here on there is no difference, which is why the first proves the second where no MongoDB can be had.
 *
 *     MongoInstance ─ spawn ─▶ mongod --port … --dbpath … --replSet shardA      one for each server, in parallel
 *     TcpEndpoint   ─ replSetInitiate, hello until it is primary ─▶ mongod
 *
 * mongodb-memory-server watches over each server with a Node process; our one {@link Caretaker} takes their place
 * and removes the folders too.
 */
import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { cpus } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { MongoInstance, MongoInstanceEvents } from "mongodb-memory-server-core/lib/util/MongoInstance.js";
import {
  ResolveConfigVariables,
  setDefaultValue,
} from "mongodb-memory-server-core/lib/util/resolveConfig.js";
import { TcpEndpoint } from "../../net/index.js";
import { ErrorCode, isOk, replyDocument, request } from "../../protocol/index.js";
import { ClusterError, ClusterErrorCode } from "../error.js";
import { Caretaker } from "./caretaker.js";
import type { Engine, Progress, RunningServer } from "./engine.js";

/** How long one server may take until it listens, and until it is primary, in milliseconds. */
const START_MS = 60_000;
/** How often another port is tried when somebody was faster. */
const PORT_TRIES = 5;
/** Old servers want to be asked before they are primary. */
const FIRST_POLL_MS = 5;
const LONGEST_POLL_MS = 100;

// We have asked the program for its version ourselves; a second look could only warn of what we know.
setDefaultValue(ResolveConfigVariables.SYSTEM_BINARY_VERSION_CHECK, "false");

/** What to start. */
export interface ProgramChoice {
  /** Path of the program. */
  readonly path: string;
  /** What `--version` says, e.g. `8.2.6`. */
  readonly version: string;
  /** Further words of the command line. */
  readonly args: readonly string[];
  /** Further environment of a server, by its name. */
  readonly env: (id: string) => NodeJS.ProcessEnv;
}

/** A server of this engine and what belongs to it. */
interface Part {
  readonly id: string;
  readonly port: number;
  readonly dbPath: string;
  readonly endpoint: TcpEndpoint;
  instance: Instance;
}

export class ProgramEngine implements Engine {
  readonly losses: string[] = [];
  readonly #choice: ProgramChoice;
  readonly #progress: Progress;
  readonly #caretaker = new Caretaker();
  readonly #parts = new Map<string, Part>();
  /** Starts under way: what they leave must be ended too. */
  readonly #starting = new Set<Promise<unknown>>();
  #closing = false;

  constructor(choice: ProgramChoice, progress: Progress) {
    this.#choice = choice;
    this.#progress = progress;
  }

  async start(ids: readonly string[]): Promise<RunningServer[]> {
    const begun = performance.now();
    this.#progress(`starting ${ids.join(", ")}: ${this.#choice.path} ${this.#choice.version}`);
    // One a core: more at once would only take turns, and look like servers that don't start.
    const queue = [...ids];
    let up = 0;
    const work = async (): Promise<void> => {
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
        const since = performance.now();
        await this.#startOne(id);
        this.#progress(`${id} is up after ${seconds(since)} (${++up} of ${ids.length})`);
      }
    };
    await this.#tracked(Promise.all(Array.from({ length: Math.max(2, cpus().length) }, work)));
    this.#progress(`${ids.length} servers are up after ${seconds(begun)}`);
    return ids.map((id) => {
      const { port, endpoint } = this.#part(id);
      return { id, address: `127.0.0.1:${port}`, endpoint };
    });
  }

  async kill(id: string): Promise<void> {
    await this.#part(id).instance.kill();
  }

  async restart(id: string): Promise<void> {
    const part = this.#part(id);
    if (part.instance.running) return;
    part.instance = await this.#tracked(this.#launch(id, part.port, part.dbPath));
    await becomePrimary(part);
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.#starting);
    for (const { endpoint } of this.#parts.values()) endpoint.close();
    await Promise.allSettled([...this.#parts.values()].map(({ instance }) => instance.stop()));
    await this.#caretaker.close();
  }

  async #startOne(id: string): Promise<void> {
    const dbPath = path.join(this.#caretaker.folder, id);
    mkdirSync(dbPath);
    for (let attempt = 1; ; attempt++) {
      if (this.#closing) throw new Error("the start was given up");
      const port = await freePort();
      try {
        const instance = await this.#launch(id, port, dbPath);
        const part: Part = { id, port, dbPath, instance, endpoint: new TcpEndpoint(`127.0.0.1:${port}`) };
        this.#parts.set(id, part);
        await becomePrimary(part);
        return;
      } catch (error) {
        const taken = error instanceof Error && /already in use/i.test(error.message);
        if (!taken || attempt === PORT_TRIES) throw error;
      }
    }
  }

  async #launch(id: string, port: number, dbPath: string): Promise<Instance> {
    const { path: systemBinary, version, args, env } = this.#choice;
    const instance = new Instance(
      {
        instance: {
          port,
          dbPath,
          replSet: id,
          ip: "127.0.0.1",
          storageEngine: "wiredTiger",
          args: [...args],
          launchTimeout: START_MS,
        },
        binary: { systemBinary, version },
        // A session of its own: Ctrl-C in a terminal is for us, and we decide what ends.
        spawn: { detached: true, env: { ...process.env, ...env(id) } },
      },
      systemBinary,
      this.#caretaker,
    );
    try {
      await instance.start();
      instance.onLoss = (how) => {
        this.losses.push(`${id} ended by itself (${how})`);
        this.#progress(`${id} ended by itself (${how})`);
      };
    } catch (error) {
      throw new ClusterError(
        ClusterErrorCode.startFailed,
        `${id} did not start: ${instance.lastWords || firstLine(error)}`,
        `look at what ${systemBinary} says when you start it by hand`,
        { cause: error },
      );
    }
    return instance;
  }

  #part(id: string): Part {
    const part = this.#parts.get(id);
    if (part) return part;
    const known = [...this.#parts.keys()].join(", ");
    throw new ClusterError(ClusterErrorCode.badOption, `there is no server ${id}`, `choose from ${known}`);
  }

  async #tracked<T>(work: Promise<T>): Promise<T> {
    this.#starting.add(work);
    try {
      return await work;
    } finally {
      this.#starting.delete(work);
    }
  }
}

/** mongodb-memory-server's server, with our caretaker in place of its watcher. */
class Instance extends MongoInstance {
  /** The last that the program said went wrong. */
  lastWords = "";
  /** Told when the program ends though nobody asked it to. */
  onLoss: ((how: string) => void) | undefined;
  readonly #program: string;
  readonly #caretaker: Caretaker;

  constructor(
    options: ConstructorParameters<typeof MongoInstance>[0],
    program: string,
    caretaker: Caretaker,
  ) {
    super(options);
    this.#program = program;
    this.#caretaker = caretaker;
    this.on(MongoInstanceEvents.instanceSTDERR, (text: string) => (this.lastWords = firstLine(text)));
    this.on(
      MongoInstanceEvents.instanceSTDOUT,
      (text: string) => (this.lastWords = lastError(text) ?? this.lastWords),
    );
  }

  get running(): boolean {
    return this.mongodProcess?.exitCode === null && this.mongodProcess.signalCode === null;
  }

  /** Ends it without a word; resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.mongodProcess;
    if (!child || !this.running) return;
    this.onLoss = undefined;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await gone;
  }

  override stop(): Promise<boolean> {
    this.onLoss = undefined;
    return super.stop();
  }

  /** MONGOMS_SYSTEM_BINARY would win over what we ask for: the program that was chosen is the one that runs. */
  override _launchMongod(_chosenByEnvironment: string): ChildProcess {
    const child = super._launchMongod(this.#program);
    const { pid } = child;
    if (pid !== undefined) {
      this.#caretaker.watch(pid);
      child.once("exit", (code, signal) => {
        this.#caretaker.forget(pid);
        this.onLoss?.([signal ?? `code ${code}`, this.lastWords].filter(Boolean).join(": "));
      });
    }
    return child;
  }

  override _launchKiller(parentPid: number, childPid: number): ChildProcess {
    if (process.platform === "win32" || !this.mongodProcess) return super._launchKiller(parentPid, childPid);
    return this.mongodProcess; // "the process to stop after the server": there is none
  }
}

/** Makes a server the primary of its one-member set and waits until it is. */
async function becomePrimary({ id, port, endpoint }: Part): Promise<void> {
  const config = { _id: id, members: [{ _id: 0, host: `127.0.0.1:${port}` }] };
  const reply = await endpoint.run(request("admin", { replSetInitiate: config }));
  const { code, errmsg } = replyDocument(reply);
  // A server that was killed and keeps its data is a member already.
  if (!isOk(reply) && code !== ErrorCode.AlreadyInitialized)
    throw new Error(`replSetInitiate: ${String(errmsg)}`);
  const deadline = performance.now() + START_MS;
  for (
    let pause = FIRST_POLL_MS;
    performance.now() < deadline;
    pause = Math.min(2 * pause, LONGEST_POLL_MS)
  ) {
    const { isWritablePrimary } = replyDocument(await endpoint.run(request("admin", { hello: 1 })));
    if (isWritablePrimary === true) return;
    await delay(pause);
  }
  throw new ClusterError(
    ClusterErrorCode.startFailed,
    `${id} did not become primary within ${START_MS / 1000} seconds`,
    "close other programs and try again",
  );
}

/** A port that nobody has at the moment. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen({ port: 0, host: "127.0.0.1", exclusive: true }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** The last line of the log that is an error, as one line of text. */
function lastError(text: string): string | undefined {
  for (const line of text.split("\n").reverse()) {
    if (!/"s":"[EF]"/.test(line)) continue;
    try {
      const { msg, attr } = JSON.parse(line) as {
        msg: string;
        attr?: { error?: string | { errmsg?: string } };
      };
      const error = typeof attr?.error === "string" ? attr.error : attr?.error?.errmsg;
      return error ? `${msg}: ${error}` : msg;
    } catch {
      return line.slice(0, 200);
    }
  }
  return undefined;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.trim().split("\n")[0] ?? "").slice(0, 300);
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(2)} s`;
}
