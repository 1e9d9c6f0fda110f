/**
 * The operators of an update as a tree of their paths.
 *
 *     { $set: { "a.b": 1, "a.$[].c": 2 }, $unset: { d: "" } }
 *
 *       ├ a ─┬ b      $set 1
 *       │    └ $[] ─ c  $set 2
 *       └ d           $unset
 *
 * Children are kept in the order in which they are applied: by name, numbers
 * by value. It is the order in which new fields are appended.
 */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { FieldOperator } from "./context.js";
import { compareUpdatePaths, isDynamic } from "./paths.js";

/** What happens at the end of a path: an operator, or the arrival of a renamed field. */
export type Leaf =
  | { readonly kind: "operator"; readonly operator: FieldOperator }
  | { readonly kind: "rename"; readonly from: readonly string[] };

export class UpdateTree {
  leaf: Leaf | undefined;
  /** Sorted by {@link sort}. */
  children = new Map<string, UpdateTree>();
  /** Some child is `$`, `$[]` or `$[identifier]`. */
  dynamic = false;

  /** Hangs a leaf into the tree; paths that conflict have been refused before. */
  add(parts: readonly string[], leaf: Leaf): void {
    let tree: UpdateTree = this as UpdateTree;
    for (const part of parts) {
      let child = tree.children.get(part);
      if (child === undefined) {
        child = new UpdateTree();
        tree.children.set(part, child);
        if (isDynamic(part)) tree.dynamic = true;
      }
      tree = child;
    }
    tree.leaf = leaf;
  }

  /** Brings the children, here and below, into the order of their names. */
  sort(): void {
    this.children = new Map([...this.children].sort(([a], [b]) => compareUpdatePaths([a], [b])));
    for (const child of this.children.values()) child.sort();
  }

  /** The leaves here and below, in order, with the paths that lead to them from here. */
  *leaves(path: readonly string[] = []): Iterable<{ readonly path: readonly string[]; readonly leaf: Leaf }> {
    if (this.leaf !== undefined) yield { path, leaf: this.leaf };
    for (const [name, child] of this.children) yield* child.leaves([...path, name]);
  }
}

/**
 * One tree of several that came together at the same element: `a.$[].x`, `a.$[id].y` and `a.0.z`.
 * @throws CommandError ConflictingUpdateOperators (40) where two operators meet
 */
export function merge(trees: readonly UpdateTree[], path: string): UpdateTree {
  const [first] = trees;
  if (trees.length === 1) return first!;
  const merged = new UpdateTree();
  const below = new Map<string, UpdateTree[]>();
  for (const tree of trees) {
    if (tree.leaf !== undefined) {
      throw new CommandError(
        ErrorCode.ConflictingUpdateOperators,
        `Updating the path '${path}' would create a conflict at '${path}'`,
      );
    }
    for (const [name, child] of tree.children) {
      const list = below.get(name);
      if (list === undefined) below.set(name, [child]);
      else list.push(child);
    }
    merged.dynamic ||= tree.dynamic;
  }
  for (const [name, list] of [...below].sort(([a], [b]) => compareUpdatePaths([a], [b])))
    merged.children.set(name, merge(list, `${path}.${name}`));
  return merged;
}
