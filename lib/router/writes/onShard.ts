/** Phase 2 of a careful write: one document, on one shard, by its `_id`. */
import type { RawValue } from "../../bson/index.js";
import {
  BsonType,
  document,
  DocumentWriter,
  forEachField,
  getField,
  int32,
  readInt64,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { request } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import type { ShardWork } from "../trace.js";
import type { ConcernErrors } from "./concernErrors.js";
import { throwWriteError } from "./replies.js";

/** What the client's command says that concerns each write it leads to. */
export interface WriteTerms {
  readonly bypassDocumentValidation: boolean;
  readonly writeConcern: RawValue | undefined;
  /** Receives what the shards say about the write concern. */
  readonly concernErrors: ConcernErrors;
  /** Receives the steps of a careful write, for the trace. */
  readonly work?: ShardWork[] | undefined;
}

/** A collection's name, taken apart. */
interface Named {
  readonly db: string;
  readonly name: string;
}

/** Inserts one document. @throws CommandError what the shard says */
export function insertOne(
  context: RouterContext,
  shard: string,
  { db, name }: Named,
  inserted: Uint8Array,
  terms: WriteTerms,
): Promise<void> {
  const command = withTerms(new DocumentWriter().string("insert", name), terms, inserted);
  return write(context, shard, request(db, command, { documents: [inserted] }), terms);
}

/** Replaces the document with this `_id`. @throws CommandError what the shard says */
export function replaceById(
  context: RouterContext,
  shard: string,
  { db, name }: Named,
  id: RawValue,
  after: Uint8Array,
  terms: WriteTerms,
): Promise<void> {
  const command = withTerms(new DocumentWriter().string("update", name), terms, after);
  const statement = new DocumentWriter().document("q", byId(id)).field("u", document(after)).finish();
  return write(context, shard, request(db, command, { updates: [statement] }), terms);
}

/** Deletes the document with this `_id`. @throws CommandError what the shard says */
export function deleteById(
  context: RouterContext,
  shard: string,
  collection: Named,
  id: RawValue,
  terms?: WriteTerms,
): Promise<void> {
  return write(context, shard, deleteRequest(collection, id, terms), terms);
}

/** The command that deletes the document with this `_id`. */
export function deleteRequest({ db, name }: Named, id: RawValue, terms?: WriteTerms): Request {
  const command = new DocumentWriter().string("delete", name);
  if (terms?.writeConcern) command.field("writeConcern", terms.writeConcern);
  const statement = new DocumentWriter().document("q", byId(id)).field("limit", int32(1)).finish();
  return request(db, command.finish(), { deletes: [statement] });
}

/** `$eq`, so that no `_id` is taken for an operator or a reference. */
export function byId(id: RawValue): Uint8Array {
  return new DocumentWriter().document("_id", new DocumentWriter().field("$eq", id).finish()).finish();
}

/** What the trace calls the commands of a careful write. */
const STEPS: Readonly<Record<string, ShardWork["step"]>> = { insert: "insert", delete: "delete" };

async function write(
  context: RouterContext,
  shard: string,
  command: Request,
  terms: WriteTerms | undefined,
): Promise<void> {
  terms?.work?.push({ shard, step: STEPS[command.command] ?? "write", sent: 1 });
  const reply = await context.shards.run(shard, command);
  throwWriteError(reply);
  terms?.concernErrors.add(getField(reply.body, "writeConcernError"), shard);
}

function withTerms(command: DocumentWriter, terms: WriteTerms, written: Uint8Array): Uint8Array {
  if (terms.bypassDocumentValidation) command.bool("bypassDocumentValidation", true);
  // The router has filled the empty timestamps that are to be filled; what is empty now stays so.
  if (hasEmptyTimestamp(written)) command.bool("bypassEmptyTsReplacement", true);
  if (terms.writeConcern) command.field("writeConcern", terms.writeConcern);
  return command.finish();
}

function hasEmptyTimestamp(written: Uint8Array): boolean {
  let found = false;
  forEachField(written, (_name, value) => {
    found ||= value.type === BsonType.timestamp && readInt64(value.bytes, value.start) === 0n;
  });
  return found;
}
