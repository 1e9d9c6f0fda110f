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
  compareValues,
  document,
  elements,
  getField,
  int64,
  isNumeric,
  isTruthy,
  sortableValue,
  type Collation,
  type RawValue,
} from "../../bson/index.js";
import { expressionContext } from "../expression/context.js";
import { bitsTest } from "./bits.js";
import { comparisonTest } from "./comparison.js";
import { matchesSchema } from "./jsonSchema.js";
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
      return any(joinEqualities(node.children).map(documentTest));
    case "nor":
      return none(joinEqualities(node.children).map(documentTest));
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
    case "jsonSchema": {
      const { schema } = node;
      return (doc) => matchesSchema(schema, document(doc));
    }
    case "sampleRate": {
      const { rate, random } = node;
      return () => rate === 1 || random() < rate;
    }
    default:
      return pathTest(node);
  }
}

/** A comparison with one value; among them are the equalities. */
type Comparison = Extract<FilterNode, { op: "eq" | "gt" | "gte" | "lt" | "lte" }>;

/** Fewer equalities on one path than these are tested one by one. */
const MANY = 8;

/** Many equalities on one path are looked up together: a long `$or` of them is as quick as `$in`. */
function joinEqualities(children: readonly FilterNode[]): readonly FilterNode[] {
  if (children.length <= MANY) return children;
  const rest: FilterNode[] = [];
  const byPath = new Map<string, Comparison[]>();
  for (const child of children) {
    if (child.op !== "eq") {
      rest.push(child);
      continue;
    }
    const list = byPath.get(child.path);
    if (list === undefined) byPath.set(child.path, [child]);
    else list.push(child);
  }
  for (const [path, list] of byPath) {
    if (list.length <= MANY) {
      rest.push(...list);
      continue;
    }
    const collation = list.find((node) => node.collation !== undefined)?.collation;
    const values = list.map((node) => node.value).sort((a, b) => compareValues(a, b, collation));
    rest.push({ op: "in", path, values, regexes: [], ...(collation && { collation }) });
  }
  return rest;
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
      return comparisonTest(node.op, node.value, node.collation);
    case "in":
      return any([membershipTest(node.values, node.collation), ...node.regexes.map(patternTest)]);
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
    case "bits":
      return bitsTest(node.kind, node.positions);
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

/**
 * Few values are compared one by one, many are looked up by their sortable
 * key. With a collation they are searched in their order: a key would be kept
 * for every string that documents have.
 */
function membershipTest(values: readonly RawValue[], collation: Collation | undefined): ValueTest {
  if (values.length <= 8) return any(values.map((value) => comparisonTest("eq", value, collation)));
  const kinds = new Set(values.map((value) => canonicalType(value.type)));
  const matchesMissing = values.some((value) => value.type === BsonType.null);
  const includes = collation === undefined ? hasKey(values) : binarySearch(values, collation);
  return (v) => (v === undefined ? matchesMissing : kinds.has(canonicalType(v.type)) && includes(v));
}

function hasKey(values: readonly RawValue[]): (v: RawValue) => boolean {
  const keys = new Set(values.map((value) => sortableValue(value)));
  return (v) => keys.has(sortableValue(v));
}

function binarySearch(values: readonly RawValue[], collation: Collation): (v: RawValue) => boolean {
  return (v) => {
    let low = 0;
    let high = values.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const order = compareValues(v, values[middle]!, collation);
      if (order === 0) return true;
      if (order < 0) high = middle - 1;
      else low = middle + 1;
    }
    return false;
  };
}

const INT64_LIMITS = [int64(-(2n ** 63n)), int64(2n ** 63n - 1n)] as const;

/** The part of a number before its point, where that is a 64-bit integer. */
function integerPart(v: RawValue): bigint | undefined {
  if (v.type === BsonType.double || v.type === BsonType.decimal128) {
    const fits = compareValues(v, INT64_LIMITS[0]) >= 0 && compareValues(v, INT64_LIMITS[1]) <= 0;
    if (!fits) return undefined; // NaN, which is below all numbers, too
  }
  return asBigInt(v);
}

function modTest(divisor: bigint, remainder: bigint): ValueTest {
  return (v) => {
    if (v === undefined || !isNumeric(v)) return false;
    const n = integerPart(v);
    return n !== undefined && n % divisor === remainder;
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
    case "jsonSchema":
    case "sampleRate":
      throw new Error(`${node.op} has no single value to look at`); // the parser keeps it to documents
    default: {
      const test = valueTest(node);
      const spreads = spread && node.op !== "size" && node.op !== "elemMatch";
      return spreads ? (v) => (v.type === BsonType.array ? someOrWhole(v, test) : test(v)) : test;
    }
  }
}
