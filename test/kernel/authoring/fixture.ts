/** A small lesson in the form authors write it, for the tests of the authoring tools. */
import { defineLesson, question } from "shardlab/checks";
import type { Lesson } from "shardlab/checks";

export const FENCE = "```";

/** A code cell's lines in its fence. */
export function cell(...lines: string[]): string {
  return [`${FENCE}{code-cell} typescript`, ...lines, FENCE].join("\n");
}

/** A whole source around a body. */
export function source(...body: string[]): string {
  return ["---", 'title: "Sums"', 'lesson: "99"', "---", "", "# Sums", "", ...body, ""].join("\n");
}

export const EXERCISE = cell(
  ":question: q99-1",
  ":answer: total",
  "const parts = [1, 2];",
  "  // BEGIN SOLUTION",
  "  const total = parts.reduce((secretSum, part) => secretSum + part, 0);",
  "  // STUB: const total: number = 0;",
  "  // END SOLUTION",
);

export const LESSON_TEXT = source(
  "Goals and so on.",
  "",
  cell(":id: setup", 'import { check } from "shardlab";'),
  "",
  "## Try it: adding",
  "",
  "One.",
  "",
  "+++",
  "",
  "Two.",
  "",
  cell("const a = 1;"),
  "",
  cell("const b = 2;", "console.log(a + b);"),
  "",
  "### Exercise",
  "",
  EXERCISE,
);

/** Checks of that lesson. */
export function lesson(...ids: string[]): Lesson {
  return defineLesson({
    lesson: "99",
    title: "Sums",
    questions: (ids.length > 0 ? ids : ["q99-1"]).map((id) =>
      question({
        id,
        title: "Add up",
        objective: "add",
        misconceptions: [],
        rules: "8.0",
        checks: [{ name: "sum", points: 3, message: "Not the sum.", test: ({ answer }) => answer === 3 }],
        hints: ["one", "two", "three"],
        rationale: "1 + 2 is 3.",
        wrongAnswers: [2, 4, 5].map((answer) => ({
          name: `${answer}`,
          answer,
          message: `${answer} is not it.`,
        })),
      }),
    ),
  });
}
