/** MongoDB's names of the BSON types: what `$type` accepts and what error messages say. */
import { BsonType, TYPE_ALIASES, nameOfType, type RawValue } from "../../bson/index.js";

const TYPES: ReadonlyMap<string, BsonType> = new Map(Object.entries(TYPE_ALIASES));
const CODES: ReadonlySet<number> = new Set(Object.values(TYPE_ALIASES));

/** The four types that `$type: "number"` stands for. */
export const NUMBER_TYPES: readonly BsonType[] = [
  BsonType.double,
  BsonType.int32,
  BsonType.int64,
  BsonType.decimal128,
];

/** The alias of a value's type, e.g. `"int"`; `"missing"` for no value, as `$type` has it. */
export function typeName(v: RawValue | undefined): string {
  return v === undefined ? "missing" : nameOfType(v.type);
}

/** The type of an alias, e.g. `"binData"` → 5; undefined for an unknown alias (`"number"` is not one type). */
export function typeOfAlias(alias: string): BsonType | undefined {
  return TYPES.get(alias);
}

/** The type of a number as `$type` takes it: 1…19, -1 (MinKey), 127 (MaxKey); undefined for any other. */
export function typeOfNumber(code: number): BsonType | undefined {
  const type = code === -1 ? BsonType.minKey : code;
  return CODES.has(type) && code !== 255 ? (type as BsonType) : undefined;
}

/** True for a component of a dotted path that can be an array's index: "0", "12", but not "01". */
export function isArrayIndex(part: string): boolean {
  return /^(0|[1-9][0-9]{0,9})$/.test(part);
}

/** Null, missing or the deprecated undefined: what most operators answer with null. */
export function isNullish(v: RawValue | undefined): v is undefined | (RawValue & { readonly type: 6 | 10 }) {
  return v === undefined || v.type === BsonType.null || v.type === BsonType.undefined;
}
