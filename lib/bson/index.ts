/**
 * Raw BSON: values and documents as slices of bytes, their order, their
 * sortable keys and MongoDB's hash.
 */
export * from "./value.js";
export { BsonError } from "./error.js";
export { TYPE_ALIASES, nameOfType } from "./typeName.js";
export { LabelledCollation, sameCollation, type Collation } from "./collation.js";
export {
  EMPTY_DOCUMENT,
  documentLength,
  elementCount,
  elements,
  fields,
  firstField,
  forEachField,
  forgetNames,
  getField,
  NameSet,
  surveyNames,
  isEmptyDocument,
  prependField,
  topLevelNames,
  withoutFields,
} from "./raw.js";
export { FieldPath, getPath, type PathValues } from "./path.js";
export { validateDocument } from "./validate.js";
export { DocumentWriter, array } from "./writer.js";
export { decodeValue, encodeValue, fromDocument, toDocument } from "./convert.js";
export { describeDocument, describeValue } from "./describe.js";
export { canonicalType, compareDocuments, compareValues } from "./compare.js";
export { readDouble, readInt32, readInt64, readUint32, writeInt32 } from "./bytes.js";
export {
  documentSortableKey,
  addHashToKey,
  addHashWordsToKey,
  addToKey,
  beginKey,
  keyInto,
  sortableHash,
  sortableKey,
  sortableValue,
  type SortableKey,
} from "./sortable.js";
export { componentEnd } from "./keyParts.js";
export { hash64, hashedValue, hashWords } from "./hash64.js";
export { KeyBytes, keyOfBytes } from "./keyBytes.js";
