/**
 * Applies the operators of an update to one document.
 *
 * The tree of paths (updateTree.ts) is walked together with the document,
 * which is opened (values/editor.ts) only where paths lead. What is missing on
 * the way is made by operators that create:
 *
 *     { $set: { z: 1, a: 1 }, $inc: { n: 1 } } on { _id: 1 }  →  { _id: 1, a: 1, n: 1, z: 1 }
 *
 * At an array, `$[]` and `$[identifier]` become the indexes that they stand
 * for; all tests see the elements as they were before the update.
 */
import {
  DocumentWriter,
  describeValue,
  document,
  getField,
  valuesIdentical,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { EditableNode, type Member } from "../values/editor.js";
import type { ArrayFilters } from "./arrayFilters.js";
import { fieldName, REMOVE, type FieldOperator, type UpdateContext } from "./context.js";
import { checkDollarField } from "./dollarFields.js";
import { compareUpdatePaths, isArrayPlaceholder, isIndex, isPositional } from "./paths.js";
import { removeSource, renamed } from "./rename.js";
import { merge, type Leaf, type UpdateTree } from "./updateTree.js";

const MAX_PADDING = 1_500_000;

/**
 * The changed document; the very same array where no operator changed anything.
 * @param position what `$` stands for; undefined where the filter matched no element
 * @throws CommandError 28 for a path through a scalar, 66 for a changed `_id`, 33, 40, 52, and what the operators throw
 */
export function modify(
  doc: Uint8Array,
  tree: UpdateTree,
  filters: ArrayFilters,
  position: number | undefined,
  context: UpdateContext,
): Uint8Array {
  const root = EditableNode.of(doc);
  new Modification(doc, root, filters, position, context).object(root, tree, "");
  return root.changed ? root.toDocument() : doc;
}

/** A child of the tree for a name of the document. */
type Child = readonly [name: string, tree: UpdateTree];

class Modification {
  readonly #hasId: boolean;

  constructor(
    readonly doc: Uint8Array,
    readonly root: EditableNode,
    readonly filters: ArrayFilters,
    readonly position: number | undefined,
    readonly context: UpdateContext,
  ) {
    this.#hasId = getField(doc, "_id") !== undefined;
  }

  /** Applies what lies below a place of the document; true where something changed. */
  object(node: EditableNode, tree: UpdateTree, prefix: string): boolean {
    let changed = false;
    for (const [name, child] of tree.dynamic ? this.#concrete(node, tree, prefix) : tree.children) {
      if (this.#member(node, name, child, join(prefix, name))) changed = true;
    }
    if (changed) node.touch();
    return changed;
  }

  /** The tree's children, placeholders replaced by the indexes they stand for. */
  #concrete(node: EditableNode, tree: UpdateTree, prefix: string): readonly Child[] {
    const found = new Map<string, UpdateTree[]>();
    const add = (name: string, child: UpdateTree): void => {
      const list = found.get(name);
      if (list === undefined) found.set(name, [child]);
      else list.push(child);
    };
    for (const [name, child] of tree.children) {
      if (isPositional(name)) {
        add(this.#positional(), child);
      } else if (isArrayPlaceholder(name)) {
        if (!node.isArray) throw notAnArray(prefix, node.toValue());
        const test = this.filters.test(name);
        for (let i = 0; i < node.length; i++) {
          const index = String(i);
          if (test(node.find(index)!.value)) add(index, child);
        }
      } else {
        add(name, child);
      }
    }
    return [...found]
      .sort(([a], [b]) => compareUpdatePaths([a], [b]))
      .map(([name, trees]) => [name, merge(trees, join(prefix, name))]);
  }

  #positional(): string {
    if (this.position !== undefined) return String(this.position);
    throw new CommandError(
      ErrorCode.BadValue,
      "The positional operator did not find the match needed from the query.",
    );
  }

  #member(node: EditableNode, name: string, tree: UpdateTree, path: string): boolean {
    if (node.isArray && !isIndex(name)) return this.#blocked(name, tree, path, node.toValue());
    const member = node.find(name);
    if (tree.leaf !== undefined) return this.#arrive(node, name, member, tree.leaf, path);
    if (member === undefined) return this.#create(node, name, tree, path);
    const inner = node.open(member);
    if (inner !== undefined) return this.object(inner, tree, path);
    let changed = false;
    for (const [below, child] of tree.children) {
      if (isArrayPlaceholder(below)) throw notAnArray(path, member.value);
      const next = isPositional(below) ? this.#positional() : below;
      if (this.#blocked(next, child, join(path, next), member.value)) changed = true;
    }
    return changed;
  }

  /** The end of a path. */
  #arrive(node: EditableNode, name: string, member: Member | undefined, leaf: Leaf, path: string): boolean {
    const existing = member === undefined ? undefined : node.valueOf(member);
    if (leaf.kind === "rename") {
      const value = renamed(this.root, leaf.from, path, this.doc);
      if (value === undefined) return false;
      if (existing === undefined || !valuesIdentical(existing, value)) {
        this.#checkId(path);
        this.#set(node, name, value, path);
      }
      this.#unsetSource(leaf.from);
      return true;
    }
    const { operator } = leaf;
    if (existing === undefined && operator.missing !== "create") return false;
    const result = operator.update(existing, { path, doc: this.doc, context: this.context });
    if (result === undefined) return false;
    if (existing !== undefined) this.#checkId(path);
    if (result === REMOVE) return node.unset(name);
    this.#set(node, name, result, path);
    if (existing === undefined) this.#checkIdGrown(path);
    return true;
  }

  /** Makes the missing part of a path, of objects only, if an operator at its end creates. */
  #create(node: EditableNode, name: string, tree: UpdateTree, path: string): boolean {
    const value = this.#build(tree, path);
    if (value === undefined) return false;
    this.#set(node, name, value, path);
    this.#checkIdGrown(path);
    return true;
  }

  /** The object that operators make below a path that leads nowhere yet. */
  #build(tree: UpdateTree, prefix: string): RawValue | undefined {
    let writer: DocumentWriter | undefined;
    for (const [name, child] of tree.children) {
      if (isArrayPlaceholder(name)) {
        throw new CommandError(
          ErrorCode.BadValue,
          `The path '${prefix}' must exist in the document in order to apply array updates.`,
        );
      }
      const key = isPositional(name) ? this.#positional() : name;
      const path = join(prefix, key);
      const value = child.leaf === undefined ? this.#build(child, path) : this.#make(child.leaf, path);
      if (value !== undefined) (writer ??= new DocumentWriter()).field(key, value);
    }
    return writer && document(writer.finish());
  }

  /** The value of an operator at a place where there is none. */
  #make(leaf: Leaf, path: string): RawValue | undefined {
    if (leaf.kind === "rename") {
      const value = renamed(this.root, leaf.from, path, this.doc);
      if (value !== undefined) this.#unsetSource(leaf.from);
      return value;
    }
    if (leaf.operator.missing !== "create") return undefined;
    const result = leaf.operator.update(undefined, { path, doc: this.doc, context: this.context });
    return result === REMOVE ? undefined : result;
  }

  #set(node: EditableNode, name: string, value: RawValue, path: string): void {
    if (node.isArray && Number(name) - node.length > MAX_PADDING) {
      throw new CommandError(
        ErrorCode.CannotBackfillArray,
        `can't backfill more than ${MAX_PADDING} elements`,
      );
    }
    node.set(name, value);
    if (node !== this.root || !name.startsWith("$") || this.context.isInsert) return;
    const list = node.members;
    checkDollarField(
      list,
      list.findIndex((member) => member.name === path),
    );
  }

  /** Something that is neither object nor array, or an array where a name is wanted, stands in the way. */
  #blocked(name: string, tree: UpdateTree, path: string, value: RawValue): boolean {
    const parent = path.slice(0, path.length - name.length - 1);
    const element = `{${fieldName(parent)}: ${describeValue(value)}}`;
    for (const { path: rest, leaf } of tree.leaves()) {
      if (leaf.kind === "rename" ? this.#renames(leaf.from, path) : this.#creates(leaf.operator, path)) {
        throw new CommandError(
          ErrorCode.PathNotViable,
          `Cannot create field '${name}' in element ${element}`,
        );
      }
      if (leaf.kind === "operator" && leaf.operator.missing === "refuse") {
        throw new CommandError(
          ErrorCode.PathNotViable,
          `Cannot use the part (${name}) of (${[path, ...rest].join(".")}) to traverse the element (${element})`,
        );
      }
    }
    return false;
  }

  #renames(from: readonly string[], path: string): boolean {
    return renamed(this.root, from, path, this.doc) !== undefined;
  }

  #creates(operator: FieldOperator, path: string): boolean {
    if (operator.missing !== "create") return false;
    return operator.update(undefined, { path, doc: this.doc, context: this.context }) !== undefined;
  }

  #unsetSource(from: readonly string[]): void {
    if (this.#hasId && from[0] === "_id") {
      throw immutable(
        `Unsetting the path '${from.join(".")}' using $rename would modify the immutable field '_id'`,
      );
    }
    removeSource(this.root, from);
  }

  /** Refuses a change of `_id` or in it. */
  #checkId(path: string): void {
    if (!this.#hasId || !isWithinId(path)) return;
    throw immutable(`Performing an update on the path '${path}' would modify the immutable field '_id'`);
  }

  /** Refuses a new field in `_id`. */
  #checkIdGrown(path: string): void {
    if (!this.#hasId || !isWithinId(path)) return;
    const parent = path.slice(0, Math.max(path.lastIndexOf("."), 3));
    let node = this.root;
    let member: Member | undefined;
    for (const part of parent.split(".")) {
      member = node.find(part);
      node = node.open(member!)!;
    }
    node.touch();
    throw immutable(
      `Updating the path '${parent}' to ${fieldName(parent)}: ${describeValue(node.toValue())} would modify the immutable field '_id'`,
    );
  }
}

function join(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

function isWithinId(path: string): boolean {
  return path === "_id" || path.startsWith("_id.");
}

function immutable(message: string): CommandError {
  return new CommandError(ErrorCode.ImmutableField, message);
}

function notAnArray(path: string, value: RawValue): CommandError {
  return new CommandError(
    ErrorCode.BadValue,
    `Cannot apply array updates to non-array element ${fieldName(path)}: ${describeValue(value)}`,
  );
}
