/**
 * The line between a notebook's process and the lab host: requests there, results
 * back, events as they come.
 *
 *     { id: 3, method: "open", params: { shards: 2 } }   →
 *                                                        ←   { id: 3, result: { lab: "lab-1", info: {…} } }
 *     { cancel: 3 }                                      →   (the caller gave up)
 *
 * Messages are structured clones, so dates, bytes and bigints survive. Who ends
 * the line ends the host, and with it every cluster in it.
 */

/** The caller's end. The kernel injects its own into a notebook's process; see `connectHost`. */
export interface HostChannel {
  /**
   * Asks the host.
   * @param method a name of the host's method table: `open`, `close`, `check`, `hint`
   * @param params structured-cloneable
   * @param signal gives up: the promise rejects with its reason, and the host is told
   * @throws ClusterError what the method failed with, or `host-gone`
   */
  request(method: string, params?: unknown, signal?: AbortSignal): Promise<unknown>;
  /** Called with what the host says unasked. */
  onEvent?: ((name: string, data: unknown) => void) | undefined;
  /** Ends the host and every lab in it. */
  close(): void;
}

/** What a method of the host gets beside its parameters. */
export interface HostContext {
  /** Aborted when the caller gave up or is gone. */
  readonly signal: AbortSignal;
}

/** What the host can be asked, by name. */
export type HostMethods = Readonly<Record<string, (params: never, context: HostContext) => unknown>>;

/** Caller to host. */
export type ToHost = { id: number; method: string; params: unknown } | { cancel: number };

/** An error on its way through the channel; stack traces stay where they are. */
export interface WireError {
  name: string;
  message: string;
  code?: string;
  remedy?: string;
}

/** Host to caller. */
export type FromHost =
  | { ready: true }
  | { id: number; result: unknown }
  | { id: number; error: WireError }
  | { event: string; data: unknown };

/** Flattens an error so that it survives the channel. */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { code, remedy } = error as { code?: unknown; remedy?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === "string" && { code }),
    ...(typeof remedy === "string" && { remedy }),
  };
}
