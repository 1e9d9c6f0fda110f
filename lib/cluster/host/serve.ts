/**
 * The host's end of the channel: takes requests from the parent process, runs
 * them by a method table, and makes sure that this process never outlives its
 * parent.
 *
 * - The channel closes when the parent closes it, exits, crashes or is killed:
 *   the one signal that always comes.
 * - A host in an endless loop does not hear that; a watchdog thread does, and
 *   kills it.
 * - SIGTERM ends the host as well.
 * - SIGINT is ignored. Ctrl-C in a terminal reaches the whole process group, and
 *   in a notebook it means "stop this cell", not "throw my cluster away". The
 *   parent decides; if it ends, the channel closes.
 */
import { Worker } from "node:worker_threads";
import type { FromHost, HostMethods, ToHost } from "./channel.js";
import { toWireError } from "./channel.js";
import { ClusterError, ClusterErrorCode } from "../error.js";

/** The longest that tidying up may hold the process, in milliseconds. */
const FAREWELL_MS = 2_000;

/**
 * Serves the parent process until it is gone; then tidies up and exits with code 0.
 * @param methods what can be asked
 * @param close ends everything the methods started
 * @throws Error when this process has no channel: it was not forked
 */
export function serveChannel(methods: HostMethods, close: () => Promise<void>): void {
  if (!process.send) throw new Error("the lab host has no parent; it is started by startLab, not by hand");
  const running = new Map<number, AbortController>();

  process.on("message", (message: ToHost) => {
    if ("cancel" in message) running.get(message.cancel)?.abort();
    else void answer(message.id, message.method, message.params);
  });
  process.on("disconnect", () => void leave());
  process.on("SIGTERM", () => void leave());
  process.on("SIGINT", () => {
    // The parent decides; see above.
  });
  new Worker(new URL("./watchdog.js", import.meta.url), { workerData: { parent: process.ppid } }).unref();
  send({ ready: true });

  async function answer(id: number, name: string, params: unknown): Promise<void> {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
      if (!method) throw unknownMethod(name, methods);
      send({ id, result: await method(params as never, { signal: controller.signal }) });
    } catch (error) {
      send({ id, error: toWireError(error) });
    } finally {
      running.delete(id);
    }
  }

  async function leave(): Promise<void> {
    setTimeout(() => process.exit(0), FAREWELL_MS);
    for (const controller of running.values()) controller.abort();
    await close();
    process.exit(0);
  }
}

function send(message: FromHost): void {
  // A parent that is gone hears nothing; "disconnect" takes care of the rest.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function unknownMethod(name: string, methods: HostMethods): ClusterError {
  return new ClusterError(
    ClusterErrorCode.badOption,
    `the lab host has no method ${name}`,
    `ask one of ${Object.keys(methods).join(", ")}`,
  );
}
