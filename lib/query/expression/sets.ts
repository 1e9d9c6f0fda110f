/** Arrays taken as sets: `$setUnion $setIntersection $setDifference $setEquals $setIsSubset`, `$allElementsTrue $anyElementTrue`. */
import { FALSE, NULL, TRUE, array, isTruthy, sortableValue, type RawValue } from "../../bson/index.js";
import { isNullish, unary, variadic, type Argument, type OperatorCompiler } from "./arguments.js";
import { listOf } from "./arrays.js";

/** Values without repetition, by their sortable keys. */
function distinct(values: readonly RawValue[]): Map<string, RawValue> {
  const result = new Map<string, RawValue>();
  for (const v of values) {
    const key = sortableValue(v);
    if (!result.has(key)) result.set(key, v);
  }
  return result;
}

function sets(values: readonly Argument[], name: string, code: number): Map<string, RawValue>[] | undefined {
  const result: Map<string, RawValue>[] = [];
  for (const v of values) {
    if (isNullish(v)) return undefined;
    result.push(
      distinct(
        listOf(v, code, (type) => `All operands of ${name} must be arrays. One argument is of type: ${type}`),
      ),
    );
  }
  return result;
}

function combine(
  code: number,
  keep: (sets: Map<string, RawValue>[]) => Iterable<RawValue>,
): (values: readonly Argument[], name: string) => Argument {
  return (values, name) => {
    const all = sets(values, name, code);
    return all === undefined ? NULL : array([...keep(all)]);
  };
}

function* union(all: Map<string, RawValue>[]): Iterable<RawValue> {
  const merged = new Map<string, RawValue>();
  for (const set of all) for (const [key, v] of set) if (!merged.has(key)) merged.set(key, v);
  yield* merged.values();
}

function* intersection([first, ...rest]: Map<string, RawValue>[]): Iterable<RawValue> {
  for (const [key, v] of first ?? []) if (rest.every((set) => set.has(key))) yield v;
}

function* difference([first, second]: Map<string, RawValue>[]): Iterable<RawValue> {
  for (const [key, v] of first!) if (!second!.has(key)) yield v;
}

function setTest(
  holds: (all: Map<string, RawValue>[]) => boolean,
  code: number,
): (values: readonly Argument[], name: string) => Argument {
  return (values, name) => {
    const all = values.map((v) =>
      distinct(
        listOf(v, code, (type) => `All operands of ${name} must be arrays. One argument is of type: ${type}`),
      ),
    );
    return holds(all) ? TRUE : FALSE;
  };
}

function subset(a: Map<string, RawValue>, b: Map<string, RawValue>): boolean {
  for (const key of a.keys()) if (!b.has(key)) return false;
  return true;
}

export const SETS: Readonly<Record<string, OperatorCompiler>> = {
  $setUnion: variadic(combine(17043, union)),
  $setIntersection: variadic(combine(17047, intersection)),
  $setDifference: variadic(combine(17048, difference), 2, 2),
  $setEquals: variadic(
    setTest(
      ([first, ...rest]) => rest.every((set) => set.size === first!.size && subset(set, first!)),
      17044,
    ),
    2,
  ),
  $setIsSubset: variadic(
    setTest(([a, b]) => subset(a!, b!), 17046),
    2,
    2,
  ),
  $allElementsTrue: unary((v) =>
    listOf(v, 17040, (type) => `$allElementsTrue's argument must be an array, but is ${type}`).every(isTruthy)
      ? TRUE
      : FALSE,
  ),
  $anyElementTrue: unary((v) =>
    listOf(v, 17041, (type) => `$anyElementTrue's argument must be an array, but is ${type}`).some(isTruthy)
      ? TRUE
      : FALSE,
  ),
};
