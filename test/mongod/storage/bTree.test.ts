import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyBytes } from "../../../lib/bson/index.js";
import { BTree } from "../../../lib/mongod/storage/bTree.js";

interface Entry {
  readonly key: string;
  readonly id: number;
}

const byKeyThenId = (a: Entry, b: Entry): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.id - b.id);

function read(tree: BTree, from = "", to = "\u00ff", backward = false): Entry[] {
  const scan = tree.scan(from, to, backward);
  const entries: Entry[] = [];
  while (scan.next()) entries.push({ key: scan.key, id: scan.id });
  return entries;
}

/** Keys of all lengths, many with the same first six characters: the tree compares those first. */
const KEYS = Array.from({ length: 41 }, (_, n) => {
  if (n < 12) return String(n).padStart(2, "0");
  if (n < 26) return `prefix-${"x".repeat(n % 4)}${n}`;
  return String.fromCharCode(n * 6, 255 - n, n, 0, n, 0, n % 3, 1).slice(0, n % 9);
}).filter((key, n, all) => all.indexOf(key) === n);

describe("a B+tree", () => {
  it("gives its entries back in order of key, then record id, and in reverse", () => {
    const tree = new BTree();
    for (const [key, id] of [
      ["m", 4],
      ["a", 2],
      ["m", 1],
      ["z", 3],
    ] as const)
      tree.insert(key, id);
    const expected = [
      { key: "a", id: 2 },
      { key: "m", id: 1 },
      { key: "m", id: 4 },
      { key: "z", id: 3 },
    ];
    expect(read(tree)).toEqual(expected);
    expect(read(tree, "", "\u00ff", true)).toEqual([...expected].reverse());
    expect(read(tree, "b", "z")).toEqual(expected.slice(1, 3));
    expect(tree.find("m")).toBe(1);
    expect(tree.find("n")).toBeUndefined();
    expect([...tree.idsOf("m")]).toEqual([1, 4]);
  });

  it("counts a range without reading it", () => {
    const tree = new BTree();
    for (let i = 0; i < 10_000; i++) tree.insert(String(i).padStart(5, "0"), i);
    expect(tree.rank("02500")).toBe(2500);
    expect(tree.count("02500", "07500")).toBe(5000);
    expect(tree.count("07500", "02500")).toBe(0);
    expect(tree.size).toBe(10_000);
  });

  it("agrees with a sorted array after any sequence of insertions and removals", () => {
    // Few different keys, so that equal keys and repeated removals happen all the time.
    const operation = fc.record({
      remove: fc.boolean(),
      key: fc.integer({ min: 0, max: 40 }),
      id: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 900 }), fc.integer(), (operations, turn) => {
        const tree = new BTree();
        const model = new Map<string, Entry>();
        for (const { remove, key: number, id } of operations) {
          const key = KEYS[(number + (turn & 7)) % KEYS.length] as string;
          const name = `${key}/${id}`;
          expect(tree.has(key, id)).toBe(model.has(name));
          // A unique index looks before it inserts, and the tree remembers where it looked.
          if (id % 2) tree.find(key);
          if (remove) expect(tree.remove(key, id)).toBe(model.delete(name));
          else if (!model.has(name)) {
            tree.insert(key, id);
            model.set(name, { key, id });
          }
        }
        const sorted = [...model.values()].sort(byKeyThenId);
        expect(tree.size).toBe(sorted.length);
        expect(read(tree)).toEqual(sorted);
        const [from, to] = [KEYS[5], KEYS[25]].sort() as [string, string];
        expect(read(tree, from, to, true)).toEqual(
          sorted.filter(({ key }) => key >= from && key < to).reverse(),
        );
        for (const bound of [...KEYS, "prefix-\u00ff", "zz"])
          expect(tree.rank(bound)).toBe(sorted.filter(({ key }) => key < bound).length);
      }),
      { numRuns: 60 },
    );
  });

  it("of a unique index has every key once, also one that comes back after it was removed", () => {
    // As an index puts a key in: looked up first, and where nothing is found, put in at that place.
    const key = new KeyBytes();
    const tree = new BTree();
    const ids = new Map<string, number>();
    let id = 0;
    const put = (text: string): void => {
      key.load(text);
      expect(tree.findKey(key)).toBe(ids.get(text));
      if (ids.has(text)) return;
      tree.insertKey(key, ++id);
      ids.set(text, id);
    };
    const take = (text: string): void => {
      const present = ids.get(text);
      if (present === undefined) return;
      expect(tree.remove(text, present)).toBe(true);
      ids.delete(text);
    };
    // Enough for some leaves of 128; every key, the separators among them, goes and comes back.
    const all = Array.from({ length: 600 }, (_, n) => String(n).padStart(4, "0"));
    all.forEach(put);
    for (const text of all) {
      take(text);
      put(text);
      take(text);
      put(text);
    }
    fc.assert(
      fc.property(fc.array(fc.nat(599), { minLength: 1, maxLength: 300 }), (numbers) => {
        for (const n of numbers) {
          const text = all[n]!;
          if (ids.has(text)) take(text);
          else put(text);
        }
        const expected = [...ids].map(([text, own]) => ({ key: text, id: own })).sort(byKeyThenId);
        expect(read(tree)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
    for (const text of all) take(text);
    expect([tree.size, read(tree)]).toEqual([0, []]);
  });

  it("keeps its order through thousands of entries in ascending, descending and mixed order, and empties again", () => {
    const orders: ((i: number) => number)[] = [(i) => i, (i) => 4999 - i, (i) => (i * 7919) % 5000];
    for (const order of orders) {
      const tree = new BTree();
      for (let i = 0; i < 5000; i++) tree.insert(String(order(i)).padStart(4, "0"), order(i) + 1);
      expect(read(tree).map(({ id }) => id)).toEqual(Array.from({ length: 5000 }, (_, i) => i + 1));
      for (let i = 0; i < 5000; i++) {
        const n = order((i * 3) % 5000);
        expect(tree.remove(String(n).padStart(4, "0"), n + 1)).toBe(true);
      }
      expect(tree.size).toBe(0);
      expect(read(tree)).toEqual([]);
      expect(read(tree, "", "\u00ff", true)).toEqual([]);
    }
  });

  it("lets a resting scan go on after changes, without repeating or missing what stayed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 400 }),
        fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 200 }),
        fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 200 }),
        fc.boolean(),
        fc.integer({ min: 0, max: 100 }),
        (initial, added, removed, backward, restAfter) => {
          const text = (n: number): string => String(n).padStart(3, "0");
          const tree = new BTree();
          const present = new Set<number>();
          const add = (n: number): void => {
            if (!present.has(n)) tree.insert(text(n), n);
            present.add(n);
          };
          initial.forEach(add);
          const scan = tree.scan("", "\u00ff", backward);
          const seen: number[] = [];
          for (let i = 0; i < restAfter && scan.next(); i++) seen.push(scan.id);
          const stayed = new Set([...present].filter((n) => !removed.includes(n)));
          removed.forEach((n) => present.delete(n) && tree.remove(text(n), n));
          added.forEach(add);
          while (scan.next()) seen.push(scan.id);
          expect(new Set(seen).size).toBe(seen.length);
          for (const n of stayed) expect(seen).toContain(n);
          expect([...seen].sort((a, b) => (backward ? b - a : a - b))).toEqual(seen);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("divides nodes by bytes, too: keys of any length, some of them megabytes", () => {
    const tree = new BTree();
    const model: Entry[] = [];
    for (let i = 0; i < 600; i++) {
      const n = (i * 7919) % 600;
      const length = n % 97 === 0 ? 1_000_000 : n % 7 === 0 ? 5000 : 20;
      const entry = { key: `${"p".repeat(length)}${String(n).padStart(4, "0")}`, id: n };
      tree.insert(entry.key, entry.id);
      model.push(entry);
    }
    model.sort(byKeyThenId);
    expect(read(tree).map(({ id }) => id)).toEqual(model.map(({ id }) => id));
    model.forEach(({ key, id }, rank) => expect([tree.find(key), tree.rank(key)]).toEqual([id, rank]));
    for (const { key, id } of model.filter((_, i) => i % 3 > 0)) expect(tree.remove(key, id)).toBe(true);
    expect(read(tree).map(({ id }) => id)).toEqual(model.filter((_, i) => i % 3 === 0).map(({ id }) => id));
  });

  it("remembers the key of a resting scan even when its node was divided, packed or emptied", () => {
    const tree = new BTree();
    const key = (n: number): string => `k${String(n).padStart(5, "0")}`;
    for (let n = 0; n < 1000; n += 2) tree.insert(key(n), n);
    const scan = tree.scan("", "\u00ff");
    for (let i = 0; i <= 250; i++) scan.next();
    expect(scan.key).toBe(key(500));
    for (let n = 1; n < 1000; n += 2) tree.insert(key(n), n);
    expect(scan.key).toBe(key(500));
    for (let n = 400; n < 600; n++) tree.remove(key(n), n);
    expect([scan.key, scan.next(), scan.key]).toEqual([key(500), true, key(600)]);
    tree.clear();
    expect([scan.key, scan.next()]).toEqual([key(600), false]);
  });
});
