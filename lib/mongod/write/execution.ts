import { CommandError } from "../../protocol/index.js";

/**
 * Runs the part of a write that looks at documents. What fails there says so, as in MongoDB since 8.0; what was wrong
 * with the statement itself is reported as it is.
 * @param operation the name that MongoDB's plan executor gives it: `"update"`, `"delete"`, `"findAndModify"`
 */
export function execute<T>(operation: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof CommandError)
      error.message = `Plan executor error during ${operation} :: caused by :: ${error.message}`;
    throw error;
  }
}
