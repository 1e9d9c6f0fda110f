/**
 * Practice mode's side of the checker: it lives in the lab host process, holds the
 * lessons' checks and counts attempts and hints. The notebook's process sends an answer
 * and gets an outcome; checks and expected values stay here.
 */
import { readdir } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import path from "node:path";
import type { ClusterInfo } from "../../cluster/index.js";
import { LabCluster } from "./cluster.js";
import { judge } from "./judge.js";
import type { CheckResult } from "./judge.js";
import type { Lesson, Question } from "./lesson.js";
import { decodeAnswer } from "./values.js";

/** What the notebook sends. */
export interface CheckParams {
  /** Question id, e.g. `q03-2`. */
  question: string;
  /** The answer as `encodeAnswer` wrote it; absent for questions about the cluster. */
  answer?: string;
}

/** What a student gets back. */
export interface CheckOutcome {
  question: string;
  title: string;
  /** `pass`: every public check passed. `partial`: some points. `error`: nothing could be judged. */
  status: "pass" | "partial" | "fail" | "error";
  results: CheckResult[];
  score: number;
  /** Points of the public checks. */
  max: number;
  /** Times this question was checked in this session, this one included. */
  attempts: number;
  /** What to do about a recognised mistake, or why nothing could be judged. */
  feedback?: string;
  /** Why the right answer is right; only after passing. */
  rationale?: string;
  /** Hints not yet seen. */
  hintsLeft: number;
  /** Checks that run at grading only. */
  hidden: { checks: number; points: number };
}

/** One hint. */
export interface HintOutcome {
  question: string;
  text: string;
  /** Number of this hint, from 1. */
  number: number;
  /** Hints after this one. */
  left: number;
}

/** A request that can't be answered; `message` is a sentence for the student. */
export class CheckError extends Error {
  override readonly name = "CheckError";
}

/** Finds the lesson with a two-digit number; undefined when there is none. */
export type LessonSource = (lesson: string) => Promise<Lesson | undefined>;

/** Attempts, hints and lessons of one practice session. */
export class Practice {
  readonly #lessons: LessonSource;
  readonly #attempts = new Map<string, number>();
  readonly #hints = new Map<string, number>();

  constructor(lessons: LessonSource = packagedLesson) {
    this.#lessons = lessons;
  }

  /**
   * Judges an answer by the public checks.
   *
   * @param lab the lab the question may look at
   * @throws CheckError for an unknown question or an unreadable answer
   */
  async evaluate(params: CheckParams, lab?: ClusterInfo): Promise<CheckOutcome> {
    const question = await this.#question(params.question);
    const attempts = (this.#attempts.get(question.id) ?? 0) + 1;
    this.#attempts.set(question.id, attempts);
    const cluster = new LabCluster(lab);
    try {
      const answer = params.answer === undefined ? undefined : readAnswer(params.answer);
      const judgement = await judge(question, { answer, cluster }, "public");
      const passed = judgement.score === judgement.max;
      const hidden = question.checks.filter((check) => check.visibility === "hidden");
      return {
        question: question.id,
        title: question.title,
        status: passed ? "pass" : judgement.score > 0 ? "partial" : "fail",
        ...judgement,
        attempts,
        ...(passed ? { rationale: question.rationale } : {}),
        hintsLeft: question.hints.length - (this.#hints.get(question.id) ?? 0),
        hidden: { checks: hidden.length, points: hidden.reduce((sum, check) => sum + check.points, 0) },
      };
    } finally {
      await cluster.close();
    }
  }

  /**
   * The next hint; the last one again when all were given.
   *
   * @throws CheckError for an unknown question
   */
  async hint(params: { question: string }): Promise<HintOutcome> {
    const { id, hints } = await this.#question(params.question);
    const given = Math.min((this.#hints.get(id) ?? 0) + 1, hints.length);
    this.#hints.set(id, given);
    return { question: id, text: hints[given - 1] ?? "", number: given, left: hints.length - given };
  }

  async #question(id: unknown): Promise<Question> {
    const number = typeof id === "string" ? /^q(\d\d)-\d+$/.exec(id)?.[1] : undefined;
    if (number === undefined) {
      throw new CheckError(`${JSON.stringify(id)} is no question id; ids look like "q03-2"`);
    }
    const lesson = await this.#lessons(number);
    if (!lesson) throw new CheckError(`there is no lesson ${number} in this copy of Shardlab`);
    const question = lesson.questions.find((candidate) => candidate.id === id);
    if (question) return question;
    const ids = lesson.questions.map((candidate) => candidate.id).join(", ");
    throw new CheckError(`lesson ${number} has no question ${String(id)}; it has ${ids}`);
  }
}

function readAnswer(text: string): unknown {
  try {
    return decodeAnswer(text);
  } catch (error) {
    throw new CheckError(
      `the answer can't be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Folder of the compiled checks: beside the compiled library in dist/, beside the sources in tests. */
const CHECKS_FOLDER = fileURLToPath(new URL("../../../notebooks/source/", import.meta.url));

/** Imports a lesson's checks. */
export async function loadLesson(file: string): Promise<Lesson> {
  const module = (await import(pathToFileURL(file).href)) as { default?: Lesson };
  if (!module.default || !Array.isArray(module.default.questions)) {
    throw new CheckError(`${path.basename(file)} has no default export made with defineLesson`);
  }
  return module.default;
}

/** File with the checks of a lesson in a folder: `NN-*.checks.js`, or `.ts` where sources are run. */
export async function findLesson(lesson: string, folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const name = names.filter((n) => n.startsWith(`${lesson}-`) && /\.checks\.(js|ts)$/.test(n)).sort()[0];
  return name === undefined ? undefined : path.join(folder, name);
}

const packaged = new Map<string, Promise<Lesson | undefined>>();

/** The lesson that came with the package; imported once. */
export function packagedLesson(lesson: string): Promise<Lesson | undefined> {
  let found = packaged.get(lesson);
  if (!found) {
    found = findLesson(lesson, CHECKS_FOLDER).then((file) =>
      file === undefined ? undefined : loadLesson(file),
    );
    packaged.set(lesson, found);
  }
  return found;
}

const session = new Practice();

/** The host's method `check`: judges an answer in this process's practice session. */
export function evaluate(params: CheckParams, lab?: ClusterInfo): Promise<CheckOutcome> {
  return session.evaluate(params, lab);
}

/** The host's method `hint`. */
export function hint(params: { question: string }): Promise<HintOutcome> {
  return session.hint(params);
}
