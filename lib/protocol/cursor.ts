/**
 * The shape of a batch: `{cursor: {firstBatch: […], id, ns}, ok: 1}`.
 *
 * The documents of a batch are copied byte for byte from storage into the reply
 * and, on the reading side, handed on as slices of it.
 */
import {
  asBigInt,
  asDocument,
  asString,
  BsonType,
  DocumentWriter,
  elements,
  forEachField,
  getField,
  toDocument,
} from "../bson/index.js";
import { failureOf, isOk } from "./command.js";
import type { Reply } from "./endpoint.js";
import { CommandError, ErrorCode } from "./errors.js";

/**
 * The reply of a command that answers with a cursor.
 * @param ns the cursor's namespace
 * @param id 0n when this batch is the last
 * @param batch raw documents
 * @param which `firstBatch` of find, aggregate, …; `nextBatch` of getMore
 * @param extra further fields beside `cursor`
 * @param partial documents of some shards are missing, and the client allowed that
 */
export function cursorReply(
  ns: string,
  id: bigint,
  batch: readonly Uint8Array[],
  which: "firstBatch" | "nextBatch",
  extra?: object,
  partial = false,
): Reply {
  const cursor = new DocumentWriter().arrayOf(which, batch);
  if (partial) cursor.bool("partialResultsReturned", true);
  const writer = new DocumentWriter().document("cursor", cursor.int64("id", id).string("ns", ns).finish());
  if (extra) writer.fieldsOf(toDocument(extra));
  return { body: writer.double("ok", 1).finish() };
}

/** One batch as it came back. */
export interface CursorBatch {
  /** 0n: nothing more to get. */
  readonly id: bigint;
  readonly ns: string;
  /** Slices of the reply. */
  readonly batch: Uint8Array[];
}

/**
 * Reads a cursor reply.
 * @throws CommandError the reply's own failure, or BadValue (2) when it holds no cursor.
 */
export function readCursorReply(reply: Reply): CursorBatch {
  if (!isOk(reply)) throw failureOf(reply);
  const cursor = getField(reply.body, "cursor");
  if (cursor?.type !== BsonType.object) throw new CommandError(ErrorCode.BadValue, "the reply has no cursor");
  let id = 0n;
  let ns = "";
  let batch: Uint8Array[] = [];
  forEachField(asDocument(cursor), (name, value) => {
    if (name === "id") id = asBigInt(value);
    else if (name === "ns") ns = asString(value);
    else if (name === "firstBatch" || name === "nextBatch")
      batch = elements(asDocument(value)).map(asDocument);
  });
  return { id, ns, batch };
}
