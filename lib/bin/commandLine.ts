/**
 * What the programs `mongod` and `mongos` are asked for: their options (optionTable.ts), read (parseOptions.ts), checked,
 * with every default filled in.
 */
import { MONGOD_OPTIONS, MONGOS_OPTIONS } from "./optionTable.js";
import type { Tree } from "./parseOptions.js";
import { OptionsError, readOptions } from "./parseOptions.js";

export { OptionsError } from "./parseOptions.js";

/** What both programs can be asked for. */
export interface ProgramSettings {
  readonly help: boolean;
  readonly version: boolean;
  readonly port: number;
  /** Addresses to listen on, resolved names left as they are. */
  readonly bindIps: readonly string[];
  readonly maxConnections: number | undefined;
  readonly pidFile: string | undefined;
  readonly logPath: string | undefined;
  readonly logAppend: boolean;
  readonly logRotate: "rename" | "reopen";
  readonly utc: boolean;
  readonly quiet: boolean;
  readonly verbosity: number;
  readonly parameters: Readonly<Record<string, string>>;
  /** The options as getCmdLineOpts and the log show them. */
  readonly parsed: Readonly<Record<string, unknown>>;
}

/** What the program `mongod` was asked for. */
export interface MongodSettings extends ProgramSettings {
  readonly dbPath: string;
  readonly storageEngine: string;
  readonly replSet: string | undefined;
  readonly clusterRole: "configsvr" | "shardsvr" | undefined;
}

/** What the program `mongos` was asked for. */
export interface MongosSettings extends ProgramSettings {
  /** The config servers: `configRS/host:27019,host:27019`. */
  readonly configHost: string;
}

/** MongoDB's ports: of whatever clients talk to, of a shard, of a config server. */
const PORT = { client: 27_017, shardsvr: 27_018, configsvr: 27_019 } as const;

/**
 * Reads mongod's words after the program's name.
 * @param words as the shell hands them over
 * @throws OptionsError one line, as mongod would print it
 */
export function readCommandLine(words: readonly string[]): MongodSettings {
  const { given, parsed } = readOptions(words, MONGOD_OPTIONS);
  const at = pathReader(parsed);
  const role = at<"configsvr" | "shardsvr">("sharding.clusterRole");
  const replSet = at<string>("replication.replSet");
  if (given.has("configsvr") && given.has("shardsvr"))
    throw new OptionsError("BadValue: --configsvr and --shardsvr can't be used together");
  if (role !== undefined && replSet === undefined) {
    throw new OptionsError(
      `BadValue: Cannot start a ${role} as a standalone server. Please use the option --replSet to start the node as a replica set.`,
    );
  }
  if (replSet === "") throw new OptionsError("BadValue: --replSet needs the name of a set");
  const oplogSize = at<number>("replication.oplogSizeMB");
  if (oplogSize !== undefined) range("replication.oplogSizeMB", oplogSize, 1, Number.MAX_SAFE_INTEGER);
  oneOf(
    "operationProfiling.mode",
    at("operationProfiling.mode"),
    ["off", "0"],
    "the profiler is not simulated",
  );
  return {
    ...programSettings(parsed, given, PORT[role ?? "client"]),
    dbPath: at<string>("storage.dbPath") ?? "/data/db",
    storageEngine: at<string>("storage.engine") ?? "wiredTiger",
    replSet,
    clusterRole: role,
  };
}

/**
 * Reads mongos' words after the program's name.
 * @param words as the shell hands them over
 * @throws OptionsError one line, as mongos would print it
 */
export function readRouterCommandLine(words: readonly string[]): MongosSettings {
  const { given, parsed } = readOptions(words, MONGOS_OPTIONS);
  const common = programSettings(parsed, given, PORT.client);
  const configDb = pathReader(parsed)<string>("sharding.configDB");
  return { ...common, configHost: common.help || common.version ? "" : configServers(configDb) };
}

/**
 * `rs/a,b:1` → `rs/a:27019,b:1`: only a replica set can hold the catalog.
 * @throws OptionsError
 */
function configServers(configDb: string | undefined): string {
  if (configDb === undefined) throw new OptionsError("BadValue: error: no args for --configdb");
  const slash = configDb.indexOf("/");
  if (slash <= 0) throw new OptionsError("BadValue: configdb supports only replica set connection string");
  const hosts = configDb.slice(slash + 1).split(",");
  const addresses = hosts.map((host) => {
    const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]/\s]+)(?::(\d{1,5}))?$/.exec(host);
    const port = Number(match?.[2] ?? PORT.configsvr);
    if (!match || port < 1 || port > 65_535)
      throw new OptionsError(`FailedToParse: '${host}' in --configdb is not a server; write it as host:port`);
    return `${match[1]}:${port}`;
  });
  return `${configDb.slice(0, slash)}/${addresses.join(",")}`;
}

/** Reads the document by paths with dots. */
function pathReader(parsed: Tree): <T>(path: string) => T | undefined {
  return <T>(path: string) =>
    path.split(".").reduce<unknown>((node, name) => (node as Tree | undefined)?.[name], parsed) as
      T | undefined;
}

/** What both programs have, checked. */
function programSettings(
  parsed: Tree,
  given: ReadonlyMap<string, unknown>,
  defaultPort: number,
): ProgramSettings {
  const at = pathReader(parsed);
  const port = at<number>("net.port") ?? defaultPort;
  range("net.port", port, 0, 65_535);
  const maxConnections = at<number>("net.maxIncomingConnections");
  if (maxConnections !== undefined)
    range("net.maxIncomingConnections", maxConnections, 5, Number.MAX_SAFE_INTEGER);
  oneOf("systemLog.logRotate", at("systemLog.logRotate"), ["rename", "reopen"]);
  oneOf("systemLog.timeStampFormat", at("systemLog.timeStampFormat"), ["iso8601-local", "iso8601-utc"]);
  oneOf("net.tls.mode", at("net.tls.mode"), ["disabled"], "TLS is not simulated");
  if (at("systemLog.logRotate") === "reopen" && !at("systemLog.logAppend"))
    throw new OptionsError("BadValue: logRotate 'reopen' needs --logappend");
  const logPath = at<string>("systemLog.path");
  if (logPath !== undefined) (parsed["systemLog"] as Tree)["destination"] = "file";
  return {
    help: given.has("help"),
    version: given.has("version"),
    port,
    bindIps: addresses(parsed, at("net.ipv6") === true),
    maxConnections,
    pidFile: at("processManagement.pidFilePath"),
    logPath,
    logAppend: at("systemLog.logAppend") === true,
    logRotate: at("systemLog.logRotate") ?? "rename",
    utc: at("systemLog.timeStampFormat") === "iso8601-utc",
    quiet: at("systemLog.quiet") === true,
    verbosity: at("systemLog.verbosity") ?? 0,
    parameters: at("setParameter") ?? {},
    parsed,
  };
}

function range(path: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new OptionsError(
    `BadValue: Invalid value for ${path}: ${value}; it has to be a whole number from ${min} to ${max}`,
  );
}

function oneOf(
  path: string,
  value: unknown,
  allowed: readonly string[],
  why = `choose from ${allowed.join(", ")}`,
): void {
  if (value === undefined || allowed.includes(String(value))) return;
  throw new OptionsError(`BadValue: Invalid value for ${path}: ${String(value)}; ${why}`);
}

/** `--bind_ip` and its kin as addresses of sockets. */
function addresses(parsed: Tree, ipv6: boolean): string[] {
  const net = parsed["net"] as { bindIp?: string; bindIpAll?: boolean } | undefined;
  const all = ipv6 ? ["::"] : ["0.0.0.0"]; // a socket on :: takes IPv4 clients too
  if (net?.bindIpAll) return all;
  const written = (net?.bindIp ?? "localhost")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  if (written.length === 0) throw new OptionsError("BadValue: bind_ip has no address");
  const unix = written.find((name) => name.startsWith("/"));
  if (unix) throw new OptionsError(`BadValue: bind_ip ${unix}: Unix domain sockets are not simulated`);
  const list = written.flatMap((name) => {
    if (name === "*") return all;
    if (name === "localhost") return ipv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"];
    return [name];
  });
  return [...new Set(list)];
}
