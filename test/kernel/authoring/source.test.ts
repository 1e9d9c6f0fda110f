import { describe, expect, it } from "vitest";
import { cellForms, parseSource } from "../../../kernel/authoring/index.js";
import type { CodeCell } from "../../../kernel/authoring/index.js";
import { cell, EXERCISE, FENCE, LESSON_TEXT, source } from "./fixture.js";

describe("reading a lesson's source", () => {
  it("finds front matter, prose and code in order, with their lines", () => {
    const parsed = parseSource(LESSON_TEXT, "99-sums.md");
    expect(parsed).toMatchObject({ lesson: "99", title: "Sums" });
    const seen = parsed.cells.map((c) =>
      c.kind === "code" ? `code ${c.line}: ${c.code}` : `text ${c.line}: ${c.text}`,
    );
    expect(seen.slice(0, 6)).toEqual([
      "text 6: # Sums\n\nGoals and so on.",
      'code 12: import { check } from "shardlab";',
      "text 15: ## Try it: adding\n\nOne.",
      "text 21: Two.",
      "code 24: const a = 1;",
      "code 28: const b = 2;\nconsole.log(a + b);",
    ]);
    expect(seen.at(-1)).toMatch(/^code 37: const parts/);
  });

  it("reads options up to the first line of code, and no further", () => {
    const text = source(
      cell(
        ":id: x",
        ":tags: slow hide-input",
        ":stub: const a = 1;",
        ":stub: const b = 2;",
        "",
        "f(a",
        ":id: y)",
      ),
    );
    const code = parseSource(text, "x.md").cells[1] as CodeCell;
    expect(code.options).toEqual({
      id: "x",
      tags: ["slow", "hide-input"],
      stub: ["const a = 1;", "const b = 2;"],
    });
    expect(code.code).toBe("f(a\n:id: y)");
    expect(text.split("\n")[code.line - 1]).toBe("f(a");
  });

  it("leaves other fences, tables and a fence within a longer fence to the prose", () => {
    const prose = [
      `${FENCE}text`,
      "## no heading",
      FENCE,
      "",
      "````md",
      `${FENCE}{code-cell} typescript`,
      "1",
      FENCE,
      "````",
    ].join("\n");
    const { cells } = parseSource(source(prose), "x.md");
    expect(cells).toHaveLength(1);
    expect(cells[0]).toMatchObject({ kind: "markdown", text: `# Sums\n\n${prose}` });
  });

  it("reads Windows line ends as any other", () => {
    expect(parseSource(LESSON_TEXT.replaceAll("\n", "\r\n"), "x.md")).toEqual(
      parseSource(LESSON_TEXT, "x.md"),
    );
  });

  it.each([
    ["no front matter", "# Sums", "1: the source begins with front matter"],
    ["front matter left open", "---\ntitle: x\n", "1: the front matter has no closing ---"],
    ["front matter that is none", "---\ntitle\n---\n# x", "2: front matter holds `key: value` lines only"],
    ["no lesson number", "---\ntitle: x\n---\n# x", "1: front matter needs the lesson's two digits"],
    ["no title", "---\nlesson: 02\n---\n# x", "1: front matter needs a title"],
    ["a key given twice", "---\ntitle: x\ntitle: y\n---\n# x", "3: front matter has title twice"],
    ["a second title", source("# Again"), "8: a second `#` heading"],
    ["a skipped level", source("### Deep"), "8: heading level 3 after level 1; don't skip a level"],
    [
      "no heading first",
      "---\ntitle: x\nlesson: 02\n---\n## x",
      "5: the first heading must be the lesson's `# title`",
    ],
    [
      "another language",
      source(`${FENCE}{code-cell} python`, "1", FENCE),
      "8: unknown block {code-cell} python",
    ],
    ["another directive", source(`${FENCE}{note}`, "1", FENCE), "8: unknown block {note}"],
    [
      "a colon directive",
      source(":::{note}", "x", ":::"),
      "8: notebooks don't render MyST directives and roles",
    ],
    ["a role", source("See {ref}`there`."), "8: notebooks don't render MyST directives and roles"],
    ["an unknown option", source(cell(":color: red", "1")), "9: unknown option :color:"],
    ["an option twice", source(cell(":id: a", ":id: b", "1")), "10: option :id: is given twice"],
    ["an option without value", source(cell(":id:", "1")), "9: option :id: has no value"],
    ["a cell without code", source(cell(":id: a", "")), "8: this code cell has no code"],
    [
      "a fence left open",
      source(`${FENCE}{code-cell} typescript`, "1"),
      "8: this code cell has no closing ```",
    ],
    [
      "a cell in a list",
      source(`- ${FENCE}{code-cell} typescript`, "  1", `  ${FENCE}`),
      "8: a code cell inside a list or quote",
    ],
    ["+++ glued to text", source("One.", "+++", "Two."), "9: put blank lines around +++"],
  ])("names file and line of %s", (_, text, message) => {
    expect(() => parseSource(text, "notebooks/source/x.md")).toThrow(`notebooks/source/x.md:${message}`);
  });
});

describe("solutions and stubs", () => {
  const forms = (...lines: string[]) =>
    cellForms(parseSource(source(cell(...lines)), "x.md").cells[1] as CodeCell, "x.md");

  it("gives the student the stub and the author the solution", () => {
    const code = parseSource(source(EXERCISE), "x.md").cells[1] as CodeCell;
    expect(cellForms(code, "x.md")).toEqual({
      student: "const parts = [1, 2];\n  // YOUR CODE HERE\n  const total: number = 0;",
      solved:
        "const parts = [1, 2];\n  const total = parts.reduce((secretSum, part) => secretSum + part, 0);",
      solutions: ["  const total = parts.reduce((secretSum, part) => secretSum + part, 0);"],
    });
  });

  it("takes the stub from the options, and several solutions from one cell", () => {
    expect(
      forms(
        ":stub: const a = 0;",
        ":stub: const b = 0;",
        "// BEGIN SOLUTION",
        "const a = 1, b = 2;",
        "// END SOLUTION",
      ).student,
    ).toBe("// YOUR CODE HERE\nconst a = 0;\nconst b = 0;");
    expect(
      forms("// BEGIN SOLUTION", "1", "// END SOLUTION", "2", "// BEGIN SOLUTION", "3", "// END SOLUTION"),
    ).toMatchObject({
      student: "// YOUR CODE HERE\n2\n// YOUR CODE HERE",
      solved: "1\n2\n3",
    });
  });

  it.each([
    [["// BEGIN SOLUTION", "1"], "x.md:9: this BEGIN SOLUTION has no END SOLUTION"],
    [["1", "// END SOLUTION"], "x.md:10: END SOLUTION without BEGIN SOLUTION"],
    [["// BEGIN SOLUTION", "// BEGIN SOLUTION"], "x.md:10: BEGIN SOLUTION inside the solution of line 9"],
    [["f(); // BEGIN SOLUTION"], "x.md:9: a marker stands alone on its line"],
    [["// STUB: 1"], "x.md:9: a marker stands alone on its line"],
    [[":stub: 1", "2"], "x.md:10: :stub: needs exactly one solution in its cell, here are 0"],
  ])("names the line of a marker that doesn't fit: %j", (lines, message) => {
    expect(() => forms(...lines)).toThrow(message);
  });
});
