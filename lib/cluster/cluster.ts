/**
 * A running sharded cluster: shards, a config server and a router.
 *
 *     client ── TCP ──> router ──┬── shardA ── TCP (to look inside)
 *                                ├── shardB ── TCP
 *                                └── config server ── TCP
 *
 * The router is always in this process. Shards and config server come from an
 * engine: with `embedded` they are in this process too and the router reaches
 * them by a function call; with `process` and `mongod` they are programs and it
 * reaches them by TCP. Each is on a port of its own, so that a lesson can look
 * inside one shard with the official driver. In the catalog a shard is known by
 * its address (`shardA/127.0.0.1:40123`), as in MongoDB; {@link Cluster} keeps
 * the map from such a string to the endpoint, and hands the router a TCP
 * endpoint for any other.
 */
import { connectTo, ListenError, serve } from "../net/index.js";
import type { Endpoint, Environment, Reply, Request } from "../protocol/index.js";
import { replyDocument, request, throwIfFailed } from "../protocol/index.js";
import type { RulesVersion } from "../router/index.js";
import { Router } from "../router/index.js";
import { EmbeddedEngine } from "./engines/embedded.js";
import type { Engine, Progress } from "./engines/engine.js";
import { directUri, toStderr } from "./engines/engine.js";
import { ClusterError, ClusterErrorCode } from "./error.js";
import { describeMachine, memoryUse, setTimer } from "./machine.js";
import type { ClusterOptions, EngineName, ResolvedOptions } from "./options.js";
import { resolveOptions } from "./options.js";
import { seededRandom } from "./random.js";

/** Connections that a mongos would take by default. */
const MOST_CONNECTIONS = 1_000_000;

/** How to reach one server of the cluster. */
export interface ServerInfo {
  /** For the official driver; connects to this server alone. */
  readonly uri: string;
}

/** The program of the shards. */
export interface ShardProgram {
  /** Of `buildInfo`, e.g. `8.2.6-shardlab`. */
  readonly version: string;
  /** It is Shardlab's own, not MongoDB's. */
  readonly simulated: boolean;
}

/** A cluster as others see it: plain data that travels between processes. */
export interface ClusterInfo {
  /** Connection string of the router. */
  readonly uri: string;
  readonly engine: EngineName;
  readonly rules: RulesVersion;
  readonly seed: number;
  readonly clock: "virtual" | "real";
  readonly shards: readonly ({ readonly id: string } & ServerInfo)[];
  readonly config: ServerInfo;
  /** What the shards run, as they say themselves: engine `mongod` runs any program that it is pointed to. */
  readonly shardProgram: ShardProgram;
  readonly chunkSizeBytes: number;
  /** What this engine can do; a cell that needs a missing one says so. */
  readonly capabilities: {
    /** Every routed operation is traced (`routingTrace`). */
    readonly trace: boolean;
    /** Waiting rules need not be waited for. */
    readonly virtualClock: boolean;
    /** Rules of older MongoDB versions can be chosen. */
    readonly rules: boolean;
    /** A shard can be killed and started again. */
    readonly killShard: boolean;
  };
}

/** Where part of the cluster comes to its end. */
type Closer = () => void | Promise<void>;

export class Cluster {
  readonly info: ClusterInfo;
  /** The router, for callers in this process. */
  readonly router: Router;
  readonly #engine: Engine;
  readonly #closers: readonly Closer[];
  #closing: Promise<void> | undefined;

  private constructor(info: ClusterInfo, router: Router, engine: Engine, closers: readonly Closer[]) {
    this.info = info;
    this.router = router;
    this.#engine = engine;
    this.#closers = closers;
  }

  /**
   * Boots a cluster. Either all of it runs afterwards, or none of it.
   *
   * @param options see {@link ClusterOptions}; nothing is downloaded unless `download` asks for it
   * @param progress told what happens where that takes seconds (engines `process` and `mongod`);
   * default: a line on stderr
   * @throws ClusterError an option that can't work, a port in use, a part that did not start
   * @example
   * const cluster = await Cluster.start({ shards: 3, seed: 7 });
   * console.log(cluster.info.uri);
   * await cluster.close();
   */
  static async start(options: ClusterOptions = {}, progress: Progress = toStderr): Promise<Cluster> {
    const resolved = resolveOptions(options, process.env);
    const closers: Closer[] = [];
    try {
      const { info, router, engine } = await boot(resolved, progress, closers);
      return new Cluster(info, router, engine, closers);
    } catch (error) {
      await closeAll(closers);
      throw explain(error);
    }
  }

  /**
   * Ends one server at once, as a power cut does: engines `process` and `mongod`
   * (`info.capabilities.killShard`). Operations that need it fail until {@link restartShard}.
   * @param id a shard's name, e.g. `shardA`
   * @throws ClusterError `engine-unavailable` where servers are no processes of their own, `bad-option` for a
   * name that no shard has
   */
  async killShard(id: string): Promise<void> {
    this.#checkShard(id);
    await (this.#engine.kill?.(id) ?? this.#noProcesses());
  }

  /**
   * Starts a killed shard again, on its old address. It has what it had answered for: our own shards (`process`) keep
   * a journal, as MongoDB's do.
   * @throws ClusterError as {@link killShard}, and `start-failed`
   */
  async restartShard(id: string): Promise<void> {
    this.#checkShard(id);
    await (this.#engine.restart?.(id) ?? this.#noProcesses());
    await this.router.welcomeBack(id);
  }

  /** Stops everything; resolves when every port is free again. Calling it twice does no harm. */
  close(): Promise<void> {
    return (this.#closing ??= closeAll(this.#closers));
  }

  #checkShard(id: string): void {
    const names = this.info.shards.map((shard) => shard.id);
    if (names.includes(id)) return;
    throw new ClusterError(
      ClusterErrorCode.badOption,
      `there is no shard ${id}`,
      `choose from ${names.join(", ")}`,
    );
  }

  #noProcesses(): never {
    throw new ClusterError(
      ClusterErrorCode.engineUnavailable,
      `engine ${this.info.engine} has no processes to kill`,
      'use --engine process (in a notebook: engine: "process")',
    );
  }
}

/** Starts the parts in order of need: config server and shards, router. What was started is in `closers`, even on failure. */
async function boot(
  options: ResolvedOptions,
  progress: Progress,
  closers: Closer[],
): Promise<{ info: ClusterInfo; router: Router; engine: Engine }> {
  const environment = (part: string): Environment => ({
    now: Date.now,
    setTimer,
    random: seededRandom(options.seed, part),
  });
  const engine = await openEngine(options, environment, progress);
  closers.push(() => engine.close());
  try {
    return await bootOn(engine, environment, options, closers);
  } catch (error) {
    // An error with a remedy of its own has another cause.
    const isExplained = error instanceof ClusterError || error instanceof ListenError;
    if (isExplained || !engine.losses?.length || !(error instanceof Error)) throw error;
    throw new Error(`${error.message} (${engine.losses.join("; ")})`, { cause: error });
  }
}

/** The parts on an engine. */
async function bootOn(
  engine: Engine,
  environment: (part: string) => Environment,
  options: ResolvedOptions,
  closers: Closer[],
): Promise<{ info: ClusterInfo; router: Router; engine: Engine }> {
  const names = Array.from({ length: options.shards }, (_, index) => shardName(index));
  const [config, ...started] = await engine.start(["cfg", ...names]);
  if (!config) throw new Error("the config server was not created");
  const endpoints = new Map<string, Endpoint>();
  const shards = started.map(({ id, address, endpoint }) => {
    const connectionString = `${id}/${address}`;
    endpoints.set(connectionString, endpoint);
    return { id, uri: directUri(address), connectionString };
  });

  const gate = new Gate();
  const counts = { current: 0, total: 0 };
  const server = await serve(gate, { port: options.port, counts });
  closers.push(() => server.close());
  const router = new Router({
    environment: environment("router"),
    config: config.endpoint,
    configHost: `cfg/${config.address}`,
    connect: (connectionString) => endpoints.get(connectionString) ?? remote(connectionString, closers),
    rules: options.rules,
    host: server.address,
    chunkSizeBytes: options.chunkSizeBytes,
    clock: options.clock,
    process: {
      hostInfo: describeMachine,
      memory: memoryUse,
      connections: () => ({
        current: counts.current,
        available: MOST_CONNECTIONS - counts.current,
        totalCreated: counts.total,
      }),
      network: () => server.traffic(),
      pid: process.pid,
    },
  });
  closers.push(() => router.close());
  await router.start();
  for (const { id, connectionString } of shards) {
    throwIfFailed(await router.run(request("admin", { addShard: connectionString, name: id })));
  }
  gate.open(router);

  const info: ClusterInfo = {
    uri: `mongodb://${server.address}/`,
    engine: options.engine,
    rules: options.rules,
    seed: options.seed,
    clock: options.clock,
    shards: shards.map(({ id, uri }) => ({ id, uri })),
    config: { uri: directUri(config.address) },
    shardProgram: await programOf(config.endpoint),
    chunkSizeBytes: options.chunkSizeBytes,
    capabilities: { trace: true, virtualClock: true, rules: true, killShard: engine.kill !== undefined },
  };
  return { info, router, engine };
}

/** What a server is, by its own word. */
async function programOf(server: Endpoint): Promise<ShardProgram> {
  const reply = await server.run(request("admin", { buildInfo: 1 }));
  throwIfFailed(reply);
  const { version, modules } = replyDocument(reply);
  const names = Array.isArray(modules) ? modules.map(String) : [];
  return { version: String(version), simulated: names.some((name) => name.startsWith("Shardlab")) };
}

/** The engine that was asked for; what needs a program or the downloader is loaded only then. */
async function openEngine(
  { engine, seed, download }: ResolvedOptions,
  environment: (part: string) => Environment,
  progress: Progress,
): Promise<Engine> {
  switch (engine) {
    case "process": {
      const [{ ProgramEngine }, { ownProgram }] = await Promise.all([
        import("./engines/programs.js"),
        import("./engines/ownProgram.js"),
      ]);
      return new ProgramEngine(ownProgram(seed), progress);
    }
    case "mongod": {
      const [{ ProgramEngine }, { chooseMongod }] = await Promise.all([
        import("./engines/programs.js"),
        import("./engines/realMongod.js"),
      ]);
      return new ProgramEngine(await chooseMongod(download, progress), progress);
    }
    default:
      return new EmbeddedEngine(environment);
  }
}

/**
 * The router's port while the router starts: its address must be known before, and a client that
 * is early waits instead of meeting a cluster without shards.
 */
class Gate implements Endpoint {
  readonly #opened: Promise<Endpoint>;
  #open!: (endpoint: Endpoint) => void;
  #endpoint: Endpoint | undefined;

  constructor() {
    this.#opened = new Promise((resolve) => (this.#open = resolve));
  }

  open(endpoint: Endpoint): void {
    this.#endpoint = endpoint;
    this.#open(endpoint);
  }

  run(request: Request): Promise<Reply> {
    return this.#endpoint
      ? this.#endpoint.run(request)
      : this.#opened.then((endpoint) => endpoint.run(request));
  }
}

/** shardA, shardB, … shardZ */
function shardName(index: number): string {
  return `shard${String.fromCharCode(65 + index)}`;
}

/** A shard outside this process, named `rs/host:port,host:port` or `host:port`. */
function remote(connectionString: string, closers: Closer[]): Endpoint {
  const endpoint = connectTo(connectionString);
  closers.push(() => endpoint.close());
  return endpoint;
}

/** Closes the latest first; one failure does not keep the others open. */
async function closeAll(closers: readonly Closer[]): Promise<void> {
  for (const close of [...closers].reverse()) {
    try {
      await close();
    } catch {
      // Everything else must still end; there is nobody left to use what failed.
    }
  }
}

function explain(error: unknown): ClusterError {
  if (error instanceof ClusterError) return error;
  if (error instanceof ListenError) {
    const cause = error.message.slice(0, -`; ${error.remedy}`.length);
    return new ClusterError(error.code, cause, error.remedy, { cause: error });
  }
  const cause = `the cluster did not start: ${error instanceof Error ? error.message : String(error)}`;
  return new ClusterError(ClusterErrorCode.startFailed, cause, "report this with the options you used", {
    cause: error,
  });
}
