/**
 * Reads projections: of `find`, and of the stages `$project`, `$addFields`,
 * `$unset`. They share one tree; find adds `$slice` and `$elemMatch`, which
 * mean something else, or nothing, in `$project`.
 */
import {
  BsonType,
  DocumentWriter,
  array,
  asDocument,
  asString,
  document,
  elements,
  fields,
  firstField,
  getField,
  isEmptyDocument,
  isNumeric,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, notSimulated } from "../../protocol/index.js";
import { compileExpression, constant } from "../expression/compile.js";
import type { Expression, ExpressionOptions } from "../expression/context.js";
import { parseFilter, parsePath } from "../filter/parse.js";
import { isOperatorObject } from "../filter/operators.js";
import { documentTest, singleValueTest } from "../filter/match.js";
import { wholeNumber } from "../values/numeric.js";
import { ProjectionTree, type ProjectionEntry } from "./tree.js";

export type ProjectionDialect = "find" | "$project";

/** One field of the specification. */
interface Item {
  readonly path: string;
  readonly entry: ProjectionEntry;
  /** find's `$slice` goes with an inclusion as well as with an exclusion. */
  readonly neutral?: boolean;
}

/** Parses a projection. Throws 31253 and 31254 where inclusion and exclusion are mixed, 31249 and 31250 on path collisions. */
export function parseProjection(
  spec: Uint8Array,
  dialect: ProjectionDialect,
  options: ExpressionOptions = {},
): ProjectionTree {
  const items: Item[] = [];
  collect(spec, "", items, dialect, options);
  const deciding = items.find(({ path, entry, neutral }) => !neutral && !(path === "_id" && isFlag(entry)));
  const idItem = items.find(({ path, entry }) => path === "_id" && isFlag(entry));
  let excludes: boolean;
  if (deciding !== undefined) excludes = deciding.entry.kind === "drop";
  else if (items.some(({ neutral }) => neutral)) excludes = true;
  else excludes = idItem?.entry.kind === "drop";
  const tree = new ProjectionTree(excludes ? "keep" : "drop");
  // Unless it is excluded, an inclusion keeps _id.
  if (!excludes && !items.some(({ path }) => path === "_id" || path.startsWith("_id."))) {
    tree.entries.set("_id", { kind: "keep" });
  }
  for (const item of items) {
    const { path, entry, neutral } = item;
    if (!neutral && path !== "_id") checkMode(path, entry, excludes);
    insert(tree, path, entry);
  }
  return tree;
}

function isFlag(entry: ProjectionEntry): boolean {
  return entry.kind === "keep" || entry.kind === "drop";
}

function checkMode(path: string, entry: ProjectionEntry, excludes: boolean): void {
  if (excludes && entry.kind === "keep") {
    throw new CommandError(31253, `Cannot do inclusion on field ${path} in exclusion projection`);
  }
  if (excludes && entry.kind === "compute") {
    throw new CommandError(31252, "Cannot use an expression other than $meta in exclusion projection");
  }
  if (!excludes && entry.kind === "drop") {
    throw new CommandError(31254, `Cannot do exclusion on field ${path} in inclusion projection`);
  }
}

function collect(
  spec: Uint8Array,
  prefix: string,
  items: Item[],
  dialect: ProjectionDialect,
  options: ExpressionOptions,
): void {
  for (const [name, value] of fields(spec)) {
    const path = prefix + name;
    checkPath(path, dialect);
    if (value.type === BsonType.bool || isNumeric(value)) {
      items.push({ path, entry: { kind: isTruthy(value) ? "keep" : "drop" } });
      continue;
    }
    if (value.type === BsonType.object) {
      const doc = asDocument(value);
      if (isEmptyDocument(doc)) {
        throw new CommandError(
          51270,
          `An empty sub-projection is not a valid value. Found empty object at path`,
        );
      }
      const operator = firstField(doc)![0];
      if (!operator.startsWith("$")) {
        collect(doc, `${path}.`, items, dialect, options);
        continue;
      }
      if (dialect === "find") {
        const special = findOperator(path, operator, doc, options);
        if (special !== undefined) {
          items.push(special);
          continue;
        }
      }
    }
    items.push({
      path,
      entry: { kind: "compute", expression: compileExpression(value, options), place: "end" },
    });
  }
}

function checkPath(path: string, dialect: ProjectionDialect): void {
  if (path.endsWith(".$") && dialect === "find") throw notSimulated("the positional projection 'field.$'");
  const parts = path.split(".");
  if (parts.some((part) => part === "")) {
    throw new CommandError(path === "" ? 40352 : 15998, "FieldPath cannot be constructed with empty string");
  }
  if (parts.some((part) => part.startsWith("$"))) {
    throw new CommandError(
      16410,
      "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    );
  }
}

function findOperator(
  path: string,
  operator: string,
  doc: Uint8Array,
  options: ExpressionOptions,
): Item | undefined {
  const argument = getField(doc, operator)!;
  switch (operator) {
    case "$slice":
      if (path.includes(".")) throw notSimulated("$slice on a dotted path in a projection");
      return {
        path,
        entry: { kind: "compute", expression: sliceOf(path, argument, options), place: "here" },
        neutral: true,
      };
    case "$elemMatch":
      if (path.includes(".")) {
        throw new CommandError(31255, "Cannot use $elemMatch projection on a nested field.");
      }
      return {
        path,
        entry: { kind: "compute", expression: firstMatch(path, argument, options), place: "end" },
      };
    case "$meta":
      throw notSimulated("$meta in a projection");
    default:
      return undefined;
  }
}

/** `{ $slice: n }` and `{ $slice: [skip, n] }` on an array; any other value stays as it is. */
function sliceOf(path: string, argument: RawValue, options: ExpressionOptions): Expression {
  const list = argument.type === BsonType.array ? elements(asDocument(argument)) : [argument];
  const numbers = list.map(wholeNumber);
  // With an array in front it is the aggregation operator of the same name.
  if (list.length > 2 || (list.length === 2 && numbers[0] === undefined)) {
    return compileExpression(argumentObject("$slice", argument), options);
  }
  if (numbers.includes(undefined)) {
    throw new CommandError(28667, "Invalid $slice syntax. The given syntax did not match the find() syntax");
  }
  const [first, second] = numbers as [number, number | undefined];
  if (second !== undefined && second <= 0) {
    throw new CommandError(28724, `$slice limit must be positive`);
  }
  return ({ root }) => {
    const value = getField(root, path);
    if (value?.type !== BsonType.array) return value;
    const values = elements(asDocument(value));
    if (second === undefined) return array(first >= 0 ? values.slice(0, first) : values.slice(first));
    const from = first >= 0 ? first : Math.max(0, values.length + first);
    return array(values.slice(from, from + second));
  };
}

function argumentObject(name: string, argument: RawValue): RawValue {
  const doc = new DocumentWriter().field(name, argument).finish();
  return document(doc);
}

/** `$elemMatch`: an array of the first element that matches; missing where none does. */
function firstMatch(path: string, argument: RawValue, options: ExpressionOptions): Expression {
  if (argument.type !== BsonType.object) {
    throw new CommandError(31274, "elemMatch: Invalid argument, object required");
  }
  const doc = asDocument(argument);
  const context = { ...options, depth: 0 };
  const test = isOperatorObject(doc)
    ? singleValueTest(parsePath("", argument, context), false)
    : objectTest(documentTest(parseFilter(doc, context)));
  return ({ root }) => {
    const value = getField(root, path);
    if (value?.type !== BsonType.array) return undefined;
    const found = elements(asDocument(value)).find(test);
    return found === undefined ? undefined : array([found]);
  };
}

function objectTest(test: (doc: Uint8Array) => boolean): (v: RawValue) => boolean {
  return (v) => (v.type === BsonType.object || v.type === BsonType.array) && test(asDocument(v));
}

/** Hangs an entry into the tree, making the levels of its path. */
export function insert(tree: ProjectionTree, path: string, entry: ProjectionEntry): void {
  const parts = path.split(".");
  let level = tree;
  const levels = [tree];
  for (let i = 0; i < parts.length - 1; i++) {
    const existing = level.entries.get(parts[i]!);
    if (existing === undefined) {
      const inner = new ProjectionTree(level.rest);
      level.entries.set(parts[i]!, { kind: "tree", tree: inner });
      level = inner;
    } else if (existing.kind === "tree") {
      level = existing.tree;
    } else {
      throw new CommandError(
        31249,
        `Path collision at ${path} remaining portion ${parts.slice(i + 1).join(".")}`,
      );
    }
    levels.push(level);
  }
  const last = parts.at(-1)!;
  if (level.entries.has(last)) throw new CommandError(31250, `Path collision at ${path}`);
  level.entries.set(last, entry);
  if (entry.kind === "compute") for (const each of levels) each.computes = true;
}

/** `$addFields` and `$set`: everything is kept, every value is an expression, objects are paths written otherwise. */
export function parseAddFields(spec: Uint8Array, options: ExpressionOptions): ProjectionTree {
  const tree = new ProjectionTree("keep");
  const add = (doc: Uint8Array, prefix: string): void => {
    for (const [name, value] of fields(doc)) {
      const path = prefix + name;
      checkPath(path, "$project");
      if (value.type === BsonType.object) {
        const inner = asDocument(value);
        const first = firstField(inner);
        if (first !== undefined && !first[0].startsWith("$")) {
          add(inner, `${path}.`);
          continue;
        }
        if (first === undefined) {
          insert(tree, path, { kind: "compute", expression: constant(value), place: "here" });
          continue;
        }
      }
      insert(tree, path, { kind: "compute", expression: compileExpression(value, options), place: "here" });
    }
  };
  add(spec, "");
  return tree;
}

/** `$unset: "a"` or `$unset: ["a", "b.c"]`. */
export function parseUnset(spec: RawValue): ProjectionTree {
  const list = spec.type === BsonType.array ? elements(asDocument(spec)) : [spec];
  const tree = new ProjectionTree("keep");
  if (list.length === 0) {
    throw new CommandError(
      31119,
      "$unset specification must be a string or an array with at least one field",
    );
  }
  for (const item of list) {
    if (item.type !== BsonType.string) {
      throw new CommandError(
        31120,
        "$unset specification must be a string or an array containing only string values",
      );
    }
    checkPath(asString(item), "$project");
    insert(tree, asString(item), { kind: "drop" });
  }
  return tree;
}
