/**
 * An ordered set of (key, record id) entries: what an index is made of.
 *
 * A B+tree keeps its entries in leaves, chained in both directions, under
 * branches that know how many entries each subtree holds:
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
 * - A node is full when it has too many entries or too many bytes of keys.
 * - Keys that come in ascending order (object ids, dates) are the usual case: one
 *   above all others goes to the end of the last leaf without a search.
 *
 * Nodes are packed (entryList.ts). Scans ({@link BTreeScan}) remember the
 * last entry they gave out. When the tree has changed since, they look up where
 * to go on: a scan that rests between two batches of a cursor neither repeats
 * nor skips an entry that stayed in place.
 */
import type { SortableKey } from "../../bson/index.js";
import { KeyBytes, keyOfBytes } from "../../bson/index.js";
import type { Node } from "./bTreeNodes.js";
import { Branch, isUnderfull, Leaf, mergeChildren, splitChild } from "./bTreeNodes.js";

/** Where a key is or would be, and the way there. Of use until the tree changes. */
interface Place {
  /** The key that was looked for and not found, by its holder and serial number; of no meaning at another version. */
  key: KeyBytes | undefined;
  serial: number;
  version: number;
  leaf: Leaf;
  at: number;
  /** How many branches lie above the leaf. */
  depth: number;
  readonly branches: Branch[];
  /** In each branch, which child is next. */
  readonly turns: number[];
}

function placeOf(leaf: Leaf): Place {
  return { key: undefined, serial: 0, version: -1, leaf, at: 0, depth: 0, branches: [], turns: [] };
}

/** The key being looked for; used for the length of one call only. */
const wanted = new KeyBytes();

/** An ordered set of (key, record id) pairs. */
export class BTree {
  private root: Node;
  private changes = 0;
  private place: Place;
  /** Whether the last entry that came went to the very end: then the next one may, too. */
  private ascending = true;

  constructor() {
    const leaf = new Leaf();
    this.root = leaf;
    this.place = placeOf(leaf);
  }

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
    this.insertKey(wanted.load(key), id);
  }

  /** {@link insert} for a key that is at hand as bytes. */
  insertKey(key: KeyBytes, id: number): void {
    const { place } = this;
    // After a look-up that found nothing, the place is known. Not at the end of a leaf: the separator behind it may have
    // this very key, of an entry that was removed, and then a record id decides on which side the new one belongs.
    const isBetween = place.at < place.leaf.size || place.leaf.next === undefined;
    if (place.version !== this.changes || place.key !== key || place.serial !== key.serial || !isBetween)
      this.descend(key, id);
    this.ascending = place.leaf.next === undefined && place.at === place.leaf.size;
    place.leaf.entries.insert(place.at, key, id);
    this.changes++;
    const { branches, turns } = place;
    let child: Node = place.leaf;
    for (let level = place.depth - 1; level >= 0; level--) {
      const branch = branches[level] as Branch;
      branch.size++;
      if (child.isFull) splitChild(branch, turns[level] as number);
      child = branch;
    }
    if (child.isFull) {
      const root = new Branch();
      root.children.push(child);
      root.size = child.size;
      splitChild(root, 0);
      this.root = root;
    }
  }

  /**
   * Removes an entry.
   * @returns whether it was there
   */
  remove(key: SortableKey, id: number): boolean {
    if (!this.removeFrom(this.root, wanted.load(key), id)) return false;
    this.changes++;
    while (this.root.isBranch && this.root.children.length === 1) this.root = this.root.children[0] as Node;
    return true;
  }

  /** Removes everything. */
  clear(): void {
    this.changes++;
    const leaf = new Leaf();
    this.root = leaf;
    this.place = placeOf(leaf);
  }

  /** The number of entries whose key is below `key`. O(log n). */
  rank(key: SortableKey): number {
    wanted.load(key);
    let node = this.root;
    let below = 0;
    while (node.isBranch) {
      const at = node.separators.upperBound(wanted, -1);
      for (let i = 0; i < at; i++) below += (node.children[i] as Node).size;
      node = node.children[at] as Node;
    }
    return below + node.entries.lowerBound(wanted, -1);
  }

  /** The number of entries with `from` ≤ key < `to`. O(log n). */
  count(from: SortableKey, to: SortableKey): number {
    return Math.max(0, this.rank(to) - this.rank(from));
  }

  /** The lowest record id stored under exactly this key, or undefined. */
  find(key: SortableKey): number | undefined {
    return this.findKey(wanted.load(key));
  }

  /** {@link find} for a key that is at hand as bytes. */
  findKey(key: KeyBytes): number | undefined {
    const { place } = this;
    this.descend(key, -1);
    let { leaf, at }: { leaf: Leaf | undefined; at: number } = place;
    if (at === leaf.size) {
      leaf = leaf.next;
      at = 0;
    }
    if (leaf && leaf.entries.length > 0 && leaf.entries.compareKey(at, key) === 0) return leaf.entries.id(at);
    place.key = key;
    place.serial = key.serial;
    place.version = this.changes;
    return undefined;
  }

  /** Whether there is an entry (key, id). */
  has(key: SortableKey, id: number): boolean {
    const { leaf, at } = this.locate(wanted.load(key), id);
    return leaf !== undefined && leaf.entries.compareKey(at, wanted) === 0 && leaf.entries.id(at) === id;
  }

  /** The record ids stored under exactly this key, ascending. */
  idsOf(key: SortableKey): number[] {
    const ids: number[] = [];
    wanted.load(key);
    let { leaf, at } = this.locate(wanted, -1);
    for (; leaf; leaf = leaf.next, at = 0) {
      for (const { entries } = leaf; at < entries.length; at++) {
        if (entries.compareKey(at, wanted) !== 0) return ids;
        ids.push(entries.id(at));
      }
    }
    return ids;
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
  locate(key: KeyBytes, id: number): { leaf: Leaf | undefined; at: number } {
    let leaf: Leaf | undefined = this.leafFor(key, id);
    let at = leaf.entries.lowerBound(key, id);
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
  locateBefore(key: KeyBytes, id: number): { leaf: Leaf | undefined; at: number } {
    let leaf: Leaf | undefined = this.leafFor(key, id);
    let at = leaf.entries.lowerBound(key, id) - 1;
    while (leaf && at < 0) {
      leaf = leaf.previous;
      at = leaf ? leaf.size - 1 : 0;
    }
    return { leaf, at };
  }

  /** Sets {@link place} to where (key, id) belongs. */
  private descend(key: KeyBytes, id: number): void {
    const { place } = this;
    const { branches, turns } = place;
    place.version = -1;
    if (this.ascending) {
      place.leaf = this.last();
      const { entries } = place.leaf;
      place.at = entries.length;
      if (entries.length > 0 && entries.compareKey(entries.length - 1, key) < 0) return;
    }
    let node: Node = this.root;
    for (place.depth = 0; node.isBranch; place.depth++) {
      const turn = node.separators.upperBound(key, id);
      branches[place.depth] = node;
      turns[place.depth] = turn;
      node = node.children[turn] as Node;
    }
    place.leaf = node;
    place.at = node.entries.lowerBound(key, id);
  }

  /** The last leaf, with the way to it in {@link place}. */
  private last(): Leaf {
    const { place } = this;
    let node = this.root;
    for (place.depth = 0; node.isBranch; place.depth++) {
      place.branches[place.depth] = node;
      place.turns[place.depth] = node.children.length - 1;
      node = node.children[node.children.length - 1] as Node;
    }
    return node;
  }

  /** The leaf whose range holds (key, id). */
  private leafFor(key: KeyBytes, id: number): Leaf {
    let node = this.root;
    while (node.isBranch) node = node.children[node.separators.upperBound(key, id)] as Node;
    return node;
  }

  private removeFrom(node: Node, key: KeyBytes, id: number): boolean {
    if (!node.isBranch) {
      const { entries } = node;
      const at = entries.lowerBound(key, id);
      if (at >= entries.length || entries.compareKey(at, key) !== 0 || entries.id(at) !== id) return false;
      entries.remove(at);
      return true;
    }
    const at = node.separators.upperBound(key, id);
    const child = node.children[at] as Node;
    if (!this.removeFrom(child, key, id)) return false;
    node.size--;
    if (isUnderfull(child) && !mergeChildren(node, at - 1)) mergeChildren(node, at);
    return true;
  }
}

/** A position that walks over a range of a {@link BTree}; see there. */
export class BTreeScan {
  /** The record id of the entry that {@link next} stepped on; -1 before the first. */
  id = -1;

  private leaf: Leaf | undefined;
  private at = 0;
  /** Entries of `leaf` within the range lie before this position (forwards), or from it on (backwards). */
  private end = 0;
  private version = -1;
  // The key that `next` stepped on: a slice of a node's data, which is never overwritten.
  private data: Uint8Array | undefined;
  private start = 0;
  private length = 0;

  constructor(
    private readonly tree: BTree,
    private readonly from: SortableKey,
    private readonly to: SortableKey,
    private readonly backward: boolean,
  ) {}

  /** The key of the entry that {@link next} stepped on; "" before the first. */
  get key(): SortableKey {
    return this.data ? keyOfBytes(this.data, this.start, this.length) : "";
  }

  /** Steps on; false at the end of the range. */
  next(): boolean {
    if (this.version !== this.tree.version) this.locate();
    else if (this.backward) this.at--;
    else this.at++;
    while (this.leaf && (this.backward ? this.at < 0 : this.at >= this.leaf.size)) {
      this.leaf = this.backward ? this.leaf.previous : this.leaf.next;
      this.enter();
      this.at = this.backward && this.leaf ? this.leaf.size - 1 : 0;
    }
    if (!this.leaf || (this.backward ? this.at < this.end : this.at >= this.end)) return false;
    const { entries } = this.leaf;
    this.data = entries.data;
    this.start = entries.start(this.at);
    this.length = entries.keyLength(this.at);
    this.id = entries.id(this.at);
    return true;
  }

  /** Finds the place of the next entry anew. */
  private locate(): void {
    const { tree, backward } = this;
    this.version = tree.version;
    wanted.load(this.data ? this.key : backward ? this.to : this.from);
    const place = backward
      ? tree.locateBefore(wanted, this.data ? this.id : -1)
      : tree.locate(wanted, this.data ? this.id + 0.5 : -1);
    this.leaf = place.leaf;
    this.at = place.at;
    this.enter();
  }

  /** Finds where the range ends in the leaf, so that its entries need no comparison. */
  private enter(): void {
    if (!this.leaf) return;
    this.end = this.leaf.entries.lowerBound(wanted.load(this.backward ? this.from : this.to), -1);
  }
}
