/**
 * `shardlab run` as its users meet it: exit codes, files, one line for what is wrong.
 * The commands run the compiled program.
 */
import { execFile, spawn } from "node:child_process";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cli, folderWith, isRunning, notebook } from "../support.js";

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const folder = await folderWith({
  "good.ipynb": notebook(
    ["# Good lesson", "let n = 20; console.log('hello')", "n + 22", "#more\n\ntext", "  \n"],
    { title: "kept", own: { deep: [1] } },
  ),
  "throws.ipynb": notebook([
    "const a = 1;",
    "\nfunction f(): never { throw new RangeError('too far') }\nf()",
    "console.log('never')",
  ]),
  "types.ipynb": notebook(["const text: string = 5;"]),
  "loop.ipynb": notebook(["while (true) {}", "1"]),
  "expected.ipynb": notebook(["1"]).replace(
    '"metadata":{"own":{"kept":0}},"source":["1"]',
    '"metadata":{"tags":["raises-exception"]},"source":["throw new Error(\\"the lesson\\")"]',
  ),
  "dies.ipynb": notebook(["process.exit(0)", "1"]),
  "engine.ipynb": notebook(["process.env.SHARDLAB_ENGINE"]),
  "text.ipynb": "no JSON at all",
  "bytes.ipynb": "\u001b[2Jnot\u0000JSON",
  "marked.ipynb": `\uFEFF${notebook(["40 + 2"])}`,
  "list.ipynb": "[]",
  "object.ipynb": '{"cells": []}',
  "old.ipynb": '{"nbformat": 3, "worksheets": []}',
  "cells.ipynb": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code"}]}',
  "python.ipynb": notebook(["1"]).replace('"language":"typescript"', '"language":"python"'),
  "a-file": "in the way",
});
await mkdir(join(folder, "sub"));
await mkdir(join(folder, "taken/good.html"), { recursive: true });
await writeFile(join(folder, "sub/good.ipynb"), notebook(["1"]));

describe("a notebook that runs", () => {
  test("is copied with its outputs; everything else stays as it was", async () => {
    const before = JSON.parse(await readFile(join(folder, "good.ipynb"), "utf8")) as Record<string, unknown>;
    const run = await shardlab("run", "good.ipynb", "--out", "out1", "--html", "--json");
    expect(run.code).toBe(0);
    expect(await readdir(join(folder, "out1"))).toEqual(["good.html", "good.ipynb"]);
    const after = JSON.parse(await readFile(join(folder, "out1/good.ipynb"), "utf8")) as {
      cells: Record<string, unknown>[];
    };
    expect(after.cells.map(({ outputs, execution_count }) => [execution_count, outputs])).toEqual([
      [undefined, undefined],
      [1, [{ output_type: "stream", name: "stdout", text: ["hello\n"] }]],
      [
        2,
        [{ output_type: "execute_result", execution_count: 2, data: { "text/plain": ["42"] }, metadata: {} }],
      ],
      [undefined, undefined],
      [null, []], // an empty cell is not run
    ]);
    for (const cell of after.cells) {
      if (cell.cell_type === "code") Object.assign(cell, { execution_count: null, outputs: [] });
    }
    expect(after).toEqual(before);
    expect(JSON.parse(await readFile(join(folder, "good.ipynb"), "utf8"))).toEqual(before);
    expect(await readFile(join(folder, "out1/good.html"), "utf8")).toContain(
      '<h1 id="h-good-lesson">Good lesson</h1>',
    );
  });

  test("is told of on stderr by the cell, and on stdout as one line of JSON", async () => {
    const run = await shardlab("run", "good.ipynb", "--out", "out2", "--json");
    expect(run.stderr.split("\n").map((line) => line.replace(/[\d.]+ m?s/, "T"))).toEqual([
      "cell 1 of 2  code-1  T",
      "cell 2 of 2  code-2  T",
      `ok: 2 cells in T; written to ${join("out2", "good.ipynb")}`,
      "",
    ]);
    expect(run.stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(run.stdout)).toMatchObject({
      ok: true,
      notebooks: [
        {
          file: "good.ipynb",
          status: "ok",
          out: join("out2", "good.ipynb"),
          cells: [
            { number: 1, id: "code-1", status: "ok" },
            { number: 2, id: "code-2", status: "ok" },
          ],
        },
      ],
    });
  });

  test("may fail where its tag says so, and gets its engine by --engine", async () => {
    expect((await shardlab("run", "expected.ipynb", "--out", "out3")).code).toBe(0);
    expect((await shardlab("run", "engine.ipynb", "--out", "out3", "--engine", "embedded")).code).toBe(0);
    expect(await readFile(join(folder, "out3/engine.ipynb"), "utf8")).toContain("'embedded'");
  });

  test("may begin with a byte order mark", async () => {
    expect((await shardlab("run", "marked.ipynb", "--out", "out-marked")).code).toBe(0);
  });

  test("goes to `out` if nothing else is said; its neighbours run at the same time with --jobs", async () => {
    const run = await shardlab("run", "engine.ipynb", "good.ipynb", "--jobs", "2");
    expect(run.code).toBe(0);
    expect(await readdir(join(folder, "out"))).toEqual(["engine.ipynb", "good.ipynb"]);
  });
});

describe("a cell that fails", () => {
  test("ends its notebook with one line that names cause, place and remedy; the rest is not run", async () => {
    const run = await shardlab("run", "throws.ipynb", "--out", "out4", "--json");
    expect(run.code).toBe(1);
    expect(lastLine(run.stderr)).toBe(
      "shardlab: throws.ipynb: cell 2 (code-1) failed: RangeError: too far (cell 2:2:29); put the cell right (see " +
        `${join("out4", "throws.ipynb")}), or go on with --allow-errors`,
    );
    const [{ status, cells }] = (
      JSON.parse(run.stdout) as { notebooks: [{ status: string; cells: { status: string }[] }] }
    ).notebooks;
    expect([status, ...cells.map((cell) => cell.status)]).toEqual(["failed", "ok", "error", "not-run"]);
    const written = JSON.parse(await readFile(join(folder, "out4/throws.ipynb"), "utf8")) as {
      cells: { outputs: object[] }[];
    };
    expect(written.cells[1]?.outputs).toMatchObject([
      { output_type: "error", ename: "RangeError", evalue: "too far" },
    ]);
    expect(written.cells[2]?.outputs).toEqual([]);
  });

  test("is passed over with --allow-errors, and still counts", async () => {
    const run = await shardlab("run", "throws.ipynb", "--out", "out5", "--allow-errors");
    expect(run.code).toBe(1);
    expect(await readFile(join(folder, "out5/throws.ipynb"), "utf8")).toContain('"never\\n"');
  });

  test("by its types doesn't run", async () => {
    const run = await shardlab("run", "types.ipynb", "--out", "out6");
    expect(run.code).toBe(1);
    expect(lastLine(run.stderr)).toContain(
      "cell 1 (code-0) failed: TypeScriptError: TS2322: Type 'number' is not assignable to type 'string'. (cell 1:1:7);",
    );
  });

  test("by not ending is stopped by --timeout", async () => {
    const run = await shardlab("run", "loop.ipynb", "--out", "out7", "--timeout", "0.5", "--json");
    expect(run.code).toBe(1);
    expect(run.stdout).toContain('"status":"timeout"');
    expect(lastLine(run.stderr)).toContain("the cell was stopped after 0.5 s");
  });

  test("by ending its process is told from one that ran", async () => {
    const run = await shardlab("run", "dies.ipynb", "--out", "out8", "--allow-errors", "--json");
    expect(run.code).toBe(1);
    expect(run.stdout).toContain('"status":"killed"');
    expect(run.stdout).toContain('"status":"not-run"');
    expect(lastLine(run.stderr)).toContain("Killed: its process ended itself with exit code 0");
  });
});

describe("what can't work is one line with cause and remedy, and leaves nothing", () => {
  const cases: Record<string, readonly [args: string[], code: number, line: string]> = {
    "a notebook that isn't there": [
      ["nothing.ipynb"],
      1,
      "there is no notebook at nothing.ipynb; check the path",
    ],
    "a folder": [["sub"], 1, "sub is a folder; name the notebooks in it: sub/*.ipynb"],
    "a file that isn't JSON": [["text.ipynb"], 1, "text.ipynb is not JSON ("],
    "a file of bytes, without its control characters": [["bytes.ipynb"], 1, "bytes.ipynb is not JSON ("],
    "a value that looks like an option": [
      ["good.ipynb", "--timeout", "-1"],
      2,
      "what follows --timeout begins with a dash; if it is meant as its value, write --timeout=VALUE; " +
        "`shardlab run --help` lists the options",
    ],
    "a folder in the place of a page": [
      ["good.ipynb", "--out", "taken", "--html"],
      1,
      `${join("taken", "good.html")} can't be written: a folder is in the way; choose another folder with --out`,
    ],
    "JSON that is no object": [
      ["list.ipynb"],
      1,
      "list.ipynb is not a notebook: it holds no JSON object; give a Jupyter notebook (.ipynb, nbformat 4)",
    ],
    "an object that is no notebook": [
      ["object.ipynb"],
      1,
      'object.ipynb is not a notebook: it has no "nbformat"; ',
    ],
    "a notebook of an old format": [
      ["old.ipynb"],
      1,
      "old.ipynb is not a notebook: its format is nbformat 3; ",
    ],
    "a cell without source": [
      ["cells.ipynb"],
      1,
      'cells.ipynb is not a notebook: cell 1 has no text as "source"; ',
    ],
    "a notebook in Python": [
      ["python.ipynb"],
      1,
      'python.ipynb is a notebook in python, not in TypeScript; give one for the kernel "Shardlab (TypeScript)"',
    ],
    "the second of two that isn't there": [
      ["good.ipynb", "nothing.ipynb"],
      1,
      "there is no notebook at nothing.ipynb; check the path",
    ],
    "no notebook": [[], 2, "no notebook given; name one: shardlab run FILE.ipynb"],
    "an option that isn't there": [
      ["good.ipynb", "--fast"],
      2,
      "Unknown option '--fast'; `shardlab run --help` lists the options",
    ],
    "a timeout that is no number": [
      ["good.ipynb", "--timeout", "soon"],
      2,
      '--timeout can\'t be "soon"; give seconds per cell, 0 to 86400',
    ],
    "no jobs": [["good.ipynb", "--jobs", "0"], 2, '--jobs can\'t be "0"; give a whole number from 1 to 64'],
    "an unknown engine": [["good.ipynb", "--engine", "warp"], 2, "unknown engine"],
    "a file in the way of --out": [
      ["good.ipynb", "--out", "a-file"],
      1,
      "a-file is not a folder: a file is in the way; choose another folder with --out",
    ],
    "a folder below a file": [
      ["good.ipynb", "--out", "a-file/out"],
      1,
      "a-file/out is not a folder: a file is in the way; choose another folder with --out",
    ],
    "a folder that nobody may make": [
      ["good.ipynb", "--out", "/proc/shardlab"],
      1,
      "the folder /proc/shardlab can't be made here; choose another folder with --out",
    ],
    "the notebook's own folder": [
      ["good.ipynb", "--out", "."],
      2,
      "--out . would overwrite good.ipynb itself; choose another folder",
    ],
    "two notebooks of one name": [
      ["good.ipynb", "sub/good.ipynb", "--out", "o"],
      2,
      "good.ipynb and sub/good.ipynb would both become ",
    ],
  };
  for (const [name, [args, code, line]] of Object.entries(cases)) {
    test(name, async () => {
      const here = await readdir(folder);
      const run = await shardlab("run", ...args);
      expect(run.code).toBe(code);
      expect(run.stdout).toBe("");
      expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
      expect(run.stderr).toContain(`shardlab: ${line}`);
      expect(run.stderr.trimEnd()).not.toMatch(/\p{Cc}/u);
      expect((await readdir(folder)).filter((file) => !here.includes(file))).toEqual([]);
    });
  }

  // Root may write anywhere.
  test.skipIf(process.getuid?.() === 0)("a folder without permission", async () => {
    await mkdir(join(folder, "locked"));
    await chmod(join(folder, "locked"), 0o500);
    const run = await shardlab("run", "good.ipynb", "--out", "locked");
    expect(run.code).toBe(1);
    expect(run.stderr).toBe("shardlab: no permission to write to locked; choose another folder with --out\n");
  });

  test("commands and options that aren't there", async () => {
    expect(await shardlab("runn")).toEqual({
      code: 2,
      stdout: "",
      stderr: 'shardlab: unknown command "runn"; `shardlab --help` lists the commands\n',
    });
    expect(await shardlab("--runn")).toEqual({
      code: 2,
      stdout: "",
      stderr: 'shardlab: unknown option "--runn"; `shardlab --help` lists the commands\n',
    });
    const help = await shardlab("--help");
    expect(help.code).toBe(0);
    for (const command of ["run", "cluster", "build"])
      expect(help.stdout).toMatch(new RegExp(`^  ${command} `, "m"));
    expect((await shardlab("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await shardlab("run", "--help")).stdout).toMatch(/^Usage: shardlab run FILE/);
  });
});

describe("a signal", () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    test(`${signal} ends everything, with exit code ${code} and no file`, async () => {
      const out = `out-${signal}`;
      const child = spawn(process.execPath, [cli, "run", "pids.ipynb", "--out", out, "--html"], {
        cwd: folder,
        stdio: ["ignore", "pipe", "pipe"],
      });
      await writeFile(
        join(folder, "pids.ipynb"),
        notebook([
          "import { writeFileSync } from 'node:fs'; writeFileSync('pid', String(process.pid)); while (true) {}",
        ]),
      );
      let stderr = "";
      child.stderr.on("data", (bytes: Buffer) => (stderr += String(bytes)));
      const pid = await waitForPid();
      child.kill(signal);
      const exit = await new Promise((resolve) => child.on("close", resolve));
      expect(exit).toBe(code);
      expect(lastLine(stderr)).toBe(
        `shardlab: stopped by ${signal}; what had finished is written, nothing else`,
      );
      expect(await readdir(join(folder, out))).toEqual([]);
      expect(isRunning(pid)).toBe(false);
    });
  }

  async function waitForPid(): Promise<number> {
    const file = join(folder, "pid");
    for (;;) {
      const text = await readFile(file, "utf8").catch(() => "");
      if (text !== "") {
        await writeFile(file, "");
        return Number(text);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});

function shardlab(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, ...args], { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
