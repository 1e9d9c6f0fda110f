/**
 * The server of the program `mongos`: a router on a port, its catalog on the config servers.
 *
 *     ports free? ─► catalog read from the config servers ─► ports opened ─► "Waiting for connections"
 *        │ exit 48      │ not there yet: again every 2 s
 *
 * As with MongoDB's own, nobody can connect before the catalog is there. Whatever there is to know stands on the config
 * servers, so a router that is started again goes on where the last one ended.
 */
import { hostname } from "node:os";
import { describeMachine, memoryUse } from "../cluster/machine.js";
import { connectTo, ListenError, serve } from "../net/index.js";
import { CommandError } from "../protocol/index.js";
import type { RouterOptions, RulesVersion } from "../router/index.js";
import { Router, RULES_VERSIONS } from "../router/index.js";
import type { MongosSettings } from "./commandLine.js";
import { DataDirectoryError } from "./dataDirectory.js";
import { messages, routerStartupLines } from "./messages.js";
import { EXIT, Program } from "./program.js";

/** How long it waits before it asks the config servers again, in milliseconds: MongoDB's time. */
const RETRY_MS = 2_000;

/**
 * Runs a router until a signal or the command `shutdown`; the process ends with MongoDB's exit code.
 * @param settings what the command line asks for
 * @param argv its words, the program first
 */
export async function runRouter(settings: MongosSettings, argv: readonly string[]): Promise<void> {
  await new RouterServer(settings, argv).start();
}

class RouterServer extends Program<MongosSettings> {
  #router: Router | undefined;

  async start(): Promise<void> {
    for (const line of routerStartupLines(this.settings)) this.log.write(line);
    try {
      this.writePidFile();
      const port = await this.#freePort();
      const router = (this.#router = new Router(this.#options(port)));
      await this.#startRouter(router);
      if (this.ending) return;
      for (const host of this.settings.bindIps) await this.listen(router, host, port);
    } catch (error) {
      return this.#startFailed(error);
    }
    this.sayListening();
  }

  protected closeEndpoint(): void {
    this.#router?.close();
  }

  /**
   * Finds out whether the ports can be opened later on, and which one that is where any will do.
   * @throws ListenError
   */
  async #freePort(): Promise<number> {
    let { port } = this.settings;
    for (const host of this.settings.bindIps) {
      const server = await serve({ run: () => Promise.reject(new Error("not started")) }, { host, port });
      ({ port } = server);
      await server.close();
    }
    return port;
  }

  #options(port: number): RouterOptions {
    const { bindIps, configHost, parsed, parameters } = this.settings;
    const [ip = "127.0.0.1"] = bindIps;
    const connect: RouterOptions["connect"] = (connectionString) => {
      const endpoint = connectTo(connectionString);
      this.held.push(() => endpoint.close());
      return endpoint;
    };
    return {
      environment: this.environment("router"),
      config: connect(configHost),
      configHost,
      connect,
      rules: oneOf("SHARDLAB_RULES", RULES_VERSIONS, "8.0") as RulesVersion,
      clock: oneOf("SHARDLAB_CLOCK", ["virtual", "real"], "virtual") as "virtual" | "real",
      host: `${ip === "0.0.0.0" || ip === "::" ? hostname() : ip.includes(":") ? `[${ip}]` : ip}:${port}`,
      parameters,
      process: {
        commandLine: { argv: this.argv, parsed },
        hostInfo: describeMachine,
        memory: memoryUse,
        connections: () => this.connections(),
        network: () => this.traffic(),
        pid: process.pid,
        logs: this.logs,
        onLogRotate: () => this.log.rotate(),
        onShutdown: () => this.shutDown(),
      },
    };
  }

  /** Reads the catalog, as often as it takes. */
  async #startRouter(router: Router): Promise<void> {
    while (!this.ending) {
      try {
        return await router.start();
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        if (!this.ending) this.log.write(messages.configNotReady(error));
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #startFailed(error: unknown): Promise<void> {
    if (error instanceof ListenError) {
      const { bindIps, port } = this.settings;
      // What was opened before it failed tells which address it was.
      this.log.write(messages.routerListenerFailed(bindIps[this.servers.length] ?? "", port, error.code));
      return this.end(EXIT.netError);
    }
    if (!(error instanceof CommandError || error instanceof DataDirectoryError)) throw error;
    const name = error instanceof CommandError ? `${error.codeName}: ` : "";
    this.log.write(messages.startFailed(name + error.message));
    return this.end(EXIT.uncaught);
  }
}

/**
 * A choice that the environment makes.
 * @throws CommandError BadValue (2)
 */
function oneOf(variable: string, allowed: readonly string[], absent: string): string {
  const value = process.env[variable] || absent;
  if (allowed.includes(value)) return value;
  throw new CommandError(2, `${variable} can't be '${value}'; choose from ${allowed.join(", ")}`);
}
