import { KeyBytes, toDocument } from "shardlab/bson";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyFilter } from "../../../lib/mongod/storage/keyFilter.js";
import { PendingEntries } from "../../../lib/mongod/storage/pendingEntries.js";
import { Collection } from "../../../lib/mongod/storage/collection.js";
import { parseCollectionOptions } from "../../../lib/mongod/storage/collectionOptions.js";
import { parseIndexSpec } from "../../../lib/mongod/storage/parseIndexSpec.js";
import { TestEnvironment } from "../support.js";

const unique = { key: { n: 1 }, name: "n_1", unique: true };

function collection(spec: object = unique, setTimer?: (callback: () => void) => () => void): Collection {
  const environment = Object.assign(new TestEnvironment(), setTimer && { setTimer });
  const made = new Collection(
    "library.c",
    new Uint8Array(16),
    parseCollectionOptions(toDocument({})),
    environment,
  );
  made.createIndexes([parseIndexSpec(toDocument({ v: 2, ...spec }))]);
  return made;
}

const insert = (into: Collection, n: unknown, id = n): number => into.insert(toDocument({ _id: id, n }));

describe("entries that wait for their places", () => {
  it("are refused as duplicates of each other and of those in place", () => {
    const c = collection();
    insert(c, 5);
    expect(() => insert(c, 5, "other")).toThrow(/E11000/);
    insert(c, 6);
    c.indexes[1]!.settle();
    expect(() => insert(c, 6, "other")).toThrow(/E11000/);
    expect(c.indexes[1]!.size).toBe(2);
  });

  it("are all there for whoever reads the index, in order", () => {
    const c = collection();
    for (const n of [3, 1, 2]) insert(c, n);
    const index = c.indexes[1]!;
    expect([index.unsettled, index.size]).toEqual([true, 3]);
    const scan = index.ordered.scan("", "\u00ff");
    const ids: number[] = [];
    while (scan.next()) ids.push(scan.id);
    expect(ids).toEqual([2, 3, 1]);
    expect(index.unsettled).toBe(false);
  });

  it("go to their places when the host has a moment, unless the collection is gone", () => {
    const waiting: (() => void)[] = [];
    const later = (callback: () => void) => {
      waiting.push(callback);
      return () => undefined;
    };
    const c = collection(unique, later);
    insert(c, 1);
    insert(c, 2);
    expect(waiting).toHaveLength(1);
    waiting.pop()!();
    expect(c.indexes[1]!.unsettled).toBe(false);
    insert(c, 3);
    c.dropped = true;
    waiting.pop()!();
    expect(c.indexes[1]!.unsettled).toBe(true);
  });

  it("may be inserted again after they were deleted, however many that were", () => {
    const c = collection();
    for (let round = 0; round < 6; round++) {
      const ids = Array.from({ length: 2000 }, (_, n) => insert(c, round * 2000 + n));
      for (const id of ids) c.delete(id);
    }
    expect(c.indexes[1]!.size).toBe(0);
    insert(c, 1);
    expect(() => insert(c, 1, "other")).toThrow(/E11000/);
  });

  it("know of keys that came while the index did not look for duplicates", () => {
    const c = collection({ ...unique, unique: false, prepareUnique: true });
    const index = c.indexes[1]!;
    insert(c, 1);
    index.spec = { ...index.spec, prepareUnique: false };
    insert(c, 2);
    index.spec = { ...index.spec, prepareUnique: true };
    expect(() => insert(c, 1, "a")).toThrow(/E11000/);
    expect(() => insert(c, 2, "b")).toThrow(/E11000/);
  });

  it("hold the same keys as a set does, whatever is inserted, deleted and read in between", () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ op: fc.constant("insert" as const), n: fc.nat(60) }) },
      { weight: 3, arbitrary: fc.record({ op: fc.constant("delete" as const), n: fc.nat(60) }) },
      { weight: 1, arbitrary: fc.record({ op: fc.constant("settle" as const), n: fc.constant(0) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const c = collection();
        const model = new Map<number, number>();
        let ids = 0;
        for (const { op, n } of steps) {
          if (op === "settle") c.indexes[1]!.settle();
          else if (op === "delete") {
            const id = model.get(n);
            if (id !== undefined) c.delete(id);
            model.delete(n);
          } else if (model.has(n)) expect(() => insert(c, n, ids++)).toThrow(/E11000/);
          else model.set(n, insert(c, n, ids++));
        }
        const scan = c.indexes[1]!.ordered.scan("", "\u00ff");
        const found: number[] = [];
        while (scan.next()) found.push(scan.id);
        expect(found).toEqual([...model].sort(([a], [b]) => a - b).map(([, id]) => id));
      }),
      { numRuns: 150 },
    );
  });
});

describe("PendingEntries and KeyFilter", () => {
  it("give back what they were given, in order of arrival", () => {
    const pending = new PendingEntries();
    const key = new KeyBytes();
    const keys = Array.from({ length: 300 }, (_, i) => "k".repeat(i % 40) + String(i));
    keys.forEach((text, id) => pending.push(key.load(text), id));
    const given: [string, number][] = [];
    pending.drain(new KeyBytes(), (k, id) => {
      given.push([String.fromCharCode(...k.bytes.subarray(0, k.length)), id]);
    });
    expect(given).toEqual(keys.map((text, id) => [text, id]));
    expect(pending.count).toBe(0);
  });

  it("are full at 4,096 entries or 128 KB of keys", () => {
    const pending = new PendingEntries();
    const key = new KeyBytes().load("k");
    for (let i = 0; i < 4095; i++) pending.push(key, i);
    expect(pending.full).toBe(false);
    pending.push(key, 4095);
    expect(pending.full).toBe(true);
    const large = new PendingEntries();
    large.push(new KeyBytes().load("k".repeat(131_072)), 1);
    expect(large.full).toBe(true);
  });

  it("never deny what they have seen", () => {
    const filter = new KeyFilter();
    const key = new KeyBytes();
    const fingerprints = Array.from({ length: 5000 }, (_, i) => KeyFilter.fingerprint(key.load(`key ${i}`)));
    for (const fingerprint of fingerprints) filter.add(fingerprint);
    expect(fingerprints.every((fingerprint) => filter.has(fingerprint))).toBe(true);
    const others = Array.from({ length: 5000 }, (_, i) => KeyFilter.fingerprint(key.load(`other ${i}`)));
    expect(others.filter((fingerprint) => filter.has(fingerprint)).length).toBeLessThan(5);
  });
});
