import type { Server } from "../command.js";
import type { Collection } from "../storage/collection.js";
import { idFirst, type IdPlace } from "../storage/idFirst.js";
import type { KnownHash } from "../storage/indexKeys.js";
import { prepareInsert } from "./prepareInsert.js";
import { checkDocument, type Checks } from "./validation.js";

/** How documents of one command are inserted. */
export interface InsertOptions extends Checks {
  /** Empty timestamps stay as they are. */
  readonly bypassEmptyTsReplacement: boolean;
}

const id: IdPlace = { from: 4, end: 4 };

/**
 * Stores one document that a client sent.
 * @param known a hash of the document, as it was sent
 * @throws CommandError what {@link prepareInsert} and {@link checkDocument} throw; DuplicateKeyError (11000)
 */
export function insertDocument(
  server: Server,
  collection: Collection,
  document: Uint8Array,
  options: InsertOptions,
  known?: KnownHash,
): void {
  const prepared = prepareInsert(document, server, options.bypassEmptyTsReplacement, id);
  if (collection.settings.validator) checkDocument(server, collection, idFirst(prepared, id), options);
  // What was filled in is not what was hashed.
  collection.insert(prepared, id, prepared === document ? known : undefined);
}
