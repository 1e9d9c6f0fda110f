/**
 * Errors in terms of the cells.
 *
 * V8 asks us to write each error's stack (`Error.prepareStackTrace`). We put the
 * cell's own line and column in place of those of the compiled text, leave out
 * the executor's own frames, and keep the frames as data, for the report:
 *
 *     TypeError: Cannot read properties of undefined (reading 'x')
 *     2 |   return p.x;
 *       |            ^
 *         at getX (cell 1:2:12)
 *         at cell 4:3:1
 *         … 3 frames in mongodb
 */
import { SourceMap } from "node:module";
import type { SourceMapPayload } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { excerpt } from "./diagnostics.js";
import { installation } from "./project.js";
import type { CellError } from "./result.js";

/** A compiled file that frames can be in. */
export interface CompiledFile {
  /** "cell 3", or the path of a local file from the notebook's folder. */
  readonly where: string;
  readonly isCell: boolean;
  readonly text: string;
  readonly map: string;
}

interface Frame {
  readonly text: string;
  /** Where it is, if it is in a cell or in a local file. */
  readonly own?: { readonly file: CompiledFile; readonly line: number; readonly column: number };
  /** The package or "node" that a foreign frame is in. */
  readonly library: string;
}

const executorFolder = dirname(fileURLToPath(import.meta.url));
const files = new Map<string, CompiledFile>();
const maps = new Map<string, SourceMap>();
const frames = new WeakMap<object, Frame[]>();

/** Makes a compiled file known, under the file name its code runs with. */
export function register(path: string, file: CompiledFile): void {
  files.set(path, file);
  maps.delete(path);
}

/** What is known about a compiled file. */
export function compiledFile(path: string): CompiledFile | undefined {
  return files.get(path);
}

/** Rewrites the stacks of all errors of this process from now on. */
export function installStackRewriting(): void {
  Error.stackTraceLimit = 50;
  Error.prepareStackTrace = (error, sites) => {
    const own = withoutOuterNode(sites.map(readFrame).filter((frame) => frame !== undefined));
    frames.set(error, own);
    return [headline(error), ...own.map(({ text }) => `    at ${text}`)].join("\n");
  };
}

/** What called the outermost cell, or a timer of its, is Node's and ours: no news for anyone. */
function withoutOuterNode(all: readonly Frame[]): Frame[] {
  const last = all.findLastIndex(({ library }) => library !== "node");
  return last < 0 ? [...all] : all.slice(0, last + 1);
}

function readFrame(site: NodeJS.CallSite): Frame | undefined {
  const script = site.getFileName() ?? "";
  const path = script.startsWith("file:") ? fileURLToPath(script) : script;
  const text = String(site);
  const known = files.get(path);
  if (known === undefined) {
    if (path.startsWith(executorFolder) || script === "node:vm") return undefined;
    return { text, library: libraryOf(path) };
  }
  const { line, column } = original(path, known, site.getLineNumber() ?? 1, site.getColumnNumber() ?? 1);
  const place = `${known.where}:${line}:${column}`;
  const position = `${script}:${site.getLineNumber()}:${site.getColumnNumber()}`;
  // The caller of a class's static block has no position.
  const placed = text.includes(position) ? text.replace(position, place) : text.replace(script, known.where);
  const shown = placed.replace(/\b(Object|CellScope)\.(?=\S+ \()/, "");
  return { text: shown.replaceAll("$$scope.", ""), library: "", own: { file: known, line, column } };
}

function original(
  path: string,
  file: CompiledFile,
  line: number,
  column: number,
): { line: number; column: number } {
  let map = maps.get(path);
  if (map === undefined) {
    map = new SourceMap(JSON.parse(file.map) as SourceMapPayload);
    maps.set(path, map);
  }
  const entry = map.findEntry(line - 1, column - 1);
  if (!("originalLine" in entry)) return { line: 1, column: 1 };
  return { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}

function libraryOf(path: string): string {
  const inPackage = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(path)?.[1];
  if (inPackage !== undefined) return inPackage.replace("\\", "/");
  if (path.startsWith("node:") || path === "") return "node";
  return path.startsWith(installation) ? "shardlab" : path;
}

function headline(error: unknown): string {
  try {
    const { name, message } = error as Error;
    return message ? `${name}: ${message}` : name;
  } catch {
    return "Error";
  }
}

/** Turns whatever was thrown into plain data. */
export function readError(thrown: unknown): CellError {
  if (!(thrown instanceof Error) && !(isErrorLike(thrown) && frames.has(thrown))) {
    const shown = safely(() => (typeof thrown === "string" ? thrown : inspect(thrown, { depth: 4 })), "?");
    return { name: "Error", message: `thrown: ${shown}`, text: `thrown: ${shown}` };
  }
  const error = thrown;
  const stack = safely(() => error.stack, undefined); // writes the frames, if nobody has looked yet
  const known = frames.get(error);
  const innermost = known?.find(({ own }) => own?.file.isCell)?.own ?? known?.find(({ own }) => own)?.own;
  const name = safely(() => String(error.name), "Error");
  const message = safely(() => String(error.message), "");
  const code = safely(() => (error as { code?: unknown }).code, undefined);
  const lines = [safely(() => headline(error), name), ...details(error)];
  if (innermost) lines.push(excerpt(innermost.file.text, innermost.line, innermost.column));
  lines.push(...(known ? folded(known) : foreignStack(stack)));
  lines.push(...causes(error));
  return {
    name,
    message,
    ...(typeof code === "number" || typeof code === "string" ? { code } : {}),
    ...(innermost ? { cell: innermost.file.where, line: innermost.line, column: innermost.column } : {}),
    text: lines.join("\n"),
  };
}

/** The cells' frames as they are, and each run of library frames as one line. */
function folded(all: readonly Frame[]): string[] {
  const lines: string[] = [];
  let libraries: string[] = [];
  const fold = (): void => {
    if (libraries.length === 0) return;
    const names = [...new Set(libraries)].join(", ");
    lines.push(`    … ${libraries.length} frame${libraries.length === 1 ? "" : "s"} in ${names}`);
    libraries = [];
  };
  for (const frame of all) {
    if (frame.own === undefined) {
      libraries.push(frame.library);
    } else {
      fold();
      lines.push(`    at ${frame.text}`);
    }
  }
  fold();
  return lines;
}

/** An error of another realm keeps the stack it came with. */
function foreignStack(stack: unknown): string[] {
  return typeof stack === "string"
    ? stack
        .split("\n")
        .filter((line) => /^\s+at /.test(line))
        .slice(0, 10)
    : [];
}

/** `code 11000 (DuplicateKey)`: what MongoDB's and Node's errors carry beside the message. */
function details(error: Error): string[] {
  const { code, codeName } = error as { code?: unknown; codeName?: unknown };
  if (typeof code !== "number") return [];
  return [`code ${code}${typeof codeName === "string" ? ` (${codeName})` : ""}`];
}

function causes(error: Error): string[] {
  const { cause, errors } = error as { cause?: unknown; errors?: unknown };
  const inner = Array.isArray(errors) ? errors.slice(0, 5) : [];
  const all = cause === undefined ? inner : [cause, ...inner];
  return all.map(
    (one) => `caused by ${one instanceof Error ? safely(() => headline(one), "an error") : inspect(one)}`,
  );
}

function isErrorLike(value: unknown): value is Error {
  return typeof value === "object" && value !== null;
}

/** Properties of a thrown object may be getters that throw in turn. */
function safely<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
