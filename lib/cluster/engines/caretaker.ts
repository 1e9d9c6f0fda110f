/**
 * Sees to it that servers and their folders end with this process, however it ends.
 *
 * A process that is killed can't tidy up after itself, and mongodb-memory-server's own watchers (one Node process
 * a server) end the servers and leave the folders. One small shell does both: it waits on a pipe from us, which
 * the system closes when we are gone, then ends the servers that are left and removes the folder. It is in a
 * session of its own, so that a terminal's Ctrl-C does not reach it.
 *
 *     us ── "+ 4711" a server started, "- 4711" it ended ──▶ sh        end of the pipe: TERM, KILL, rm -r
 */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** What the temporary folders of clusters are called. */
export const FOLDER_PREFIX = "shardlab-cluster-";

const SCRIPT = `
trap '' HUP INT TERM
pids=
while read -r sign pid; do
  rest=
  for known in $pids; do [ "$known" = "$pid" ] || rest="$rest $known"; done
  pids=$rest
  [ "$sign" = + ] && pids="$pids $pid"
done
for pid in $pids; do kill -TERM "$pid" 2>/dev/null; done
tries=0
for pid in $pids; do
  while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL "$pid" 2>/dev/null
done
rm -rf "$1"
`;

export class Caretaker {
  /** A temporary folder, for the servers' own folders. */
  readonly folder: string;
  readonly #shell: ChildProcess | undefined;
  readonly #ended: Promise<unknown> | undefined;

  constructor() {
    this.folder = mkdtempSync(path.join(tmpdir(), FOLDER_PREFIX));
    if (process.platform === "win32") return;
    this.#shell = spawn("/bin/sh", ["-c", SCRIPT, "sh", this.folder], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#ended = once(this.#shell, "close").catch(() => undefined);
    this.#shell.stdin?.on("error", () => undefined); // somebody killed it: close() does its work
    // It waits for us, we don't wait for it.
    this.#shell.unref();
    (this.#shell.stdin as { unref?: () => void } | null)?.unref?.();
  }

  /** A server runs under this process number. */
  watch(pid: number): void {
    this.#shell?.stdin?.write(`+ ${pid}\n`);
  }

  /** It has ended, and its number may belong to another program soon. */
  forget(pid: number): void {
    this.#shell?.stdin?.write(`- ${pid}\n`);
  }

  /** Removes the folder; every server has ended by now. */
  async close(): Promise<void> {
    if (this.#shell && this.#shell.exitCode === null && this.#shell.signalCode === null) {
      this.#shell.ref();
      this.#shell.stdin?.end();
      await this.#ended;
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
