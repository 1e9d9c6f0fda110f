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
  asDocument,
  BsonType,
  DocumentWriter,
  elements,
  EMPTY_DOCUMENT,
  fields,
  firstField,
  forEachField,
  getField,
  objectId,
  prependField,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { equalities } from "../bounds/equality.js";
import type { FilterNode } from "../filter/node.js";
import { EditableNode, setPath } from "../values/editor.js";
import type { Update } from "./compile.js";
import type { UpdateContext } from "./context.js";
import { checkDepth, prefixesOf } from "./paths.js";
import { replace } from "./replacement.js";

export interface UpsertContext extends UpdateContext {
  /** Makes the `_id` of a document that gets none from filter and update; default: a new ObjectId. */
  readonly newId?: () => RawValue;
  /** The document to insert instead of what the update makes (`upsertSupplied`). */
  readonly supplied?: Uint8Array | undefined;
}

/**
 * Builds the document of an upsert, `_id` in front.
 * @throws CommandError 54 where the filter pins one path twice, or `_id` comes out as an array, and whatever the
 *   update throws
 */
export function upsertDocument(filter: FilterNode, update: Update, context: UpsertContext): Uint8Array {
  const base = documentOfEqualities(filter, update.kind === "replacement");
  const doc =
    context.supplied === undefined
      ? update.apply(base, { ...context, isInsert: true, filter: undefined })
      : replace(base, context.supplied);
  const id = getField(doc, "_id");
  if (id === undefined)
    return prependField(doc, "_id", context.newId?.() ?? objectId(Uint8Array.from(new ObjectId().id)));
  if (id.type === BsonType.array) {
    throw new CommandError(
      ErrorCode.NotSingleValueField,
      "After applying the update to the document, the field '_id' was found to be an array or array descendant.",
    );
  }
  return firstField(doc)![0] === "_id" ? doc : idFirst(doc, id);
}

function idFirst(doc: Uint8Array, id: RawValue): Uint8Array {
  const writer = new DocumentWriter().field("_id", id);
  forEachField(doc, (name, value) => {
    if (name !== "_id") writer.field(name, value);
  });
  return writer.finish();
}

function documentOfEqualities(filter: FilterNode, idOnly: boolean): Uint8Array {
  const root = EditableNode.of(EMPTY_DOCUMENT);
  const seen = new Set<string>();
  /** Paths that a longer one in `seen` leads through, with that one. */
  const above = new Map<string, string>();
  for (const { path, value } of equalities(filter)) {
    checkDepth(path);
    if (idOnly && path !== "_id") {
      if (!path.startsWith("_id.")) continue;
      throw new CommandError(
        ErrorCode.NotExactValueField,
        `field at '_id' must be exactly specified, field at sub-path '${path}'found`,
      );
    }
    if (seen.has(path)) throw ambiguous(`path '${path}' is matched twice`);
    for (const prefix of prefixesOf(path))
      if (seen.has(prefix)) throw ambiguous(`both paths '${path}' and '${prefix}' are matched`);
    const longer = above.get(path);
    if (longer !== undefined) throw ambiguous(`both paths '${path}' and '${longer}' are matched`);
    seen.add(path);
    for (const prefix of prefixesOf(path)) above.set(prefix, path);
    setPath(root, path.split("."), value);
  }
  return root.toDocument();
}

function ambiguous(what: string): CommandError {
  return new CommandError(ErrorCode.NotSingleValueField, `cannot infer query fields to set, ${what}`);
}

const LOGICAL: ReadonlySet<string> = new Set(["$and", "$or", "$nor"]);

/**
 * Refuses the filter of an upsert that no document can be made from.
 * @throws CommandError QueryFeatureNotAllowed (224) for `$expr` anywhere that documents as a whole are tested
 */
export function refuseExprInUpsert(filter: Uint8Array): void {
  if (!hasExpr(filter)) return;
  throw new CommandError(
    ErrorCode.QueryFeatureNotAllowed,
    "$expr is not allowed in the query predicate for an upsert",
  );
}

function hasExpr(filter: Uint8Array): boolean {
  return fields(filter).some(
    ([name, value]) =>
      name === "$expr" ||
      (LOGICAL.has(name) &&
        value.type === BsonType.array &&
        elements(asDocument(value)).some(
          (branch) => branch.type === BsonType.object && hasExpr(asDocument(branch)),
        )),
  );
}
