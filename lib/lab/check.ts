/**
 * `check` in a notebook: sends an answer to the checker in the lab host and shows what
 * came back. The checks themselves are not in this process, and nothing printed here
 * counts at grading.
 *
 * ```ts
 * await check("q03-2", { hot: 100_000, total: 100_000 });   // a value
 * await check("q03-6");                                     // the cluster as it stands
 * await check.hint("q03-2");                                // one hint more
 * ```
 *
 * A failing check is an outcome, not an error: a notebook runs on to its end.
 */
import { connectHost } from "../cluster/index.js";
import { alreadyDisplayed, display, escapeHtml, htmlTable, textTable } from "./display.js";
import type { MimeBundle, TableContent } from "./display.js";
import { AnswerError, encodeAnswer } from "./checks/values.js";
import type { CheckOutcome, HintOutcome } from "./checks/host.js";
import { openLab } from "./startLab.js";

/** `check` and what hangs on it. */
export interface Check {
  /**
   * Checks one answer and shows PASS or FAIL, points and messages. Never throws.
   *
   * @param question id of the question, e.g. `q03-2`
   * @param answer the value asked for; leave it out when the question is about the cluster
   * @returns what is shown, as data
   * @since Shardlab 0.1
   */
  (question: string, answer?: unknown): Promise<CheckOutcome>;
  /**
   * Shows the next hint for a question: first a nudge, then the concept, then nearly the answer. Never throws.
   *
   * @returns the hint; undefined when there is no such question
   * @since Shardlab 0.1
   */
  hint(question: string): Promise<HintOutcome | undefined>;
}

async function checkAnswer(question: string, ...rest: [answer?: unknown]): Promise<CheckOutcome> {
  let outcome: CheckOutcome;
  try {
    // `check("q03-2", undefined)` is an unset answer; `check("q03-6")` asks about the cluster.
    const answer = rest.length === 0 ? {} : { answer: encodeAnswer(rest[0]) };
    const lab = openLab()?.id;
    const host = await connectHost();
    const params = { ...(lab === undefined ? {} : { lab }), question, ...answer };
    outcome = (await host.request("check", params)) as CheckOutcome;
  } catch (error) {
    outcome = unjudged(question, error);
  }
  display(outcomeBundle(outcome));
  return alreadyDisplayed(outcome);
}

async function hint(question: string): Promise<HintOutcome | undefined> {
  try {
    const host = await connectHost();
    const given = (await host.request("hint", { question })) as HintOutcome;
    display(hintBundle(given));
    return alreadyDisplayed(given);
  } catch (error) {
    display({ "text/plain": `No hint for ${question}: ${messageOf(error)}` });
    return undefined;
  }
}

/** Checks an answer in the lab host and shows the outcome; see {@link Check}. */
export const check: Check = Object.assign(checkAnswer, { hint });

/** The outcome of a check that could not be made. */
export function unjudged(question: string, error: unknown): CheckOutcome {
  const what = error instanceof AnswerError ? "" : "the check could not run: ";
  return {
    question,
    title: "",
    status: "error",
    results: [],
    score: 0,
    max: 0,
    attempts: 0,
    feedback: what + messageOf(error),
    hintsLeft: 0,
    hidden: { checks: 0, points: 0 },
  };
}

/** How an outcome looks: words for pass and fail, a table, messages, what to do next. */
export function outcomeBundle(outcome: CheckOutcome): MimeBundle {
  const word = { pass: "PASS", partial: "PARTLY", fail: "FAIL", error: "NOT CHECKED" }[outcome.status];
  const title = outcome.title === "" ? outcome.question : `${outcome.question} ${outcome.title}`;
  const score = outcome.status === "error" ? "" : `, ${outcome.score} of ${pointsText(outcome.max)}`;
  const attempt = outcome.attempts > 1 ? ` (attempt ${outcome.attempts})` : "";
  const headline = `${word}: ${title}${score}${attempt}`;
  const rows = outcome.results.map((row) => [
    row.passed ? "PASS" : row.status === "timeout" ? "TIMEOUT" : row.status === "error" ? "ERROR" : "FAIL",
    row.name,
    `${row.points}/${row.max}`,
    row.message,
  ]);
  const content: TableContent = { columns: ["result", "check", "points", "message"], rows };
  const lines: string[] = [];
  // A recognised mistake may be what a row says already.
  const said = new Set(outcome.results.map((row) => row.message));
  if (outcome.feedback !== undefined && !said.has(outcome.feedback)) lines.push(outcome.feedback);
  if (outcome.status === "pass" && outcome.hidden.checks > 0) {
    const { checks: n } = outcome.hidden;
    lines.push(`Public checks passed; ${n} hidden ${n === 1 ? "check runs" : "checks run"} at grading.`);
  }
  if (outcome.rationale !== undefined) lines.push(`Why: ${outcome.rationale}`);
  if (outcome.status !== "pass" && outcome.hintsLeft > 0) {
    lines.push(`Hint available: await check.hint("${outcome.question}")`);
  }
  const table = rows.length === 0 ? [] : [textTable(content)];
  const paragraphs = lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("");
  return {
    "text/plain": [headline, ...table, ...lines].join("\n\n"),
    "text/html":
      `<section><p><strong>${escapeHtml(headline)}</strong></p>` +
      `${rows.length === 0 ? "" : htmlTable(content)}${paragraphs}</section>`,
  };
}

function hintBundle(given: HintOutcome): MimeBundle {
  const more = given.left === 0 ? "this was the last one" : `${given.left} more`;
  const head = `Hint ${given.number} for ${given.question} (${more})`;
  return {
    "text/plain": `${head}: ${given.text}`,
    "text/html": `<p><strong>${escapeHtml(head)}:</strong> ${escapeHtml(given.text)}</p>`,
  };
}

function pointsText(n: number): string {
  return n === 1 ? "1 point" : `${n} points`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
