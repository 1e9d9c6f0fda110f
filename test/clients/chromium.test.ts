import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chromium, describeWith } from "./programs.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/** The page's DOM after its scripts have run, opened from disk as by a double click. */
async function openInChromium(file: string, profile: string, ...more: string[]): Promise<string> {
  const flags = [
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking",
    "--disable-component-update --disable-sync --virtual-time-budget=20000 --dump-dom",
  ];
  const args = [
    ...flags.join(" ").split(" "),
    ...more,
    `--user-data-dir=${profile}`,
    pathToFileURL(file).href,
  ];
  const { stdout } = await run(chromium.path, args, { maxBuffer: 64 << 20 });
  return stdout;
}

describeWith(chromium, "the exported page of lesson 03 in headless Chromium, opened from disk", () => {
  let folder: string;
  let dom: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "shardlab-chromium-"));
    const out = path.join(folder, "out");
    await run(
      process.execPath,
      ["dist/kernel/cli/main.js", "run", "notebooks/03-hotspots.ipynb", "--out", out, "--html"],
      { cwd: root },
    );
    expect(existsSync(path.join(out, "03-hotspots.ipynb"))).toBe(true);
    dom = await openInChromium(path.join(out, "03-hotspots.html"), path.join(folder, "profile"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("draws its figures", () => {
    expect(dom.match(/class="main-svg"/g)?.length).toBeGreaterThanOrEqual(2);
  });

  it("draws them as wide as the page's column, in a narrow window too", async () => {
    const widths = async (width: number): Promise<number[]> => {
      const page = await openInChromium(
        path.join(folder, "out", "03-hotspots.html"),
        path.join(folder, `profile-${width}`),
        `--window-size=${width},900`,
      );
      const figures = [...page.matchAll(/<svg class="main-svg"[^>]* width="([\d.]+)"/g)];
      return [...new Set(figures.map((match) => Number(match[1])))];
    };
    const [wide, narrow] = [await widths(1200), await widths(600)];
    expect(wide).toHaveLength(1);
    expect(wide[0]).toBeGreaterThan(720); // 700 is what Plotly takes when it can't measure its place
    expect(narrow).toHaveLength(1);
    expect(narrow[0]).toBeGreaterThan(400);
    expect(narrow[0]).toBeLessThan(600);
  });

  it("has the numbers of the experiments as text and in tables", () => {
    expect(dom).toContain("100,000 of 100,000");
    expect(dom).toContain("51,100");
    expect(dom).toContain("48,900");
    expect(dom).toContain("SINGLE_SHARD");
    expect(dom).toContain("SHARD_MERGE");
  });

  it("refers to nothing outside the file", () => {
    const loaded = [...dom.matchAll(/<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(
      (m) => m[1]!,
    );
    expect(loaded.filter((url) => !url.startsWith("data:") && !url.startsWith("#"))).toEqual([]);
  });
});
