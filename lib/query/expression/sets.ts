/**
 * Arrays as sets: `$setUnion $setIntersection $setDifference $setEquals
 * $setIsSubset`, `$allElementsTrue $anyElementTrue`.
 *
 * Equal are values equal in BSON order, strings by the collation. Unions and
 * intersections come in that order; a difference keeps the order of its first
 * operand.
 */
import {
  FALSE,
  NULL,
  TRUE,
  array,
  isTruthy,
  sortableValue,
  type Collation,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import {
  argumentList,
  compileArguments,
  isNullish,
  unary,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { listOf } from "./arrays.js";
import type { Expression } from "./context.js";
import { boundedArray } from "./limits.js";

/** Values without repetition, by their sortable keys; the first of equal ones stays. */
type ValueSet = Map<string, RawValue>;

function addAll(set: ValueSet, values: readonly RawValue[], collation: Collation | undefined): void {
  for (const v of values) {
    const key = sortableValue(v, collation);
    if (!set.has(key)) set.set(key, v);
  }
}

function setOf(values: readonly RawValue[], collation: Collation | undefined): ValueSet {
  const set: ValueSet = new Map();
  addAll(set, values, collation);
  return set;
}

function ordered(set: ValueSet, operator: string): RawValue {
  const keys = [...set.keys()].sort();
  return boundedArray(
    keys.map((key) => set.get(key)!),
    operator,
  );
}

const union: OperatorCompiler = (argument, scope, name) => {
  const operands = compileArguments(argument, scope, name, 0, Infinity);
  const { collation } = scope.options;
  return (context) => {
    const all: ValueSet = new Map();
    for (const operand of operands) {
      const v = operand(context);
      if (isNullish(v)) return NULL;
      const list = listOf(
        v,
        17043,
        (type) => `All operands of $setUnion must be arrays. One argument is of type: ${type}`,
      );
      addAll(all, list, collation);
    }
    return ordered(all, name);
  };
};

const intersection: OperatorCompiler = (argument, scope, name) => {
  const operands = compileArguments(argument, scope, name, 0, Infinity);
  const { collation } = scope.options;
  return (context) => {
    let common: ValueSet | undefined;
    for (const operand of operands) {
      const v = operand(context);
      if (isNullish(v)) return NULL;
      const list = listOf(
        v,
        17047,
        (type) => `All operands of $setIntersection must be arrays. One argument is of type: ${type}`,
      );
      const next = setOf(list, collation);
      if (common === undefined) common = next;
      else {
        const [small, large]: [ValueSet, ValueSet] =
          common.size > next.size ? [next, common] : [common, next];
        common = new Map([...small].filter(([key]) => large.has(key)));
      }
    }
    return ordered(common ?? new Map(), name);
  };
};

/** An operator of two sets, each with its own error. */
function pair(
  nullable: boolean,
  codes: readonly [number, number],
  answer: (a: RawValue[], b: RawValue[], collation: Collation | undefined) => RawValue,
): OperatorCompiler {
  return (argument, scope, name) => {
    const [left, right] = compileArguments(argument, scope, name, 2) as [Expression, Expression];
    const { collation } = scope.options;
    return (context) => {
      const a = left(context);
      const b = right(context);
      if (nullable && (isNullish(a) || isNullish(b))) return NULL;
      const wrong = (which: string) => (type: string) =>
        `both operands of ${name} must be arrays. ${which} argument is of type: ${type}`;
      return answer(listOf(a, codes[0], wrong("First")), listOf(b, codes[1], wrong("Second")), collation);
    };
  };
}

function difference(a: RawValue[], b: RawValue[], collation: Collation | undefined): RawValue {
  const seen = setOf(b, collation);
  const kept: RawValue[] = [];
  for (const v of a) {
    const key = sortableValue(v, collation);
    if (seen.has(key)) continue;
    seen.set(key, v);
    kept.push(v);
  }
  return array(kept);
}

function isSubset(a: RawValue[], b: RawValue[], collation: Collation | undefined): RawValue {
  const whole = setOf(b, collation);
  return a.every((v) => whole.has(sortableValue(v, collation))) ? TRUE : FALSE;
}

const equals: OperatorCompiler = (argument, scope, name) => {
  const count = argumentList(argument).length;
  if (count < 2) throw new CommandError(17045, `$setEquals needs at least two arguments had: ${count}`);
  const operands = compileArguments(argument, scope, name, 2, Infinity);
  const { collation } = scope.options;
  return (context) => {
    let first: ValueSet | undefined;
    for (const [i, operand] of operands.entries()) {
      const list = listOf(
        operand(context),
        5887502,
        (type) => `All operands of $setEquals must be arrays. ${i + 1}-th argument is of type: ${type}`,
      );
      const set = setOf(list, collation);
      if (first === undefined) first = set;
      else if (set.size !== first.size || ![...set.keys()].every((key) => first!.has(key))) return FALSE;
    }
    return TRUE;
  };
};

function truth(code: number, holds: (list: RawValue[]) => boolean): OperatorCompiler {
  return unary((v: Argument, name) =>
    holds(listOf(v, code, (type) => `${name}'s argument must be an array, but is ${type}`)) ? TRUE : FALSE,
  );
}

export const SETS: Readonly<Record<string, OperatorCompiler>> = {
  $setUnion: union,
  $setIntersection: intersection,
  $setDifference: pair(true, [17048, 17049], difference),
  $setEquals: equals,
  $setIsSubset: pair(false, [17046, 17042], isSubset),
  $allElementsTrue: truth(17040, (list) => list.every(isTruthy)),
  $anyElementTrue: truth(17041, (list) => list.some(isTruthy)),
};
