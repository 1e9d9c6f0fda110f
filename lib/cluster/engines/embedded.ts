/** Engine `embedded`: the servers live in this process, and each is on a port of its own as well. */
import { Mongod } from "../../mongod/index.js";
import type { ConnectionCounts, TcpServer } from "../../net/index.js";
import { serve } from "../../net/index.js";
import type { Environment } from "../../protocol/index.js";
import { describeMachine, memoryUse } from "../machine.js";
import type { Engine, RunningServer } from "./engine.js";

/** What a server says it would take; MongoDB's number. */
const MAX_CONNECTIONS = 1_000_000;

export class EmbeddedEngine implements Engine {
  readonly #environment: (part: string) => Environment;
  readonly #parts: { mongod: Mongod; server: TcpServer }[] = [];

  /** @param environment clock and random source of a part, by its name */
  constructor(environment: (part: string) => Environment) {
    this.#environment = environment;
  }

  async start(ids: readonly string[]): Promise<RunningServer[]> {
    const running: RunningServer[] = [];
    for (const id of ids) {
      let mongod: Mongod | undefined;
      const counts: ConnectionCounts = { current: 0, total: 0 };
      const server: TcpServer = await serve(
        (host) => {
          mongod = new Mongod({
            environment: this.#environment(id),
            host,
            replSet: id,
            hostInfo: describeMachine,
            memory: memoryUse,
            connections: () => ({
              current: counts.current,
              available: MAX_CONNECTIONS - counts.current,
              totalCreated: counts.total,
            }),
            network: () => server.traffic(),
            pid: process.pid,
          });
          return mongod.member;
        },
        { counts },
      );
      const endpoint = mongod as Mongod | undefined;
      if (!endpoint) throw new Error(`${id} was not created`);
      this.#parts.push({ mongod: endpoint, server });
      running.push({ id, address: server.address, endpoint });
    }
    return running;
  }

  async close(): Promise<void> {
    const parts = this.#parts.splice(0);
    await Promise.all(parts.map(({ server }) => server.close()));
    for (const { mongod } of parts) mongod.close();
  }
}
