/**
 * The values a filter sees at a dotted path.
 *
 * Arrays make one path lead to many values. MongoDB's rules, for path "a.b":
 *
 *     { a: { b: 1 } }             1
 *     { a: { b: [1, 2] } }        1, 2 and the whole [1, 2]      (an array at the end is spread)
 *     { a: [{ b: 1 }, { b: 2 }] } 1, 2                           (an array on the way is entered)
 *     { a: [{ c: 1 }] }           missing                        (so { "a.b": null } matches)
 *     { a: [] }, { a: [5] }       nothing at all                 (so { "a.b": null } does not match)
 *     { a: [[{ b: 1 }]] }         nothing                        (arrays in arrays are not entered)
 *     { a: 5 }, {}                missing
 *
 * A number in the path also picks an array's element: "a.0.b" sees 1 in
 * `{ a: [{ b: 1 }] }`. An element picked at the path's end is not spread again.
 */
import { BsonType, asDocument, elements, getField, type RawValue } from "../../bson/index.js";
import { isArrayIndex } from "../values/types.js";

/** Asked of one value, or of `undefined` where the path is missing. */
export type ValueTest = (value: RawValue | undefined) => boolean;

/**
 * True when some value at the path passes.
 * @param parts the path's components
 * @param spread whether an array at the path's end is tested element by element too
 */
export function someValue(
  doc: Uint8Array,
  parts: readonly string[],
  from: number,
  spread: boolean,
  test: ValueTest,
): boolean {
  const last = parts.length - 1;
  let object = doc;
  for (let i = from; ; i++) {
    const value = getField(object, parts[i]!);
    if (i === last) return spread && value?.type === BsonType.array ? someOrWhole(value, test) : test(value);
    if (value === undefined) return test(undefined);
    if (value.type === BsonType.array) return someInArray(value, parts, i + 1, spread, test);
    if (value.type !== BsonType.object) return test(undefined);
    object = asDocument(value);
  }
}

/** An array's elements, then the array as a whole. */
export function someOrWhole(array: RawValue, test: ValueTest): boolean {
  for (const element of elements(asDocument(array))) if (test(element)) return true;
  return test(array);
}

function someInArray(
  array: RawValue,
  parts: readonly string[],
  at: number,
  spread: boolean,
  test: ValueTest,
): boolean {
  const part = parts[at]!;
  const index = isArrayIndex(part) ? Number(part) : -1;
  const list = elements(asDocument(array));
  for (let i = 0; i < list.length; i++) {
    const element = list[i]!;
    if (element.type === BsonType.object && someValue(asDocument(element), parts, at, spread, test))
      return true;
    if (i !== index) continue;
    if (at === parts.length - 1) {
      if (test(element)) return true;
    } else if (element.type === BsonType.object) {
      if (someValue(asDocument(element), parts, at + 1, spread, test)) return true;
    } else if (element.type === BsonType.array && someInArray(element, parts, at + 1, spread, test)) {
      return true;
    }
  }
  return false;
}

/**
 * The values at a path that a failed validation quotes: those that were
 * compared, an array at the path's end by its elements only.
 * @returns undefined where the path leads nowhere
 */
export function valuesAt(doc: Uint8Array, parts: readonly string[], spread: boolean): RawValue[] | undefined {
  const values: RawValue[] = [];
  let exists = false;
  const whole = (value: RawValue | undefined): boolean => {
    if (value === undefined) return false;
    exists = true;
    if (spread && value.type === BsonType.array) values.push(...elements(asDocument(value)));
    else values.push(value);
    return false; // go on to the next
  };
  someValue(doc, parts, 0, false, whole);
  return exists ? values : undefined;
}
