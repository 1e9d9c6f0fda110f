/**
 * Source and checks → notebook. The source says what stands where; the checks say what
 * a question is worth. Both must name the same questions, so neither can drift from the
 * other unseen.
 *
 * Cell ids are made to be read and to last: `q03-2` is the answer to that question,
 * `q03-2-check` its check, other cells have the id their author gave or the name of
 * their section (`why-it-matters`, `why-it-matters-code-1`).
 */
import type { Lesson, Question } from "shardlab/checks";
import { AuthoringError } from "./error.js";
import { NOTEBOOK_METADATA, sourceLines } from "./notebook.js";
import type { NbgraderMetadata, Notebook, NotebookCell } from "./notebook.js";
import { cellForms } from "./solution.js";
import type { CodeCell, LessonSource } from "./source.js";

/** Which notebook: the student's, with stubs, or the author's, with solutions. */
export type NotebookForm = "student" | "solved";

/** Version of the `shardlab` metadata field. */
const FORMAT = 1;

/**
 * @param source the parsed lesson
 * @param lesson its questions; undefined for a lesson without any
 * @throws AuthoringError when source and questions don't fit
 */
export function assemble(source: LessonSource, lesson: Lesson | undefined, form: NotebookForm): Notebook {
  const { file } = source;
  const questions = new Map((lesson?.questions ?? []).map((question) => [question.id, question]));
  if (lesson && lesson.lesson !== source.lesson) {
    throw new AuthoringError(
      file,
      1,
      `the source is lesson ${source.lesson}, its checks are lesson ${lesson.lesson}`,
    );
  }
  const ids = new Ids();
  const asked = new Map<string, number>();
  const cells: NotebookCell[] = [];
  let section = "start";
  let number = { code: 0, text: 0 };
  for (const cell of source.cells) {
    if (cell.kind === "markdown") {
      if (cell.heading !== undefined) {
        section = slug(cell.heading);
        number = { code: 0, text: 0 };
      }
      const id = cell.heading === undefined ? `${section}-text-${++number.text}` : section;
      cells.push({ id: ids.free(id), cell_type: "markdown", metadata: {}, source: sourceLines(cell.text) });
      continue;
    }
    const question = questionOf(cell, questions, asked, file);
    const forms = cellForms(cell, file);
    const given = question?.id ?? cell.options.id;
    if (given !== undefined) ids.claim(given, file, cell.line);
    const id = given ?? ids.free(`${section}-code-${++number.code}`);
    const tags = cell.options.tags.length > 0 ? { tags: cell.options.tags } : {};
    if (!question) {
      cells.push(codeCell(id, forms[form], tags));
      continue;
    }
    if (forms.solutions.length === 0) {
      throw new AuthoringError(
        file,
        cell.line,
        `the answer to ${question.id} has no // BEGIN SOLUTION … // END SOLUTION`,
      );
    }
    const { answer } = cell.options;
    if (answer !== undefined && !mentions(forms.student, answer)) {
      throw new AuthoringError(
        file,
        cell.line,
        `the stub of ${question.id} does not declare its answer ${answer}; add it with :stub:`,
      );
    }
    ids.claim(`${question.id}-check`, file, cell.line);
    cells.push(
      codeCell(id, `${headline(question)}\n${forms[form]}`, {
        ...tags,
        nbgrader: nbgrader(question.id, { solution: true }),
        shardlab: { role: "answer", question: question.id },
      }),
      codeCell(`${question.id}-check`, checkCode(question, answer), {
        nbgrader: nbgrader(`${question.id}-check`, { grade: true, locked: true, points: question.points }),
        shardlab: { role: "check", question: question.id, points: question.points },
      }),
    );
  }
  for (const id of questions.keys()) {
    if (!asked.has(id))
      throw new AuthoringError(
        file,
        1,
        `no cell answers ${id}, which the checks define; add :question: ${id}`,
      );
  }
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      ...NOTEBOOK_METADATA,
      title: source.title,
      shardlab: { format: FORMAT, lesson: source.lesson, form },
    },
    cells,
  };
}

function questionOf(
  cell: CodeCell,
  questions: ReadonlyMap<string, Question>,
  asked: Map<string, number>,
  file: string,
): Question | undefined {
  const { question: id, answer } = cell.options;
  if (id === undefined) {
    if (answer !== undefined) throw new AuthoringError(file, cell.line, ":answer: without :question:");
    return undefined;
  }
  if (cell.options.id !== undefined)
    throw new AuthoringError(file, cell.line, ":id: and :question: in one cell; the question is the id");
  const earlier = asked.get(id);
  if (earlier !== undefined)
    throw new AuthoringError(file, cell.line, `${id} was answered in line ${earlier} already`);
  asked.set(id, cell.line);
  const question = questions.get(id);
  if (!question) throw new AuthoringError(file, cell.line, `the checks have no question ${id}`);
  return question;
}

/** First line of an answer cell: which question, and what it is worth. */
function headline(question: Question): string {
  return `// ${question.id}: ${question.title} (${question.points} ${question.points === 1 ? "point" : "points"})`;
}

function checkCode(question: Question, answer: string | undefined): string {
  const args = answer === undefined ? "" : `, ${answer}`;
  return `await check(${JSON.stringify(question.id)}${args});`;
}

function codeCell(id: string, code: string, metadata: Record<string, unknown>): NotebookCell {
  return { id, cell_type: "code", metadata, execution_count: null, outputs: [], source: sourceLines(code) };
}

function nbgrader(
  gradeId: string,
  role: Partial<Pick<NbgraderMetadata, "grade" | "solution" | "locked" | "points">>,
): NbgraderMetadata {
  return {
    schema_version: 3,
    grade_id: gradeId,
    grade: false,
    solution: false,
    locked: false,
    task: false,
    ...role,
  };
}

/** Does the code name what the answer expression begins with (`hashes`, `stages.equality`)? */
function mentions(code: string, expression: string): boolean {
  const name = /[A-Za-z_$][\w$]*/.exec(expression)?.[0];
  return name !== undefined && new Set<string>(code.match(/[A-Za-z_$][\w$]*/g)).has(name);
}

/** `Why it matters: keys` → `why-it-matters-keys`; at most 48 characters. */
export function slug(heading: string): string {
  const words = heading
    .normalize("NFKD")
    .replace(/[^\w\s-]/g, "")
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, "-")
    .replace(/-+/g, "-");
  return words.slice(0, 48).replace(/^-+|-+$/g, "") || "section";
}

/** Hands out cell ids, each once. */
class Ids {
  readonly #used = new Set<string>();

  /** The wanted id, or the first of `wanted-2`, `wanted-3`, … that is free. */
  free(wanted: string): string {
    let id = wanted;
    for (let n = 2; this.#used.has(id); n++) id = `${wanted}-${n}`;
    this.#used.add(id);
    return id;
  }

  /** Exactly this id. */
  claim(id: string, file: string, line: number): void {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) {
      throw new AuthoringError(
        file,
        line,
        `"${id}" can't be a cell id; use up to 64 letters, digits, - and _`,
      );
    }
    if (this.#used.has(id)) throw new AuthoringError(file, line, `another cell has the id ${id}`);
    this.#used.add(id);
  }
}
