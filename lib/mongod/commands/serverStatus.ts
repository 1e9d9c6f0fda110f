/** serverStatus: uptime and counters. */
import { date, double, int64 } from "../../bson/index.js";
import type { Command, Server } from "../command.js";
import { treeReply } from "../tree.js";

/** The counter that a command's runs go into; every other one is a `command`. */
const COUNTERS: Readonly<Record<string, string>> = {
  insert: "insert",
  find: "query",
  aggregate: "query",
  update: "update",
  delete: "delete",
  getMore: "getmore",
};

export const serverStatus: Command = {
  name: "serverStatus",
  fields: [],
  lenient: true,
  run({ server }) {
    const now = server.environment.now();
    const uptime = Math.max(0, now - server.startedAt);
    return treeReply({
      host: server.host,
      version: server.version,
      process: "mongod",
      uptime: double(Math.floor(uptime / 1000)),
      uptimeMillis: int64(Math.floor(uptime)),
      uptimeEstimate: int64(Math.floor(uptime / 1000)),
      localTime: date(now),
      opcounters: counters(server),
      metrics: { cursor: { open: { total: int64(server.cursors.size) } } },
      ...(server.replSet !== undefined && {
        repl: {
          setName: server.replSet,
          setVersion: 1,
          isWritablePrimary: true,
          secondary: false,
          primary: server.host,
          hosts: [server.host],
          me: server.host,
        },
      }),
      storageEngine: { name: "shardlab", supportsCommittedReads: true, persistent: false },
    });
  },
};

function counters(server: Server): Record<string, unknown> {
  const totals: Record<string, number> = {
    insert: 0,
    query: 0,
    update: 0,
    delete: 0,
    getmore: 0,
    command: 0,
  };
  for (const [name, runs] of server.counters) {
    const counter = COUNTERS[name] ?? "command";
    totals[counter] = (totals[counter] ?? 0) + runs;
  }
  return Object.fromEntries(Object.entries(totals).map(([name, total]) => [name, int64(total)]));
}
