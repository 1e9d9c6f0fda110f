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
  it("keeps the very slices it was given, in insertion order, and counts them", () => {
    const store = new RecordStore();
    const documents = [1, 2, 3].map((n) => toDocument({ _id: n }));
    const ids = documents.map((document) => store.insert(document));
    expect(ids).toEqual([1, 2, 3]);
    expect(store.get(2)).toBe(documents[1]);
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

  it("lets go of the message that brought its records once most of them are gone", () => {
    const one = toDocument({ _id: 1, text: "x".repeat(80) });
    const message = new Uint8Array(one.length * 1000);
    const store = new RecordStore();
    for (let i = 0; i < 1000; i++) {
      message.set(one, i * one.length);
      store.insert(message.subarray(i * one.length, (i + 1) * one.length));
    }
    for (let id = 1; id < 1000; id++) store.delete(id);
    const survivor = store.get(1000);
    expect(survivor).toEqual(one);
    expect(survivor?.buffer).not.toBe(message.buffer);
    expect(survivor?.buffer.byteLength).toBeLessThan(message.length / 2);
  });
});
