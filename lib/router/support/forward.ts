/**
 * Passing a client's command on to a shard.
 *
 * A shard is an ordinary server that knows nothing of this router, so fields
 * that speak to the router stay here: sessions and transaction numbers (the
 * router remembers retried writes itself), cluster times, read concern and read
 * preference (there is one copy of the data), API version. Everything else goes
 * on byte for byte: what a shard does not understand, it refuses.
 */
import type { RawValue } from "../../bson/index.js";
import { bool, DocumentWriter, forEachField, NameSet, withoutFields } from "../../bson/index.js";
import { flag } from "../context.js";
import type { KnownHashes, Request } from "../../protocol/index.js";

const STAYS_HERE = new NameSet([
  "$db",
  "lsid",
  "txnNumber",
  "stmtId",
  "stmtIds",
  "autocommit",
  "startTransaction",
  "$clusterTime",
  "$configTime",
  "$topologyTime",
  "readConcern",
  "$readPreference",
  "$queryOptions",
  "apiVersion",
  "apiStrict",
  "apiDeprecationErrors",
  "clientOperationKey",
  "mayBypassWriteBlocking",
]);

/** Fields to put in (a value) or leave out (undefined) while forwarding. */
export type Changes = Readonly<Record<string, RawValue | undefined>>;

const NO_CHANGES: Changes = {};

/**
 * The command as a shard should get it.
 * @param body the client's command
 * @param changes fields to replace where they stand, to append if new, or to drop
 */
export function forwardedBody(body: Uint8Array, changes: Changes = NO_CHANGES): Uint8Array {
  if (changes === NO_CHANGES) return withoutFields(body, STAYS_HERE);
  const writer = new DocumentWriter();
  const done = new Set<string>();
  forEachField(body, (name, value) => {
    if (STAYS_HERE.has(name)) return;
    if (Object.hasOwn(changes, name)) {
      done.add(name);
      const replacement = changes[name];
      if (replacement) writer.field(name, replacement);
      return;
    }
    writer.field(name, value);
  });
  for (const [name, value] of Object.entries(changes)) {
    if (value && !done.has(name)) writer.field(name, value);
  }
  return writer.finish();
}

/** A whole request for a shard; document sequences go along untouched. */
export function forwardedRequest(
  { db, command, body, sequences, client, checked, small }: Request,
  changes: Changes = NO_CHANGES,
): Request {
  return { db, command, body: forwardedBody(body, changes), sequences, client, checked, small };
}

/** What a shard gets in another form beside the rest of a batch of writes. */
const NOT_OF_A_BATCH = new NameSet([...STAYS_HERE, "documents", "updates", "deletes", "collectionUUID"]);

/**
 * A batch of writes without its statements.
 * @param ordered whether the shard is to stop at the first failure; most often what the client said
 */
export function forwardedBatch(request: Request, ordered: boolean): Uint8Array {
  const body = withoutFields(request.body, NOT_OF_A_BATCH);
  if (flag(request, "ordered", true) === ordered) return body;
  return forwardedBody(body, { ordered: bool(ordered) });
}

/** Part of a request for one of several shards: the same command with other documents. */
export function withDocuments(
  request: Request,
  body: Uint8Array,
  sequence: string,
  documents: readonly Uint8Array[],
  hashes?: KnownHashes,
): Request {
  const { db, command, client, checked, small } = request;
  const sequences = new Map([[sequence, documents]]);
  return { db, command, body, sequences, client, checked, small, hashes };
}
