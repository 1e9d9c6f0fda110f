/**
 * Writing results so that they are either there as a whole or not at all.
 *
 * Each file is written beside its place under a temporary name and renamed when
 * all of them are complete. The folder is tried before anything runs: a lesson
 * shouldn't run for half a minute to find out that its result has no place.
 */
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RunnerError } from "./error.js";

/** A file to write. */
export interface ResultFile {
  readonly path: string;
  readonly content: string;
}

/**
 * Makes the folder and proves that files can be written there.
 *
 * @param paths the files that will be written
 * @throws RunnerError if not
 */
export async function prepareFolder(folder: string, paths: readonly string[] = []): Promise<void> {
  const probe = join(folder, `.shardlab-${process.pid}.tmp`);
  try {
    await makeFolder(folder);
    await writeThrough(probe, "probe\n");
  } catch (error) {
    throw unwritable(folder, error);
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
  for (const path of paths) {
    const there = await stat(path).catch(() => undefined);
    if (there?.isDirectory())
      throw new RunnerError(
        `${path} can't be written: a folder is in the way`,
        "choose another folder with --out",
      );
  }
}

/** Makes a folder and those above it. (Node's own `recursive` goes on for ever where a parent takes no folders.) */
async function makeFolder(path: string, isSecondTry = false): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || isSecondTry || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await makeFolder(path, true);
  }
}

/**
 * Writes files, all or none.
 *
 * @throws RunnerError if there is no space, no permission, …; then none has changed
 */
export async function writeFiles(files: readonly ResultFile[]): Promise<void> {
  const pending = files.map((file) => ({ ...file, temporary: `${file.path}.${process.pid}.tmp` }));
  try {
    for (const { temporary, content } of pending) await writeThrough(temporary, content);
    for (const { temporary, path } of pending) await rename(temporary, path);
  } catch (error) {
    throw unwritable(dirname(files[0]?.path ?? "."), error);
  } finally {
    for (const { temporary } of pending) await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** Down to the disk: a full disk may only tell when it is asked to keep the data. */
async function writeThrough(path: string, content: string): Promise<void> {
  const file = await open(path, "w");
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

function unwritable(folder: string, error: unknown): RunnerError {
  const otherFolder = "choose another folder with --out";
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOSPC":
    case "EDQUOT":
      return new RunnerError(`no space left to write to ${folder}`, `free some, or ${otherFolder}`);
    case "EACCES":
    case "EPERM":
      return new RunnerError(`no permission to write to ${folder}`, otherFolder);
    case "EROFS":
      return new RunnerError(`${folder} is on a read-only file system`, otherFolder);
    case "ENOTDIR":
    case "EEXIST":
      return new RunnerError(`${folder} is not a folder: a file is in the way`, otherFolder);
    case "ENOENT":
      return new RunnerError(`the folder ${folder} can't be made here`, otherFolder);
    default:
      return new RunnerError(`can't write to ${folder} (${(error as Error).message})`, otherFolder);
  }
}
