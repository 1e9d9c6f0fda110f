/** The clusters that one host process owns: several labs may be open at once. */
import type { ClusterInfo } from "../cluster.js";
import { Cluster } from "../cluster.js";
import { patient, toStderr } from "../engines/engine.js";
import { ClusterError, ClusterErrorCode } from "../error.js";
import type { ClusterOptions } from "../options.js";
import type { HostContext } from "./channel.js";

/** What is on standard error shows up under the student's cell: not for a start of an ordinary length. */
const SILENT_MS = 3_000;

/** Reply of `open`. */
export interface OpenedLab {
  /** Number of the lab in its host: `lab-1`, `lab-2`, … */
  lab: string;
  info: ClusterInfo;
}

/** Parameters of `killShard` and `restartShard`. */
interface ShardOfLab {
  lab: string;
  /** The shard's name, e.g. `shardA`. */
  shard: string;
}

export class HostLabs {
  readonly #labs = new Map<string, Cluster>();
  #opened = 0;
  #leaving = false;

  /** The methods of a host that are about clusters. */
  readonly methods = {
    open: (options: ClusterOptions, context: HostContext): Promise<OpenedLab> =>
      this.open(options, context.signal),
    close: ({ lab }: { lab: string }): Promise<void> => this.close(lab),
    killShard: ({ lab, shard }: ShardOfLab): Promise<void> => this.#cluster(lab).killShard(shard),
    restartShard: ({ lab, shard }: ShardOfLab): Promise<void> => this.#cluster(lab).restartShard(shard),
  };

  /**
   * Boots a cluster and keeps it.
   * @param signal a caller that gave up gets no cluster
   */
  async open(options: ClusterOptions, signal?: AbortSignal): Promise<OpenedLab> {
    const cluster = await Cluster.start(options, patient(toStderr, SILENT_MS));
    if (signal?.aborted || this.#leaving) {
      await cluster.close();
      throw new ClusterError(ClusterErrorCode.startFailed, "the start was given up", "start the lab again");
    }
    const lab = `lab-${++this.#opened}`;
    this.#labs.set(lab, cluster);
    return { lab, info: cluster.info };
  }

  /** Ends one lab. One that is not open any more is no error. */
  async close(lab: string): Promise<void> {
    const cluster = this.#labs.get(lab);
    this.#labs.delete(lab);
    await cluster?.close();
  }

  /**
   * How to reach a lab.
   * @param lab its number; without one, the lab opened last
   * @returns undefined when no lab was named and none is open
   * @throws ClusterError `unknown-lab`
   */
  info(lab?: string): ClusterInfo | undefined {
    if (lab === undefined) return [...this.#labs.values()].at(-1)?.info;
    return this.#cluster(lab).info;
  }

  #cluster(lab: string): Cluster {
    const cluster = this.#labs.get(lab);
    if (cluster) return cluster;
    throw new ClusterError(ClusterErrorCode.unknownLab, `${lab} is not open`, "start it again with startLab");
  }

  /** Ends every lab, and refuses new ones. */
  async closeAll(): Promise<void> {
    this.#leaving = true;
    const clusters = [...this.#labs.values()];
    this.#labs.clear();
    await Promise.all(clusters.map((cluster) => cluster.close()));
  }
}
