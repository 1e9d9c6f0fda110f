/** One update of one record, or the document that an upsert makes instead. */
import { CommandError, MAX_BSON_OBJECT_BYTES } from "../../protocol/index.js";
import type { FilterNode, Update } from "../../query/index.js";
import { upsertDocument } from "../../query/index.js";
import type { Server } from "../command.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { checkNesting, MAX_NESTING } from "./nesting.js";
import { idFirst, type IdPlace } from "../storage/idFirst.js";
import { prepareInsert } from "./prepareInsert.js";
import { checkDocument, type Checks } from "./validation.js";

const TOO_DEEP = `Document exceeds maximum nesting depth of ${MAX_NESTING}`;

/** What an update needs for every record that it changes. */
export interface UpdateRun {
  readonly server: Server;
  readonly collection: Collection;
  readonly update: Update;
  /** The filter that found the records. */
  readonly filter: FilterNode;
  readonly checks: Checks;
  /** Milliseconds since 1970, the same for all records. */
  readonly now: number;
  /** The indexes that the update can concern; all when absent. */
  readonly indexes?: readonly CollectionIndex[] | undefined;
}

/** A record before and after; the very same array where nothing changed. */
export interface Change {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/**
 * Updates one record.
 * @throws CommandError 66 for a changed `_id`, 17419 for a result over 16 MiB, Overflow (15), 121, 11000, and what
 *   the operators throw
 */
export function applyUpdate(run: UpdateRun, recordId: number): Change {
  const { server, collection, update, filter, now } = run;
  const before = collection.records.get(recordId) as Uint8Array;
  const after = update.apply(before, { now, filter, nextTimestamp: () => server.clock.tick() });
  if (after === before) return { before, after };
  if (after.length > MAX_BSON_OBJECT_BYTES) {
    throw new CommandError(17419, `Resulting document after update is larger than ${MAX_BSON_OBJECT_BYTES}`);
  }
  checkNesting(after, TOO_DEEP);
  checkDocument(server, collection, after, run.checks, before);
  collection.update(recordId, after, run.indexes);
  return { before, after };
}

/**
 * The document that an upsert would insert.
 * @param supplied the document to insert instead of what the update makes
 * @throws CommandError 17420 for one over 16 MiB, what the operators throw, or what forbids to insert the result
 */
export function makeUpsert(
  server: Server,
  update: Update,
  filter: FilterNode,
  supplied?: Uint8Array,
): Uint8Array {
  const document = upsertDocument(filter, update, {
    now: server.environment.now(),
    nextTimestamp: () => server.clock.tick(),
    newId: () => server.objectIds.next(),
    supplied,
  });
  if (document.length > MAX_BSON_OBJECT_BYTES)
    throw new CommandError(17420, `Document to upsert is larger than ${MAX_BSON_OBJECT_BYTES}`);
  checkNesting(document, TOO_DEEP);
  const id: IdPlace = { from: 4, end: 4 };
  return idFirst(prepareInsert(document, server, true, id), id);
}
