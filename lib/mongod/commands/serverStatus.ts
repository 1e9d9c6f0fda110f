/**
 * serverStatus: what the server is and has done, in sections.
 *
 * A section is left out by `{section: 0}`. Of MongoDB's many sections those are
 * here that say something true of this engine.
 */
import {
  asDocument,
  BsonType,
  date,
  double,
  forEachField,
  getField,
  int64,
  isTruthy,
} from "../../bson/index.js";
import type { Arguments, Command, CommandContext, Server } from "../command.js";
import { treeReply } from "../tree.js";
import { describeDefaults } from "./getDefaultRWConcern.js";
import { helloFields } from "./hello.js";

type Section = (context: CommandContext) => unknown;

/** Sections by name, in order; undefined where this server has none. */
const SECTIONS: readonly (readonly [name: string, section: Section])[] = [
  ["asserts", asserts],
  ["connections", connections],
  ["defaultRWConcern", ({ server }) => (server.replication ? describeDefaults(server) : undefined)],
  ["logicalSessionRecordCache", sessions],
  ["network", network],
  ["opcounters", ({ server }) => counts(server.statistics.operations)],
  ["repl", repl],
  ["storageEngine", storageEngine],
  ["transportSecurity", transportSecurity],
  ["mem", mem],
  ["metrics", metrics],
];

export const serverStatus: Command = {
  name: "serverStatus",
  fields: [],
  lenient: true,
  onSecondary: "always",
  help: "returns lots of administrative server statistics",
  run(context) {
    const { server, arguments: args } = context;
    const now = server.environment.now();
    const uptime = Math.max(0, now - server.startedAt);
    const { pid } = server.options;
    const tree: Record<string, unknown> = {
      host: server.host,
      version: server.version,
      process: "mongod",
      service: ["shard"],
      ...(pid !== undefined && { pid: int64(pid) }),
      uptime: double(Math.floor(uptime / 1000)),
      uptimeMillis: int64(Math.floor(uptime)),
      uptimeEstimate: int64(Math.floor(uptime / 1000)),
      localTime: date(now),
    };
    for (const [name, section] of SECTIONS) {
      if (!isWanted(args, name)) continue;
      const content = section(context);
      if (content !== undefined) tree[name] = content;
    }
    return treeReply(tree);
  },
};

/** A section is there unless it is switched off; `{none: 1}` switches all off that are not switched on. */
function isWanted(args: Arguments, name: string): boolean {
  const asked = args.get(name);
  if (asked) return isTruthy(asked);
  const none = args.get("none");
  return !(none && isTruthy(none));
}

/** Nothing is compressed, so the bytes on the wire are the bytes of the messages. */
function network({ server }: CommandContext): Record<string, unknown> | undefined {
  const use = server.options.network?.();
  if (!use) return undefined;
  const { bytesIn, bytesOut } = use;
  return {
    bytesIn: int64(bytesIn),
    bytesOut: int64(bytesOut),
    physicalBytesIn: int64(bytesIn),
    physicalBytesOut: int64(bytesOut),
    numRequests: int64(server.statistics.operationNumber),
  };
}

function asserts({ server }: CommandContext): Record<string, unknown> {
  return { regular: 0, warning: 0, msg: 0, user: server.statistics.userAsserts, tripwire: 0, rollovers: 0 };
}

function connections({ server, request }: CommandContext): Record<string, unknown> {
  // Without a port of its own the server knows of no connection but the one that asks.
  const counted = server.options.connections?.() ?? {
    current: request.client ? 1 : 0,
    available: 0,
    totalCreated: request.client?.connectionId ?? 0,
  };
  return {
    current: counted.current,
    available: counted.available,
    totalCreated: counted.totalCreated,
    active: 1,
  };
}

function sessions({ server }: CommandContext): Record<string, unknown> {
  return { activeSessionsCount: server.sessions.size };
}

function repl(context: CommandContext): Record<string, unknown> | undefined {
  const { server } = context;
  if (!server.replication) return undefined;
  const { state } = server.replication;
  return {
    ...helloFields(server, false),
    ...(state === "primary" && {
      primaryOnlyServices: {},
      userWriteBlockMode: 1,
      userWriteBlockReason: 0,
    }),
  };
}

function storageEngine({ server }: CommandContext): Record<string, unknown> {
  return {
    // Not WiredTiger, and nothing of it is on a disk.
    name: "shardlab",
    supportsCommittedReads: true,
    supportsPendingDrops: false,
    dropPendingIdents: int64(0),
    supportsSnapshotReadConcern: false,
    readOnly: false,
    persistent: false,
    backupCursorOpen: false,
    databases: server.catalog.databaseNames().length,
  };
}

function transportSecurity(): Record<string, unknown> {
  return { "1.0": int64(0), "1.1": int64(0), "1.2": int64(0), "1.3": int64(0), unknown: int64(0) };
}

function mem({ server }: CommandContext): Record<string, unknown> {
  const use = server.options.memory?.();
  if (!use) return { bits: 64, note: "not all mem info support on this platform", supported: false };
  return {
    bits: 64,
    resident: megabytes(use.resident),
    virtual: megabytes(use.virtual ?? use.resident),
    supported: true,
  };
}

function metrics({ server, arguments: args }: CommandContext): Record<string, unknown> {
  const { statistics, cursors } = server;
  const all: Record<string, unknown> = {
    commands: commandCounts(server),
    cursor: {
      totalOpened: int64(cursors.opened),
      timedOut: int64(cursors.timedOut),
      open: {
        noTimeout: int64(cursors.all().filter((cursor) => cursor.noTimeout).length),
        pinned: int64(0),
        total: int64(cursors.size),
      },
    },
    document: counts(statistics.documents),
    ttl: counts(statistics.ttl),
  };
  return within(args, "metrics", all);
}

/** A section of sections can be cut as well: `{metrics: {commands: 0}}`. */
function within(args: Arguments, name: string, all: Record<string, unknown>): Record<string, unknown> {
  const asked = args.get(name);
  if (asked?.type !== BsonType.object) return all;
  const cut = { ...all };
  forEachField(asDocument(asked), (part, value) => {
    if (!isTruthy(value)) delete cut[part];
  });
  const none = getField(asDocument(asked), "none");
  if (none && isTruthy(none)) {
    for (const part of Object.keys(cut)) if (!isTruthy(getField(asDocument(asked), part))) delete cut[part];
  }
  return cut;
}

function commandCounts({ statistics }: Server): Record<string, unknown> {
  const byName: Record<string, unknown> = { "<UNKNOWN>": int64(statistics.unknownCommands) };
  for (const name of [...statistics.commands.keys()].sort()) {
    const { failed, total } = statistics.commands.get(name)!;
    byName[name] = { failed: int64(failed), total: int64(total) };
  }
  return byName;
}

function counts(totals: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(totals).map(([name, total]: [string, unknown]) => [name, int64(total as number)]),
  );
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1_048_576);
}
