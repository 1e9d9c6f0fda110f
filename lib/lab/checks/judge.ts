/**
 * Runs the checks of one question on one answer.
 *
 * Points need positive evidence: a check counts only when its test says `true` within the
 * time limit. A test that throws, hangs or returns anything else earns nothing, and the
 * outcome says which of these it was. One check's trouble never stops the next.
 */
import type { CheckContext, CheckDefinition, Question, Verdict } from "./lesson.js";
import { AnswerError, sameValue } from "./values.js";

/** How one check ended. */
export type CheckStatus = "pass" | "fail" | "error" | "timeout";

/** One row of the table a student sees. */
export interface CheckResult {
  name: string;
  passed: boolean;
  status: CheckStatus;
  /** Points earned. */
  points: number;
  /** Points it could earn. */
  max: number;
  /** Why not; empty when passed. */
  message: string;
}

/** What {@link judge} found. */
export interface Judgement {
  results: CheckResult[];
  score: number;
  max: number;
  /** The message of the expected wrong answer that this answer equals. */
  feedback?: string;
}

const DEFAULT_SECONDS = 10;

const NOT_ANSWERED = "Not answered yet: write your own code where the cell says YOUR CODE HERE.";

/**
 * @param visibility "public" runs public checks only; "all" hidden ones too
 */
export async function judge(
  question: Question,
  context: CheckContext,
  visibility: "public" | "all",
): Promise<Judgement> {
  const checks = question.checks.filter((check) => visibility === "all" || check.visibility !== "hidden");
  const unanswered = question.unanswered;
  if (unanswered && sameValue(context.answer, unanswered.answer)) {
    const message = unanswered.message ?? NOT_ANSWERED;
    const results = checks.map((check) => result(check, "fail", message));
    return { results, score: 0, max: total(checks), feedback: message };
  }
  const results: CheckResult[] = [];
  for (const check of checks) {
    results.push(await run(check, context, (question.seconds ?? DEFAULT_SECONDS) * 1000));
  }
  const judgement: Judgement = {
    results,
    score: results.reduce((sum, row) => sum + row.points, 0),
    max: total(checks),
  };
  const feedback = judgement.score < judgement.max ? knownMistake(question, context.answer) : undefined;
  if (feedback !== undefined) judgement.feedback = feedback;
  return judgement;
}

const TIME_IS_UP = Symbol("time is up");

async function run(
  check: CheckDefinition,
  context: CheckContext,
  milliseconds: number,
): Promise<CheckResult> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<typeof TIME_IS_UP>((resolve) => {
    timer = setTimeout(() => resolve(TIME_IS_UP), milliseconds);
  });
  try {
    const work = Promise.resolve().then(() => check.test(context));
    work.catch(() => undefined); // a test that fails after its time was up must not end the host
    const verdict: Verdict | typeof TIME_IS_UP = await Promise.race([work, limit]);
    if (verdict === true) return result(check, "pass", "");
    if (verdict === TIME_IS_UP) {
      return result(check, "timeout", `${check.message} (The check gave up after ${milliseconds / 1000} s.)`);
    }
    return result(check, "fail", typeof verdict === "string" && verdict !== "" ? verdict : check.message);
  } catch (error) {
    // A sentence for the student, such as "no lab is open", stands alone.
    if (error instanceof AnswerError) return result(check, "error", error.message);
    const reason = error instanceof Error ? error.message : String(error);
    return result(check, "error", `${check.message} (The check stopped with: ${reason})`);
  } finally {
    clearTimeout(timer);
  }
}

function result(check: CheckDefinition, status: CheckStatus, message: string): CheckResult {
  const passed = status === "pass";
  return { name: check.name, passed, status, points: passed ? check.points : 0, max: check.points, message };
}

function total(checks: readonly CheckDefinition[]): number {
  return checks.reduce((sum, check) => sum + check.points, 0);
}

function knownMistake(question: Question, answer: unknown): string | undefined {
  if (answer === undefined) return undefined;
  const known = question.wrongAnswers.find((wrong) => "answer" in wrong && sameValue(answer, wrong.answer));
  return known?.message;
}
