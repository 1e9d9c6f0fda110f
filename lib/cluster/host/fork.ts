/**
 * Where a lab finds its host: the channel that the kernel injected, or a child
 * process of this one.
 *
 * The cluster does not run in the notebook's process, so that an endless loop
 * or an interrupt there cannot stop the router in the middle of a write, and so
 * that driver and servers use two cores.
 *
 * The child is named by the path of its program, as an executable is: the
 * program itself (lab/host/main.ts) lives in the layer above, because it also
 * answers what lessons ask.
 */
import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ClusterError, ClusterErrorCode } from "../error.js";
import type { FromHost, HostChannel, WireError } from "./channel.js";

/** Key on globalThis under which a kernel gives its notebook a channel. */
export const HOST_CHANNEL = Symbol.for("shardlab.hostChannel");

/** How long a host may take to leave once its channel is closed, in milliseconds. */
const FAREWELL_MS = 3_000;

let shared: Promise<ForkedHost> | undefined;

/**
 * The host of this process: the injected channel if there is one, else one
 * forked host that all labs of this process share.
 */
export async function connectHost(): Promise<HostChannel> {
  const injected = (globalThis as { [HOST_CHANNEL]?: HostChannel })[HOST_CHANNEL];
  if (injected) return injected;
  if (!shared) {
    const host = forkHost();
    shared = host;
    const forget = (): void => {
      if (shared === host) shared = undefined;
    };
    void host.then((channel) => channel.closed.then(forget), forget);
  }
  return shared;
}

/**
 * Starts a host of its own as a child process. It ends when the channel is closed, when this
 * process ends however it ends, or on SIGTERM; an idle host does not keep this process alive.
 * @param program the compiled program to run
 * @throws ClusterError `host-gone` when it does not come up
 */
export async function forkHost(program = hostProgram()): Promise<ForkedHost> {
  if (!existsSync(program)) {
    throw new ClusterError(ClusterErrorCode.hostGone, "the lab host is not built", "run npm run build");
  }
  const child = fork(program, [], {
    serialization: "advanced",
    // Flags of the notebook's process (a debugger's port) are not the host's.
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const host = new ForkedHost(child);
  await host.ready;
  return host;
}

/** The compiled program, also when this file runs from source in a test. */
function hostProgram(): string {
  const here = import.meta.url;
  const path = here.endsWith(".ts") ? "../../../dist/lib/lab/host/main.js" : "../../lab/host/main.js";
  return fileURLToPath(new URL(path, here));
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** A channel to a host that is a child of this process. */
export class ForkedHost implements HostChannel {
  /** Process id of the host. */
  readonly pid: number | undefined;
  /** Resolves when the host takes requests. */
  readonly ready: Promise<void>;
  /** Resolves when the host process has ended. */
  readonly closed: Promise<void>;
  onEvent?: (name: string, data: unknown) => void;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #requests = 0;
  #gone: ClusterError | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.pid = child.pid;
    this.ready = new Promise((resolve, reject) => this.#pending.set(0, { resolve: () => resolve(), reject }));
    this.closed = new Promise((resolve) => {
      child.once("error", (error) => {
        this.#end(`could not be started (${error.message})`);
        if (child.pid === undefined) resolve();
      });
      child.once("exit", (code, signal) => {
        this.#end(signal ? `was ended by ${signal}` : `ended with exit code ${code}`);
        resolve();
      });
    });
    child.on("message", (message) => this.#receive(message as FromHost));
    child.on("disconnect", () => this.#end("closed its channel"));
  }

  request(method: string, params?: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#gone) return Promise.reject(this.#gone);
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    const id = ++this.#requests;
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#send({ cancel: id });
        done();
        reject(signal?.reason as Error);
        // The host may have finished before it heard: what it opened for nobody is closed.
        this.#pending.set(id, {
          resolve: (result) => method === "open" && void this.request("close", result).catch(() => undefined),
          reject: () => undefined,
        });
      };
      const done = (): void => signal?.removeEventListener("abort", abort);
      this.#pending.set(id, {
        resolve: (result) => (done(), resolve(result)),
        reject: (error) => (done(), reject(error as Error)),
      });
      signal?.addEventListener("abort", abort);
      this.#keepAlive();
      this.#send({ id, method, params });
    });
  }

  close(): void {
    this.#end("was closed");
    if (this.#child.connected) this.#child.disconnect();
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), FAREWELL_MS).unref();
    void this.closed.then(() => clearTimeout(kill));
  }

  #send(message: unknown): void {
    if (this.#child.connected)
      this.#child.send(message as object, (error) => error && this.#end(error.message));
  }

  #receive(message: FromHost): void {
    if ("event" in message) this.onEvent?.(message.event, message.data);
    else if ("ready" in message) this.#settle(0)?.resolve(undefined);
    else if ("error" in message) this.#settle(message.id)?.reject(revive(message.error));
    else this.#settle(message.id)?.resolve(message.result);
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    this.#keepAlive();
    return pending;
  }

  /** A request under way keeps this process alive; an idle host does not. */
  #keepAlive(): void {
    const busy = this.#pending.size > 0;
    if (busy) this.#child.ref();
    else this.#child.unref();
    const channel = this.#child.channel;
    if (busy) channel?.ref();
    else channel?.unref();
  }

  #end(how: string): void {
    this.#gone ??= new ClusterError(
      ClusterErrorCode.hostGone,
      `the lab host process ${how}`,
      "start the lab again with startLab (every lab it held is gone)",
    );
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(this.#gone);
  }
}

/** An error as the caller may catch it: the host's own kind, or an Error of the same name. */
function revive(told: WireError): Error {
  const { code, remedy } = told;
  if (code !== undefined && remedy !== undefined)
    return ClusterError.from({ message: told.message, code, remedy });
  const error = new Error(told.message);
  error.name = told.name;
  return error;
}
