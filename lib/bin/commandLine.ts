/**
 * Reads mongod's command line and configuration file into one document, in the shape of the file:
 * `--port 27018 --replSet rs` is `{net: {port: 27018}, replication: {replSet: "rs"}}`.
 *
 * The words are read the way mongod's library reads them: `--port 27018`, `--port=27018` and `-port 27018` are the
 * same, names are not abbreviated, and an option is given once. What the command line says wins over the file.
 */
import { readFileSync } from "node:fs";
import { parseConfigFile } from "./configFile.js";
import type { OptionRule } from "./optionTable.js";
import { OPTIONS } from "./optionTable.js";

/** A command line that can't work; mongod prints the message and ends with 2. */
export class OptionsError extends Error {
  override readonly name = "OptionsError";
}

/** What the program was asked for. */
export interface MongodSettings {
  readonly help: boolean;
  readonly version: boolean;
  readonly port: number;
  /** Addresses to listen on, resolved names left as they are. */
  readonly bindIps: readonly string[];
  readonly maxConnections: number | undefined;
  readonly dbPath: string;
  readonly storageEngine: string;
  readonly replSet: string | undefined;
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

/** Nested plain objects, as a configuration file has them. */
type Tree = Record<string, unknown>;

/**
 * Reads the words after the program's name.
 * @param words as the shell hands them over
 * @throws OptionsError one line, as mongod would print it
 */
export function readCommandLine(words: readonly string[]): MongodSettings {
  const given = parseWords(words);
  if (given.has("help") || given.has("version")) return settings({}, given);
  const fromFile: Tree = {};
  const file = given.get("config");
  if (file !== undefined) readFile(String(file), fromFile);
  const parsed: Tree = fromFile;
  for (const rule of OPTIONS) {
    const value = given.get(rule.name);
    if (value !== undefined) place(parsed, rule, value, "command line");
  }
  return settings(parsed, given);
}

function parseWords(words: readonly string[]): Map<string, unknown> {
  const given = new Map<string, unknown>();
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (!word.startsWith("-") || word === "-")
      throw usage("too many positional options have been specified on the command line");
    const levels = /^-(v+)$/.exec(word)?.[1];
    if (levels !== undefined) {
      given.set("verbose", levels.length);
      continue;
    }
    const { rule, attached } = splitWord(word);
    if (rule.kind === "switch") {
      if (attached !== undefined) throw usage(`option '--${rule.name}' does not take any arguments`);
      once(given, rule);
      given.set(rule.name, true);
      continue;
    }
    if (rule.kind === "levels" || rule.kind === "boolean") {
      once(given, rule);
      given.set(rule.name, attached === undefined ? 1 : convert(rule, attached));
      continue;
    }
    let text = attached;
    if (text === undefined) {
      text = words[++i];
      if (text === undefined || /^--?[a-zA-Z]/.test(text))
        throw usage(`the required argument for option '--${rule.name}' is missing`);
    }
    if (rule.kind === "parameter") {
      given.set(rule.name, { ...(given.get(rule.name) as object | undefined), ...parameter(text) });
    } else {
      once(given, rule);
      given.set(rule.name, convert(rule, text));
    }
  }
  return given;
}

/** The option a word names, and what stands after its `=`. */
function splitWord(word: string): { rule: OptionRule; attached: string | undefined } {
  const equals = word.indexOf("=");
  const spelt = equals < 0 ? word : word.slice(0, equals);
  const rule = OPTIONS.find(
    ({ name, short }) => spelt === `--${name}` || spelt === `-${name}` || spelt === `-${short}`,
  );
  if (!rule) throw usage(`unrecognised option '${spelt}'`);
  return { rule, attached: equals < 0 ? undefined : word.slice(equals + 1) };
}

function once(given: ReadonlyMap<string, unknown>, rule: OptionRule): void {
  if (given.has(rule.name)) throw usage(`option '--${rule.name}' cannot be specified more than once`);
}

function parameter(text: string): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals <= 0) throw new OptionsError(`Illegal assignment: ${text}; write --setParameter NAME=VALUE`);
  return { [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** A word as a value of the option's kind. */
function convert(rule: OptionRule, text: string): unknown {
  switch (rule.kind) {
    case "integer":
    case "levels":
      if (/^[+-]?\d+$/.test(text)) return Number(text);
      if (rule.kind === "levels" && /^v+$/.test(text)) return text.length + 1;
      break;
    case "number":
      if (text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
      break;
    case "boolean":
      if (/^(true|false|1|0|on|off|yes|no)$/.test(text)) return /^(true|1|on|yes)$/.test(text);
      break;
    default:
      return text;
  }
  throw usage(`the argument ('${text}') for option '--${rule.name}' is invalid`);
}

function usage(message: string): OptionsError {
  return new OptionsError(`Error parsing command line: ${message}`);
}

/** Reads the configuration file and checks it against the same table. */
function readFile(path: string, into: Tree): void {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new OptionsError(`Error opening config file: ${(error as Error).message.split(",")[0]}`);
  }
  let tree: Tree;
  try {
    tree = parseConfigFile(text);
  } catch (error) {
    throw new OptionsError(`Error parsing YAML config file: ${(error as Error).message}`);
  }
  for (const [path, value] of leaves(tree, "")) {
    const rule = OPTIONS.find((option) => path === (option.filePath ?? option.path) && fits(option, value));
    if (path === "systemLog.destination" && value === "file") continue;
    if (!rule || rule.name === "config") throw new OptionsError(`Unrecognized option: ${path}`);
    if (rule.kind === "switch" && rule.means === undefined && value === false) continue;
    place(into, rule, fileValue(rule, path, value), path);
  }
}

/** Options that share a path (the two cluster roles, `auth` and `noauth`) are told apart by the value. */
function fits(option: OptionRule, value: unknown): boolean {
  if (option.means === undefined) return true;
  return (
    option.means === value ||
    (option.name === "nounixsocket" && value === true) ||
    (option.name === "noscripting" && value === true)
  );
}

function fileValue(rule: OptionRule, path: string, value: unknown): unknown {
  if (rule.kind === "parameter") return value;
  const wanted =
    rule.kind === "switch"
      ? "boolean"
      : rule.kind === "text"
        ? undefined
        : rule.kind === "boolean"
          ? "boolean"
          : "number";
  if (rule.kind === "switch" && rule.means !== undefined) return value;
  if (wanted && typeof value !== wanted) throw new OptionsError(`Error: ${path} has to be a ${wanted}`);
  if (value !== null && typeof value === "object")
    throw new OptionsError(`Error: ${path} has to be one value`);
  return rule.kind === "text" ? String(value) : value;
}

/** `{net: {port: 1}}` → `["net.port", 1]`. Parameters stay one object. */
function* leaves(tree: Tree, prefix: string): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(tree)) {
    const path = prefix + name;
    if (path !== "setParameter" && value !== null && typeof value === "object" && !Array.isArray(value)) {
      yield* leaves(value as Tree, `${path}.`);
    } else {
      yield [path, value];
    }
  }
}

/** Puts a value where the configuration file has it; a refused option ends here. */
function place(tree: Tree, rule: OptionRule, value: unknown, origin: string): void {
  if (rule.fate === "refused") {
    const name = origin === "command line" ? `--${rule.name}` : origin;
    throw new OptionsError(
      `${name} can't be used: ${rule.about} ${/s$/.test(rule.about) ? "are" : "is"} not simulated`,
    );
  }
  if (rule.path === undefined) return;
  const names = rule.path.split(".");
  const last = names.pop() as string;
  let node = tree;
  for (const name of names) node = (node[name] ??= {}) as Tree;
  const meant =
    rule.kind === "switch" && rule.means !== undefined && value === true && origin === "command line"
      ? rule.means
      : value;
  node[last] =
    rule.kind === "parameter" ? { ...(node[last] as object | undefined), ...stringValues(meant) } : meant;
}

function stringValues(parameters: unknown): Record<string, string> {
  if (parameters === null || typeof parameters !== "object")
    throw new OptionsError("Error: setParameter has to be a map");
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
}

/** The document, checked, with every default filled in. */
function settings(parsed: Tree, given: ReadonlyMap<string, unknown>): MongodSettings {
  const at = <T>(path: string): T | undefined =>
    path.split(".").reduce<unknown>((node, name) => (node as Tree | undefined)?.[name], parsed) as
      T | undefined;
  const role = at<string>("sharding.clusterRole");
  const replSet = at<string>("replication.replSet");
  if (given.has("configsvr") && given.has("shardsvr"))
    throw new OptionsError("BadValue: --configsvr and --shardsvr can't be used together");
  if (role !== undefined && replSet === undefined) {
    throw new OptionsError(
      `BadValue: Cannot start a ${role} as a standalone server. Please use the option --replSet to start the node as a replica set.`,
    );
  }
  if (replSet === "") throw new OptionsError("BadValue: --replSet needs the name of a set");
  const port =
    at<number>("net.port") ?? (role === "configsvr" ? 27_019 : role === "shardsvr" ? 27_018 : 27_017);
  range("net.port", port, 0, 65_535);
  const maxConnections = at<number>("net.maxIncomingConnections");
  if (maxConnections !== undefined)
    range("net.maxIncomingConnections", maxConnections, 5, Number.MAX_SAFE_INTEGER);
  const oplogSize = at<number>("replication.oplogSizeMB");
  if (oplogSize !== undefined) range("replication.oplogSizeMB", oplogSize, 1, Number.MAX_SAFE_INTEGER);
  oneOf("systemLog.logRotate", at("systemLog.logRotate"), ["rename", "reopen"]);
  oneOf("systemLog.timeStampFormat", at("systemLog.timeStampFormat"), ["iso8601-local", "iso8601-utc"]);
  oneOf(
    "operationProfiling.mode",
    at("operationProfiling.mode"),
    ["off", "0"],
    "the profiler is not simulated",
  );
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
    dbPath: at<string>("storage.dbPath") ?? "/data/db",
    storageEngine: at<string>("storage.engine") ?? "wiredTiger",
    replSet,
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
