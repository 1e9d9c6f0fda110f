/**
 * Document validation: writes against the validator of their collection.
 *
 *     validationLevel    strict: every write; moderate: not the updates of documents that are wrong already; off
 *     validationAction   error: refuse; warn: log and write; errorAndLog: log and refuse
 *
 * `bypassDocumentValidation` of a command switches it off for that command.
 */
import { DocumentWriter, getField, NULL } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { explainFailure } from "../../query/index.js";
import type { Server } from "../command.js";
import type { Collection } from "../storage/collection.js";

/** How a command wants its documents checked. */
export interface Checks {
  readonly bypassDocumentValidation: boolean;
}

/**
 * Checks a document that is about to be stored.
 * @param before the stored document that it replaces; undefined for an insert
 * @throws CommandError DocumentValidationFailure (121), with `errInfo: {failingDocumentId, details}`
 */
export function checkDocument(
  server: Server,
  collection: Collection,
  after: Uint8Array,
  { bypassDocumentValidation }: Checks,
  before?: Uint8Array,
): void {
  const { validator, validationLevel, validationAction } = collection.settings;
  if (!validator || bypassDocumentValidation || validationLevel === "off") return;
  const { filter } = validator;
  const { now } = server.environment;
  if (filter.matches(after)) return;
  if (validationLevel === "moderate" && before && !filter.matches(before)) return;
  if (validationAction !== "error") {
    server.environment.log?.("warn", "Document would fail validation", { namespace: collection.namespace });
    if (validationAction === "warn") return;
  }
  const errInfo = new DocumentWriter()
    .field("failingDocumentId", getField(after, "_id") ?? NULL)
    .field("details", explainFailure(validator.document, after, { now, collation: collection.collation }))
    .finish();
  throw new CommandError(ErrorCode.DocumentValidationFailure, "Document failed validation", { errInfo });
}
