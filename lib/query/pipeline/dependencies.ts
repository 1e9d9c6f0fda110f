/**
 * Which fields of its input a pipeline can see at all.
 *
 *     [{$match: {a: 1}}, {$set: {d: "$b.c"}}, {$group: {_id: "$d", n: {$sum: "$e"}}}]   →   a, b.c, d, e
 *     [{$match: {a: 1}}, {$count: "n"}]                                                 →   a, and behind it nothing
 *     [{$match: {a: 1}}, {$sort: {b: 1}}]                                               →   everything
 *
 * A stage that makes new documents of named parts (`$group`, an including
 * `$project`) ends the search: what it does not name nobody behind it sees. An
 * index that holds all of the fields then covers the query, and a plan that
 * only counts looks at no document.
 */
import {
  BsonType,
  asDocument,
  asString,
  elements,
  fields,
  getField,
  isNumeric,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { isArrayIndex } from "../values/types.js";
import type { ParsedStage } from "./stage.js";
import { projectionFlags } from "./stages/shaping.js";

/** Thrown, and caught within this file, when everything is needed. */
class Everything extends Error {}

/** Operators whose arguments name fields in other ways than `"$path"`, or see whole documents. */
const OPAQUE: ReadonlySet<string> = new Set([
  "$bottom",
  "$bottomN",
  "$function",
  "$getField",
  "$meta",
  "$setField",
  "$top",
  "$topN",
  "$unsetField",
]);

/**
 * The paths that a pipeline needs of its input, none of them below another.
 * @returns undefined when it needs whole documents
 */
export function neededPaths(stages: readonly ParsedStage[]): string[] | undefined {
  const paths = new Set<string>();
  try {
    for (const stage of stages) if (addNeeds(stage.name, stage.spec, paths)) return withoutInner(paths);
    return undefined;
  } catch (error) {
    if (error instanceof Everything) return undefined;
    throw error;
  }
}

function everything(): never {
  throw new Everything();
}

/** Adds what a stage looks at; true when nothing else of its input reaches the stages behind it. */
function addNeeds(name: string, spec: RawValue, paths: Set<string>): boolean {
  switch (name) {
    case "$match":
      addFilter(asDocument(spec), paths);
      return false;
    case "$limit":
    case "$skip":
    case "$sample":
    case "$unionWith":
      return false;
    case "$sort":
      for (const [path] of fields(asDocument(spec))) addPath(path, paths);
      return false;
    case "$set":
    case "$addFields":
      addExpression(spec, paths);
      return false;
    case "$unwind": {
      const path = spec.type === BsonType.string ? spec : getField(asDocument(spec), "path");
      addExpression(path!, paths);
      return false;
    }
    case "$lookup":
      addLookup(asDocument(spec), paths);
      return false;
    case "$project":
      return addProjection(asDocument(spec), paths);
    case "$count":
      return true;
    case "$group":
    case "$sortByCount":
      addExpression(spec, paths);
      return true;
    case "$bucket":
    case "$bucketAuto":
      for (const part of ["groupBy", "output"]) {
        const value = getField(asDocument(spec), part);
        if (value) addExpression(value, paths);
      }
      return true;
    default:
      return everything();
  }
}

function addPath(path: string, paths: Set<string>): void {
  const parts = path.split(".");
  if (parts.some((part) => part === "" || part.startsWith("$"))) everything();
  // A number may mean an element of an array: then the array is needed.
  const index = parts.findIndex((part) => isArrayIndex(part));
  paths.add((index < 0 ? parts : parts.slice(0, Math.max(1, index))).join("."));
}

function addExpression(value: RawValue, paths: Set<string>): void {
  if (value.type === BsonType.string) {
    const text = asString(value);
    if (text.startsWith("$$")) addVariable(text.slice(2), paths);
    else if (text.startsWith("$")) addPath(text.slice(1), paths);
  } else if (value.type === BsonType.array) {
    for (const element of elements(asDocument(value))) addExpression(element, paths);
  } else if (value.type === BsonType.object) {
    for (const [name, argument] of fields(asDocument(value))) {
      if (OPAQUE.has(name)) everything();
      if (name !== "$literal" && name !== "$const") addExpression(argument, paths);
    }
  }
}

function addVariable(reference: string, paths: Set<string>): void {
  const [name, ...rest] = reference.split(".");
  if (name !== "ROOT" && name !== "CURRENT") return;
  if (rest.length === 0) everything();
  addPath(rest.join("."), paths);
}

function addFilter(filter: Uint8Array, paths: Set<string>): void {
  for (const [name, value] of fields(filter)) {
    if (name === "$comment") continue;
    if (name === "$expr") addExpression(value, paths);
    else if (name === "$and" || name === "$or" || name === "$nor") {
      if (value.type !== BsonType.array) everything();
      for (const child of elements(asDocument(value))) addFilter(asDocument(child), paths);
    } else if (name.startsWith("$")) everything();
    else addPath(name, paths);
  }
}

function addLookup(spec: Uint8Array, paths: Set<string>): void {
  const local = getField(spec, "localField");
  if (local) addPath(asString(local), paths);
  const variables = getField(spec, "let");
  if (variables) addExpression(variables, paths);
}

/** An including projection names all that is left; an excluding one leaves the rest as it is. */
function addProjection(spec: Uint8Array, paths: Set<string>): boolean {
  const flags = projectionFlags(spec, "");
  if (flags && !flags.some(({ keep }) => keep)) return false;
  const id = getField(spec, "_id");
  if (id === undefined) paths.add("_id");
  const addFields = (doc: Uint8Array, prefix: string): void => {
    for (const [name, value] of fields(doc)) {
      const path = prefix + name;
      if (value.type === BsonType.bool || isNumeric(value)) {
        if (path !== "_id" || isTruthy(value)) addPath(path, paths);
      } else if (value.type === BsonType.object && !isOperator(value)) {
        addFields(asDocument(value), `${path}.`);
      } else addExpression(value, paths);
    }
  };
  addFields(spec, "");
  return true;
}

function isOperator(value: RawValue): boolean {
  const [first] = fields(asDocument(value));
  return first === undefined || first[0].startsWith("$");
}

/** Leaves out paths that lie below another. */
function withoutInner(paths: ReadonlySet<string>): string[] {
  return [...paths].filter((path) => {
    for (let dot = path.lastIndexOf("."); dot > 0; dot = path.lastIndexOf(".", dot - 1)) {
      if (paths.has(path.slice(0, dot))) return false;
    }
    return true;
  });
}
