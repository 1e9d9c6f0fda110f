import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from "bson";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  getField,
  hash64,
  hashedValue,
  sortableHash,
  sortableValue,
  toDocument,
} from "../../lib/bson/index.js";
import { ChunkMap } from "../../lib/router/catalog/chunkMap.js";
import { ShardKeyPattern } from "../../lib/router/keys/shardKeyPattern.js";
import { rulesFor } from "../../lib/router/rules.js";

const key = ShardKeyPattern.parse(toDocument({ deviceId: "hashed" }), rulesFor("8.0"));

/** A map over the hash of deviceId, cut at the given places. */
function mapCutAt(bounds: unknown[]): ChunkMap {
  const starts = [new MinKey(), ...bounds].map((deviceId, i) => ({
    min: toDocument({ deviceId }),
    shard: i % 2 ? "shardB" : "shardA",
  }));
  return ChunkMap.build(starts, toDocument({ deviceId: new MaxKey() }));
}

describe("finding a document's chunk by its hash", () => {
  it("puts dev-0 and dev-42 (hashes above 0) behind the border at 0, dev-1 before it", () => {
    const map = mapCutAt([Long.ZERO]);
    const chunks = ["dev-0", "dev-1", "dev-42"].map((deviceId) => key.chunkOf(toDocument({ deviceId }), map));
    expect(chunks).toEqual([1, 0, 1]);
  });

  it("counts a bound itself to the chunk that it begins", () => {
    const hash = Long.fromString("2254643809256703712"); // dev-0
    const at = (bound: Long) => key.chunkOf(toDocument({ deviceId: "dev-0" }), mapCutAt([bound]));
    expect([at(hash.sub(1)), at(hash), at(hash.add(1))]).toEqual([1, 1, 0]);
  });

  it("compares the lower words unsigned", () => {
    const line = mapCutAt([Long.fromString("3074457345618258602")]).hashLine()!;
    expect(line.find(715827882, 2863311529)).toBe(0);
    expect(line.find(715827882, 2863311530)).toBe(1);
    expect(line.find(715827882, 0)).toBe(0);
    expect(line.find(-715827883, 1431655766)).toBe(0);
  });

  it("answers as the search by sortable key does, for any bounds and documents", () => {
    const bounds = fc.uniqueArray(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 40 });
    fc.assert(
      fc.property(bounds, fc.array(fc.string(), { minLength: 1 }), (cuts, names) => {
        const sorted = [...cuts].sort((a, b) => (a < b ? -1 : 1));
        const map = mapCutAt(sorted.map((cut) => Long.fromBigInt(cut)));
        for (const deviceId of names) {
          const document = toDocument({ deviceId });
          expect(key.chunkOf(document, map)).toBe(map.find(key.keyOf(document)));
        }
      }),
      { numRuns: 200 },
    );
  });

  it("agrees with hash64 and the sortable key for a value of every type, at and beside its hash", () => {
    const values: unknown[] = [null, true, "", "a\0b", "x".repeat(1000), {}, { a: { b: [1, { c: null }] } }];
    values.push(
      new MinKey(),
      new MaxKey(),
      new Date(-1),
      new ObjectId("00".repeat(12)),
      new Code("f", { a: 1 }),
    );
    values.push(new Timestamp({ t: 1, i: 2 }), new BSONRegExp("x", "i"), new BSONSymbol("s"), new Code("f"));
    values.push(new Binary(new Uint8Array(3)), new Int32(-7), Long.MIN_VALUE, Long.MAX_VALUE, Long.NEG_ONE);
    for (const n of [-0, 2.9, -2.9, 2 ** 63, -(2 ** 63), 1e300, NaN, -Infinity]) values.push(new Double(n));
    for (const text of [
      "-0",
      "2.5",
      "-2.5",
      "9223372036854775807.5",
      "1E+6144",
      "-1E-6176",
      "NaN",
      "-Infinity",
    ])
      values.push(Decimal128.fromString(text));
    for (const document of [{}, ...values.map((deviceId) => ({ deviceId }))].map((fields) =>
      toDocument(fields),
    )) {
      const value = getField(document, "deviceId");
      expect(sortableHash(value)).toBe(sortableValue(hashedValue(value)));
      const hash = Long.fromBigInt(hash64(value));
      const chunks = [hash.sub(1), hash, hash.add(1)].map((bound) => {
        const map = mapCutAt([bound]);
        expect(map.hashLine()).toBeDefined();
        expect(map.find(key.keyOf(document))).toBe(key.chunkOf(document, map));
        return key.chunkOf(document, map);
      });
      expect(chunks).toEqual([1, 1, 0]);
    }
  });

  it("falls back to sortable keys where a bound in config.chunks has another number type", () => {
    const map = mapCutAt([new Double(-5), new Double(0)]);
    expect(map.hashLine()).toBeUndefined();
    expect(key.chunkOf(toDocument({ deviceId: "dev-42" }), map)).toBe(2);
  });
});
