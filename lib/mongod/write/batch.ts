/**
 * What insert, update and delete have in common: a batch of statements, of
 * which an ordered one stops at its first error and an unordered one goes on.
 *
 * A statement that fails is no failed command: the reply is `ok: 1` with
 * `writeErrors`, each with the statement's index in the batch.
 */
import { DocumentWriter } from "../../bson/index.js";
import { checkBatchSize, checkObjectSize, CommandError, ErrorCode } from "../../protocol/index.js";
import { DuplicateKeyError } from "../storage/collectionIndex.js";

/**
 * Runs the statements of a batch.
 * @param ordered stop at the first error
 * @param run runs one statement; a CommandError it throws becomes a write error
 * @returns the write errors, raw
 */
export function runBatch(count: number, ordered: boolean, run: (index: number) => void): Uint8Array[] {
  const errors: Uint8Array[] = [];
  for (let index = 0; index < count; index++) {
    try {
      run(index);
    } catch (error) {
      if (!(error instanceof CommandError) || error.code === ErrorCode.MaxTimeMSExpired) throw error;
      errors.push(writeError(index, error));
      if (ordered) break;
    }
  }
  return errors;
}

/** `{index, code, keyPattern?, keyValue?, errmsg}`. */
function writeError(index: number, error: CommandError): Uint8Array {
  const writer = new DocumentWriter().int32("index", index).int32("code", error.code);
  if (error instanceof DuplicateKeyError)
    writer.document("keyPattern", error.keyPattern).document("keyValue", error.keyValue);
  return writer.string("errmsg", error.message).finish();
}

/**
 * Checks a batch before any of it runs.
 * @throws CommandError InvalidLength (16) for no or too many statements, BSONObjectTooLarge (10334)
 */
export function checkBatch(statements: readonly Uint8Array[]): void {
  checkBatchSize(statements.length);
  statements.forEach(checkObjectSize);
}
