/** MongoDB's names of the BSON types: what `$type` accepts and what error messages say. */
import { BsonType } from "./value.js";

/** The names and their types. */
export const TYPE_ALIASES = {
  double: BsonType.double,
  string: BsonType.string,
  object: BsonType.object,
  array: BsonType.array,
  binData: BsonType.binary,
  undefined: BsonType.undefined,
  objectId: BsonType.objectId,
  bool: BsonType.bool,
  date: BsonType.date,
  null: BsonType.null,
  regex: BsonType.regex,
  dbPointer: BsonType.dbPointer,
  javascript: BsonType.code,
  symbol: BsonType.symbol,
  javascriptWithScope: BsonType.codeWithScope,
  int: BsonType.int32,
  timestamp: BsonType.timestamp,
  long: BsonType.int64,
  decimal: BsonType.decimal128,
  minKey: BsonType.minKey,
  maxKey: BsonType.maxKey,
} as const;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(TYPE_ALIASES).map(([name, type]) => [type, name]),
);

/** The name of a type as `$type` and error messages spell it, e.g. `"int"`; its number for no type of BSON. */
export function nameOfType(type: number): string {
  return NAMES.get(type) ?? String(type);
}
