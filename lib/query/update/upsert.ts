/**
 * The document that an upsert inserts where its filter matched nothing.
 *
 * The filter's equalities come first, then the update is applied to them as
 * to a stored document, `$setOnInsert` included. A replacement takes only
 * `_id` from the filter.
 *
 *     filter { _id: 7, "a.b": 1, n: { $gt: 5 } }, update { $inc: { hits: 1 } }
 *       →  { _id: 7, a: { b: 1 }, hits: 1 }
 */
import { ObjectId } from "bson";
import {
  DocumentWriter,
  EMPTY_DOCUMENT,
  fields,
  getField,
  objectId,
  prependField,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { equalities } from "../bounds/equality.js";
import type { FilterNode } from "../filter/node.js";
import { withPath } from "../values/editor.js";
import type { Update } from "./compile.js";
import type { UpdateContext } from "./context.js";

export interface UpsertContext extends UpdateContext {
  /** Makes the `_id` of a document that gets none from filter and update; default: a new ObjectId. */
  readonly newId?: () => RawValue;
}

/**
 * Builds the document of an upsert, `_id` in front.
 * @throws CommandError 54 where the filter pins one path twice, and whatever the update throws
 */
export function upsertDocument(filter: FilterNode, update: Update, context: UpsertContext): Uint8Array {
  const base = documentOfEqualities(filter, update.kind === "replacement");
  const doc = update.apply(base, { ...context, isInsert: true, filter });
  const id = getField(doc, "_id");
  if (id === undefined)
    return prependField(doc, "_id", context.newId?.() ?? objectId(Uint8Array.from(new ObjectId().id)));
  const [first] = fields(doc);
  return first![0] === "_id" ? doc : idFirst(doc, id);
}

function idFirst(doc: Uint8Array, id: RawValue): Uint8Array {
  const writer = new DocumentWriter().field("_id", id);
  for (const [name, value] of fields(doc)) if (name !== "_id") writer.field(name, value);
  return writer.finish();
}

function documentOfEqualities(filter: FilterNode, idOnly: boolean): Uint8Array {
  let doc = EMPTY_DOCUMENT;
  const seen = new Set<string>();
  for (const { path, value } of equalities(filter)) {
    if (idOnly && path !== "_id") continue;
    if (seen.has(path)) {
      throw new CommandError(
        ErrorCode.NotSingleValueField,
        `cannot infer query fields to set, path '${path}' is matched twice`,
      );
    }
    for (const other of seen) {
      if (!other.startsWith(`${path}.`) && !path.startsWith(`${other}.`)) continue;
      throw new CommandError(
        ErrorCode.NotSingleValueField,
        `cannot infer query fields to set, both paths '${path}' and '${other}' are matched`,
      );
    }
    seen.add(path);
    doc = withPath(doc, path.split("."), value);
  }
  return doc;
}
