/** Lab hosts for tests, and their end. */
import type { ClusterInfo, ForkedHost } from "../../lib/cluster/index.js";
import { forkHost } from "../../lib/cluster/index.js";

export interface Opened {
  lab: string;
  info: ClusterInfo;
}

const hosts: ForkedHost[] = [];

/**
 * Starts a host; {@link closeHosts} ends it.
 * @param program another program than the lab host
 */
export async function newHost(program?: string): Promise<ForkedHost> {
  const host = await forkHost(program);
  hosts.push(host);
  return host;
}

/** Opens a lab in a host. */
export const open = (host: ForkedHost, options: object = {}): Promise<Opened> =>
  host.request("open", options) as Promise<Opened>;

/** Ends all hosts and waits until they are gone. */
export async function closeHosts(): Promise<void> {
  for (const host of hosts.splice(0)) {
    host.close();
    await host.closed;
  }
}
