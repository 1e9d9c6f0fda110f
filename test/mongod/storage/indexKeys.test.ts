import { describe, expect, it } from "vitest";
import {
  decodeValue,
  hash64,
  int32,
  sortableKey,
  sortableValue,
  toDocument,
  NULL,
  int64,
} from "../../../lib/bson/index.js";
import { IndexKeys } from "../../../lib/mongod/storage/indexKeys.js";
import { parseKeyPattern } from "../../../lib/mongod/storage/indexSpec.js";

const keysFor = (pattern: object): IndexKeys => new IndexKeys(parseKeyPattern(toDocument(pattern)));

/** The key tuples of a document, decoded; undefined stands for a missing field. */
function tuples(pattern: object, document: object): unknown[][] {
  return keysFor(pattern)
    .tuples(toDocument(document))
    .map((tuple) => tuple.map((value) => value && decodeValue(value)));
}

describe("index keys", () => {
  it.each([
    ["a scalar", { a: 1 }, { a: 5 }, [[5]]],
    ["a missing field", { a: 1 }, { b: 5 }, [[undefined]]],
    ["an embedded field", { "a.b": 1 }, { a: { b: 7 } }, [[7]]],
    ["each element of an array", { a: 1 }, { a: [1, 2] }, [[1], [2]]],
    ["an array inside an array is one key", { a: 1 }, { a: [[1, 2], 3] }, [[[1, 2]], [3]]],
    ["a field of each element", { "a.b": 1 }, { a: [{ b: 1 }, { b: 2 }, {}] }, [[1], [2], [undefined]]],
    ["scalars where objects are looked for", { "a.b": 1 }, { a: [1, 2] }, [[undefined], [undefined]]],
    ["an empty array before the last name", { "a.b": 1 }, { a: [] }, [[undefined]]],
    [
      "compound, one array",
      { a: 1, b: 1 },
      { a: [1, 2], b: 9 },
      [
        [1, 9],
        [2, 9],
      ],
    ],
    [
      "two fields of one array go element by element",
      { "a.b": 1, "a.c": 1 },
      {
        a: [
          { b: 1, c: 2 },
          { b: 3, c: 4 },
        ],
      },
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ["a position in an array", { "a.1": 1 }, { a: [5, 6] }, [[6]]],
    ["a position, then a name", { "a.0.b": 1 }, { a: [{ b: 3 }, { b: 4 }] }, [[3]]],
  ])("%s", (_, pattern, document, expected) => {
    expect(tuples(pattern, document)).toEqual(expected);
  });

  it("store an empty array as undefined, which is below null", () => {
    const [key] = keysFor({ a: 1 }).of(toDocument({ a: [] }), false);
    expect(key).toBeDefined();
    expect((key as string) < sortableValue(NULL)).toBe(true);
  });

  it("are null where the field is missing, and none in a sparse index", () => {
    const keys = keysFor({ a: 1, b: 1 });
    expect(keys.of(toDocument({ c: 1 }), false)).toBe(sortableKey([NULL, NULL]));
    expect(keys.of(toDocument({ c: 1 }), true)).toEqual([]);
    expect(keys.of(toDocument({ b: 1 }), true)).toBe(sortableKey([NULL, int32(1)]));
  });

  it("are listed once for equal elements", () => {
    expect(keysFor({ a: 1 }).of(toDocument({ a: [2, 2, 2.0] }), false)).toEqual([sortableValue(int32(2))]);
  });

  it("of descending fields sort the other way round", () => {
    const keys = keysFor({ a: -1 });
    const of = (a: number): string => keys.of(toDocument({ a }), false) as string;
    expect(of(2) < of(1)).toBe(true);
  });

  it("of a hashed field are the hash, alone or in a compound key", () => {
    expect(keysFor({ a: "hashed" }).of(toDocument({ a: "abc" }), false)).toBe(
      sortableValue(int64(8478485326885698097n)),
    );
    expect(keysFor({ a: "hashed" }).of(toDocument({}), false)).toBe(sortableValue(int64(hash64(undefined))));
    expect(keysFor({ z: 1, a: "hashed" }).of(toDocument({ z: 1, a: "abc" }), false)).toBe(
      sortableKey([int32(1), int64(8478485326885698097n)]),
    );
  });

  it("cannot be made of two arrays at once", () => {
    expect(() => keysFor({ a: 1, b: 1 }).of(toDocument({ a: [1], b: [2] }), false)).toThrow(
      expect.objectContaining({ code: 171, message: "cannot index parallel arrays [b] [a]" }),
    );
    expect(() => keysFor({ "a.b": 1, "a.c": 1 }).of(toDocument({ a: [{ b: [1], c: [2] }] }), false)).toThrow(
      expect.objectContaining({ code: 171 }),
    );
  });

  it("cannot be hashes of arrays", () => {
    for (const [pattern, document] of [
      [{ a: "hashed" }, { a: [1] }],
      [{ "a.b": "hashed" }, { a: [{ b: 1 }] }],
      [
        { z: 1, a: "hashed" },
        { z: [1], a: 1 },
      ],
    ] as const)
      expect(() => keysFor(pattern).of(toDocument(document), false)).toThrow(
        expect.objectContaining({ code: 16766 }),
      );
  });
});
