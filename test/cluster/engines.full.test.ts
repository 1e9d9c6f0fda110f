/**
 * Lessons give the same results whatever the shards are: each notebook, answered, runs on `process` as it does on
 * `embedded`, to the letter of every output that isn't an address or a time.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "./processes.js";

const cli = path.join(root, "dist/kernel/cli/main.js");
const names = readdirSync(path.join(root, "notebooks")).filter((name) => name.endsWith(".ipynb"));
let work: string;

async function shardlab(...args: string[]): Promise<string> {
  const { stderr } = await promisify(execFile)(process.execPath, [cli, ...args], {
    cwd: root,
    maxBuffer: 1 << 26,
  });
  return stderr;
}

beforeAll(async () => {
  work = mkdtempSync(path.join(tmpdir(), "shardlab-engines-"));
  await shardlab("build", "--solved", path.join(work, "answers"));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** What the cells have shown, without what differs between any two runs; stderr tells of slow starts. */
function outputs(file: string): string {
  const { cells } = JSON.parse(readFileSync(file, "utf8")) as { cells: { outputs?: { name?: string }[] }[] };
  const shown = cells.map(({ outputs: all = [] }) => all.filter(({ name }) => name !== "stderr"));
  return JSON.stringify(shown, null, 1)
    .replaceAll(/127\.0\.0\.1:\d+/g, "ADDRESS")
    .replaceAll(/engine \w+ \([^)]*\)/g, "ENGINE")
    .replaceAll(/[\d.]+ ?m?s\b/g, "TIME");
}

it.each(names)("%s on processes", async (name) => {
  const notebook = path.join(work, "answers", name);
  await shardlab("run", notebook, "--engine", "embedded", "--out", path.join(work, "embedded"));
  await shardlab("run", notebook, "--engine", "process", "--out", path.join(work, "process"));
  const onProcesses = outputs(path.join(work, "process", name));
  expect(onProcesses).toContain("PASS: ");
  expect(onProcesses).toBe(outputs(path.join(work, "embedded", name)));
});
