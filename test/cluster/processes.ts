/** Looks at the process table and at ports, to see that nothing was left behind. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Whether a process runs. One that has ended and waits for its parent to notice does not. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    return !existsSync(stat) || !readFileSync(stat, "latin1").includes(") Z ");
  } catch {
    return false;
  }
}

/** Whether anything listens on the port of a mongodb:// URI. */
export function listens(uri: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(uri).port), host: "127.0.0.1" });
    socket.once("connect", () => (socket.destroy(), resolve(true))).once("error", () => resolve(false));
  });
}

/** Sockets on which a process listens (Linux: the kernel's table of TCP sockets). */
export function listening(pid: number): string[] {
  const rows = readFileSync("/proc/net/tcp", "latin1").split("\n").slice(1);
  const fields = rows.map((row) => row.trim().split(/\s+/));
  const inodes = new Set(fields.filter(([, , , state]) => state === "0A").map((row) => `socket:[${row[9]}]`));
  return readdirSync(`/proc/${pid}/fd`)
    .map((fd) => readlinkOrNothing(`/proc/${pid}/fd/${fd}`))
    .filter((target) => inodes.has(target));
}

function readlinkOrNothing(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // closed in the meantime
  }
}

/** A node program and what it has printed. */
export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The next line it prints on stdout; undefined when it ended instead. */
  line(): Promise<string | undefined>;
  readonly stderr: () => string;
  /** Exit code and signal. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts node with these arguments in the project, in a process group of its own. */
export function startNode(args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  return startProgram(process.execPath, args, env);
}

/** Starts a program in the project, in a process group of its own. */
export function startProgram(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(file, args, {
    cwd: root,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  let over = false;
  let wake = (): void => undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => ((stdout += text), wake()));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdout.on("end", () => ((over = true), wake()));
  const ended = once(child, "close").then(
    ([code, signal]) => ({ code, signal }) as Awaited<Program["ended"]>,
  );
  const line = async (): Promise<string | undefined> => {
    for (;;) {
      const end = stdout.indexOf("\n");
      if (end >= 0) {
        const first = stdout.slice(0, end);
        stdout = stdout.slice(end + 1);
        return first;
      }
      if (over) return undefined;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { child, pid: child.pid!, line, stderr: () => stderr, ended };
}
