import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toDocument } from "../../../lib/bson/index.js";
import { RecordStore } from "../../../lib/mongod/storage/recordStore.js";

function idsForward(store: RecordStore): number[] {
  const ids: number[] = [];
  for (let id = store.after(0); id !== 0; id = store.after(id)) ids.push(id);
  return ids;
}

function idsBackward(store: RecordStore): number[] {
  const ids: number[] = [];
  for (let id = store.before(Infinity); id !== 0; id = store.before(id)) ids.push(id);
  return ids;
}

describe("a record store", () => {
  it("keeps the very bytes it was given, in insertion order, and counts them", () => {
    const store = new RecordStore();
    const documents = [1, 2, 3].map((n) => toDocument({ _id: n }));
    const ids = documents.map((document) => store.insert(document));
    expect(ids).toEqual([1, 2, 3]);
    expect(store.get(2)).toEqual(documents[1]);
    expect(store.count).toBe(3);
    expect(store.dataSize).toBe(3 * 14); // length 4, type 1, "_id\0" 4, int32 4, end 1
    store.delete(2);
    expect(idsForward(store)).toEqual([1, 3]);
    expect(idsBackward(store)).toEqual([3, 1]);
    expect(store.insert(documents[1] as Uint8Array)).toBe(4); // ids are never used again
  });

  it("agrees with a Map after any changes, over several pages", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.nat(4000)), { minLength: 1, maxLength: 60 }),
        (steps) => {
          const store = new RecordStore();
          const model = new Map<number, Uint8Array>();
          for (const [kind, n] of steps) {
            if (kind < 4) {
              for (let i = 0; i < 150; i++) {
                const document = toDocument({ n: n + i });
                model.set(store.insert(document), document);
              }
            } else if (kind < 8) {
              for (let id = n; id < n + 700; id++)
                expect(store.delete(id) !== undefined).toBe(model.delete(id));
            } else if (model.has(n)) {
              const document = toDocument({ n, replaced: true });
              store.replace(n, document);
              model.set(n, document);
            }
          }
          const ids = [...model.keys()].sort((a, b) => a - b);
          expect(idsForward(store)).toEqual(ids);
          expect(idsBackward(store)).toEqual([...ids].reverse());
          expect(store.count).toBe(model.size);
          let bytes = 0;
          for (const [id, document] of model) {
            bytes += document.length;
            expect(store.get(id)).toEqual(document);
          }
          expect(store.dataSize).toBe(bytes);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("does not keep the message that brought a document", () => {
    const one = toDocument({ _id: 1, text: "x".repeat(80) });
    const large = toDocument({ _id: 2, text: "x".repeat(10_000) });
    const message = new Uint8Array(1_000_000);
    message.set(one);
    message.set(large, one.length);
    const store = new RecordStore();
    const ids = [one, large].map((document, i) =>
      store.insert(message.subarray(i * one.length, i * one.length + document.length)),
    );
    message.fill(0);
    expect(store.get(ids[0]!)).toEqual(one);
    expect(store.get(ids[1]!)).toEqual(large);
  });

  it("never changes a document that it gave out, whatever becomes of the record", () => {
    const store = new RecordStore();
    const document = (n: number, size: number): Uint8Array => toDocument({ n, text: "x".repeat(size) });
    const ids = Array.from({ length: 1500 }, (_, n) => store.insert(document(n, 50)));
    const given = ids.map((id) => store.get(id)!);
    const copies = given.map((bytes) => bytes.slice());
    for (const id of ids) store.replace(id, document(-id, 60));
    for (const id of ids) if (id % 3 > 0) store.delete(id);
    for (let n = 0; n < 1500; n++) store.insert(document(n, 70));
    expect(given).toEqual(copies);
  });

  it("takes as much memory as the documents that are left", () => {
    const store = new RecordStore();
    const document = toDocument({ text: "x".repeat(100) });
    const buffers = (): number => {
      const seen = new Set<ArrayBufferLike>();
      for (let id = store.after(0); id !== 0; id = store.after(id)) seen.add(store.get(id)!.buffer);
      return [...seen].reduce((sum, { byteLength }) => sum + byteLength, 0);
    };
    for (let i = 0; i < 20_000; i++) store.insert(document);
    expect(buffers()).toBeLessThan(1.1 * store.dataSize);
    for (let round = 0; round < 5; round++)
      for (let id = store.after(0); id !== 0; id = store.after(id)) store.replace(id, document);
    expect(buffers()).toBeLessThan(2.2 * store.dataSize);
    for (let id = store.after(0); id !== 0; id = store.after(id)) if (id % 10 !== 0) store.delete(id);
    expect(store.count).toBe(2000);
    expect(buffers()).toBeLessThan(2.2 * store.dataSize);
  });

  it("lets the oldest go and takes new ones for ever, without looking at where the old ones were", () => {
    const store = new RecordStore();
    const document = toDocument({ n: 1 });
    for (let i = 0; i < 100_000; i++) {
      store.insert(document);
      if (store.count > 10) store.delete(store.after(0));
    }
    expect(idsForward(store)).toEqual(Array.from({ length: 10 }, (_, i) => 99_991 + i));
    for (const id of idsForward(store)) store.delete(id);
    expect([store.after(0), store.before(Infinity), store.count, store.dataSize]).toEqual([0, 0, 0, 0]);
    expect(store.insert(document)).toBe(100_001);
    expect(idsBackward(store)).toEqual([100_001]);
  });
});
