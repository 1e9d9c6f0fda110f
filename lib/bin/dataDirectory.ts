/**
 * The directory of `--dbpath`. Our journal is in it, and programs rely on what a mongod does with it: it must exist,
 * and one server at a time holds it by `mongod.lock`, a file with its process number.
 *
 * MongoDB locks the file in the kernel; Node can't, so a number whose process still runs is the lock. A directory
 * with a real MongoDB's data is left alone: a server that ignores the data would look as if it had lost it.
 */
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The directory can't be used; the message is MongoDB's, after the name of its error. */
export class DataDirectoryError extends Error {
  override readonly name = "DataDirectoryError";
}

/** Files of a real server. */
const DATA_FILES = ["WiredTiger", "storage.bson"];

/**
 * Takes a data directory.
 * @returns gives it back, leaving an empty lock file as MongoDB does
 * @throws DataDirectoryError when it doesn't exist, is held, holds data or can't be written
 */
export function holdDirectory(directory: string): () => void {
  if (!statSync(directory, { throwIfNoEntry: false })) {
    throw new DataDirectoryError(
      `NonExistentPath: Data directory ${directory} not found. Create the missing directory or specify another path using (1) the --dbpath command line option, or (2) by adding the 'storage.dbPath' option in the configuration file.`,
    );
  }
  const data = DATA_FILES.find((file) => existsSync(path.join(directory, file)));
  if (data !== undefined) {
    throw new DataDirectoryError(
      `Location28662: Cannot start server. Detected data files in ${directory} created by the 'wiredTiger' storage engine; this server can't read them. Specify another directory.`,
    );
  }
  const lock = path.join(directory, "mongod.lock");
  if (isHeld(lock)) {
    throw new DataDirectoryError(
      `DBPathInUse: Unable to lock the lock file: ${lock} (Resource temporarily unavailable). Another mongod instance is already running on the ${directory} directory`,
    );
  }
  try {
    writeFileSync(lock, `${process.pid}\n`);
  } catch (error) {
    throw new DataDirectoryError(
      (error as NodeJS.ErrnoException).code === "EROFS"
        ? `IllegalOperation: Attempted to create a lock file on a read-only directory: ${directory}`
        : `DBPathInUse: Unable to create/open the lock file: ${lock} (${systemText(error as Error)}). Ensure the user executing mongod is the owner of the lock file and has the appropriate permissions.`,
    );
  }
  const held = realpathSync(lock);
  return () => {
    try {
      if (readFileSync(held, "latin1").trim() === String(process.pid)) writeFileSync(held, "");
    } catch {
      // The directory is gone already: whoever removed it wanted that.
    }
  };
}

/** `EACCES: permission denied, open …` in the words of the system: `Permission denied`. */
function systemText({ message }: Error): string {
  const text = (message.split(",")[0] as string).replace(/^[A-Z]+: /, "");
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function isHeld(lock: string): boolean {
  let pid: number;
  try {
    pid = Number(readFileSync(lock, "latin1").trim());
  } catch {
    return false;
  }
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // After a crash the number may belong to another program by now; Linux tells.
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("mongod");
  } catch {
    return true;
  }
}
