/**
 * Turns a filter tree into functions, once, before the first document is seen.
 *
 * A path predicate becomes a test of one value (`valueTest`), wrapped into the
 * walk over the values at its path (paths.ts). Top-level paths, the common
 * case, go straight to the field.
 */
import {
  BsonType,
  asBigInt,
  asDocument,
  canonicalType,
  elements,
  getField,
  isTruthy,
  numericValue,
  sortableValue,
  type RawValue,
} from "../../bson/index.js";
import { expressionContext } from "../expression/context.js";
import { comparisonTest } from "./comparison.js";
import type { FilterNode, PathNode } from "./node.js";
import { someOrWhole, someValue, type ValueTest } from "./paths.js";
import { patternTest } from "./regex.js";

export type DocumentTest = (doc: Uint8Array) => boolean;

/** The test of whole documents for a tree. */
export function documentTest(node: FilterNode): DocumentTest {
  switch (node.op) {
    case "and":
      return all(node.children.map(documentTest));
    case "or":
      return any(node.children.map(documentTest));
    case "nor":
      return none(node.children.map(documentTest));
    case "not": {
      const test = documentTest(node.child);
      return (doc) => !test(doc);
    }
    case "alwaysFalse":
      return () => false;
    case "expr": {
      const { expression } = node;
      return (doc) => isTruthy(expression(expressionContext(doc)));
    }
    default:
      return pathTest(node);
  }
}

function all<T>(tests: readonly ((v: T) => boolean)[]): (v: T) => boolean {
  const [first, second] = tests;
  if (first === undefined) return () => true;
  if (tests.length === 1) return first;
  if (tests.length === 2) return (v) => first(v) && second!(v);
  return (v) => {
    for (const test of tests) if (!test(v)) return false;
    return true;
  };
}

function any<T>(tests: readonly ((v: T) => boolean)[]): (v: T) => boolean {
  return (v) => {
    for (const test of tests) if (test(v)) return true;
    return false;
  };
}

function none<T>(tests: readonly ((v: T) => boolean)[]): (v: T) => boolean {
  const some = any(tests);
  return (v) => !some(v);
}

function pathTest(node: PathNode): DocumentTest {
  const test = valueTest(node);
  // $size and $elemMatch ask about the array itself.
  const spread = node.op !== "size" && node.op !== "elemMatch";
  const { path } = node;
  if (!path.includes(".")) {
    return (doc) => {
      const value = getField(doc, path);
      return spread && value?.type === BsonType.array ? someOrWhole(value, test) : test(value);
    };
  }
  const parts = path.split(".");
  return (doc) => someValue(doc, parts, 0, spread, test);
}

/** The test of one value for a predicate, its path left aside. */
function valueTest(node: PathNode): ValueTest {
  switch (node.op) {
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return comparisonTest(node.op, node.value);
    case "in":
      return any([membershipTest(node.values), ...node.regexes.map(patternTest)]);
    case "regex":
      return patternTest(node.pattern);
    case "exists":
      return (v) => v !== undefined;
    case "type": {
      const types = new Set<number>(node.types);
      return (v) => v !== undefined && types.has(v.type);
    }
    case "mod":
      return modTest(node.divisor, node.remainder);
    case "size": {
      const { size } = node;
      return (v) => v?.type === BsonType.array && elements(asDocument(v)).length === size;
    }
    case "elemMatch": {
      const test = elementTest(node.of, node.child);
      return (v) => v?.type === BsonType.array && elements(asDocument(v)).some(test);
    }
  }
}

/** Few values are compared one by one, many are looked up by their sortable key. */
function membershipTest(values: readonly RawValue[]): ValueTest {
  if (values.length <= 8) return any(values.map((value) => comparisonTest("eq", value)));
  const keys = new Set(values.map(sortableValue));
  const kinds = new Set(values.map((value) => canonicalType(value.type)));
  const matchesMissing = values.some((value) => value.type === BsonType.null);
  return (v) =>
    v === undefined ? matchesMissing : kinds.has(canonicalType(v.type)) && keys.has(sortableValue(v));
}

function modTest(divisor: bigint, remainder: bigint): ValueTest {
  return (v) => {
    const n = v === undefined ? undefined : numericValue(v);
    if (n === undefined || !Number.isFinite(n)) return false;
    if (n >= 9223372036854775808 || n < -9223372036854775808) return false;
    return asBigInt(v!) % divisor === remainder;
  };
}

function elementTest(of: "object" | "value", child: FilterNode): (element: RawValue) => boolean {
  if (of === "value") return singleValueTest(child, false);
  const test = documentTest(child);
  return (element) =>
    (element.type === BsonType.object || element.type === BsonType.array) && test(asDocument(element));
}

/**
 * The test of a single value for a tree whose paths are all "".
 * @param spread whether an array is tested element by element too (`$pull` does, `$elemMatch` does not)
 */
export function singleValueTest(node: FilterNode, spread: boolean): (v: RawValue) => boolean {
  switch (node.op) {
    case "and":
      return all(node.children.map((child) => singleValueTest(child, spread)));
    case "or":
      return any(node.children.map((child) => singleValueTest(child, spread)));
    case "nor":
      return none(node.children.map((child) => singleValueTest(child, spread)));
    case "not": {
      const test = singleValueTest(node.child, spread);
      return (v) => !test(v);
    }
    case "alwaysFalse":
      return () => false;
    case "expr":
      throw new Error("$expr has no single value to look at"); // the parser keeps it to the top level
    default: {
      const test = valueTest(node);
      const spreads = spread && node.op !== "size" && node.op !== "elemMatch";
      return spreads ? (v) => (v.type === BsonType.array ? someOrWhole(v, test) : test(v)) : test;
    }
  }
}
