/** Where the new chunks of a resharding begin and who gets them (facts-mongos.md §8.2): by hand. */
import { fromDocument, int32, sortableKey, string, toDocument } from "shardlab/bson";
import { describe, expect, it } from "vitest";
import type { SplitRequest } from "../../../lib/router/resharding/splitPolicy.js";
import { splitBySamples } from "../../../lib/router/resharding/splitPolicy.js";
import { ShardKeyPattern } from "../../../lib/router/keys/shardKeyPattern.js";

const key = ShardKeyPattern.parse(toDocument({ x: 1 }));
const base: SplitRequest = {
  key,
  chunks: 3,
  samplesPerChunk: 10,
  zones: [],
  shards: ["A", "B"],
  shardsOf: () => [],
};
const samples = (xs: readonly number[]) =>
  xs.map((x) => ({ key: sortableKey([int32(x)]), values: [int32(x)] }));
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const split = (xs: readonly number[], request: Partial<SplitRequest>): unknown[] =>
  splitBySamples(samples(xs), { ...base, ...request }).map(({ min, shard }) => {
    const { x } = fromDocument(min);
    return [typeof x === "number" ? x : "MinKey", shard];
  });

describe("splitBySamples", () => {
  it("cuts at every tenth sample and goes round the shards", () => {
    expect(split(upTo(30), {})).toEqual([
      ["MinKey", "A"],
      [10, "B"],
      [20, "A"],
    ]);
  });

  it("makes smaller steps of fewer documents", () => {
    // Nine documents for three chunks: three each.
    expect(split(upTo(9), {})).toEqual([
      ["MinKey", "A"],
      [3, "B"],
      [6, "A"],
    ]);
  });

  it("makes one chunk where one is wanted, whatever the documents are", () => {
    expect(split([], { chunks: 1 })).toEqual([["MinKey", "A"]]);
  });

  it("cuts between different keys only", () => {
    // Half of them are 0: the tenth and the twentieth sample are 0 and 5.
    const half = [...upTo(15).map(() => 0), ...upTo(15)];
    expect(split(half, {})).toEqual([
      ["MinKey", "A"],
      [0, "B"],
      [5, "A"],
    ]);
  });

  it("uses every key where it has to", () => {
    expect(split([1, 1, 1, 1, 1, 1, 1, 1, 2, 3], { chunks: 4 })).toEqual([
      ["MinKey", "A"],
      [1, "B"],
      [2, "A"],
      [3, "B"],
    ]);
  });

  it("says how many chunks a key with too few values can make", () => {
    const few = (): unknown => split([1, 1, 2, 2], { chunks: 5 });
    // MinKey, 1 and 2 can be where chunks begin.
    expect(few).toThrow("required number of chunks of 5, it can only make 3 chunks");
    expect(few).toThrow(expect.objectContaining({ code: 4952606 }));
  });

  it("cuts at the bounds of zones, and keeps each zone on its shards", () => {
    const zone = { min: toDocument({ x: 10 }), max: toDocument({ x: 20 }), zone: "Z" };
    const request = { zones: [zone], shardsOf: (): string[] => ["C"], chunks: 3 };
    expect(split([], request)).toEqual([
      ["MinKey", "A"],
      [10, "C"],
      [20, "B"],
    ]);
    // One more chunk than the zone needs: twenty samples for two, the tenth is 10, which is a bound already.
    expect(split(upTo(40), { ...request, chunks: 4 })).toEqual([
      ["MinKey", "A"],
      [10, "C"],
      [20, "B"],
      [30, "A"],
    ]);
  });

  it("refuses a zone without a shard", () => {
    const zone = { min: toDocument({ x: 10 }), max: toDocument({ x: 20 }), zone: "Z" };
    expect(() => split([], { zones: [zone] })).toThrow(expect.objectContaining({ code: 4952607 }));
  });

  it("takes keys of any type in BSON order", () => {
    const mixed = [...samples([1, 2]), { key: sortableKey([string("a")]), values: [string("a")] }];
    const starts = splitBySamples(mixed, { ...base, chunks: 2, samplesPerChunk: 2 });
    expect(starts.map(({ shard }) => shard)).toEqual(["A", "B"]);
  });
});
