/**
 * The projection of a merged `find`, where the shards could not apply it
 * (findPlan.ts).
 *
 * It sees what it would see on a shard: the filter that a positional projection
 * (`"a.$"`) goes by, the sort's values for `{$meta: "sortKey"}`, and the
 * metadata that the shards sent along in hidden fields.
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asNumber, DocumentWriter, EMPTY_DOCUMENT, forEachField } from "../../bson/index.js";
import type { ExpressionOptions, Filter, Sort } from "../../query/index.js";
import { compileProjection, setMeta, usesMeta } from "../../query/index.js";
import type { HiddenMeta, RouterProjection } from "./findPlan.js";
import { hiddenField } from "./findPlan.js";

/** Compiles it to a function of the merged document. */
export function projectionAfterMerge(
  work: RouterProjection,
  filter: Filter,
  sort: Sort | undefined,
  options: ExpressionOptions,
): (document: Uint8Array) => Uint8Array {
  const { projection, hidden, showRecordId, returnKey } = work;
  const project = projection && compileProjection(projection, options, filter.node);
  const wantsMeta = projection !== undefined && usesMeta(projection);
  return (merged) => {
    const { document, found } =
      hidden.length > 0 ? takeHidden(merged, hidden) : { document: merged, found: NONE };
    const recordId = found.get("recordId");
    const indexKey = found.get("indexKey");
    const key = indexKey ? asDocument(indexKey) : undefined;
    let result = document;
    if (returnKey) {
      result = key ?? EMPTY_DOCUMENT;
    } else if (project) {
      if (wantsMeta) {
        setMeta(document, {
          ...(sort && { sortKey: sort.values(document) }),
          ...(recordId && { recordId: asNumber(recordId) }),
          ...(key && { indexKey: key }),
        });
      }
      result = project(document);
    }
    if (!showRecordId || !recordId) return result;
    return new DocumentWriter().fieldsOf(result).field("$recordId", recordId).finish();
  };
}

type Found = ReadonlyMap<HiddenMeta, RawValue>;
const NONE: Found = new Map();

/** Takes the hidden fields off a document. */
function takeHidden(
  merged: Uint8Array,
  names: readonly HiddenMeta[],
): { document: Uint8Array; found: Found } {
  const byField = new Map(names.map((name) => [hiddenField(name), name]));
  const found = new Map<HiddenMeta, RawValue>();
  const writer = new DocumentWriter();
  forEachField(merged, (field, value) => {
    const name = byField.get(field);
    if (name) found.set(name, value);
    else writer.field(field, value);
  });
  return { document: writer.finish(), found };
}
