/**
 * Careful writes: find one document, look at it, write exactly that one.
 *
 *     phase 1   ask the targeted shards for one match each, choose one               locate.ts
 *     phase 2   apply the update here, compare the shard key before and after:       keyChange.ts
 *                 same key, or another key on the same shard ──► replace it there    onShard.ts
 *                 a key that another shard owns ──► insert it there, delete it here  moveDocument.ts
 *               nothing found and upsert ──► insert the new document where its key belongs
 *
 * This serves two of MongoDB's features at once: single writes without the
 * shard key (7.1+, "two-phase", facts-mongos.md §4.3–4.4) and changing a
 * document's shard key value (4.2+, §4.5). A real cluster wraps the phases in a
 * transaction. Here the caller holds the collection alone, so nobody can see or
 * disturb the moment between them.
 *
 * The update is applied by the same code that a shard applies it with
 * (lib/query), on the same bytes; the shard that stores the result validates it.
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, BsonType, getField, valuesIdentical } from "../../bson/index.js";
import {
  CommandError,
  ErrorCode,
  MAX_BSON_OBJECT_BYTES,
  readCursorReply,
  request,
} from "../../protocol/index.js";
import type { ExpressionOptions, Update } from "../../query/index.js";
import { compileUpdate, refuseExprInUpsert, upsertDocument } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { ownerAfter, ownerOfUpsert } from "./keyChange.js";
import type { Search } from "./locate.js";
import { findCommand, locateOne } from "./locate.js";
import { moveDocument } from "./moveDocument.js";
import type { WriteTerms } from "./onShard.js";
import { deleteById, insertOne, replaceById } from "./onShard.js";

/** The terms of a careful write. */
export interface CarefulTerms extends WriteTerms {
  /** What filters and updates see: `let`, clock, random source, collation. */
  readonly expressions: ExpressionOptions;
  readonly bypassEmptyTsReplacement: boolean;
  /** The command came with a transaction number. */
  readonly retryable: boolean;
  /** The command has no other statement; only then may a document move to another shard (§4.5). */
  readonly onlyStatement: boolean;
}

/** What is looked for, and whether its filter gives the whole shard key. */
export interface CarefulSearch extends Search {
  readonly pinsKey: boolean;
}

/** The parts of an update that say what to do with the document found. */
export interface UpdateSpec {
  readonly u: RawValue;
  readonly arrayFilters: Uint8Array[] | undefined;
  readonly constants: Uint8Array | undefined;
  readonly multi: boolean;
  readonly upsert: boolean;
  /** An upsert inserts the document `new` of the constants. */
  readonly upsertSupplied: boolean;
}

/** What a careful update did. */
export type UpdateOutcome =
  | { readonly kind: "notFound" }
  | {
      readonly kind: "updated";
      readonly before: Uint8Array;
      readonly after: Uint8Array;
      readonly modified: boolean;
    }
  | { readonly kind: "upserted"; readonly id: RawValue; readonly after: Uint8Array };

/**
 * Updates one document, wherever it is and will be.
 * @throws CommandError the refusals of §4.4 and §4.5, and what the update and the shards report
 */
export async function updateOneAlone(
  context: RouterContext,
  collection: ShardedCollection,
  search: CarefulSearch,
  spec: UpdateSpec,
  terms: CarefulTerms,
): Promise<UpdateOutcome> {
  const update = compile(search, spec, terms);
  const found = await locateOne(context, collection, search, terms.work);
  if (!found) {
    return spec.upsert ? upsertAlone(context, collection, search, update, spec, terms) : { kind: "notFound" };
  }
  const before = found.document;
  const after = applied(context, update, search, before);
  if (after === before) return { kind: "updated", before, after, modified: false };
  const id = getField(before, "_id")!;
  const newId = getField(after, "_id");
  if (!newId || !valuesIdentical(id, newId)) {
    throw new CommandError(
      ErrorCode.ImmutableField,
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    );
  }
  const change = { ...terms, rules: context.rules, pinsKey: search.pinsKey, multi: spec.multi };
  const owner = ownerAfter(collection, before, after, change) ?? found.shard;
  if (owner === found.shard) await replaceById(context, owner, collection, id, after, terms);
  else {
    refuseMoveInBatch(terms);
    await moveDocument(context, collection, { from: found.shard, to: owner }, id, after, terms);
  }
  return { kind: "updated", before, after, modified: true };
}

/**
 * Checks a multi update that writes key fields: no matching document may get another key by it.
 * @returns whether there is a match
 * @throws CommandError the refusals of §4.5
 */
export async function refuseKeyChanges(
  context: RouterContext,
  collection: ShardedCollection,
  search: CarefulSearch,
  spec: UpdateSpec,
  terms: CarefulTerms,
): Promise<boolean> {
  const update = compile(search, spec, terms);
  const find = findCommand(collection.name, search, false);
  const change = { ...terms, rules: context.rules, pinsKey: search.pinsKey, multi: true };
  let matched = false;
  for (const shard of search.target.shards) {
    let reply = await context.shards.run(shard, request(collection.db, find));
    for (;;) {
      const { id, batch } = readCursorReply(reply);
      matched ||= batch.length > 0;
      for (const before of batch) {
        const after = applied(context, update, search, before);
        if (after !== before) ownerAfter(collection, before, after, change);
      }
      if (id === 0n) break;
      reply = await context.shards.run(
        shard,
        request(collection.db, { getMore: id, collection: collection.name }),
      );
    }
  }
  return matched;
}

/** @throws CommandError InvalidOptions (72) */
function refuseMoveInBatch({ onlyStatement }: CarefulTerms): void {
  if (onlyStatement) return;
  throw new CommandError(
    ErrorCode.InvalidOptions,
    "Document shard key value updates that cause the doc to move shards must be sent with write batch of size 1",
  );
}

/** Inserts the document of an upsert that found nothing. */
export async function upsertOneAlone(
  context: RouterContext,
  collection: ShardedCollection,
  search: CarefulSearch,
  spec: UpdateSpec,
  terms: CarefulTerms,
): Promise<UpdateOutcome> {
  return upsertAlone(context, collection, search, compile(search, spec, terms), spec, terms);
}

/** Deletes one document and returns it. */
export async function deleteOneAlone(
  context: RouterContext,
  collection: ShardedCollection,
  search: Search,
  terms: WriteTerms,
): Promise<Uint8Array | undefined> {
  const found = await locateOne(context, collection, search, terms.work);
  if (!found) return undefined;
  await deleteById(context, found.shard, collection, getField(found.document, "_id")!, terms);
  return found.document;
}

function compile(search: Search, spec: UpdateSpec, terms: CarefulTerms): Update {
  if (spec.multi && search.sort) {
    throw new CommandError(ErrorCode.FailedToParse, "Cannot specify sort with multi=true");
  }
  if (spec.upsertSupplied) suppliedDocument(spec);
  if (spec.upsert) refuseExprInUpsert(search.filter);
  return compileUpdate(spec.u, {
    ...terms.expressions,
    arrayFilters: spec.arrayFilters,
    ...(spec.constants && { constants: spec.constants }),
    bypassEmptyTsReplacement: terms.bypassEmptyTsReplacement,
  });
}

/** @throws CommandError FailedToParse (9) */
function suppliedDocument({ upsert, constants }: UpdateSpec): Uint8Array {
  const refuse = (message: string): CommandError => new CommandError(ErrorCode.FailedToParse, message);
  if (!upsert) throw refuse("cannot specify 'upsertSupplied: true' for a non-upsert operation");
  const supplied = constants && getField(constants, "new");
  if (supplied?.type === BsonType.object) return asDocument(supplied);
  throw refuse("the parameter 'upsertSupplied' is set to 'true', but no document was supplied");
}

/** @throws CommandError Location17419 for a document over 16 MB, and what the update throws */
function applied(context: RouterContext, update: Update, { node }: Search, before: Uint8Array): Uint8Array {
  const after = update.apply(before, {
    now: context.environment.now(),
    filter: node,
    nextTimestamp: () => context.clock.tick(),
  });
  if (after.length > MAX_BSON_OBJECT_BYTES) {
    throw new CommandError(17419, `Resulting document after update is larger than ${MAX_BSON_OBJECT_BYTES}`);
  }
  return after;
}

async function upsertAlone(
  context: RouterContext,
  collection: ShardedCollection,
  { node, target }: CarefulSearch,
  update: Update,
  spec: UpdateSpec,
  terms: CarefulTerms,
): Promise<UpdateOutcome> {
  const after = upsertDocument(node, update, {
    now: context.environment.now(),
    nextTimestamp: () => context.clock.tick(),
    newId: () => context.ids.objectId(),
    supplied: spec.upsertSupplied ? suppliedDocument(spec) : undefined,
  });
  if (after.length > MAX_BSON_OBJECT_BYTES) {
    throw new CommandError(17420, `Document to upsert is larger than ${MAX_BSON_OBJECT_BYTES}`);
  }
  const targeted = target.shards.length === 1 ? target.shards[0] : undefined;
  const change = { rules: context.rules, retryable: terms.retryable };
  const owner = ownerOfUpsert(collection, after, targeted, change);
  if (targeted !== undefined && owner !== targeted) refuseMoveInBatch(terms);
  await insertOne(context, owner, collection, after, terms);
  return { kind: "upserted", id: getField(after, "_id")!, after };
}
