/**
 * How a sampled update changed its document: what `config.sampledQueriesDiff` has (facts-mongos.md §9.4).
 *
 *     before  {_id: 1, a: {b: 1, c: 1}, d: 1}
 *     after   {_id: 1, a: {b: 2, c: 1}, e: 1}
 *     diff    {d: {d: false}, i: {e: 1}, sa: {u: {b: 2}}}        deleted, inserted, inside of `a` updated
 *
 * Arrays and everything that is no object in both are updated as a whole.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  BsonType,
  compareValues,
  DocumentWriter,
  EMPTY_DOCUMENT,
  fields,
  getField,
} from "../../bson/index.js";

/** The diff of two documents; empty where they are the same. */
export function diffOf(before: Uint8Array, after: Uint8Array): Uint8Array {
  const deleted = new DocumentWriter();
  const updated = new DocumentWriter();
  const inserted = new DocumentWriter();
  const inside: { readonly name: string; readonly diff: Uint8Array }[] = [];
  for (const [name] of fields(before)) if (!getField(after, name)) deleted.bool(name, false);
  for (const [name, value] of fields(after)) {
    const old = getField(before, name);
    if (!old) inserted.field(name, value);
    else if (isObject(old) && isObject(value))
      inside.push({ name, diff: diffOf(asDocument(old), asDocument(value)) });
    else if (old.type !== value.type || compareValues(old, value) !== 0) updated.field(name, value);
  }
  const diff = new DocumentWriter();
  for (const [name, part] of [
    ["d", deleted.finish()],
    ["u", updated.finish()],
    ["i", inserted.finish()],
  ] as const) {
    if (part.length > EMPTY_DOCUMENT.length) diff.document(name, part);
  }
  for (const { name, diff: part } of inside) {
    if (part.length > EMPTY_DOCUMENT.length) diff.document(`s${name}`, part);
  }
  return diff.finish();
}

/** Whether a diff changes what is at a dotted path. */
export function changesPath(diff: Uint8Array, path: string): boolean {
  let part: Uint8Array = diff;
  const names = path.split(".");
  for (const name of names) {
    for (const kind of ["d", "u", "i"]) {
      const changed = getField(part, kind);
      if (changed && isObject(changed) && getField(asDocument(changed), name)) return true;
    }
    const inside = getField(part, `s${name}`);
    if (!inside || !isObject(inside)) return false;
    part = asDocument(inside);
  }
  // Something inside of the value has changed.
  return true;
}

function isObject({ type }: RawValue): boolean {
  return type === BsonType.object;
}
