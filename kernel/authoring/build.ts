/**
 * Files: which sources there are, what their notebooks should contain, and whether the
 * notebooks on disk still do.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { findLesson, loadLesson } from "shardlab/checks";
import type { Lesson } from "shardlab/checks";
import { assemble } from "./assemble.js";
import type { NotebookForm } from "./assemble.js";
import { serializeNotebook } from "./notebook.js";
import { parseSource } from "./source.js";

/** A source file and where its notebook goes. */
export interface LessonFile {
  /** Two digits. */
  lesson: string;
  /** `03-hotspots`. */
  name: string;
  /** Path of the MyST source. */
  source: string;
  /** Path of the student's notebook. */
  notebook: string;
}

/** Finds the checks of a lesson. */
export type ChecksLoader = (file: LessonFile) => Promise<Lesson | undefined>;

/** What differs between a notebook on disk and its source. */
export interface Drift {
  file: LessonFile;
  /** A sentence: missing, or which cells differ. */
  difference: string;
}

/**
 * The lessons in `<notebooks>/source`, in order.
 *
 * @param wanted numbers (`03`, `3`), names (`03-hotspots`) or paths of sources or notebooks; all when empty
 * @throws RangeError when a wanted lesson isn't there
 */
export async function findLessons(notebooks: string, wanted: readonly string[] = []): Promise<LessonFile[]> {
  const folder = path.join(notebooks, "source");
  const names = (await readdir(folder)).filter((name) => /^\d\d-[\w-]+\.md$/.test(name)).sort();
  const lessons = names.map((file): LessonFile => {
    const name = file.slice(0, -".md".length);
    return {
      lesson: name.slice(0, 2),
      name,
      source: path.join(folder, file),
      notebook: path.join(notebooks, `${name}.ipynb`),
    };
  });
  if (wanted.length === 0) return lessons;
  const chosen = wanted.map((word) => {
    const key = path.basename(word).replace(/\.(md|ipynb|checks\.ts)$/, "");
    const lesson = lessons.find((l) => l.name === key || l.lesson === key.padStart(2, "0"));
    if (lesson) return lesson;
    throw new RangeError(
      `no lesson ${word} in ${folder}; there are ${lessons.map((l) => l.name).join(", ")}`,
    );
  });
  return lessons.filter((lesson) => chosen.includes(lesson));
}

/**
 * A lesson's checks: compiled ones beside the source (a folder of one's own), else those of this
 * package's build.
 */
export async function compiledChecks(file: LessonFile): Promise<Lesson | undefined> {
  const beside = await findLesson(file.lesson, path.dirname(path.resolve(file.source)));
  const built = await findLesson(file.lesson, BUILT_CHECKS);
  const fits = (checks: string | undefined): checks is string =>
    checks !== undefined && path.basename(checks).startsWith(`${file.name}.`);
  if (fits(beside) && beside.endsWith(".js")) return loadLesson(beside);
  return fits(built) ? loadLesson(built) : undefined;
}

/** dist/kernel/authoring → dist/notebooks/source; where sources are run, notebooks/source. */
const BUILT_CHECKS = fileURLToPath(new URL("../../notebooks/source/", import.meta.url));

/** Content of a lesson's notebook, as it should be on disk. */
export async function buildNotebook(
  file: LessonFile,
  form: NotebookForm,
  checks: ChecksLoader = compiledChecks,
): Promise<string> {
  const shown = path.relative(process.cwd(), file.source) || file.source;
  const source = parseSource(await readFile(file.source, "utf8"), shown);
  return serializeNotebook(assemble(source, await checks(file), form));
}

/** Writes a file whole or not at all; leaves it alone when nothing changed. Returns whether it changed. */
export async function writeIfChanged(file: string, content: string): Promise<boolean> {
  if ((await readFile(file, "utf8").catch(() => undefined)) === content) return false;
  await mkdir(path.dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, content);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return true;
}

/** Compares the student's notebook on disk with its source. */
export async function findDrift(file: LessonFile, checks?: ChecksLoader): Promise<Drift | undefined> {
  const expected = await buildNotebook(file, "student", checks);
  const found = await readFile(file.notebook, "utf8").catch(() => undefined);
  if (found === expected) return undefined;
  if (found === undefined) return { file, difference: "is missing" };
  return { file, difference: describeDifference(expected, found) };
}

function describeDifference(expected: string, found: string): string {
  let cells: { id?: string }[];
  try {
    cells = (JSON.parse(found) as { cells: { id?: string }[] }).cells;
    if (!Array.isArray(cells)) return "is no notebook";
  } catch {
    return "is not JSON";
  }
  const wanted = (JSON.parse(expected) as { cells: { id: string }[] }).cells;
  const text = (list: readonly { id?: string }[]) =>
    new Map(list.map((cell) => [cell.id, JSON.stringify(cell)]));
  const [want, have] = [text(wanted), text(cells)];
  const changed = [...want.keys()].filter((id) => have.get(id) !== want.get(id));
  const extra = [...have.keys()].filter((id) => !want.has(id));
  const parts = [
    ...(changed.length > 0 ? [`differs in cells ${changed.join(", ")}`] : []),
    ...(extra.length > 0 ? [`has cells its source has not: ${extra.join(", ")}`] : []),
  ];
  return parts.length > 0
    ? parts.join("; ")
    : "differs in its metadata, the order of its cells or its formatting";
}
