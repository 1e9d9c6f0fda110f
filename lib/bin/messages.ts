/**
 * What the program says in its log: MongoDB's texts and numbers, because that is what programs look for. Numbers
 * from 9900000 on are ours.
 */
import { hostname, release, type } from "node:os";
import type { CommandError } from "../protocol/index.js";
import { SERVER_VERSION } from "../protocol/release.js";
import type { MongodSettings, MongosSettings, ProgramSettings } from "./commandLine.js";
import type { LogEntry } from "./log.js";

type Level = "debug" | "info" | "warn";

/** What mongod and mongos call the part of themselves that starts. */
const INIT = "initandlisten";
const MONGOS = "mongosMain";

/** mongod's first lines: what runs, how it was started, and what to beware of. */
export function startupLines(settings: MongodSettings): LogEntry[] {
  const { port, dbPath, storageEngine } = settings;
  const keeps =
    storageEngine === "inMemory"
      ? "data is kept in memory only and is gone when the server ends"
      : "data is kept in memory, and in a journal of its own in the data directory";
  const started = { pid: process.pid, port, dbPath, architecture: "64-bit", host: hostname() };
  return [
    { c: "CONTROL", id: 4615611, ctx: INIT, msg: "MongoDB starting", attr: started },
    ...programLines(settings, INIT),
    warning(9900001, INIT, `This is Shardlab's mongod, not MongoDB's: ${keeps}`),
    ...accessLines(settings, INIT),
  ];
}

/** mongos' first lines. */
export function routerStartupLines(settings: MongosSettings): LogEntry[] {
  const lines = [
    ...programLines(settings, MONGOS),
    warning(
      9900004,
      MONGOS,
      "This is Shardlab's mongos, not MongoDB's: it simulates the router of a cluster",
    ),
    ...accessLines(settings, MONGOS),
  ];
  if (settings.configHost.split(",").length < 3) {
    const msg =
      "Running a sharded cluster with fewer than 3 config servers should only be done for testing purposes and is not " +
      "recommended for production.";
    lines.unshift({ s: "W", c: "SHARDING", id: 24132, ctx: "main", msg });
  }
  return lines;
}

function programLines({ parsed }: ProgramSettings, ctx: string): LogEntry[] {
  const buildInfo = { version: SERVER_VERSION, gitVersion: "shardlab", modules: ["shardlab"] };
  const os = { name: type(), version: release() };
  return [
    { c: "CONTROL", id: 23403, ctx, msg: "Build Info", attr: { buildInfo } },
    { c: "CONTROL", id: 51765, ctx, msg: "Operating System", attr: { os } },
    { c: "CONTROL", id: 21951, ctx, msg: "Options set by command line", attr: { options: parsed } },
  ];
}

function accessLines({ bindIps }: ProgramSettings, ctx: string): LogEntry[] {
  const lines = [
    warning(
      22120,
      ctx,
      "Access control is not enabled for the database. Read and write access to data and configuration is unrestricted",
    ),
  ];
  if (bindIps.every((ip) => ip === "127.0.0.1" || ip === "::1")) {
    lines.push(
      warning(
        22140,
        ctx,
        "This server is bound to localhost. Remote systems will be unable to connect to this server",
      ),
    );
  }
  return lines;
}

function warning(id: number, ctx: string, msg: string): LogEntry {
  return { s: "W", c: "CONTROL", id, ctx, msg, tags: ["startupWarnings"] };
}

/** MongoDB's words for why an address can't be listened on, by the system's code. */
const BIND_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "Address already in use",
  EACCES: "Permission denied",
  EADDRNOTAVAIL: "Cannot assign requested address",
  ENOTFOUND: "Name or service not known",
};

/** Single lines, by what they tell. */
export const messages = {
  listeningOn: (address: string): LogEntry => ({
    c: "NETWORK",
    id: 23015,
    ctx: "listener",
    msg: "Listening on",
    attr: { address },
  }),
  /** The line that everybody waits for. */
  waiting: (port: number): LogEntry => ({
    c: "NETWORK",
    id: 23016,
    ctx: "listener",
    msg: "Waiting for connections",
    attr: { port, ssl: "off" },
  }),
  listenerFailed: (address: string, port: number, code: string): LogEntry =>
    listenerFailed(20568, INIT, address, port, code),
  /** The same of a mongos, which numbers it otherwise. */
  routerListenerFailed: (address: string, port: number, code: string): LogEntry =>
    listenerFailed(22856, MONGOS, address, port, code),
  /** mongos goes on asking until there is a primary of the config servers. */
  configNotReady: (error: CommandError): LogEntry => ({
    s: "W",
    c: "SHARDING",
    id: 23834,
    ctx: MONGOS,
    msg: "Error loading global settings from config server. Sleeping for 2 seconds and retrying",
    attr: { error: { code: error.code, codeName: error.codeName, errmsg: error.message } },
  }),
  startFailed: (error: string): LogEntry => ({
    s: "E",
    c: "CONTROL",
    id: 20557,
    ctx: INIT,
    msg: "DBException in initAndListen, terminating",
    attr: { error },
  }),
  logFailed: (path: string): LogEntry => ({
    s: "F",
    c: "CONTROL",
    id: 20574,
    msg: "Error during global initialization",
    attr: { error: { code: 38, codeName: "FileNotOpen", errmsg: `Failed to open ${path}` } },
  }),
  becamePrimary: [
    {
      c: "REPL",
      id: 21358,
      ctx: "ReplCoord-0",
      msg: "Replica set state transition",
      attr: { newState: "PRIMARY", oldState: "SECONDARY" },
    },
    {
      c: "REPL",
      id: 21331,
      ctx: "OplogApplier-0",
      msg: "Transition to primary complete; database writes are now permitted",
    },
  ] satisfies LogEntry[],
  received: (signal: number, error: string): LogEntry[] => [
    {
      c: "CONTROL",
      id: 23377,
      ctx: "SignalHandler",
      msg: "Received signal",
      attr: { signal, error },
    },
    { c: "CONTROL", id: 23381, ctx: "SignalHandler", msg: "will terminate after current cmd ends" },
  ],
  journalDamaged: (copy: string): LogEntry => ({
    s: "W",
    c: "STORAGE",
    id: 9900002,
    ctx: INIT,
    msg: "The end of the journal could not be read and is left out; the whole of it is kept",
    attr: { copy },
  }),
  journalFailed: (error: string): LogEntry => ({
    s: "F",
    c: "STORAGE",
    id: 9900003,
    msg: "The journal could not be written, terminating",
    attr: { error },
  }),
  shutdownCommand: {
    c: "COMMAND",
    id: 4695400,
    ctx: "conn",
    msg: "Terminating via shutdown command",
  } satisfies LogEntry,
  fatal: (error: string): LogEntry => ({
    s: "F",
    c: "CONTROL",
    id: 4757800,
    msg: "Writing fatal message",
    attr: { message: error },
  }),
  ended: (exitCode: number): LogEntry[] => [
    { c: "CONTROL", id: 20565, msg: "Now exiting" },
    { c: "CONTROL", id: 23138, msg: "Shutting down", attr: { exitCode } },
  ],
} as const;

function listenerFailed(id: number, ctx: string, address: string, port: number, code: string): LogEntry {
  const why = BIND_FAILURES[code] ?? code;
  const errmsg = `${address}:${port} :: caused by :: setup bind :: caused by :: ${why}`;
  const error = { code: 9001, codeName: "SocketException", errmsg };
  return { s: "E", c: "CONTROL", id, ctx, msg: "Error setting up listener", attr: { error } };
}

/** What the sockets tell; undefined for what isn't logged at this verbosity. */
export function networkEntry(
  level: Level,
  message: string,
  attributes: object | undefined,
  { quiet, verbosity }: ProgramSettings,
): LogEntry | undefined {
  const { address, connectionId, current, ...rest } = (attributes ?? {}) as Record<string, unknown>;
  const attr = {
    remote: address,
    connectionId,
    ...(current !== undefined && { connectionCount: current }),
    ...rest,
  };
  switch (message) {
    case "connection accepted":
      return quiet
        ? undefined
        : { c: "NETWORK", id: 22943, ctx: "listener", msg: "Connection accepted", attr };
    case "connection ended":
      return quiet
        ? undefined
        : { c: "NETWORK", id: 22944, ctx: `conn${String(connectionId)}`, msg: "Connection ended", attr };
    case "connection refused because there are too many":
      return {
        s: "W",
        c: "NETWORK",
        id: 22942,
        ctx: "listener",
        msg: "Connection refused because there are too many open connections",
        attr,
      };
    default:
      if (level === "debug" && verbosity === 0) return undefined;
      return {
        s: severity(level),
        c: "NETWORK",
        id: 9900002,
        ctx: `conn${String(connectionId)}`,
        msg: message,
        attr,
      };
  }
}

/** What the engine tells. */
export function engineEntry(
  level: Level,
  message: string,
  attributes: object | undefined,
  { verbosity }: ProgramSettings,
): LogEntry | undefined {
  if (level === "debug" && verbosity === 0) return undefined;
  return {
    s: severity(level),
    c: "COMMAND",
    id: 9900003,
    msg: message,
    ...(attributes && { attr: { ...attributes } }),
  };
}

function severity(level: Level): "I" | "W" | "D1" {
  return level === "warn" ? "W" : level === "debug" ? "D1" : "I";
}
