import fc from "fast-check";
import { documentSortableKey, encodeValue, toDocument } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import { ChunkMap } from "../../lib/router/catalog/chunkMap.js";
import { ShardKeyPattern } from "../../lib/router/keys/shardKeyPattern.js";
import { KeyIntervals } from "../../lib/router/targeting/flatten.js";
import { describeIntervals, targetFilter } from "../../lib/router/targeting/target.js";
import type { ExpressionOptions, FieldBounds } from "../../lib/query/index.js";
import { compileFilter, parseCollation } from "../../lib/query/index.js";
import type { Doc } from "./support/cluster.js";
import { bodies, filters } from "./support/equivalence.js";

/** A map with a shard of its own for every chunk: A, B, C, … in order of the bounds. */
function mapOf(keyDocument: Doc, bounds: readonly Doc[]) {
  const key = ShardKeyPattern.parse(toDocument(keyDocument));
  const mins = [key.minimum, ...bounds.map((bound) => toDocument(bound))];
  const chunks = ChunkMap.build(
    mins.map((min, i) => ({ min, shard: String.fromCharCode(65 + i) })),
    key.maximum,
  );
  return { key, chunks };
}

/** What a filter asks, as `kind: shards`. */
function target(table: ReturnType<typeof mapOf>, filter: Doc, options: ExpressionOptions = {}): string {
  const { kind, shards } = targetFilter(compileFilter(toDocument(filter), options).node, table);
  return `${kind}: ${shards.join("")}`;
}

// chunk A below 10, B [10, 20), C [20, 30), D from 30
const ranged = mapOf({ a: 1 }, [{ a: 10 }, { a: 20 }, { a: 30 }]);

test.each<[Doc, string]>([
  [{ a: 5 }, "shardKey: A"],
  [{ a: 10 }, "shardKey: B"],
  [{ a: { $eq: 25 } }, "shardKey: C"],
  [{ $and: [{ b: 1 }, { a: 25 }] }, "shardKey: C"],
  [{ a: { $in: [5, 25] } }, "bounds: AC"],
  [{ a: { $gte: 12, $lt: 15 } }, "bounds: B"],
  [{ a: { $gte: 12, $lt: 25 } }, "bounds: BC"],
  // Both ends are closed: the chunk that begins at 20 is asked although nothing there can match.
  [{ a: { $gte: 12, $lt: 20 } }, "bounds: BC"],
  [{ a: { $gt: 30 } }, "bounds: D"],
  [{ b: 1 }, "allShards: ABCD"],
  [{}, "allShards: ABCD"],
  // null and missing lie in one chunk, before all numbers.
  [{ a: null }, "shardKey: A"],
  [{ a: { $exists: false } }, "bounds: A"],
  [{ $or: [{ a: 1 }, { a: 25 }] }, "bounds: AC"],
  [{ $or: [{ a: 1 }, { b: 1 }] }, "allShards: ABCD"],
  // Strings sort after all numbers.
  [{ a: /^x/ }, "bounds: D"],
  [{ $expr: { $eq: ["$a", 25] } }, "bounds: C"],
  [{ $expr: { $lt: ["$a", 15] } }, "bounds: AB"],
  // Expressions compare across types: above 25 are also all strings.
  [{ $expr: { $gt: ["$a", 25] } }, "bounds: CD"],
  [{ $expr: { $in: ["$a", [5, 35]] } }, "bounds: AD"],
  [{ $expr: { $or: [{ $eq: ["$a", 5] }, { $eq: [15, "$a"] }] } }, "bounds: AB"],
  [{ $expr: { $eq: ["$a", { $add: [20, 5] }] } }, "bounds: C"],
  [{ $expr: { $eq: ["$a", "$b"] } }, "allShards: ABCD"],
  [{ $expr: { $ne: ["$a", 25] } }, "allShards: ABCD"],
  // An $or below $and: what both allow.
  [{ $and: [{ $or: [{ a: 1 }, { a: 25 }] }, { a: { $gt: 20 } }, { b: 1 }] }, "bounds: C"],
  // How $lt meets a chunk bound: 10 itself belongs to the interval, and is where chunk B begins.
  [{ a: { $lt: 10 } }, "bounds: AB"],
  [{ a: { $lte: 9 } }, "bounds: A"],
  [{ a: { $gt: 20, $lte: 29 } }, "bounds: C"],
  // What is not a number sorts before and after the numbers.
  [{ a: { $not: { $gte: 10 } } }, "bounds: ABD"],
  [{ $nor: [{ a: { $lt: 30 } }] }, "bounds: AD"],
  [{ a: { $ne: 15 } }, "bounds: ABCD"],
  [{ a: { $nin: [15, 25] } }, "bounds: ABCD"],
  [{ a: { $type: "string" } }, "bounds: D"],
  [{ a: { $type: "double", $lt: 5 } }, "bounds: A"],
  [{ a: { $size: 1 } }, "allShards: ABCD"],
  [{ a: { $exists: true } }, "allShards: ABCD"],
  // No array is a shard key's value: no key is pinned, the bounds are those of an index.
  [{ a: [5, 25] }, "bounds: AD"],
  [{ a: { $elemMatch: { $gt: 5, $lt: 9 } } }, "bounds: A"],
  // Without arrays nothing holds two values at once.
  [{ a: { $all: [5, 25] } }, "none: A"],
  [{ $jsonSchema: { properties: { a: { minimum: 25 } } } }, "allShards: ABCD"],
  // Regular expressions: the strings with the prefix, and the expression itself as a value, which sorts after them.
  [{ a: /x/ }, "bounds: D"],
  [{ a: { $regex: "^x" } }, "bounds: D"],
  [{ a: { $in: [5, /^x/] } }, "bounds: AD"],
  // Nothing can match: one arbitrary shard, the first chunk's.
  [{ a: { $in: [] } }, "none: A"],
  [{ $and: [{ a: { $gt: 25 } }, { a: { $lt: 5 } }] }, "none: A"],
  [{ $and: [{ a: 25 }, { a: 35 }] }, "none: A"],
  [{ $alwaysFalse: 1 }, "none: A"],
  [{ $or: [{ $alwaysFalse: 1 }, { a: 25 }] }, "shardKey: C"],
  // Pinned twice is not pinned, though the bounds come to the same.
  [{ $and: [{ a: 25 }, { a: 25 }] }, "bounds: C"],
])("key {a: 1}: %j → %s (§4.1)", (filter, expected) => {
  expect(target(ranged, filter)).toBe(expected);
});

test("$expr sees the command's let, and its own clock is no constant of the key", () => {
  const options: ExpressionOptions = { let: toDocument({ low: 12, high: { $add: [10, 5] } }), now: () => 0 };
  const between = { $expr: { $and: [{ $gte: ["$a", "$$low"] }, { $lt: ["$a", "$$high"] }] } };
  expect(target(ranged, between, options)).toBe("bounds: B");
  expect(target(ranged, { $expr: { $gt: ["$a", "$$NOW"] } }, options)).toBe("bounds: D");
  expect(target(ranged, { $expr: { $lt: ["$a", { $rand: {} }] } }, { random: Math.random })).toBe(
    "allShards: ABCD",
  );
});

describe("null and missing lie in one chunk (S001)", () => {
  // A below null, B [null, 0), C from 0
  const table = mapOf({ a: 1 }, [{ a: null }, { a: 0 }]);
  test.each<[Doc, string]>([
    [{ a: null }, "shardKey: B"],
    [{ a: { $exists: false } }, "bounds: B"],
    [{ a: { $in: [null, 5] } }, "bounds: BC"],
    [{ $or: [{ a: { $exists: false } }, { a: 5 }] }, "bounds: BC"],
    [{ a: { $ne: null } }, "bounds: ABC"],
    [{ a: { $type: "null" } }, "bounds: B"],
    // A number is below 0 from -Infinity on, which is above null and in the same chunk; 0 is the next chunk's.
    [{ a: { $lt: 0 } }, "bounds: BC"],
    // Missing is less than everything an expression compares with, and lies at null.
    [{ $expr: { $lt: ["$a", -1] } }, "bounds: AB"],
    [{ $expr: { $eq: ["$a", null] } }, "bounds: B"],
  ])("%j → %s", (filter, expected) => {
    expect(target(table, filter)).toBe(expected);
  });
});

// A below (5, MinKey), B [(5, MinKey), (5, 100)), C [(5, 100), (9, MinKey)), D the rest
const compound = mapOf({ a: 1, b: 1 }, [
  { a: 5, b: -1e9 },
  { a: 5, b: 100 },
  { a: 9, b: -1e9 },
]);

test.each<[Doc, string]>([
  [{ a: 5, b: 50 }, "shardKey: B"],
  [{ a: 5, b: { $gt: 200 } }, "bounds: C"],
  [{ a: 5, b: { $gte: 50, $lte: 150 } }, "bounds: BC"],
  [{ a: 1 }, "bounds: A"],
  // The prefix alone: every chunk with a = 5, the one that ends in it included.
  [{ a: 5 }, "bounds: ABC"],
  [{ b: 50 }, "allShards: ABCD"],
  [{ a: 5, b: null }, "shardKey: A"],
  [
    {
      $or: [
        { a: 5, b: 50 },
        { a: 5, b: 150 },
      ],
    },
    "bounds: BC",
  ],
  // Branches share one box: a in {1, 9} with b from 0 to 50, though the second pins (9, 50).
  [
    {
      $or: [
        { a: 1, b: 0 },
        { a: 9, b: 50 },
      ],
    },
    "bounds: AD",
  ],
  [{ $or: [{ a: 5 }, { b: 5 }] }, "allShards: ABCD"],
  // Several points fan out, and b only widens: (5, 50) .. (5, 200) and (7, 50) .. (7, 200).
  [{ a: { $in: [5, 7] }, b: { $in: [50, 200] } }, "bounds: BC"],
  // Nothing known of the first field: the key is no help, whatever is known of the second.
  [{ a: { $exists: true }, b: 3 }, "allShards: ABCD"],
  // A range on the first field: the second barely helps.
  [{ a: { $gt: 5, $lt: 9 }, b: 50 }, "bounds: BCD"],
])("key {a: 1, b: 1}: %j → %s (§4.1)", (filter, expected) => {
  expect(target(compound, filter)).toBe(expected);
});

test("behind several points the second field keeps its whole range", () => {
  const table = mapOf({ a: 1, b: 1 }, [{ a: 7, b: 50 }]);
  // Points 5 and 7, each with b from 0 to infinity: (5, 0) .. (5, ∞) and (7, 0) .. (7, ∞).
  expect(target(table, { a: { $in: [5, 7] }, b: { $gt: 0 } })).toBe("bounds: AB");
  expect(target(table, { a: { $in: [5, 7] }, b: { $lt: 40, $gt: 0 } })).toBe("bounds: A");
});

// dev-1 hashes to -9121815034321164931, dev-0 to 2254643809256703712, dev-42 to 7632986869154119240 (§2.2)
const hashed = mapOf({ d: "hashed" }, [{ d: 0n }, { d: 5_000_000_000_000_000_000n }]);

test.each<[Doc, string]>([
  [{ d: "dev-1" }, "shardKey: A"],
  [{ d: "dev-0" }, "shardKey: B"],
  [{ d: "dev-42" }, "shardKey: C"],
  [{ d: { $in: ["dev-1", "dev-42"] } }, "bounds: AC"],
  [{ d: { $gte: "dev-1", $lt: "dev-2" } }, "allShards: ABC"],
  [{ d: /^dev/ }, "allShards: ABC"],
  // null and missing: 2338878944348059895
  [{ d: null }, "shardKey: B"],
  [{ i: 42 }, "allShards: ABC"],
  [{ d: { $exists: false } }, "bounds: B"],
  [{ d: { $in: [null, "dev-42"] } }, "bounds: BC"],
  [{ d: { $in: ["dev-1", /^dev/] } }, "allShards: ABC"],
  [{ d: ["dev-1"] }, "allShards: ABC"],
  [{ d: { $ne: "dev-1" } }, "allShards: ABC"],
  [{ $or: [{ d: "dev-1" }, { d: "dev-42" }] }, "bounds: AC"],
  [{ $expr: { $eq: ["$d", "dev-42"] } }, "bounds: C"],
  [{ $expr: { $in: ["$d", ["dev-1", "dev-0"]] } }, "bounds: AB"],
  [{ $expr: { $gt: ["$d", "dev-42"] } }, "allShards: ABC"],
  [{ $and: [{ d: "dev-1" }, { d: "dev-42" }] }, "none: A"],
])('key {d: "hashed"}: %j → %s (§4.1)', (filter, expected) => {
  expect(target(hashed, filter)).toBe(expected);
});

// dev-1's hash is negative, dev-0's and dev-42's are positive.
const hashedLast = mapOf({ a: 1, d: "hashed" }, [{ a: 5, d: 0n }]);
const hashedFirst = mapOf({ d: "hashed", a: 1 }, [{ d: 0n, a: 0 }]);

test.each<[ReturnType<typeof mapOf>, Doc, string]>([
  [hashedLast, { a: 5, d: "dev-1" }, "shardKey: A"],
  [hashedLast, { a: 5, d: "dev-0" }, "shardKey: B"],
  [hashedLast, { a: { $in: [1, 5] }, d: "dev-1" }, "bounds: A"],
  [hashedLast, { a: { $gte: 5 }, d: "dev-0" }, "bounds: B"],
  [hashedLast, { a: 5, d: { $gt: "dev-0" } }, "bounds: AB"],
  [hashedLast, { d: "dev-1" }, "allShards: AB"],
  [hashedFirst, { d: "dev-1" }, "bounds: A"],
  [hashedFirst, { d: { $in: ["dev-1", "dev-42"] }, a: { $gt: 3 } }, "bounds: AB"],
  [hashedFirst, { a: 3 }, "allShards: AB"],
])("compound hashed key %#: %j → %s (§4.1)", (table, filter, expected) => {
  expect(target(table, filter)).toBe(expected);
});

test("nested keys are pinned by the path or by the object around it", () => {
  const table = mapOf({ "a.b": 1 }, [{ "a.b": 10 }]);
  expect(target(table, { "a.b": 3 })).toBe("shardKey: A");
  expect(target(table, { "a.b": { $in: [3, 30] } })).toBe("bounds: AB");
  expect(target(table, { a: { b: 30 } })).toBe("shardKey: B");
  expect(target(table, { a: { $eq: { c: 1, b: 30 } } })).toBe("shardKey: B");
  // Pinned by the path and by the object: not pinned; the bounds know the path.
  expect(target(table, { a: { b: 30 }, "a.b": 30 })).toBe("bounds: B");
  // A range over the object says nothing of what is inside, and an object without the field pins nothing.
  for (const filter of [{ a: { $exists: true } }, { a: { $gt: { b: 3 } } }, { a: { c: 1 } }, { a: 3 }])
    expect(target(table, filter)).toBe("allShards: AB");
});

test("under a collation strings, objects and arrays say nothing, other values all they did", () => {
  const collation = parseCollation(toDocument({ locale: "en", strength: 2 }))!;
  const collated = (table: ReturnType<typeof mapOf>, filter: Doc): string =>
    target(table, filter, { collation });
  expect(collated(ranged, { a: 25 })).toBe("shardKey: C");
  expect(collated(ranged, { a: { $gte: 12, $lt: 15 } })).toBe("bounds: B");
  expect(collated(ranged, { a: null })).toBe("shardKey: A");
  expect(collated(ranged, { a: { $in: [5, 25] } })).toBe("bounds: AC");
  for (const a of ["x", { $gt: "x" }, { $in: [5, "x"] }, { b: "x" }, { b: 5 }, ["x"], { $ne: "x" }])
    expect(collated(ranged, { a })).toBe("allShards: ABCD");
  // A regular expression matches by characters under any collation.
  expect(collated(ranged, { a: /^x/ })).toBe("bounds: D");
  // The string on the second field costs the single chunk, not the bounds of the first.
  expect(collated(compound, { a: 1, b: "x" })).toBe("bounds: A");
  expect(collated(hashed, { d: "dev-42" })).toBe("allShards: ABC");
  expect(collated(hashed, { d: 7 })).toBe(target(hashed, { d: 7 }));
  expect(collated(ranged, { $expr: { $eq: ["$a", "x"] } })).toBe("allShards: ABCD");
});

test("only shards that own a chunk are asked, each once", () => {
  const key = ShardKeyPattern.parse(toDocument({ a: 1 }));
  const chunks = ChunkMap.build(
    ["B", "A", "B", "A"].map((shard, i) => ({
      min: i === 0 ? key.minimum : toDocument({ a: i * 10 }),
      shard,
    })),
    key.maximum,
  );
  const asked = (filter: Doc): string => target({ key, chunks }, filter);
  expect(asked({})).toBe("allShards: AB");
  expect(asked({ a: { $in: [5, 25] } })).toBe("bounds: B");
  expect(asked({ a: { $in: [] } })).toBe("none: B");
});

test("neighbouring chunks are one run", () => {
  const { chunks } = targetFilter(compileFilter(toDocument({ a: { $in: [5, 15, 35] } })).node, ranged);
  expect(chunks).toEqual([
    [0, 1],
    [3, 3],
  ]);
});

test("four million points are MongoDB's limit, and a long list costs no memory of its own", () => {
  // Bounds are the values themselves, as a filter's $in of n numbers gives them.
  const points = (n: number): FieldBounds => {
    const value = encodeValue(1);
    const one = { low: value, lowInclusive: true, high: value, highInclusive: true };
    return Array.from({ length: n }, () => one);
  };
  const wide: FieldBounds = [{ ...points(1)[0]!, high: encodeValue(2) }];
  const before = process.memoryUsage().heapUsed;
  const many = points(4_000_000);
  const own = process.memoryUsage().heapUsed - before;
  const flat = KeyIntervals.flatten([many, wide]);
  expect(flat.length).toBe(4_000_000);
  expect(flat.at(3_999_999).low).toHaveLength(2);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(own + 10_000_000);
  expect(() => KeyIntervals.flatten([[...many, ...points(1)]])).toThrow(
    expect.objectContaining({
      code: 17439,
      message: expect.stringContaining("combinatorial limit") as string,
    }),
  );
});

test("bounds are told as text in chunk space", () => {
  const text = (filter: Doc): string => {
    const { intervals } = targetFilter(compileFilter(toDocument(filter)).node, compound);
    return describeIntervals(intervals, compound.key);
  };
  expect(text({ a: 5, b: 50 })).toBe("{ a: 5, b: 50 }");
  expect(text({ a: { $in: [1, 7] }, b: 2 })).toBe("{ a: 1, b: 2 }, { a: 7, b: 2 }");
  expect(text({ a: { $gt: 5, $lt: 9 }, b: 50 })).toBe("{ a: 5, b: 50 } .. { a: 9, b: 50 }");
});

test("no filter misses a chunk that holds a match, under no collation", () => {
  const value = fc.oneof(
    fc.integer({ min: -5, max: 20 }),
    fc.constantFrom<unknown>("a", "B", "b", "é", null, 3.5),
  );
  const splits = fc.uniqueArray(fc.tuple(value, value), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      fc.constantFrom<Doc>(
        { a: 1 },
        { a: "hashed" },
        { a: 1, b: 1 },
        { a: 1, b: "hashed" },
        { b: "hashed", a: 1 },
        { "n.x": 1 },
      ),
      splits,
      fc.array(bodies, { minLength: 1, maxLength: 10 }),
      filters,
      fc.constantFrom(undefined, { locale: "en", strength: 2 }, { locale: "en", strength: 1 }),
      (keyDocument, cuts, documents, filter, collated) => {
        const names = Object.keys(keyDocument);
        const bounds = cuts
          .map(([first, second]) =>
            Object.fromEntries(
              names.map((name, i) =>
                keyDocument[name] === "hashed"
                  ? [name, BigInt(Math.trunc(Number(first ?? 0)) || i) * 400_000_000_000_000_000n]
                  : [name, i === 0 ? first : second],
              ),
            ),
          )
          .map((bound) => ({ bound, key: documentSortableKey(toDocument(bound)) }))
          .sort((x, y) => (x.key < y.key ? -1 : 1))
          .filter(({ key }, i, all) => i === 0 || all[i - 1]!.key !== key)
          .map(({ bound }) => bound);
        const table = mapOf(keyDocument, bounds);
        const collation = collated && parseCollation(toDocument(collated));
        const compiled = compileFilter(toDocument(filter), collation && { collation });
        const asked = targetFilter(compiled.node, table);
        documents.forEach((fields, _id) => {
          const document = toDocument({ _id, ...fields });
          if (!compiled.matches(document)) return;
          const owner = table.chunks.ownerOf(table.chunks.find(table.key.keyOf(document)));
          expect(asked.shards, JSON.stringify({ fields, filter, bounds: bounds.map(String) })).toContain(
            owner,
          );
        });
      },
    ),
    { numRuns: 3000 },
  );
});
