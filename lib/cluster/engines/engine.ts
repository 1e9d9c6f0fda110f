/**
 * An engine: where the shards and the config server of a cluster come from.
 *
 * The router above sees no difference: each server is an endpoint and an address. What differs is whether a
 * server can be killed, and how long it takes to start.
 */
import type { Endpoint } from "../../protocol/index.js";

/** One shard, or the config server. */
export interface RunningServer {
  /** `shardA`, `shardB`, …, or `cfg`; the name of its replica set as well. */
  readonly id: string;
  /** `host:port` */
  readonly address: string;
  readonly endpoint: Endpoint;
}

/** Starts servers, and ends all of them. */
export interface Engine {
  /**
   * Starts servers at once; they are one-member replica sets with a primary afterwards.
   * @param ids names, in the order of the result
   */
  start(ids: readonly string[]): Promise<RunningServer[]>;
  /** Ends one server the hard way, as a power cut does. Absent where servers are no processes of their own. */
  kill?(id: string): Promise<void>;
  /** Starts a killed server again, on its old address. */
  restart?(id: string): Promise<void>;
  /** Servers that ended though nobody asked them to, one line of text each. */
  readonly losses?: readonly string[];
  /** Ends everything that was started, also what is only half up. */
  close(): Promise<void>;
}

/** Tells somebody who waits what is going on: one line, without a line break. */
export type Progress = (line: string) => void;

/** Progress on standard error, for the command line and scripts. */
export function toStderr(line: string): void {
  process.stderr.write(`Shardlab: ${line}\n`);
}

/** Progress that stays silent where there is nothing to wait for: lines come out once `silentMS` have passed. */
export function patient(progress: Progress, silentMS: number): Progress {
  const since = performance.now();
  const held: string[] = [];
  return (line) => {
    held.push(line);
    if (performance.now() - since < silentMS) return;
    for (const each of held.splice(0)) progress(each);
  };
}

/** Connects to one server alone. */
export function directUri(address: string): string {
  return `mongodb://${address}/?directConnection=true`;
}
