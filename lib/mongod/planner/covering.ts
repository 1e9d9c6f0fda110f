/**
 * Answering from the index alone.
 *
 * An index provides a field when its keys hold the field's very value: not its
 * hash, not one element of its array, not the sort key of a collated string. A
 * projection, a sort or a count that needs only such fields leaves the document
 * unread (no FETCH).
 *
 * Sortable keys tell order, not values (1 and 1.0 are one key). So the values
 * of a *key document* are read from the record's bytes all the same; counted is
 * what MongoDB counts. That also tells a missing field from null, which are one
 * key: an index never changes an answer.
 */
import type { RawValue } from "../../bson/index.js";
import { BsonType, document, DocumentWriter, FieldPath, hashedValue, NULL } from "../../bson/index.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import type { IndexAccess, ScanAccess } from "./access.js";
import { scansOf } from "./access.js";
import { mayHoldStrings } from "./bounds/keyIntervals.js";
import { fieldPosition, indexCollation, isMultikeyField } from "./indexInfo.js";

/** Whether all these paths can be had without reading documents. */
export function provides(access: IndexAccess, paths: readonly string[]): boolean {
  return scansOf(access).every((scan) => paths.every((path) => providesPath(scan, path)));
}

function providesPath({ index, bounds, rawRange }: ScanAccess, path: string): boolean {
  const { fields } = index.spec;
  const position = fieldPosition(fields, path);
  const field = fields[position];
  if (!field || field.kind === "hashed" || isMultikeyField(index, position)) return false;
  if (indexCollation(index) && (rawRange || mayHoldStrings(bounds[position] ?? [], field))) return false;
  // {a: 1, "a.b": 1}: the parts of one document cannot be put together from both.
  return !fields.some((other) => other.path.startsWith(`${path}.`) || path.startsWith(`${other.path}.`));
}

/** Makes documents of an index's keys. */
export class KeyDocuments {
  private readonly root: Level = { name: "", isField: false, children: [] };
  private readonly paths: readonly FieldPath[];

  constructor(private readonly index: CollectionIndex) {
    this.paths = index.spec.fields.map(({ path }) => new FieldPath(path));
    for (const path of this.paths) hang(this.root, path);
  }

  /** The fields of the record's key as a document: `{a: 1, b: {c: null}}`. The index is not multikey on them. */
  nested(record: Uint8Array): Uint8Array {
    return write(this.root, record);
  }

  /** Whether the record has the index's field at this position; one without has the key of null. */
  has(position: number, record: Uint8Array): boolean {
    return (this.paths[position] as FieldPath).get(record) !== undefined;
  }

  /** The key itself, `{a: 1, "b.c": null}`: what `returnKey` gives. */
  flat(record: Uint8Array, key: string): Uint8Array {
    const { index, paths } = this;
    const { fields } = index.spec;
    let values: readonly (RawValue | undefined)[];
    if (index.multikey) {
      const tuples = index.keys.tuples(record);
      values = tuples.find((tuple) => index.keys.encode(tuple) === key) ?? tuples[0] ?? [];
    } else {
      values = paths.map((path) => path.get(record));
    }
    const writer = new DocumentWriter();
    fields.forEach(({ path, kind }, i) => {
      const value = values[i];
      writer.field(path, kind === "hashed" ? hashedValue(value) : (value ?? NULL));
    });
    return writer.finish();
  }
}

/** One level of a key document: a field with the path that fills it, or an object of further levels. */
interface Level {
  readonly name: string;
  /** From the root to here. */
  readonly path?: FieldPath;
  readonly isField: boolean;
  readonly children: Level[];
}

function hang(root: Level, path: FieldPath): void {
  let level = root;
  path.parts.forEach((name, i) => {
    const last = i === path.parts.length - 1;
    let next = last ? undefined : level.children.find((child) => child.name === name && !child.isField);
    if (!next) {
      const here = last ? path : new FieldPath(path.parts.slice(0, i + 1).join("."));
      next = { name, path: here, isField: last, children: [] };
      level.children.push(next);
    }
    level = next;
  });
}

function write(level: Level, record: Uint8Array): Uint8Array {
  const writer = new DocumentWriter();
  for (const child of level.children) {
    const value = child.path?.get(record);
    if (value === undefined) continue;
    if (child.isField) writer.field(child.name, value);
    else if (value.type === BsonType.object) writer.field(child.name, document(write(child, record)));
  }
  return writer.finish();
}
