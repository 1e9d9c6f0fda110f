/**
 * How an author writes the graded questions of a lesson.
 *
 * A lesson's `NN-topic.checks.ts` exports one {@link defineLesson}. Each question holds
 * what is asked for (checks with points), what helps (hints, from a nudge to nearly
 * there), what is learnt (rationale, shown after passing) and a bank of wrong answers
 * with the message each must get. The bank is not decoration: an answer equal to a
 * banked one gets that message at once, and the author tests prove that every wrong
 * answer fails and that its message appears.
 *
 * ```ts
 * export default defineLesson({
 *   lesson: "03",
 *   title: "Hotspots",
 *   questions: [
 *     question({
 *       id: "q03-2",
 *       title: "The hot share",
 *       objective: "Measure how a collection is distributed",
 *       misconceptions: ["high cardinality is enough"],
 *       rules: "8.0",
 *       checks: [
 *         { name: "counts every document", points: 2, message: "Count the documents on each shard.",
 *           test: ({ answer }) => sameValue(answer, { hot: 100_000, total: 100_000 }) },
 *       ],
 *       hints: ["…", "…", "…"],
 *       rationale: "…",
 *       wrongAnswers: [{ name: "half", answer: { hot: 50_000, total: 100_000 }, message: "…" }, …],
 *     }),
 *   ],
 * });
 * ```
 */
import type { RulesVersion } from "../../router/index.js";
import type { CheckCluster } from "./cluster.js";

/** What a check looks at. */
export interface CheckContext {
  /**
   * The answer, as it came: plain values; whole numbers beyond 32 bits arrive as bigint.
   * Compare with {@link sameValue}, which knows that. `undefined` for a question that looks at the cluster only.
   */
  readonly answer: unknown;
  /** The student's cluster, through a connection of the checker's own. */
  readonly cluster: CheckCluster;
}

/** `true` passes; `false` fails with the check's message; a text fails with that text instead. */
export type Verdict = boolean | string;

/** One thing that is looked at, worth points of its own. */
export interface CheckDefinition {
  /** What must hold, shown in the table: "both shards own a chunk". Unique in its question. */
  name: string;
  /** Whole number, 1 or more. */
  points: number;
  /** Hidden checks run at grading only and never leave the checker. Default public. */
  visibility?: "public" | "hidden";
  /** Shown when the check fails: says what is wrong and where to look, not the answer. */
  message: string;
  test(context: CheckContext): Verdict | Promise<Verdict>;
}

/** A wrong answer an author expects, and what its author is told. */
export type WrongAnswer = {
  /** The mistake in a few words. Unique in its question. */
  name: string;
  /** What the student must read. */
  message: string;
} & (
  | {
      /** The wrong value. */
      answer: unknown;
    }
  | {
      /** For questions about the cluster: brings it into the wrong state. */
      arrange(cluster: CheckCluster): Promise<unknown>;
    }
);

/** A question as its author writes it. */
export interface QuestionDefinition {
  /** `q<lesson>-<number>`, e.g. `q03-2`. */
  id: string;
  title: string;
  /** What the student can do afterwards. */
  objective: string;
  /** Misconceptions the question breaks; tags, for the review deck. */
  misconceptions: readonly string[];
  /** The rules (MongoDB versions) the answer holds under. */
  rules: RulesVersion | readonly RulesVersion[];
  checks: readonly CheckDefinition[];
  /** At least three: nudge, concept, nearly there. */
  hints: readonly string[];
  /** Shown once every public check has passed. */
  rationale: string;
  /** At least three. */
  wrongAnswers: readonly WrongAnswer[];
  /** Time limit of one check in seconds, default 10. */
  seconds?: number;
  /**
   * The answer that the student's notebook gives as it is handed out (the stub's). While it is
   * still that, every check fails with this message, so that an empty try gives nothing away.
   */
  unanswered?: { answer: unknown; message?: string };
}

/** A checked question. */
export interface Question extends QuestionDefinition {
  /** Points of all its checks together. */
  readonly points: number;
}

/** The questions of a lesson. */
export interface Lesson {
  /** Two digits, as in the file name. */
  readonly lesson: string;
  readonly title: string;
  readonly questions: readonly Question[];
}

/** A lesson whose definition can't be right; the message names question and fault. */
export class LessonError extends Error {
  override readonly name = "LessonError";
}

/**
 * Checks a question and adds up its points.
 *
 * @throws LessonError when a hint, message, rationale or wrong answer is missing or a name is used twice
 */
export function question(definition: QuestionDefinition): Question {
  const { id, checks, hints, wrongAnswers } = definition;
  const fault = (text: string): never => {
    throw new LessonError(`question ${id}: ${text}`);
  };
  if (!/^q\d\d-\d+$/.test(id)) fault('an id looks like "q03-2"');
  for (const field of ["title", "objective", "rationale"] as const) {
    if (definition[field].trim() === "") fault(`${field} is empty`);
  }
  if (checks.length === 0) fault("it has no checks");
  if (hints.length < 3)
    fault(`it has ${hints.length} hints; write at least 3 (nudge, concept, nearly there)`);
  if (hints.some((hint) => hint.trim() === "")) fault("a hint is empty");
  if (wrongAnswers.length < 3) fault(`it has ${wrongAnswers.length} wrong answers; write at least 3`);
  for (const check of checks) {
    if (!Number.isSafeInteger(check.points) || check.points < 1) {
      fault(`check "${check.name}" is worth ${check.points}; points are whole numbers of 1 or more`);
    }
  }
  for (const item of [...checks, ...wrongAnswers]) {
    if (item.message.trim() === "") fault(`"${item.name}" has no message`);
  }
  unique(
    checks,
    (check) => check.name,
    (name) => fault(`two checks are called "${name}"`),
  );
  unique(
    wrongAnswers,
    (wrong) => wrong.name,
    (name) => fault(`two wrong answers are called "${name}"`),
  );
  unique(
    wrongAnswers,
    (wrong) => wrong.message,
    (text) => fault(`two wrong answers get the same message: "${text}"`),
  );
  return { ...definition, points: checks.reduce((sum, check) => sum + check.points, 0) };
}

/**
 * A lesson's questions.
 *
 * @throws LessonError when an id is used twice or belongs to another lesson
 */
export function defineLesson(lesson: Lesson): Lesson {
  if (!/^\d\d$/.test(lesson.lesson)) {
    throw new LessonError(`lesson "${lesson.lesson}": the number has two digits, as in the file's name`);
  }
  for (const { id } of lesson.questions) {
    if (!id.startsWith(`q${lesson.lesson}-`)) {
      throw new LessonError(
        `question ${id} is in lesson ${lesson.lesson}; its id must begin with q${lesson.lesson}-`,
      );
    }
  }
  unique(
    lesson.questions,
    (q) => q.id,
    (id) => {
      throw new LessonError(`lesson ${lesson.lesson}: two questions have the id ${id}`);
    },
  );
  return lesson;
}

/** What {@link quiz} needs: a question whose answer is one letter. */
export interface QuizDefinition extends Omit<
  QuestionDefinition,
  "checks" | "wrongAnswers" | "unanswered" | "seconds"
> {
  /** The right letter. */
  right: string;
  /** Every other letter, with why it is wrong; at least three. */
  wrong: Readonly<Record<string, string>>;
  /** Default 1. */
  points?: number;
}

/** A multiple-choice question; its placeholder in the student's notebook is `"?"`. */
export function quiz(definition: QuizDefinition): Question {
  const { right, wrong, points = 1, ...rest } = definition;
  const letters = [right, ...Object.keys(wrong)].sort();
  const list = letters.map((letter) => `"${letter}"`).join(", ");
  const letterOf = (answer: unknown): unknown =>
    typeof answer === "string" ? answer.trim().toLowerCase() : answer;
  return question({
    ...rest,
    checks: [
      {
        name: "the right choice",
        points,
        message: `Choose one of ${list}.`,
        test({ answer }) {
          const letter = letterOf(answer);
          if (letter === right) return true;
          return (typeof letter === "string" && Object.hasOwn(wrong, letter) && wrong[letter]) || false;
        },
      },
    ],
    wrongAnswers: Object.entries(wrong).map(([letter, message]) => ({
      name: letter,
      answer: letter,
      message,
    })),
    unanswered: { answer: "?", message: `Not answered yet: put one of ${list} in place of "?".` },
  });
}

function unique<T>(items: readonly T[], key: (item: T) => string, twice: (key: string) => void): void {
  const seen = new Set<string>();
  for (const item of items) {
    if (seen.has(key(item))) twice(key(item));
    seen.add(key(item));
  }
}
