/**
 * Applies operators to one document.
 *
 * Each step walks its path through the opened document (values/editor.ts),
 * creating objects on the way where the operator creates. The steps run in the
 * order of their paths, so that new fields are appended by name:
 *
 *     { $set: { z: 1, a: 1 }, $inc: { n: 1 } } on { _id: 1 }  →  { _id: 1, a: 1, n: 1, z: 1 }
 */
import {
  BsonType,
  asDocument,
  describeValue,
  document,
  elements,
  getField,
  valuesIdentical,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { EditableNode, nest } from "../values/editor.js";
import { isArrayIndex, isContainer } from "../values/types.js";
import type { ArrayFilters } from "./arrayFilters.js";
import { REMOVE, type FieldOperator, type UpdateContext } from "./context.js";
import { isArrayPlaceholder, PathConflicts } from "./paths.js";

/** One operator at one path, or a `$rename`. */
export interface Step {
  /** Of a `$rename`: where the value goes. */
  readonly parts: readonly string[];
  readonly operator: FieldOperator;
  /** Of a `$rename`: where the value comes from. */
  readonly from?: readonly string[];
}

const MAX_PADDING = 1_500_000;

/** Applies the steps; the very same bytes come back where nothing changed. */
export function modify(
  doc: Uint8Array,
  steps: readonly Step[],
  filters: ArrayFilters,
  context: UpdateContext,
): Uint8Array {
  const root = EditableNode.of(doc);
  const run = new Run(doc, context);
  for (const step of concreteSteps(doc, steps, filters)) {
    if (step.from === undefined) run.operate(root, step.parts, 0, "", step.operator);
    else run.rename(root, step.from, step.parts);
  }
  return root.changed ? root.toDocument() : doc;
}

/**
 * Steps with `$[]` and `$[identifier]` replaced by the indexes they stand for.
 * All filters look at the document as it was before the update. Placeholders
 * of two steps may choose the same element, which only shows here.
 */
function concreteSteps(doc: Uint8Array, steps: readonly Step[], filters: ArrayFilters): readonly Step[] {
  if (!steps.some(({ parts }) => parts.some(isArrayPlaceholder))) return steps;
  const conflicts = new PathConflicts();
  const result: Step[] = [];
  for (const step of steps) {
    for (const parts of expand(document(doc), step.parts, [], filters)) {
      conflicts.add(parts.join("."));
      result.push({ ...step, parts });
    }
  }
  return result;
}

/** @param value where `done` leads to, with `rest` still to go */
function* expand(
  value: RawValue,
  rest: readonly string[],
  done: readonly string[],
  filters: ArrayFilters,
): Iterable<readonly string[]> {
  const at = rest.findIndex(isArrayPlaceholder);
  if (at === -1) {
    yield [...done, ...rest];
    return;
  }
  const parts = [...done, ...rest.slice(0, at)];
  const path = parts.join(".");
  let list: RawValue | undefined = value;
  for (const part of rest.slice(0, at))
    list = list !== undefined && isContainer(list) ? getField(asDocument(list), part) : undefined;
  if (list === undefined) {
    throw new CommandError(
      ErrorCode.BadValue,
      `The path '${path}' must exist in the document in order to apply array updates.`,
    );
  }
  if (list.type !== BsonType.array) {
    throw new CommandError(
      ErrorCode.BadValue,
      `Cannot apply array updates to non-array element ${parts.at(-1)}: ${describeValue(list)}`,
    );
  }
  const test = filters.test(rest[at]!);
  for (const [i, element] of elements(asDocument(list)).entries()) {
    if (test(element)) yield* expand(element, rest.slice(at + 1), [...parts, String(i)], filters);
  }
}

class Run {
  constructor(
    readonly doc: Uint8Array,
    readonly context: UpdateContext,
  ) {}

  /** Applies `operator` at parts[at…] below `node`; true where something changed. */
  operate(
    node: EditableNode,
    parts: readonly string[],
    at: number,
    prefix: string,
    operator: FieldOperator,
  ): boolean {
    const name = parts[at]!;
    const path = prefix === "" ? name : `${prefix}.${name}`;
    if (node.isArray && !isArrayIndex(name))
      return this.#blocked(name, prefix, node.toValue(), operator, path);
    const member = node.find(name);
    if (at === parts.length - 1) {
      const existing = member === undefined ? undefined : node.valueOf(member);
      const result = operator.update(existing, { path, doc: this.doc, context: this.context });
      if (result === undefined) return false;
      if (result === REMOVE) return node.unset(name);
      if (existing !== undefined && valuesIdentical(existing, result)) return false;
      this.#set(node, name, result, path);
      return true;
    }
    if (member === undefined) return this.#create(node, name, parts, at, path, operator);
    const inner = node.open(member);
    if (inner === undefined) return this.#blocked(parts[at + 1]!, path, member.value, operator, path);
    const changed = this.operate(inner, parts, at + 1, path, operator);
    if (changed) node.touch();
    return changed;
  }

  /** Makes the missing rest of a path, of objects only. */
  #create(
    node: EditableNode,
    name: string,
    parts: readonly string[],
    at: number,
    path: string,
    operator: FieldOperator,
  ): boolean {
    const rest = parts.slice(at + 1);
    if (!operator.creates) return false;
    const whole = [path, ...rest].join(".");
    const result = operator.update(undefined, { path: whole, doc: this.doc, context: this.context });
    if (result === undefined || result === REMOVE) return false;
    this.#set(node, name, nest(rest, result), path);
    return true;
  }

  #set(node: EditableNode, name: string, value: RawValue, path: string): void {
    if (node.isArray && Number(name) - node.members.length > MAX_PADDING) {
      throw new CommandError(
        ErrorCode.CannotBackfillArray,
        `Cannot set the array element '${path}': more than ${MAX_PADDING} elements would have to be filled with null`,
      );
    }
    node.set(name, value);
  }

  /** A scalar, or an array where a name is wanted, stands in the way. */
  #blocked(name: string, at: string, value: RawValue, operator: FieldOperator, path: string): boolean {
    if (!operator.creates) return false;
    if (operator.update(undefined, { path, doc: this.doc, context: this.context }) === undefined)
      return false;
    const field = at.slice(at.lastIndexOf(".") + 1);
    throw new CommandError(
      ErrorCode.PathNotViable,
      `Cannot create field '${name}' in element {${field}: ${describeValue(value)}}`,
    );
  }

  rename(root: EditableNode, from: readonly string[], to: readonly string[]): void {
    const trail = [root];
    for (const part of from.slice(0, -1)) {
      const node = trail.at(-1)!;
      const member = node.find(part);
      if (member === undefined) return;
      const inner = node.open(member);
      if (inner === undefined) return;
      if (inner.isArray) throw this.#arrayOnRename("source", from, part);
      trail.push(inner);
    }
    const parent = trail.at(-1)!;
    const member = parent.find(from.at(-1)!);
    if (member === undefined) return;
    const value = parent.valueOf(member);
    this.#checkDestination(root, to);
    parent.unset(from.at(-1)!);
    for (const node of trail) node.touch();
    this.operate(root, to, 0, "", { creates: true, update: () => value });
  }

  #checkDestination(root: EditableNode, to: readonly string[]): void {
    let node: EditableNode | undefined = root;
    for (const part of to.slice(0, -1)) {
      const member = node.find(part);
      if (member === undefined) return;
      if (member.value.type === BsonType.array) throw this.#arrayOnRename("destination", to, part);
      node = node.open(member);
      if (node === undefined) return;
    }
  }

  #arrayOnRename(which: "source" | "destination", path: readonly string[], field: string): CommandError {
    return new CommandError(
      ErrorCode.BadValue,
      `The ${which} field cannot be an array element, '${path.join(".")}' in doc with _id: ` +
        `${describeValue(getField(this.doc, "_id"))} has an array field called '${field}'`,
    );
  }
}

/** Refuses a changed `_id` (66 ImmutableField); a document being inserted may get one. */
export function checkIdKept(before: Uint8Array, after: Uint8Array): void {
  const id = getField(before, "_id");
  if (id === undefined) return;
  const now = getField(after, "_id");
  if (now !== undefined && valuesIdentical(id, now)) return;
  throw new CommandError(
    ErrorCode.ImmutableField,
    "Performing an update on the path '_id' would modify the immutable field '_id'",
  );
}
