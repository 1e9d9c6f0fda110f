import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { time } from "./measure.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Lesson 03 from the command to the written page, and how much of it the first cell is. */
export async function run() {
  const out = await mkdtemp(path.join(tmpdir(), "shardlab-bench-"));
  try {
    let stdout;
    const ms = await time(async () => {
      ({ stdout } = await promisify(execFile)(
        process.execPath,
        ["dist/kernel/cli/main.js", "run", "notebooks/03-hotspots.ipynb", "--out", out, "--html", "--json"],
        { cwd: root },
      ));
    });
    const [notebook] = JSON.parse(stdout).notebooks;
    const [first] = notebook.cells;
    console.log(
      `  lesson 03: ${(ms / 1000).toFixed(1)} s (goal < 30), first cell ${(first.ms / 1000).toFixed(1)} s, ` +
        `${((100 * first.ms) / ms).toFixed(0)} % of it`,
    );
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}
