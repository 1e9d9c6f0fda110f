/**
 * The nodes of a {@link BTree}: leaves, branches, and how they are divided and merged.
 */
import { EntryList } from "./entryList.js";

/** Most entries in a leaf. */
const LEAF_CAPACITY = 128;
/** Most children of a branch. */
const BRANCH_CAPACITY = 256;
/** Bytes of keys above which a node of several entries is divided. */
const FULL_BYTES = 32_768;

export class Leaf {
  readonly isBranch = false;
  entries = new EntryList();
  next: Leaf | undefined;
  previous: Leaf | undefined;

  get size(): number {
    return this.entries.length;
  }

  get isFull(): boolean {
    const { length, bytes } = this.entries;
    return length > LEAF_CAPACITY || (bytes > FULL_BYTES && length > 4);
  }
}

export class Branch {
  readonly isBranch = true;
  /** Separator i stands between children i and i + 1. */
  separators = new EntryList();
  children: Node[] = [];
  size = 0;

  get isFull(): boolean {
    const { length, bytes } = this.separators;
    return length >= BRANCH_CAPACITY || (bytes > FULL_BYTES && length > 4);
  }
}

export type Node = Leaf | Branch;

function width(node: Node): number {
  return !node.isBranch ? node.size : node.children.length;
}

/** Whether a node should be merged with a neighbour. */
export function isUnderfull(node: Node): boolean {
  return width(node) < (!node.isBranch ? LEAF_CAPACITY : BRANCH_CAPACITY) / 4;
}

/** Divides the full child `at` of a branch. */
export function splitChild(parent: Branch, at: number): void {
  const child = parent.children[at] as Node;
  if (!child.isBranch) {
    const right = new Leaf();
    // Ascending keys come at the right end: keep full leaves behind.
    const isLast = child.next === undefined;
    const keep = isLast ? child.size - (child.size >> 5) - 1 : child.size >> 1;
    right.entries = child.entries.splitAt(keep, Math.min(child.size, LEAF_CAPACITY + 1), isLast);
    right.next = child.next;
    right.previous = child;
    if (child.next) child.next.previous = right;
    child.next = right;
    parent.separators.insertFrom(at, right.entries, 0);
    parent.children.splice(at + 1, 0, right);
    return;
  }
  const right = new Branch();
  const middle = child.children.length >> 1;
  right.children = child.children.splice(middle);
  right.separators = child.separators.splitAt(middle, child.separators.length, false);
  parent.separators.insertFrom(at, child.separators, middle - 1);
  child.separators.remove(middle - 1);
  for (const grandchild of right.children) right.size += grandchild.size;
  child.size -= right.size;
  parent.children.splice(at + 1, 0, right);
}

/** Merges children `at` and `at + 1` of a branch where they exist and fit into one node; says whether it did. */
export function mergeChildren(parent: Branch, at: number): boolean {
  const left = parent.children[at];
  const right = parent.children[at + 1];
  if (!left || !right) return false;
  if (!left.isBranch && !right.isBranch) {
    if (left.size + right.size > LEAF_CAPACITY || left.entries.bytes + right.entries.bytes > FULL_BYTES)
      return false;
    left.entries.append(right.entries);
    left.next = right.next;
    if (right.next) right.next.previous = left;
  } else if (left instanceof Branch && right.isBranch) {
    const bytes = left.separators.bytes + right.separators.bytes + parent.separators.keyLength(at);
    if (left.children.length + right.children.length > BRANCH_CAPACITY || bytes > FULL_BYTES) return false;
    left.separators.insertFrom(left.separators.length, parent.separators, at);
    left.separators.append(right.separators);
    left.children.push(...right.children);
    left.size += right.size;
  }
  parent.separators.remove(at);
  parent.children.splice(at + 1, 1);
  return true;
}
