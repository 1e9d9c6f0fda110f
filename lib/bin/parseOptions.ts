/**
 * Reads a program's command line and configuration file into one document, in the shape of the file:
 * `--port 27018 --replSet rs` is `{net: {port: 27018}, replication: {replSet: "rs"}}`.
 *
 * The words are read the way MongoDB's library reads them: `--port 27018`, `--port=27018` and `-port 27018` are the
 * same, names are not abbreviated, and an option is given once. What the command line says wins over the file.
 */
import { readFileSync } from "node:fs";
import { parseConfigFile } from "./configFile.js";
import type { OptionRule } from "./optionTable.js";

/** A command line that can't work; mongod prints the message and ends with 2. */
export class OptionsError extends Error {
  override readonly name = "OptionsError";
}

/** Nested plain objects, as a configuration file has them. */
export type Tree = Record<string, unknown>;

/** What a command line says. */
export interface GivenOptions {
  /** The words' own options by name, without those of the file. */
  readonly given: ReadonlyMap<string, unknown>;
  /** Words and file as one document; empty with `--help` and `--version`. */
  readonly parsed: Tree;
}

/**
 * Reads the words after the program's name, and the configuration file that they name.
 * @param words as the shell hands them over
 * @param options those that the program has
 * @throws OptionsError one line, as MongoDB's program would print it
 */
export function readOptions(words: readonly string[], options: readonly OptionRule[]): GivenOptions {
  const given = parseWords(words, options);
  const parsed: Tree = {};
  if (given.has("help") || given.has("version")) return { given, parsed };
  const file = given.get("config");
  if (file !== undefined) readFile(String(file), parsed, options);
  for (const rule of options) {
    const value = given.get(rule.name);
    if (value !== undefined) place(parsed, rule, value, "command line");
  }
  return { given, parsed };
}

function parseWords(words: readonly string[], options: readonly OptionRule[]): Map<string, unknown> {
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
    const { rule, attached } = splitWord(word, options);
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
function splitWord(
  word: string,
  options: readonly OptionRule[],
): { rule: OptionRule; attached: string | undefined } {
  const equals = word.indexOf("=");
  const spelt = equals < 0 ? word : word.slice(0, equals);
  const rule = options.find(
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
function readFile(path: string, into: Tree, options: readonly OptionRule[]): void {
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
    const rule = options.find((option) => path === (option.filePath ?? option.path) && fits(option, value));
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
