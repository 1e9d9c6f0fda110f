import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  assemble,
  buildNotebook,
  findDrift,
  findLessons,
  parseSource,
  serializeNotebook,
  slug,
  writeIfChanged,
} from "../../../kernel/authoring/index.js";
import type { NotebookForm } from "../../../kernel/authoring/index.js";
import { command } from "../../../kernel/cli/build.js";
import { cell, EXERCISE, lesson, LESSON_TEXT, source } from "./fixture.js";

const build = (text: string, form: NotebookForm = "student", checks = lesson()) =>
  assemble(parseSource(text, "99-sums.md"), checks, form);

describe("a built notebook", () => {
  const notebook = build(LESSON_TEXT);

  it("has ids that can be read and last", () => {
    expect(notebook.cells.map((c) => c.id)).toEqual([
      "sums",
      "setup",
      "try-it-adding",
      "try-it-adding-text-1",
      "try-it-adding-code-1",
      "try-it-adding-code-2",
      "exercise",
      "q99-1",
      "q99-1-check",
    ]);
    // prose added elsewhere changes no other id
    const longer = build(LESSON_TEXT.replace("## Try it", "## New\n\nText.\n\n## Try it"));
    expect(longer.cells.map((c) => c.id).filter((id) => id !== "new")).toEqual(
      notebook.cells.map((c) => c.id).filter((id) => id !== "new"),
    );
  });

  it("is nbformat 4.5 without outputs, for the shardlab kernel", () => {
    expect(notebook).toMatchObject({ nbformat: 4, nbformat_minor: 5 });
    expect(notebook.metadata).toMatchObject({
      kernelspec: { name: "shardlab", language: "typescript" },
      language_info: { name: "typescript", file_extension: ".ts" },
      shardlab: { format: 1, lesson: "99", form: "student" },
    });
    const ids = notebook.cells.map((c) => c.id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const c of notebook.cells) {
      expect(c.id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      if (c.cell_type === "code") expect(c).toMatchObject({ outputs: [], execution_count: null });
      else expect(c).not.toHaveProperty("outputs");
      // every line but the last ends in a line break
      c.source.forEach((line, n) => expect(line.endsWith("\n")).toBe(n < c.source.length - 1));
    }
  });

  it("gives the student a stub, and a locked check worth the question's points", () => {
    const [answer, check] = notebook.cells.slice(-2);
    expect(answer!.source.join("")).toBe(
      "// q99-1: Add up (3 points)\nconst parts = [1, 2];\n  // YOUR CODE HERE\n  const total: number = 0;",
    );
    expect(answer!.metadata).toEqual({
      nbgrader: {
        schema_version: 3,
        grade_id: "q99-1",
        grade: false,
        solution: true,
        locked: false,
        task: false,
      },
      shardlab: { role: "answer", question: "q99-1" },
    });
    expect(check!.source.join("")).toBe('await check("q99-1", total);');
    expect(check!.metadata).toEqual({
      nbgrader: {
        schema_version: 3,
        grade_id: "q99-1-check",
        grade: true,
        solution: false,
        locked: true,
        task: false,
        points: 3,
      },
      shardlab: { role: "check", question: "q99-1", points: 3 },
    });
  });

  it("keeps solutions out of the student's notebook and puts them into the solved one", () => {
    const [student, solved] = (["student", "solved"] as const).map((form) =>
      serializeNotebook(build(LESSON_TEXT, form)),
    );
    expect(student).not.toMatch(/secretSum|SOLUTION|STUB/);
    expect(student).toContain("YOUR CODE HERE");
    expect(solved).toContain("secretSum");
    expect(solved).not.toMatch(/SOLUTION|STUB|YOUR CODE HERE/);
  });

  it("asks about the cluster with a check without an answer", () => {
    const text = source(cell(":question: q99-1", "// BEGIN SOLUTION", "doIt();", "// END SOLUTION"));
    expect(build(text).cells.at(-1)!.source).toEqual(['await check("q99-1");']);
  });

  it("is written the same way each time, as Jupyter writes it", () => {
    const text = serializeNotebook(notebook);
    expect(serializeNotebook(build(LESSON_TEXT))).toBe(text);
    expect(text.endsWith("}\n")).toBe(true);
    expect(text).toMatch(/^\{\n "cells": \[\n {2}\{\n {3}"cell_type": "markdown",\n {3}"id": "sums",/);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(notebook)));
  });
});

describe("sources and checks that don't fit", () => {
  it.each([
    ["a question nobody answers", source("x"), ["q99-1"], "99-sums.md:1: no cell answers q99-1"],
    [
      "a question the checks don't have",
      source(EXERCISE),
      ["q99-2"],
      "99-sums.md:11: the checks have no question q99-1",
    ],
    [
      "a question answered twice",
      source(EXERCISE, "", EXERCISE),
      ["q99-1"],
      "99-sums.md:21: q99-1 was answered in line 11 already",
    ],
    [
      "an answer without solution",
      source(cell(":question: q99-1", "1")),
      ["q99-1"],
      "the answer to q99-1 has no // BEGIN SOLUTION",
    ],
    [
      "a stub that forgets the answer",
      source(
        cell(
          ":question: q99-1",
          ":answer: total",
          "// BEGIN SOLUTION",
          "const total = 1;",
          "// END SOLUTION",
        ),
      ),
      ["q99-1"],
      "the stub of q99-1 does not declare its answer total",
    ],
    [
      "two cells of one id",
      source(cell(":id: a", "1"), "", cell(":id: a", "2")),
      [],
      "another cell has the id a",
    ],
    ["an id that can't be one", source(cell(":id: a b", "1")), [], '"a b" can\'t be a cell id'],
    ["an answer without question", source(cell(":answer: a", "1")), [], ":answer: without :question:"],
    [
      "a check cell's id taken",
      source(cell(":id: q99-1-check", "1"), "", EXERCISE),
      ["q99-1"],
      "another cell has the id q99-1-check",
    ],
  ])("names %s", (_, text, ids, message) => {
    const checks = ids.length > 0 ? lesson(...ids) : { lesson: "99", title: "", questions: [] };
    expect(() => build(text, "student", checks)).toThrow(message);
  });

  it("refuses the checks of another lesson", () => {
    expect(() => build(source("x"), "student", { lesson: "98", title: "", questions: [] })).toThrow(
      "the source is lesson 99, its checks are lesson 98",
    );
  });
});

describe("slug", () => {
  it("makes an id of a heading", () => {
    expect(slug("Why it matters: `keys` & 2⁶³")).toBe("why-it-matters-keys-263");
    expect(slug("Über_uns")).toBe("uber-uns");
    expect(slug("???")).toBe("section");
    expect(slug("word ".repeat(30)).length).toBeLessThanOrEqual(48);
  });
});

describe("files", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "shardlab-build-"));
    await mkdir(path.join(folder, "source"));
    await writeFile(path.join(folder, "source", "99-sums.md"), LESSON_TEXT);
    await writeFile(path.join(folder, "source", "98-more.md"), LESSON_TEXT.replaceAll("99", "98"));
    await writeFile(path.join(folder, "source", "notes.md"), "not a lesson");
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await rm(folder, { recursive: true });
  });
  const checks = () => Promise.resolve(lesson());

  it("are found by number, name or path", async () => {
    expect((await findLessons(folder)).map((file) => file.name)).toEqual(["98-more", "99-sums"]);
    for (const word of ["99", "99-sums", "notebooks/99-sums.ipynb", "source/99-sums.md"]) {
      expect((await findLessons(folder, [word])).map((file) => file.name)).toEqual(["99-sums"]);
    }
    await expect(findLessons(folder, ["7"])).rejects.toThrow(
      /^no lesson 7 in .*; there are 98-more, 99-sums$/,
    );
  });

  it("drift when somebody edits a notebook, and the message names the cell", async () => {
    const [file] = await findLessons(folder, ["99"]);
    expect((await findDrift(file!, checks))?.difference).toBe("is missing");
    const content = await buildNotebook(file!, "student", checks);
    expect(await writeIfChanged(file!.notebook, content)).toBe(true);
    expect(await writeIfChanged(file!.notebook, content)).toBe(false);
    expect(await findDrift(file!, checks)).toBeUndefined();
    const drift = async (text: string) => {
      await writeFile(file!.notebook, text);
      return (await findDrift(file!, checks))?.difference;
    };
    expect(await drift(content.replace("const a = 1;", "const a = 2;"))).toBe(
      "differs in cells try-it-adding-code-1",
    );
    expect(await drift(content.replace('"id": "setup"', '"id": "new"'))).toBe(
      "differs in cells setup; has cells its source has not: new",
    );
    expect(await drift(content.replace('"name": "shardlab"', '"name": "python3"'))).toMatch(
      /^differs in its metadata/,
    );
    expect(await drift("{")).toBe("is not JSON");
    expect(await drift("{}")).toBe("is no notebook");
  });

  it("are written whole, leaving nothing beside them", async () => {
    await writeIfChanged(path.join(folder, "a.ipynb"), "{}\n");
    expect(await readFile(path.join(folder, "a.ipynb"), "utf8")).toBe("{}\n");
    await expect(writeIfChanged(path.join(folder, "source"), "{}\n")).rejects.toThrow();
    expect((await readdir(folder)).sort()).toEqual(["a.ipynb", "source"]);
  });

  it("go through the command: built, checked, drifted, faulty", async () => {
    const out: string[] = [];
    const err: string[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => out.push(String(text)) > 0);
    vi.spyOn(process.stderr, "write").mockImplementation((text) => err.push(String(text)) > 0);
    const plain = source("Only prose.", "", cell("1;"));
    await writeFile(path.join(folder, "source", "99-sums.md"), plain);
    const run = (...args: string[]) => command.run([...args, "--notebooks", folder]);

    expect(await run("99", "--check")).toBe(1);
    expect(err.pop()).toMatch(/99-sums\.ipynb is missing; run shardlab build\n$/);
    expect(await run("99", "--solved", path.join(folder, "solved"))).toBe(0);
    expect(await run("99", "--check")).toBe(1); // the student's notebook is another matter
    err.pop();
    expect(await run("99")).toBe(0);
    expect(out.splice(0)).toEqual([
      `${path.join(folder, "solved", "99-sums.ipynb")} written\n`,
      `${path.join(folder, "99-sums.ipynb")} written\n`,
    ]);
    expect(await run("99", "--check")).toBe(0);
    expect(await run("99")).toBe(0);
    expect(out.pop()).toMatch(/unchanged\n$/);

    await writeFile(path.join(folder, "source", "99-sums.md"), plain.replace("# Sums", "## Sums"));
    expect(await run("99")).toBe(1);
    expect(err.pop()).toMatch(/99-sums\.md:6: the first heading must be the lesson's `# title`\n$/);
    await expect(run("77")).rejects.toThrow(/no lesson 77/);
    await expect(run("--nonsense")).rejects.toThrow(/--nonsense.*; see shardlab build --help$/);
    await expect(command.run(["--check", "--solved", "x", "--notebooks", folder])).rejects.toThrow(
      /give one of them$/,
    );
    await expect(command.run(["--notebooks", path.join(folder, "nowhere")])).rejects.toThrow(
      /^no lesson sources in /,
    );
  });
});
