/**
 * Opening labs, and the one that is open.
 *
 * A lab is a cluster in the lab host (another process) plus the official driver
 * in this one. Whatever ends this process ends the host, so nothing is left
 * behind; `lab.close()` ends one lab earlier.
 */
import type { ClusterInfo, ClusterOptions } from "../cluster/index.js";
import { banner, connectHost } from "../cluster/index.js";
import { Lab } from "./lab.js";

/** Open labs, the latest last. */
const open: Lab[] = [];

/**
 * Boots a sharded cluster and connects to it.
 *
 * @param options number of shards, rules, seed, chunk size, engine: see {@link ClusterOptions}
 * @returns the lab, connected
 * @throws ClusterError one line with cause and remedy: an option that can't work, a port in use
 * @example
 * const lab = await startLab({ shards: 2, seed: 7 });
 * await lab.sh.shardCollection("library.loans", { memberId: "hashed" });
 * await lab.close();
 * @since Shardlab 0.1
 */
export async function startLab(options: ClusterOptions = {}): Promise<Lab> {
  const host = await connectHost();
  // The environment of the notebook decides, which may have changed since the host was started.
  const engine = options.engine ?? (process.env["SHARDLAB_ENGINE"] as ClusterOptions["engine"]);
  const asked = engine ? { ...options, engine } : options;
  const { lab: id, info } = (await host.request("open", asked)) as { lab: string; info: ClusterInfo };
  const end = async (): Promise<void> => {
    const index = open.indexOf(lab);
    if (index >= 0) open.splice(index, 1);
    await host.request("close", { lab: id });
  };
  const lab = new Lab(id, info, end, async (method, shard) => {
    await host.request(method, { lab: id, shard });
  });
  try {
    await lab.client.connect();
  } catch (error) {
    await lab.close();
    throw error;
  }
  open.push(lab);
  if (hasFrontEnd()) console.log(banner(info));
  return lab;
}

/**
 * The lab opened last and not closed.
 * @throws Error with a sentence for the student when there is none
 * @example const { client } = currentLab();
 * @since Shardlab 0.1
 */
export function currentLab(): Lab {
  const lab = openLab();
  if (!lab) throw new Error("no lab is open; run the cell with startLab first");
  return lab;
}

/** The lab opened last and not closed, or undefined. */
export function openLab(): Lab | undefined {
  return open.at(-1);
}

/** Whether a notebook shows what this process prints; a script's output is its own. */
function hasFrontEnd(): boolean {
  return Symbol.for("shardlab.display") in globalThis;
}
