import { describeDocument, documentSortableKey, fromDocument, toDocument } from "shardlab/bson";
import { CommandError } from "shardlab/protocol";
import { expect, test } from "vitest";
import { ChunkMap } from "../../lib/router/catalog/chunkMap.js";
import { hashedSplitPoints, placeChunks } from "../../lib/router/keys/initialChunks.js";
import { ShardKeyPattern } from "../../lib/router/keys/shardKeyPattern.js";
import { rulesFor } from "../../lib/router/rules.js";
import { everyDocuments, median } from "../../lib/router/ddl/splitPoints.js";

const pattern = (key: object): ShardKeyPattern => ShardKeyPattern.parse(toDocument(key));

function refusal(work: () => unknown): { code: number; message: string } {
  try {
    work();
  } catch (error) {
    if (error instanceof CommandError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
}

test("a key pattern takes 1 and at most one 'hashed' (§1.3)", () => {
  expect(pattern({ region: 1, device: "hashed" }).text).toBe('{ region: 1, device: "hashed" }');
  for (const bad of [
    {},
    { a: -1 },
    { a: 5 },
    { a: "2d" },
    { a: "hahashed" },
    { a: "hashed", b: "hashed" },
    { a: true },
  ]) {
    expect(
      refusal(() => pattern(bad)),
      JSON.stringify(bad),
    ).toMatchObject({ code: 2 });
  }
  for (const bad of [{ "": 1 }, { "a.": 1 }, { ".a": 1 }, { "a..b": 1 }]) {
    expect(
      refusal(() => pattern(bad)),
      JSON.stringify(bad),
    ).toMatchObject({ code: 2 });
  }
});

test("compound hashed keys came with 4.4 (§2.3)", () => {
  const key = toDocument({ a: "hashed", b: 1 });
  expect(refusal(() => ShardKeyPattern.parse(key, rulesFor("4.2")))).toMatchObject({ code: 2 });
  expect(ShardKeyPattern.parse(key, rulesFor("4.4")).hashedField).toBe(0);
});

test("a document's key: missing is null, a hashed field is its hash (§2.2, §4.2)", () => {
  const key = pattern({ x: 1, y: 1 });
  const bound = (document: object): string =>
    describeDocument(key.boundOf(key.valuesOf(toDocument(document))));
  // The table of §4.2.
  expect(bound({ x: "hello" })).toBe(bound({ x: "hello", y: null }));
  expect(bound({ y: "goodbye" })).toBe(bound({ x: null, y: "goodbye" }));
  expect(bound({ z: "oops" })).toBe(bound({ x: null, y: null }));

  const hashed = pattern({ deviceId: "hashed" });
  const hashOf = (document: object): unknown =>
    fromDocument(hashed.boundOf(hashed.valuesOf(toDocument(document)))).deviceId;
  expect(String(hashOf({ deviceId: "dev-42" }))).toBe("7632986869154119240");
  expect(String(hashOf({}))).toBe("2338878944348059895");
});

test("arrays on the key's path are refused with 61 (§4.2)", () => {
  expect(refusal(() => pattern({ a: 1 }).keyOf(toDocument({ a: [1] })))).toMatchObject({
    code: 61,
    message: "Shard key cannot contain array values or array descendants.",
  });
  expect(refusal(() => pattern({ "a.b": 1 }).keyOf(toDocument({ a: [{ b: 1 }] })))).toMatchObject({
    code: 61,
  });
  expect(refusal(() => pattern({ a: "hashed" }).keyOf(toDocument({ a: [] })))).toMatchObject({ code: 61 });
  // An array elsewhere does not matter.
  expect(() => pattern({ "a.b": 1 }).keyOf(toDocument({ a: { b: 1, c: [1] } }))).not.toThrow();
});

test("hash space is cut as MongoDB cuts it (§2.4)", () => {
  const points = (n: number): string[] => hashedSplitPoints(n).map(String);
  expect(points(1)).toEqual([]);
  expect(points(2)).toEqual(["0"]);
  expect(points(3)).toEqual(["-3074457345618258602", "3074457345618258602"]);
  expect(points(4)).toEqual(["-4611686018427387902", "0", "4611686018427387902"]);
  expect(points(5)).toEqual([
    "-5534023222112865483",
    "-1844674407370955161",
    "1844674407370955161",
    "5534023222112865483",
  ]);
  expect(points(6)).toEqual([
    "-6148914691236517204",
    "-3074457345618258602",
    "0",
    "3074457345618258602",
    "6148914691236517204",
  ]);
});

test("chunks are placed in contiguous runs, or one by one (§2.4)", () => {
  expect(placeChunks(4, ["A", "B"], 2)).toEqual(["A", "A", "B", "B"]);
  expect(placeChunks(3, ["C", "A", "B"], 1)).toEqual(["C", "A", "B"]);
});

test("every key belongs to the last chunk that begins at or before it", () => {
  const key = pattern({ x: 1 });
  const map = ChunkMap.build(
    [
      { min: key.minimum, shard: "shardB" },
      { min: toDocument({ x: 0 }), shard: "shardA" },
      { min: toDocument({ x: 5000 }), shard: "shardB" },
    ],
    key.maximum,
  );
  const owner = (x: unknown): string => map.ownerOf(map.find(documentSortableKey(toDocument({ x }))));
  expect([-1, 0, 4999, 5000, "text", null].map(owner)).toEqual([
    "shardB",
    "shardA",
    "shardA",
    "shardB",
    "shardB",
    // null sorts before all numbers
    "shardB",
  ]);
  expect(map.owningShards()).toEqual(["shardA", "shardB"]);

  const split = map.withSplit(1, [toDocument({ x: 100 }), toDocument({ x: 200 })]);
  expect(split.size).toBe(5);
  expect(
    [...split.chunks()].map(({ min, max, shard }) => [describeDocument(min), describeDocument(max), shard]),
  ).toEqual([
    ["{ x: MinKey }", "{ x: 0 }", "shardB"],
    ["{ x: 0 }", "{ x: 100 }", "shardA"],
    ["{ x: 100 }", "{ x: 200 }", "shardA"],
    ["{ x: 200 }", "{ x: 5000 }", "shardA"],
    ["{ x: 5000 }", "{ x: MaxKey }", "shardB"],
  ]);
  const moved = split.withOwner(2, "shardC");
  expect([...moved.chunks()].map(({ shard }) => shard)).toEqual([
    "shardB",
    "shardA",
    "shardC",
    "shardA",
    "shardB",
  ]);
  expect(moved.owningShards()).toEqual(["shardA", "shardB", "shardC"]);
  // The old maps are as they were.
  expect(map.size).toBe(3);
  expect(split.ownerOf(2)).toBe("shardA");
});

test("a million chunks fit in 300 MB and are found at once", () => {
  const key = pattern({ x: 1 });
  const before = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  function* starts(): Generator<{ min: Uint8Array; shard: string }> {
    yield { min: key.minimum, shard: "shardA" };
    for (let x = 1; x < 1_000_000; x++) yield { min: toDocument({ x }), shard: x % 2 ? "shardB" : "shardA" };
  }
  const map = ChunkMap.build(starts(), key.maximum);
  const used = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers - before;
  expect(map.size).toBe(1_000_000);
  expect(used).toBeLessThan(300 * 1024 * 1024);
  expect(map.find(documentSortableKey(toDocument({ x: 777_777.5 })))).toBe(777_777);
});

test("a chunk is cut between different keys only", () => {
  const keys = (values: number[]) => values.map((x) => ({ key: String.fromCharCode(x), values: [] }));
  const at = (point: { key: string } | undefined): number | undefined => point?.key.charCodeAt(0);
  expect(at(median(keys([1, 2, 3, 4])))).toBe(3);
  expect(at(median(keys([1, 1, 1, 2])))).toBe(2);
  expect(at(median(keys([1, 1, 1, 1, 1, 1, 2])))).toBe(2);
  // All documents have one key, or there are none: indivisible.
  expect(median(keys([7, 7, 7]))).toBeUndefined();
  expect(median([])).toBeUndefined();
  expect(everyDocuments(keys([1, 2, 3, 4, 5, 6, 7]), 2).map(at)).toEqual([3, 6]);
});
