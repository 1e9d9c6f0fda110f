/**
 * Reads projections: of `find`, and of the stage `$project`.
 *
 *     { a: 1, "b.c": 1, total: { $add: ["$x", "$y"] } }     inclusion
 *     { a: 0, "b.c": 0 }                                    exclusion
 *     { a: { $slice: 5 }, b: { $elemMatch: {…} }, "c.$": 1 }  only in find
 *
 * The first field that decides makes the whole an inclusion or an exclusion;
 * `_id` may go against it. Where nothing decides, `$slice` and `$meta` exclude
 * nothing, and `$elemMatch` includes.
 */
import {
  BsonType,
  asDocument,
  describeDocument,
  describeValue,
  fields,
  firstField,
  isEmptyDocument,
  isNumeric,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, codeName } from "../../protocol/index.js";
import { compileExpression } from "../expression/compile.js";
import type { ExpressionOptions } from "../expression/context.js";
import type { FilterNode } from "../filter/node.js";
import { elemMatch, positional, readSlice, slice, type AfterProjection } from "./findOperators.js";
import { insert } from "./fieldPaths.js";
import { ProjectionTree, type ProjectionEntry } from "./tree.js";

export type ProjectionDialect = "find" | "$project";

const POSITIONAL_IN_THE_MIDDLE =
  "As of 4.4, it's illegal to specify positional operator in the middle of a path.Positional projection may only be " +
  "used at the end, for example: a.b.$. If the query previously used a form like a.b.$.d, remove the parts following " +
  "the '$' and the results will be equivalent.";

/** A parsed projection. */
export interface ParsedProjection {
  readonly kind: "inclusion" | "exclusion";
  readonly tree: ProjectionTree;
  /** The positional operator, then find's `$slice`s: applied to what the tree gives. */
  readonly after: readonly AfterProjection[];
}

/** What has been met so far. */
interface State {
  readonly dialect: ProjectionDialect;
  readonly options: ExpressionOptions;
  readonly filter: FilterNode | undefined;
  /** Entries in the order of the specification. */
  readonly items: { readonly path: string; readonly entry: ProjectionEntry }[];
  /** Detects collisions before it is known whether the projection includes or excludes. */
  readonly paths: ProjectionTree;
  readonly slices: AfterProjection[];
  readonly positionals: AfterProjection[];
  kind: "inclusion" | "exclusion" | undefined;
  hasElemMatch: boolean;
  hasMeta: boolean;
  mentionsId: boolean;
  /** `{ _id: 1 }` or `{ _id: 0 }`. */
  id: "included" | "excluded" | undefined;
}

/**
 * Parses a projection.
 * @param filter the query's filter, which the positional operator looks at
 * @throws CommandError 31253 and 31254 where inclusion and exclusion are mixed, 31249 and 31250 on path collisions,
 *   and MongoDB's codes for wrong arguments
 */
export function parse(
  spec: Uint8Array,
  dialect: ProjectionDialect,
  options: ExpressionOptions = {},
  filter?: FilterNode,
): ParsedProjection {
  const state: State = {
    dialect,
    options,
    filter,
    items: [],
    paths: new ProjectionTree("keep"),
    slices: [],
    positionals: [],
    kind: undefined,
    hasElemMatch: false,
    hasMeta: false,
    mentionsId: false,
    id: undefined,
  };
  for (const [name, value] of fields(spec)) {
    if (name === "_id" || name.startsWith("_id.")) state.mentionsId = true;
    parseElement(state, name, value, "");
  }
  const kind = state.kind ?? kindByDefault(state);
  return { kind, tree: treeOf(state, kind), after: [...state.positionals, ...state.slices] };
}

/** MongoDB's rules for projections that neither include nor exclude a field other than `_id`. */
function kindByDefault({ slices, hasElemMatch, hasMeta, dialect, id }: State): "inclusion" | "exclusion" {
  if (slices.length > 0) return id === "included" ? "inclusion" : "exclusion";
  if (hasElemMatch || (hasMeta && dialect === "$project")) return "inclusion";
  return id === "included" ? "inclusion" : "exclusion";
}

function treeOf(state: State, kind: "inclusion" | "exclusion"): ProjectionTree {
  const tree = new ProjectionTree(kind === "inclusion" ? "drop" : "keep");
  if (kind === "inclusion" && !state.mentionsId) tree.entries.set("_id", { kind: "keep" });
  for (const { path, entry } of state.items) {
    if (kind === "exclusion" && entry.kind === "keep") continue; // _id, or an array that $slice shortens
    insert(
      tree,
      path,
      entry.kind === "compute" && kind === "exclusion" ? { ...entry, place: "here" } : entry,
    );
  }
  tree.noteComputed();
  return tree;
}

function add(state: State, path: string, entry: ProjectionEntry): void {
  insert(state.paths, path, entry);
  state.items.push({ path, entry });
}

function parseElement(state: State, name: string, value: RawValue, prefix: string): void {
  const isPositional = name.endsWith(".$");
  if (isPositional && state.dialect !== "find")
    throw new CommandError(31324, "Cannot use positional projection in aggregation projection");
  if (name.includes(".$.")) throw new CommandError(31394, POSITIONAL_IN_THE_MIDDLE);
  const path = prefix + name;
  if (value.type === BsonType.object) {
    if (isPositional)
      throw new CommandError(31271, "positional projection cannot be used with an expression or sub object");
    parseObject(state, name, asDocument(value), prefix);
  } else if (value.type === BsonType.bool || isNumeric(value)) {
    if (isTruthy(value)) include(state, name, path, isPositional);
    else if (!isPositional) exclude(state, name, path);
    else throw new CommandError(31395, "positional projection cannot be used with exclusion");
  } else {
    if (isPositional) throw new CommandError(31308, "positional projection cannot be used with a literal");
    add(state, path, { kind: "compute", expression: compileExpression(value, state.options), place: "end" });
    if (state.kind === "exclusion") {
      throw new CommandError(
        31310,
        `Cannot use an expression ${name}: ${describeValue(value)} in an exclusion projection`,
      );
    }
    state.kind = "inclusion";
  }
}

function include(state: State, name: string, path: string, isPositional: boolean): void {
  const isId = path === "_id";
  if (isPositional) {
    includePositional(state, name, path);
  } else {
    add(state, path, { kind: "keep" });
    if (isId) state.id = "included";
  }
  if (isId) return;
  if (state.kind === "exclusion")
    throw new CommandError(31253, `Cannot do inclusion on field ${name} in exclusion projection`);
  state.kind = "inclusion";
}

function includePositional(state: State, name: string, path: string): void {
  if (state.positionals.length > 0)
    throw new CommandError(31276, "Cannot specify more than one positional projection per query.");
  if (state.hasElemMatch) throw new CommandError(31256, "Cannot specify positional operator and $elemMatch.");
  const { filter } = state;
  if (filter === undefined)
    throw new CommandError(51050, "Projections with a positional operator require a matcher");
  if (name === ".$") throw new CommandError(5392900, `Projection on field ${name} is invalid`);
  const field = path.slice(0, -".$".length);
  add(state, field, { kind: "keep" });
  state.positionals.push(positional(field, filter, state.options));
}

function exclude(state: State, name: string, path: string): void {
  add(state, path, { kind: "drop" });
  if (path === "_id") {
    state.id = "excluded";
    return;
  }
  if (state.kind === "inclusion")
    throw new CommandError(31254, `Cannot do exclusion on field ${name} in inclusion projection`);
  state.kind = "exclusion";
}

/** An object is an expression where its only field is an operator, and else a projection of the fields within. */
function parseObject(state: State, name: string, doc: Uint8Array, prefix: string): void {
  const path = prefix + name;
  if (isEmptyDocument(doc)) {
    throw new CommandError(51270, "An empty sub-projection is not a valid value. Found empty object at path");
  }
  const list = fields(doc);
  const [operator, argument] = list[0]!;
  if (list.length === 1 && operator.startsWith("$")) {
    parseOperator(state, path, doc, operator, argument);
    return;
  }
  insert(state.paths, path, { kind: "tree", tree: new ProjectionTree("keep") });
  for (const [inner, value] of list) parseElement(state, inner, value, `${path}.`);
}

function parseOperator(
  state: State,
  path: string,
  doc: Uint8Array,
  operator: string,
  argument: RawValue,
): void {
  if (operator === "$elemMatch") {
    parseElemMatch(state, path, argument);
  } else if (operator === "$slice" && state.dialect === "find") {
    parseSlice(state, path, doc, argument);
  } else {
    parseExpression(state, path, doc, operator);
  }
}

function parseElemMatch(state: State, path: string, argument: RawValue): void {
  if (state.dialect !== "find") throw new CommandError(168, "Cannot use $elemMatch in this context");
  const expression = elemMatch(path, argument, state.options);
  if (state.positionals.length > 0)
    throw new CommandError(31255, "Cannot specify positional operator and $elemMatch.");
  if (path.includes("."))
    throw new CommandError(31275, "Cannot use $elemMatch projection on a nested field.");
  add(state, path, { kind: "compute", expression, place: "end" });
  state.hasElemMatch = true;
}

/** find's `$slice`, or else the aggregation operator of that name. */
function parseSlice(state: State, path: string, doc: Uint8Array, argument: RawValue): void {
  const read = readSlice(argument);
  if (!(read instanceof CommandError)) {
    add(state, path, { kind: "keep" });
    state.slices.push(slice(path, read));
    return;
  }
  try {
    parseExpression(state, path, doc, "$slice");
  } catch (error) {
    if (error instanceof CommandError) {
      error.message =
        `Invalid $slice syntax. The given syntax ${describeDocument(doc)} did not match the find() syntax because :: ` +
        `${codeName(read.code)}: ${read.message} :: The given syntax did not match the expression $slice syntax. ` +
        `:: caused by :: ${error.message}`;
    }
    throw error;
  }
}

function parseExpression(state: State, path: string, doc: Uint8Array, operator: string): void {
  const isMeta = operator === "$meta";
  const value: RawValue = { type: BsonType.object, bytes: doc, start: 0, end: doc.length };
  let expression;
  try {
    expression = compileExpression(value, state.options);
  } catch (error) {
    if (error instanceof CommandError && isUnknown(error, operator))
      throw new CommandError(31325, `Unknown expression ${operator}`);
    throw error;
  }
  if (state.kind === "exclusion" && !isMeta)
    throw new CommandError(31252, "Cannot use expression other than $meta in exclusion projection");
  if (isMeta) state.hasMeta = true;
  else state.kind = "inclusion";
  add(state, path, { kind: "compute", expression, place: "end" });
}

/** The expression's own operator is unknown, not one in its arguments. */
function isUnknown({ code, message }: CommandError, operator: string): boolean {
  return code === 168 && message === `Unrecognized expression '${operator}'`;
}

/** The name of an object's operator, if it is one: for callers that only look. */
export function operatorOf(value: RawValue): string | undefined {
  if (value.type !== BsonType.object) return undefined;
  const name = firstField(asDocument(value))?.[0];
  return name?.startsWith("$") ? name : undefined;
}
