/**
 * An ordered set of (key, record id) entries: what an index is made of.
 *
 * A B+tree keeps its entries in leaves of at most 64, chained in both
 * directions, under branches that know how many entries each subtree holds:
 *
 *                     [ 7 | k  r ]            branch: separators, size 7
 *                    /     |     \
 *        a,1 c,4 d,2 ⇄ k,3 m,9 ⇄ r,5 z,6      leaves
 *
 * - Order: by key as a string, then by record id. Equal keys are many entries.
 * - A separator is not above any entry to its right and above every entry to its left.
 * - The sizes make {@link BTree.rank} O(log n). So the planner knows exactly how
 *   many keys a range holds before it reads any, where a real server samples
 *   candidate plans for a while and keeps the most productive one.
 * - Underfull nodes are merged with a neighbour when both fit into one; nodes are
 *   not rebalanced otherwise. Deleting everything leaves one empty leaf.
 *
 * Scans ({@link BTreeScan}) remember the last entry they gave out. When the tree
 * has changed since, they look up where to go on: a scan that rests between two
 * batches of a cursor neither repeats nor skips an entry that stayed in place.
 */
import type { SortableKey } from "../../bson/index.js";
import { EntryList, headOf } from "./entryList.js";

/** Most entries in a leaf, most children of a branch. */
const CAPACITY = 64;
const UNDERFULL = CAPACITY / 4;

class Leaf {
  entries = new EntryList();
  next: Leaf | undefined;
  previous: Leaf | undefined;

  get size(): number {
    return this.entries.length;
  }
}

class Branch {
  /** Separator i stands between children i and i + 1. */
  separators = new EntryList();
  children: Node[] = [];
  size = 0;
}

type Node = Leaf | Branch;

/** An ordered set of (key, record id) pairs. */
export class BTree {
  private root: Node = new Leaf();
  private changes = 0;
  // The separator that the last split below produced; read right after the recursive call.
  private splitKey: SortableKey = "";
  private splitId = 0;

  /** Number of entries. */
  get size(): number {
    return this.root.size;
  }

  /** Grows with every change; lets a scan notice that its position may be stale. */
  get version(): number {
    return this.changes;
  }

  /** Adds an entry. The caller never adds the same pair twice. */
  insert(key: SortableKey, id: number): void {
    this.changes++;
    const right = this.insertInto(this.root, headOf(key), key, id);
    if (right) {
      const root = new Branch();
      root.separators.insert(0, this.splitKey, this.splitId);
      root.children.push(this.root, right);
      root.size = this.root.size + right.size;
      this.root = root;
    }
  }

  /**
   * Removes an entry.
   * @returns whether it was there
   */
  remove(key: SortableKey, id: number): boolean {
    if (!this.removeFrom(this.root, headOf(key), key, id)) return false;
    this.changes++;
    while (this.root instanceof Branch && this.root.children.length === 1)
      this.root = this.root.children[0] as Node;
    return true;
  }

  /** Removes everything. */
  clear(): void {
    this.changes++;
    this.root = new Leaf();
  }

  /** The number of entries whose key is below `key`. O(log n). */
  rank(key: SortableKey): number {
    const head = headOf(key);
    let node = this.root;
    let below = 0;
    while (node instanceof Branch) {
      const at = node.separators.upperBound(head, key, -1);
      for (let i = 0; i < at; i++) below += (node.children[i] as Node).size;
      node = node.children[at] as Node;
    }
    return below + node.entries.lowerBound(head, key, -1);
  }

  /** The number of entries with `from` ≤ key < `to`. O(log n). */
  count(from: SortableKey, to: SortableKey): number {
    return Math.max(0, this.rank(to) - this.rank(from));
  }

  /** The lowest record id stored under exactly this key, or undefined. */
  find(key: SortableKey): number | undefined {
    const place = this.locate(key, -1);
    return place.leaf?.entries.keys[place.at] === key ? place.leaf.entries.ids[place.at] : undefined;
  }

  /** The record ids stored under exactly this key, ascending. */
  *idsOf(key: SortableKey): Generator<number> {
    let { leaf, at } = this.locate(key, -1);
    for (; leaf; leaf = leaf.next, at = 0) {
      const { keys, ids } = leaf.entries;
      for (; at < keys.length; at++) {
        if (keys[at] !== key) return;
        yield ids[at] as number;
      }
    }
  }

  /**
   * Entries with `from` ≤ key < `to`, in order or in reverse.
   * No component of a key begins with `\u00ff`, so `key + "\u00ff"` is right above everything that starts with `key`.
   */
  scan(from: SortableKey, to: SortableKey, backward = false): BTreeScan {
    return new BTreeScan(this, from, to, backward);
  }

  /**
   * Where the first entry not below (key, id) is.
   * `leaf` is undefined only when there is no such entry.
   * @internal
   */
  locate(key: SortableKey, id: number): { leaf: Leaf | undefined; at: number } {
    const head = headOf(key);
    let leaf: Leaf | undefined = this.leafFor(head, key, id);
    let at = leaf.entries.lowerBound(head, key, id);
    while (leaf && at >= leaf.size) {
      leaf = leaf.next;
      at = 0;
    }
    return { leaf, at };
  }

  /**
   * Where the last entry below (key, id) is.
   * @internal
   */
  locateBefore(key: SortableKey, id: number): { leaf: Leaf | undefined; at: number } {
    const head = headOf(key);
    let leaf: Leaf | undefined = this.leafFor(head, key, id);
    let at = leaf.entries.lowerBound(head, key, id) - 1;
    while (leaf && at < 0) {
      leaf = leaf.previous;
      at = leaf ? leaf.size - 1 : 0;
    }
    return { leaf, at };
  }

  /** The leaf whose range holds (key, id). */
  private leafFor(head: number, key: SortableKey, id: number): Leaf {
    let node = this.root;
    while (node instanceof Branch) node = node.children[node.separators.upperBound(head, key, id)] as Node;
    return node;
  }

  /** Inserts below `node`; returns the new right half when it had to split. */
  private insertInto(node: Node, head: number, key: SortableKey, id: number): Node | undefined {
    if (node instanceof Leaf) {
      node.entries.insert(node.entries.lowerBound(head, key, id), key, id, head);
      return node.size > CAPACITY ? this.splitLeaf(node) : undefined;
    }
    const at = node.separators.upperBound(head, key, id);
    const right = this.insertInto(node.children[at] as Node, head, key, id);
    node.size++;
    if (!right) return undefined;
    node.separators.insert(at, this.splitKey, this.splitId);
    node.children.splice(at + 1, 0, right);
    return node.children.length > CAPACITY ? this.splitBranch(node) : undefined;
  }

  private splitLeaf(leaf: Leaf): Leaf {
    const right = new Leaf();
    // Ascending keys (object ids, dates) come at the right end: keep full leaves behind.
    right.entries = leaf.entries.splitAt(leaf.next === undefined ? CAPACITY - 4 : CAPACITY / 2);
    right.next = leaf.next;
    right.previous = leaf;
    if (leaf.next) leaf.next.previous = right;
    leaf.next = right;
    this.splitKey = right.entries.keys[0] as SortableKey;
    this.splitId = right.entries.ids[0] as number;
    return right;
  }

  private splitBranch(branch: Branch): Branch {
    const right = new Branch();
    const at = CAPACITY / 2;
    right.children = branch.children.splice(at);
    right.separators = branch.separators.splitAt(at);
    this.splitKey = branch.separators.keys[at - 1] as SortableKey;
    this.splitId = branch.separators.ids[at - 1] as number;
    branch.separators.remove(at - 1);
    for (const child of right.children) right.size += child.size;
    branch.size -= right.size;
    return right;
  }

  private removeFrom(node: Node, head: number, key: SortableKey, id: number): boolean {
    if (node instanceof Leaf) {
      const { entries } = node;
      const at = entries.lowerBound(head, key, id);
      if (entries.keys[at] !== key || entries.ids[at] !== id) return false;
      entries.remove(at);
      return true;
    }
    const at = node.separators.upperBound(head, key, id);
    const child = node.children[at] as Node;
    if (!this.removeFrom(child, head, key, id)) return false;
    node.size--;
    if (width(child) < UNDERFULL && !mergeChildren(node, at - 1)) mergeChildren(node, at);
    return true;
  }
}

/** A position that walks over a range of a {@link BTree}; see there. */
export class BTreeScan {
  /** The entry that {@link next} stepped on. */
  key: SortableKey = "";
  id = -1;

  private leaf: Leaf | undefined;
  private at = 0;
  private version = -1;
  private started = false;

  constructor(
    private readonly tree: BTree,
    private readonly from: SortableKey,
    private readonly to: SortableKey,
    private readonly backward: boolean,
  ) {}

  /** Steps on; false at the end of the range. */
  next(): boolean {
    if (this.backward) return this.stepBackward();
    if (this.version !== this.tree.version) {
      this.version = this.tree.version;
      const place = this.started
        ? this.tree.locate(this.key, this.id + 0.5)
        : this.tree.locate(this.from, -1);
      this.leaf = place.leaf;
      this.at = place.at;
    } else {
      this.at++;
      while (this.leaf && this.at >= this.leaf.size) {
        this.leaf = this.leaf.next;
        this.at = 0;
      }
    }
    if (!this.leaf) return false;
    const key = this.leaf.entries.keys[this.at] as SortableKey;
    if (key >= this.to) return false;
    return this.standOn(key, this.leaf.entries.ids[this.at] as number);
  }

  private stepBackward(): boolean {
    if (this.version !== this.tree.version) {
      this.version = this.tree.version;
      const place = this.started
        ? this.tree.locateBefore(this.key, this.id)
        : this.tree.locateBefore(this.to, -1);
      this.leaf = place.leaf;
      this.at = place.at;
    } else {
      this.at--;
      while (this.leaf && this.at < 0) {
        this.leaf = this.leaf.previous;
        this.at = this.leaf ? this.leaf.size - 1 : 0;
      }
    }
    if (!this.leaf) return false;
    const key = this.leaf.entries.keys[this.at] as SortableKey;
    if (key < this.from) return false;
    return this.standOn(key, this.leaf.entries.ids[this.at] as number);
  }

  private standOn(key: SortableKey, id: number): true {
    this.started = true;
    this.key = key;
    this.id = id;
    return true;
  }
}

function width(node: Node): number {
  return node instanceof Leaf ? node.size : node.children.length;
}

/** Merges children `at` and `at + 1` of a branch where they exist and fit into one node; says whether it did. */
function mergeChildren(parent: Branch, at: number): boolean {
  const left = parent.children[at];
  const right = parent.children[at + 1];
  if (!left || !right || width(left) + width(right) > CAPACITY) return false;
  if (left instanceof Leaf && right instanceof Leaf) {
    left.entries.append(right.entries);
    left.next = right.next;
    if (right.next) right.next.previous = left;
  } else if (left instanceof Branch && right instanceof Branch) {
    left.separators.insert(
      left.separators.length,
      parent.separators.keys[at] as SortableKey,
      parent.separators.ids[at] as number,
    );
    left.separators.append(right.separators);
    left.children.push(...right.children);
    left.size += right.size;
  }
  parent.separators.remove(at);
  parent.children.splice(at + 1, 1);
  return true;
}
