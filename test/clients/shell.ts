/** mongosh as a test starts it: with nobody's settings, asking nobody, telling nobody. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { mongosh } from "./programs.js";

/** How a program ended. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

let home: string | undefined;
afterAll(() => {
  if (home !== undefined) rmSync(home, { recursive: true, force: true });
  home = undefined;
});

/** The environment of a shell without settings. */
export function shellEnvironment(): NodeJS.ProcessEnv {
  home ??= mkdtempSync(path.join(tmpdir(), "shardlab-mongosh-"));
  return {
    PATH: process.env["PATH"],
    HOME: home,
    MONGOSH_FORCE_DISABLE_TELEMETRY_FOR_TESTING: "1",
    NO_COLOR: "1",
  };
}

/** Runs mongosh, and what is typed into it. */
export async function shell(args: readonly string[], typed = ""): Promise<Ended> {
  return run(process.execPath, [mongosh.path, "--norc", ...args], shellEnvironment(), typed);
}

/** Runs any program to its end. */
export async function run(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  typed = "",
): Promise<Ended> {
  const child = spawn(file, args, { env, stdio: "pipe" });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.end(typed);
  const [code] = (await once(child, "close")) as [number];
  return { code, stdout, stderr };
}

/** The line of EJSON that a script prints last. */
export function lastLine({ stdout }: Ended): unknown {
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
