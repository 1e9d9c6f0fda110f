import fc from "fast-check";
import { documentSortableKey, toDocument } from "shardlab/bson";
import { expect, test } from "vitest";
import { ChunkMap } from "../../lib/router/catalog/chunkMap.js";
import { ShardKeyPattern } from "../../lib/router/keys/shardKeyPattern.js";
import { describeIntervals, targetFilter } from "../../lib/router/targeting/target.js";
import { compileFilter } from "../../lib/query/index.js";
import type { Doc } from "./support/cluster.js";
import { filters, KEYS, bodies } from "./support/equivalence.js";

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
function target(table: ReturnType<typeof mapOf>, filter: Doc): string {
  const { kind, shards } = targetFilter(compileFilter(toDocument(filter)).node, table);
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
  [{ a: { $in: [] } }, "none: A"],
  [{ $and: [{ a: { $gt: 25 } }, { a: { $lt: 5 } }] }, "none: A"],
])("key {a: 1}: %j → %s (§4.1)", (filter, expected) => {
  expect(target(ranged, filter)).toBe(expected);
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
])('key {d: "hashed"}: %j → %s (§4.1)', (filter, expected) => {
  expect(target(hashed, filter)).toBe(expected);
});

test("nested keys are pinned by the path or by the object around it", () => {
  const table = mapOf({ "a.b": 1 }, [{ "a.b": 10 }]);
  expect(target(table, { "a.b": 3 })).toBe("shardKey: A");
  expect(target(table, { a: { b: 30 } })).toBe("shardKey: B");
  expect(target(table, { a: { $exists: true } })).toBe("allShards: AB");
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

test("no filter misses a chunk that holds a match", () => {
  const value = fc.oneof(fc.integer({ min: -5, max: 20 }), fc.constantFrom<unknown>("a", "b", null, 3.5));
  const splits = fc.uniqueArray(fc.tuple(value, value), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      fc.constantFrom(...KEYS),
      splits,
      fc.array(bodies, { minLength: 1, maxLength: 10 }),
      filters,
      (keyDocument, cuts, documents, filter) => {
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
        const compiled = compileFilter(toDocument(filter));
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
