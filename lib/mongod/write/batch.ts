/**
 * What insert, update and delete have in common: a batch of statements, of
 * which an ordered one stops at its first error and an unordered one goes on.
 *
 * A statement that fails is no failed command: the reply is `ok: 1` with
 * `writeErrors`, each with the statement's index in the batch.
 */
import { DocumentWriter } from "../../bson/index.js";
import { CommandError, ErrorCode, writeErrorFields as appendErrorFields } from "../../protocol/index.js";
import { DuplicateKeyError } from "../storage/collectionIndex.js";

/** Errors that end the whole command: the client gave up, or the server does. */
const FATAL: ReadonlySet<number> = new Set([
  ErrorCode.MaxTimeMSExpired,
  ErrorCode.Interrupted,
  ErrorCode.InterruptedAtShutdown,
  ErrorCode.CursorKilled,
  ErrorCode.ExceededTimeLimit,
]);

/** Errors of so many bytes together fill a reply: what follows says only its index and code. */
const MAX_REPORT = 8 * 1024 * 1024;

/** The CommandError of a statement that failed; throws on what ends the command. */
export function statementError(error: unknown): CommandError {
  if (error instanceof CommandError && !FATAL.has(error.code)) return error;
  throw error;
}

/**
 * Runs the statements of a batch.
 * @param ordered stop at the first error
 * @param run runs one statement; a CommandError it throws becomes a write error
 * @returns the write errors, raw
 */
export function runBatch(count: number, ordered: boolean, run: (index: number) => void): Uint8Array[] {
  const errors: Uint8Array[] = [];
  let reported = 0;
  for (let index = 0; index < count; index++) {
    try {
      run(index);
    } catch (error) {
      const writer = new DocumentWriter().int32("index", index);
      const cause = statementError(error);
      const full = reported < MAX_REPORT;
      const report = full
        ? writeErrorFields(writer, cause, errors.length).finish()
        : writer.int32("code", cause.code).string("errmsg", "").finish();
      errors.push(report);
      reported += report.length;
      if (ordered) break;
    }
  }
  return errors;
}

/** Appends what an error says: `code`, `errmsg`, and what belongs to the code. @param before errors in the reply */
export function writeErrorFields(
  writer: DocumentWriter,
  error: CommandError,
  before: number,
): DocumentWriter {
  return appendErrorFields(writer, error, before, errorDetails(error));
}

/** What belongs to an error's code, like `keyPattern` or `errInfo`. */
export function errorDetails(error: CommandError): Readonly<Record<string, unknown>> {
  return error instanceof DuplicateKeyError ? error.details : error.extra;
}
