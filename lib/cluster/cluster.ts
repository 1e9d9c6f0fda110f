/**
 * A running sharded cluster: shards, a config server and a router.
 *
 *     client ── TCP ──> router ──┬── shardA ── TCP (to look inside)
 *                                ├── shardB ── TCP
 *                                └── config server ── TCP
 *
 * Engine `embedded` has all of them in this process. The router reaches its
 * shards by a function call, and each of them is on a port of its own as well,
 * so that a lesson can look inside one shard with the official driver. In the
 * catalog a shard is known by its address (`shardA/127.0.0.1:40123`), as in
 * MongoDB; {@link Cluster} keeps the map from such a string to the endpoint in
 * this process, and hands the router a TCP endpoint for any other.
 */
import { Mongod } from "../mongod/index.js";
import type { TcpServer } from "../net/index.js";
import { ListenError, serve, TcpEndpoint } from "../net/index.js";
import type { Endpoint, Environment, Reply, Request } from "../protocol/index.js";
import { request, throwIfFailed } from "../protocol/index.js";
import type { RulesVersion } from "../router/index.js";
import { Router } from "../router/index.js";
import { ClusterError, ClusterErrorCode } from "./error.js";
import type { ClusterOptions, EngineName, ResolvedOptions } from "./options.js";
import { resolveOptions } from "./options.js";
import { seededRandom } from "./random.js";

/** How to reach one server of the cluster. */
export interface ServerInfo {
  /** For the official driver; connects to this server alone. */
  readonly uri: string;
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
  readonly router: Endpoint;
  readonly #closers: readonly Closer[];
  #closing: Promise<void> | undefined;

  private constructor(info: ClusterInfo, router: Endpoint, closers: readonly Closer[]) {
    this.info = info;
    this.router = router;
    this.#closers = closers;
  }

  /**
   * Boots a cluster. Either all of it runs afterwards, or none of it.
   *
   * @param options see {@link ClusterOptions}; nothing is downloaded or waited for
   * @throws ClusterError an option that can't work, a port in use, a part that did not start
   * @example
   * const cluster = await Cluster.start({ shards: 3, seed: 7 });
   * console.log(cluster.info.uri);
   * await cluster.close();
   */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const resolved = resolveOptions(options, process.env["SHARDLAB_ENGINE"]);
    const closers: Closer[] = [];
    try {
      const { info, router } = await boot(resolved, closers);
      return new Cluster(info, router, closers);
    } catch (error) {
      await closeAll(closers);
      throw explain(error);
    }
  }

  /** Stops everything; resolves when every port is free again. Calling it twice does no harm. */
  close(): Promise<void> {
    return (this.#closing ??= closeAll(this.#closers));
  }
}

/** Starts the parts in order of need: config server, shards, router. What was started is in `closers`, even on failure. */
async function boot(
  options: ResolvedOptions,
  closers: Closer[],
): Promise<{ info: ClusterInfo; router: Endpoint }> {
  const environment = (part: string): Environment => ({
    now: Date.now,
    random: seededRandom(options.seed, part),
  });
  const mongod = async (id: string): Promise<{ endpoint: Mongod; server: TcpServer }> => {
    let endpoint: Mongod | undefined;
    const server = await serve((host) => {
      endpoint = new Mongod({ environment: environment(id), host, replSet: id });
      return endpoint;
    });
    const started = endpoint as Mongod | undefined;
    closers.push(
      () => started?.close(),
      () => server.close(),
    );
    if (!started) throw new Error(`${id} was not created`);
    return { endpoint: started, server };
  };

  const config = await mongod("cfg");
  const inProcess = new Map<string, Endpoint>();
  const shards: { id: string; uri: string; connectionString: string }[] = [];
  for (let i = 0; i < options.shards; i++) {
    const id = shardName(i);
    const { endpoint, server } = await mongod(id);
    const connectionString = `${id}/${server.address}`;
    inProcess.set(connectionString, endpoint);
    shards.push({ id, uri: directUri(server.address), connectionString });
  }

  const gate = new Gate();
  const server = await serve(gate, { port: options.port });
  closers.push(() => server.close());
  const router = new Router({
    environment: environment("router"),
    config: config.endpoint,
    configHost: `cfg/${config.server.address}`,
    connect: (connectionString) => inProcess.get(connectionString) ?? remote(connectionString, closers),
    rules: options.rules,
    host: server.address,
    chunkSizeBytes: options.chunkSizeBytes,
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
    config: { uri: directUri(config.server.address) },
    chunkSizeBytes: options.chunkSizeBytes,
    capabilities: { trace: true, virtualClock: true, rules: true, killShard: false },
  };
  return { info, router };
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

function directUri(address: string): string {
  return `mongodb://${address}/?directConnection=true`;
}

/** A shard outside this process, named `rs/host:port,host:port` or `host:port`: its first host. */
function remote(connectionString: string, closers: Closer[]): Endpoint {
  const hosts = connectionString.slice(connectionString.indexOf("/") + 1);
  const endpoint = new TcpEndpoint(hosts.split(",")[0] ?? hosts);
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
