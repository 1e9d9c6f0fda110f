/** Values along dotted paths as `$lookup` and `$graphLookup` see them, and fields set in whole documents. */
import {
  BsonType,
  DocumentWriter,
  NULL,
  asDocument,
  document,
  elements,
  forEachField,
  getField,
  type RawValue,
} from "../../../bson/index.js";
import { withPath } from "../../values/editor.js";
import { isArrayIndex } from "../../values/types.js";

/**
 * Visits all values at a path: arrays on the way are gone through, one at its end is visited element by element.
 * What is missing is not visited.
 *
 *     "a.b" of { a: [{ b: 1 }, {}, { b: [2, [3]] }] }   →   1, 2, [3]
 */
export function visitValues(
  doc: Uint8Array,
  parts: readonly string[],
  visit: (value: RawValue) => void,
): void {
  valuesFrom(document(doc), parts, 0, visit);
}

function valuesFrom(
  value: RawValue | undefined,
  parts: readonly string[],
  at: number,
  visit: (value: RawValue) => void,
): void {
  if (value === undefined) return;
  if (at === parts.length) {
    if (value.type === BsonType.array) for (const element of elements(asDocument(value))) visit(element);
    else visit(value);
    return;
  }
  const part = parts[at]!;
  if (value.type === BsonType.object) {
    valuesFrom(getField(asDocument(value), part), parts, at + 1, visit);
  } else if (value.type === BsonType.array) {
    const list = elements(asDocument(value));
    if (isArrayIndex(part)) valuesFrom(list[Number(part)], parts, at + 1, visit);
    for (const element of list) if (element.type === BsonType.object) valuesFrom(element, parts, at, visit);
  }
}

/**
 * Visits every value that `{path: {$eq: v}}` might find a document by, and perhaps more: values, the elements of
 * arrays, whole arrays, and null where something is missing. For hash tables whose finds are checked afterwards.
 */
export function visitKeys(doc: Uint8Array, parts: readonly string[], visit: (value: RawValue) => void): void {
  keysFrom(document(doc), parts, 0, visit);
}

function keysFrom(
  value: RawValue | undefined,
  parts: readonly string[],
  at: number,
  visit: (value: RawValue) => void,
): void {
  if (value === undefined) {
    visit(NULL);
  } else if (at === parts.length) {
    visit(value);
    if (value.type === BsonType.array) for (const element of elements(asDocument(value))) visit(element);
  } else if (value.type === BsonType.object) {
    keysFrom(getField(asDocument(value), parts[at]!), parts, at + 1, visit);
  } else {
    visit(NULL);
    if (value.type !== BsonType.array) return;
    const list = elements(asDocument(value));
    const part = parts[at]!;
    if (isArrayIndex(part)) keysFrom(list[Number(part)], parts, at + 1, visit);
    for (const element of list) if (element.type === BsonType.object) keysFrom(element, parts, at, visit);
  }
}

/** A document with a field set, in the place of an old one or at the end; undefined as value takes it out. */
export function withField(
  doc: Uint8Array,
  parts: readonly string[],
  value: RawValue | undefined,
): Uint8Array {
  if (parts.length > 1) return withPath(doc, parts, value);
  const name = parts[0]!;
  const writer = new DocumentWriter();
  if (getField(doc, name) === undefined) {
    if (value === undefined) return doc;
    return writer.fieldsOf(doc).field(name, value).finish();
  }
  forEachField(doc, (field, old) => {
    if (field !== name) writer.field(field, old);
    else if (value !== undefined) writer.field(field, value);
  });
  return writer.finish();
}
