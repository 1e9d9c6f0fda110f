/**
 * The course as its users meet it: the committed notebooks match their sources, run from top to bottom
 * with nothing answered, and earn every point when everything is answered right. Runs the compiled
 * command line, as `npx shardlab` does.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cellForms, parseSource } from "../../kernel/authoring/index.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const cli = path.join(root, "dist/kernel/cli/main.js");
const names = readdirSync(path.join(root, "notebooks")).filter((name) => name.endsWith(".ipynb"));

interface Cell {
  id: string;
  cell_type: string;
  source: string[] | string;
  metadata: { shardlab?: { role: string; question: string; points?: number } };
  outputs?: { output_type: string; data?: Record<string, string | string[]>; text?: string | string[] }[];
}

const joined = (text: string | string[] | undefined) => (Array.isArray(text) ? text.join("") : (text ?? ""));

/** Everything a cell printed or displayed, as text. */
function textOf(cell: Cell): string {
  return (cell.outputs ?? []).map((o) => joined(o.text) + joined(o.data?.["text/plain"])).join("\n");
}

const read = (file: string) => (JSON.parse(readFileSync(file, "utf8")) as { cells: Cell[] }).cells;

async function shardlab(...args: string[]): Promise<void> {
  const env = { ...process.env };
  delete env["SHARDLAB_ENGINE"]; // the figures are those of the default engine
  await promisify(execFile)(process.execPath, [cli, ...args], { cwd: root, env, maxBuffer: 1 << 26 });
}

let work = "";
beforeAll(async () => {
  work = await mkdtemp(path.join(tmpdir(), "shardlab-lessons-"));
  await shardlab("build", "--solved", path.join(work, "answers"));
  const student = names.map((name) => path.join(root, "notebooks", name));
  const solved = names.map((name) => path.join(work, "answers", name));
  await shardlab("run", ...student, "--out", path.join(work, "student"));
  await shardlab("run", ...solved, "--out", path.join(work, "solved"));
}, 240_000);
afterAll(() => rm(work, { recursive: true, force: true }));

it("is built from its sources", async () => {
  await shardlab("build", "--check");
});

describe.each(names)("%s", (name) => {
  const executed = (form: "student" | "solved") => read(path.join(work, form, name));
  const checks = (cells: Cell[]) => cells.filter((cell) => cell.metadata.shardlab?.role === "check");

  it("runs to its end unanswered, failing no cell and earning nothing", () => {
    const cells = executed("student");
    const errors = cells.filter((cell) => cell.outputs?.some((output) => output.output_type === "error"));
    expect(errors.map((cell) => cell.id)).toEqual([]);
    expect(checks(cells).length).toBeGreaterThanOrEqual(3);
    for (const cell of checks(cells)) {
      expect(textOf(cell), cell.id).toMatch(/^FAIL: q\d\d-\d .*, 0 of \d+ points?\n/);
      expect(textOf(cell)).toContain("Hint available");
      // A question that is answered with a value says nothing about the value before there is one.
      if (joined(cell.source).includes(", ")) expect(textOf(cell), cell.id).toContain("Not answered yet");
    }
  });

  it("earns every point with the right answers", () => {
    const cells = executed("solved");
    for (const cell of checks(cells)) {
      const { question, points } = cell.metadata.shardlab!;
      const start = `PASS: ${question} `;
      expect(textOf(cell).slice(0, start.length)).toBe(start);
      expect(textOf(cell), cell.id).toMatch(new RegExp(`, ${points} of ${points} points?\\n`));
    }
  });

  it("keeps every solution out of the student's notebook", () => {
    const source = readFileSync(path.join(root, "notebooks/source", name.replace(".ipynb", ".md")), "utf8");
    const student = read(path.join(root, "notebooks", name))
      .map((cell) => joined(cell.source))
      .join("\n");
    const solutions = parseSource(source, name).cells.flatMap((c) =>
      c.kind === "code" ? cellForms(c, name).solutions : [],
    );
    expect(solutions.length).toBeGreaterThanOrEqual(3);
    for (const solution of solutions) expect(student).not.toContain(solution.trim());
  });

  it("has a reasonable length: 800 to 2,500 words of prose", () => {
    const prose = read(path.join(root, "notebooks", name))
      .filter((cell) => cell.cell_type === "markdown")
      .map((cell) => joined(cell.source).replace(/```[\s\S]*?```/g, ""))
      .join(" ");
    const words = prose.split(/\s+/).length;
    expect(words).toBeGreaterThanOrEqual(800);
    expect(words).toBeLessThanOrEqual(2500);
  });
});

describe("the reference figures", () => {
  const cell = (name: string, id: string) =>
    textOf(read(path.join(work, "student", name)).find((c) => c.id === id)!);

  it("lesson 02: two chunks, one border at 0, and the same split under today's and older rules", () => {
    const name = "02-ranged-and-hashed-keys.ipynb";
    expect(cell(name, "ranged-one-chunk")).toMatch(/memberId: MinKey +memberId: MaxKey +shard[AB]/);
    expect(cell(name, "hashed-initial-chunks")).toMatch(
      /deviceId: MinKey +deviceId: 0 +shard[AB]\ndeviceId: 0 +deviceId: MaxKey/,
    );
    const rules = cell(name, "two-rules");
    expect(rules.match(/deviceId: -?\d+ +deviceId/g)).toHaveLength(2 + 5);
    for (const border of [
      "-6148914691236517204",
      "-3074457345618258602",
      "3074457345618258602",
      "6148914691236517204",
    ]) {
      expect(rules).toContain(`deviceId: ${border}`);
    }
    const spread = cell(name, "load-events");
    expect(spread).toMatch(
      /100,000 documents on 2 shards: shard[AB] 51,100 \(51\.1 %\), shard[AB] 48,900 \(48\.9 %\)/,
    );
    expect(spread).toContain("predicted 50000, measured 51100: off by 1100");
    expect(cell(name, "explain").match(/SINGLE_SHARD|SHARD_MERGE/g)).toEqual([
      "SINGLE_SHARD",
      "SHARD_MERGE",
      "SHARD_MERGE",
    ]);
  });

  it("lesson 03: 100,000 of 100,000 on one shard, and 51,100 to 48,900 when hashed", () => {
    const name = "03-hotspots.ipynb";
    expect(cell(name, "load-ranged")).toMatch(
      /100,000 of 100,000 documents are on one shard, shard[AB]; the other holds none/,
    );
    expect(cell(name, "heat-ranged")).toContain("in 40 of 40 columns one shard took everything");
    expect(cell(name, "load-hashed")).toMatch(/shard[AB] 51,100 \(51\.1 %\), shard[AB] 48,900 \(48\.9 %\)/);
    expect(cell(name, "heat-hashed")).toContain("in 0 of 40 columns one shard took everything");
    const routes = cell(name, "routes-hashed");
    expect(routes).toMatch(/"dev-42" +SINGLE_SHARD +shard[AB]$/m);
    expect(routes).toMatch(/i = 42 +SHARD_MERGE +shardA, shardB$/m);
    expect(routes).toMatch(/range of deviceId +SHARD_MERGE +shardA, shardB$/m);
    // dev-42 hashes above 0: its shard is the one with the smaller half
    const [, owner] = /"dev-42" +SINGLE_SHARD +(shard[AB])/.exec(routes)!;
    expect(cell(name, "load-hashed")).toContain(`${owner} 48,900`);
    expect(cell(name, "object-id-hotspot")).toContain("2,000 of 2,000 documents are on one shard");
  });

  it("lesson 03: each remedy spreads the inserts and loses a query", () => {
    const table = cell("03-hotspots.ipynb", "isolation");
    const row = (name: string) => new RegExp(`^${name} +([\\d.]+) +(.*)$`, "m").exec(table)!;
    for (const name of ["by_hash", "by_prefix", "by_device"]) expect(Number(row(name)[1])).toBeLessThan(60);
    expect(row("by_hash")[2]!.split(/ +/)).toEqual(["1", "1", "2", "2"]);
    expect(row("by_prefix")[2]!.split(/ +/)).toEqual(["2", "1", "2", "2"]);
    expect(row("by_device")[2]!.split(/ +/)).toEqual(["2", "2", "2", "1"]);
    expect(cell("03-hotspots.ipynb", "remedies")).toContain("in 0 of 10 columns one shard took everything");
  });
});
