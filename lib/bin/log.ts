/**
 * mongod's log: one JSON document a line, each written at once, so that a program that watches for
 * "Waiting for connections" finds it whole.
 *
 *     {"t":{"$date":"2026-11-30T18:10:00.123+00:00"},"s":"I",  "c":"NETWORK",  "id":23016,   "ctx":"listener","msg":…}
 *
 * The columns are padded and the numbers are MongoDB's own (`id` names the message), because tools search for
 * them. No line carries what a client sent: test harnesses take words on standard output for signs of a crash.
 */
import { closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import type { ServerLogs } from "../mongod/index.js";

/** Information, warning, error, fatal, debugging. */
export type Severity = "I" | "W" | "E" | "F" | "D1";

/** One entry. */
export interface LogEntry {
  readonly s?: Severity;
  /** Component, e.g. `NETWORK`. */
  readonly c: string;
  /** MongoDB's number of the message. */
  readonly id: number;
  /** What part of the program says it. */
  readonly ctx?: string;
  readonly msg: string;
  readonly attr?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[];
}

/** Where the log goes. */
export interface LogTarget {
  /** A file in place of standard output. */
  readonly path?: string | undefined;
  readonly append: boolean;
  readonly rotate: "rename" | "reopen";
  readonly utc: boolean;
}

export class ServerLog {
  readonly #target: LogTarget;
  readonly #rings: ServerLogs;
  #file: number;

  /**
   * @param rings what getLog shows
   * @throws Error with the system's code when the file can't be opened
   */
  constructor(target: LogTarget, rings: ServerLogs) {
    this.#target = target;
    this.#rings = rings;
    if (target.path !== undefined && !target.append) setAside(target.path);
    this.#file = target.path === undefined ? 1 : openSync(target.path, "a");
  }

  write(entry: LogEntry): void {
    const line = formatEntry(entry, Date.now(), this.#target.utc);
    this.#rings.global.write(line);
    if (entry.tags?.includes("startupWarnings")) this.#rings.startupWarnings.write(line);
    try {
      writeSync(this.#file, `${line}\n`);
    } catch {
      // Nobody reads any more, or the disk is full: the server goes on, and getLog still has the line.
    }
  }

  /** Starts the file anew, as `--logRotate` says. */
  rotate(): void {
    const { path, rotate } = this.#target;
    if (path === undefined) return;
    closeSync(this.#file);
    if (rotate === "rename") setAside(path);
    this.#file = openSync(path, "a");
  }
}

/** Keeps an existing log under a name with the time in it: `mongod.log.2026-11-30T18-10-00`. */
function setAside(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  renameSync(path, `${path}.${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}`);
}

/**
 * One line of the log, without its line break.
 * @param now milliseconds since 1970
 */
export function formatEntry(entry: LogEntry, now: number, utc: boolean): string {
  const { s = "I", c, id, ctx = "-", msg, attr, tags } = entry;
  const head =
    `{"t":{"$date":"${utc ? new Date(now).toISOString() : localTime(now)}"},` +
    `${`"s":"${s}",`.padEnd(10)}${`"c":"${c}",`.padEnd(16)}${`"id":${id},`.padEnd(14)}`;
  const rest = JSON.stringify({ ctx, msg, ...(attr && { attr }), ...(tags && { tags }) });
  return head + rest.slice(1);
}

/** `2026-11-30T19:10:00.123+01:00` */
function localTime(now: number): string {
  const offset = -new Date(now).getTimezoneOffset();
  const local = new Date(now + offset * 60_000).toISOString().slice(0, -1);
  const minutes = Math.abs(offset);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${local}${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
