/**
 * `serverStatus`: what the router is and has done, in sections.
 *
 * A section is left out by `{section: 0}`. Of a mongos's many sections those are here that say something true of
 * this router.
 */
import { date, double, int64, isTruthy } from "../../bson/index.js";
import { bodyField, treeReply } from "../../protocol/index.js";
import type { Request } from "../../protocol/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command, RouterContext } from "../context.js";
import { SERVER_VERSION } from "../version.js";

type Section = (context: RouterContext, request: Request) => unknown;

/** Sections by name, in order. */
const SECTIONS: readonly (readonly [name: string, section: Section])[] = [
  ["asserts", asserts],
  ["connections", connections],
  ["network", network],
  ["opcounters", ({ server }) => counts(server.statistics.operations)],
  ["sharding", sharding],
  ["shardingStatistics", shardingStatistics],
  ["transportSecurity", transportSecurity],
  ["mem", mem],
  ["metrics", metrics],
];

export const serverStatus: Command = {
  name: "serverStatus",
  help: "returns lots of administrative server statistics",
  run(context, request) {
    const { waiting, host, server, startedAt } = context;
    const now = waiting.now();
    const uptime = Math.max(0, now - startedAt);
    const tree: Record<string, unknown> = {
      host,
      version: SERVER_VERSION,
      process: "mongos",
      service: ["router"],
      pid: int64(server.process.pid ?? 0),
      uptime: double(Math.floor(uptime / 1000)),
      uptimeMillis: int64(Math.floor(uptime)),
      uptimeEstimate: int64(Math.floor(uptime / 1000)),
      localTime: date(now),
    };
    for (const [name, section] of SECTIONS)
      if (isWanted(request, name)) tree[name] = section(context, request);
    return treeReply(tree);
  },
};

/** A section is there unless it is switched off; `{none: 1}` switches all off that are not switched on. */
function isWanted(request: Request, name: string): boolean {
  const asked = bodyField(request, name);
  if (asked) return isTruthy(asked);
  const none = bodyField(request, "none");
  return !(none && isTruthy(none));
}

function asserts({ server }: RouterContext): Record<string, unknown> {
  return { regular: 0, warning: 0, msg: 0, user: server.statistics.userAsserts, tripwire: 0, rollovers: 0 };
}

function connections({ server }: RouterContext, request: Request): Record<string, unknown> {
  // Without a port of its own the router knows of no connection but the one that asks.
  const { current, available, totalCreated } = server.process.connections?.() ?? {
    current: request.client ? 1 : 0,
    available: 0,
    totalCreated: request.client?.connectionId ?? 0,
  };
  return { current, available, totalCreated, active: 1 };
}

/** Nothing is compressed, so the bytes on the wire are the bytes of the messages. */
function network({ server }: RouterContext): Record<string, unknown> {
  const { bytesIn, bytesOut } = server.process.network?.() ?? { bytesIn: 0, bytesOut: 0 };
  return {
    bytesIn: int64(bytesIn),
    bytesOut: int64(bytesOut),
    physicalBytesIn: int64(bytesIn),
    physicalBytesOut: int64(bytesOut),
    numRequests: int64(server.statistics.operationNumber),
  };
}

function sharding({ shards, clock, catalog }: RouterContext): Record<string, unknown> {
  return {
    configsvrConnectionString: shards.get(CONFIG_SHARD).host,
    lastSeenConfigServerOpTime: { ts: clock.now(), t: int64(1) },
    maxChunkSizeInBytes: int64(catalog.settings.chunkSizeBytes),
  };
}

function shardingStatistics({ server, catalog }: RouterContext): Record<string, unknown> {
  const targeted = Object.entries(server.targeting.byOperation);
  return {
    numHostsTargeted: Object.fromEntries(targeted.map(([operation, reach]) => [operation, counts(reach)])),
    catalogCache: {
      numDatabaseEntries: int64(catalog.databases.length),
      numCollectionEntries: int64(catalog.collections.length),
    },
  };
}

function transportSecurity(): Record<string, unknown> {
  return { "1.0": int64(0), "1.1": int64(0), "1.2": int64(0), "1.3": int64(0), unknown: int64(0) };
}

function mem({ server }: RouterContext): Record<string, unknown> {
  const use = server.process.memory?.();
  if (!use) return { bits: 64, note: "not all mem info support on this platform", supported: false };
  const megabytes = (bytes: number): number => Math.floor(bytes / 1_048_576);
  return {
    bits: 64,
    resident: megabytes(use.resident),
    virtual: megabytes(use.virtual ?? use.resident),
    supported: true,
  };
}

function metrics({ server, cursors }: RouterContext): Record<string, unknown> {
  const { statistics } = server;
  const commands: Record<string, unknown> = { "<UNKNOWN>": int64(statistics.unknownCommands) };
  for (const name of [...statistics.commands.keys()].sort()) {
    const { failed, total } = statistics.commands.get(name)!;
    commands[name] = { failed: int64(failed), total: int64(total) };
  }
  return {
    commands,
    cursor: { open: { pinned: int64(0), total: int64(cursors.size) } },
    document: counts(statistics.documents),
  };
}

function counts(totals: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(totals).map(([name, total]: [string, unknown]) => [name, int64(total as number)]),
  );
}
