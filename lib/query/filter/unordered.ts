/** Equality of values that leaves the order of fields aside: that of `enum` and `uniqueItems`. */
import {
  BsonType,
  DocumentWriter,
  array,
  asDocument,
  document,
  elements,
  fields,
  sortableValue,
  type RawValue,
} from "../../bson/index.js";

/** A string that two values share when they are equal but for the order of fields in objects. */
export function unorderedKey(v: RawValue): string {
  return sortableValue(withSortedFields(v));
}

function withSortedFields(v: RawValue): RawValue {
  if (v.type === BsonType.array) return array(elements(asDocument(v)).map(withSortedFields));
  if (v.type !== BsonType.object) return v;
  const writer = new DocumentWriter();
  const sorted = fields(asDocument(v)).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (const [name, value] of sorted) writer.field(name, withSortedFields(value));
  return document(writer.finish());
}
