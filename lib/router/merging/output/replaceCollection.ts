/**
 * `$out` through the router: the documents become the whole content of an
 * unsharded collection, at once.
 *
 *     home shard    tmp.agg_out.4f2…   created with the target's options and indexes
 *                   tmp.agg_out.4f2…   filled, batch by batch
 *                   renameCollection tmp.agg_out.4f2… → totals, dropTarget
 *
 * Until the last step the target is as it was; if a step fails the temporary
 * collection is dropped and nothing has happened. The target's name is held
 * alone all the while.
 */
import {
  asDocument,
  bool,
  DocumentWriter,
  fields,
  firstField,
  getField,
  string,
} from "../../../bson/index.js";
import type { Request } from "../../../protocol/index.js";
import { bodyField, failureOf, isOk, request as makeRequest } from "../../../protocol/index.js";
import type { RouterContext } from "../../context.js";
import { withCollectionAlone } from "../../support/collections.js";
import { withDatabase } from "../../support/databases.js";
import type { PendingWrite } from "../routerHost.js";
import { firstWriteError, hasEmptyTimestamp } from "./shardWrites.js";
import type { OutputTarget } from "./target.js";
import { checkOut, outputTarget } from "./target.js";

/** Documents and bytes of one insert at most. */
const BATCH = 10_000;
const BATCH_BYTES = 16 * 1024 * 1024;

/**
 * Carries out a `$out`.
 * @param request the aggregate command: `bypassDocumentValidation` is its
 * @throws CommandError as checkOut; what the shard refuses of a document, e.g. DuplicateKey (11000)
 */
export async function replaceCollection(
  context: RouterContext,
  request: Request,
  { target, documents }: PendingWrite,
): Promise<void> {
  const ns = `${target.db}.${target.collection}`;
  await withCollectionAlone(context, ns, () =>
    withDatabase(context, target.db, async ({ primary }) => {
      // It may have been sharded, or made a view, since the pipeline began.
      const known = await outputTarget(context, target);
      checkOut(known);
      const shard = context.catalog.tracked(ns)?.shard ?? primary;
      const run = async (db: string, command: Uint8Array, sequence?: Uint8Array[]): Promise<void> => {
        const sent = makeRequest(db, command, sequence && { documents: sequence });
        const reply = await context.shards.run(shard, sent);
        if (!isOk(reply)) throw failureOf(reply);
        const failed = firstWriteError(reply);
        if (failed) throw failed;
      };
      const temporary = temporaryName(context);
      try {
        await run(target.db, createCommand(temporary, known));
        const indexes = indexesCommand(temporary, known);
        if (indexes) await run(target.db, indexes);
        for (const batch of batchesOf(documents))
          await run(target.db, insertCommand(temporary, request, batch), batch);
        await run("admin", renameCommand(`${target.db}.${temporary}`, ns));
      } catch (error) {
        const drop = new DocumentWriter().string("drop", temporary).finish();
        await context.shards.run(shard, makeRequest(target.db, drop)).catch(() => undefined);
        throw error;
      }
      context.cursors.collectionDropped(ns);
    }),
  );
}

function temporaryName({ environment }: RouterContext): string {
  return `tmp.agg_out.${Math.floor(environment.random() * 2 ** 48).toString(16)}`;
}

/** The temporary collection has the options of the target. */
function createCommand(name: string, { options }: OutputTarget): Uint8Array {
  const writer = new DocumentWriter().string("create", name);
  for (const [option, value] of options ? fields(options) : []) writer.field(option, value);
  return writer.finish();
}

function indexesCommand(name: string, { indexes }: OutputTarget): Uint8Array | undefined {
  const specs = indexes.filter(({ spec }) => !isIdIndex(spec)).map(({ spec }) => spec);
  if (specs.length === 0) return undefined;
  return new DocumentWriter().string("createIndexes", name).arrayOf("indexes", specs).finish();
}

function isIdIndex(spec: Uint8Array): boolean {
  const key = getField(spec, "key");
  return (
    key !== undefined && firstField(asDocument(key))?.[0] === "_id" && fields(asDocument(key)).length === 1
  );
}

function insertCommand(name: string, request: Request, batch: readonly Uint8Array[]): Uint8Array {
  const writer = new DocumentWriter().string("insert", name).field("ordered", bool(true));
  const bypass = bodyField(request, "bypassDocumentValidation");
  if (bypass) writer.field("bypassDocumentValidation", bypass);
  if (hasEmptyTimestamp(batch)) writer.field("bypassEmptyTsReplacement", bool(true));
  return writer.finish();
}

function renameCommand(from: string, to: string): Uint8Array {
  return new DocumentWriter()
    .field("renameCollection", string(from))
    .field("to", string(to))
    .field("dropTarget", bool(true))
    .finish();
}

/** Cuts documents into what one command can carry. */
function* batchesOf(documents: readonly Uint8Array[]): Iterable<Uint8Array[]> {
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for (const document of documents) {
    if (batch.length >= BATCH || (batch.length > 0 && bytes + document.length > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(document);
    bytes += document.length;
  }
  if (batch.length > 0) yield batch;
}
