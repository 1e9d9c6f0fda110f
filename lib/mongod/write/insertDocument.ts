import type { Server } from "../command.js";
import type { Collection } from "../storage/collection.js";
import { prepareInsert } from "./prepareInsert.js";
import { nextTimestamp } from "./timestamps.js";
import { checkDocument, type Checks } from "./validation.js";

/** How documents of one command are inserted. */
export interface InsertOptions extends Checks {
  /** Empty timestamps stay as they are. */
  readonly bypassEmptyTsReplacement: boolean;
}

/**
 * Stores one document that a client sent.
 * @throws CommandError what {@link prepareInsert} and {@link checkDocument} throw; DuplicateKeyError (11000)
 */
export function insertDocument(
  server: Server,
  collection: Collection,
  document: Uint8Array,
  options: InsertOptions,
): void {
  const next = options.bypassEmptyTsReplacement ? undefined : () => nextTimestamp(server);
  // Storage copies it.
  const prepared = prepareInsert(document, server.objectIds, next, true);
  if (collection.settings.validator) checkDocument(server, collection, prepared, options);
  collection.insert(prepared);
}
