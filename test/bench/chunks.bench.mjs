import { ChunkMap } from "../../dist/lib/router/catalog/chunkMap.js";
import { int32, MAX_KEY, MIN_KEY, sortableKey, toDocument } from "../../dist/lib/bson/index.js";
import { MaxKey, MinKey } from "bson";
import { compare, report } from "./measure.mjs";

/** A map of `size` chunks of {x: 1}, cut at 0, 10, 20, … */
function chunkMap(size) {
  function* starts() {
    yield { min: toDocument({ x: new MinKey() }), shard: "shardA" };
    for (let i = 0; i < size - 1; i++)
      yield { min: toDocument({ x: i * 10 }), shard: i % 2 ? "shardA" : "shardB" };
  }
  return ChunkMap.build(starts(), toDocument({ x: new MaxKey() }));
}

/** Finding the chunk of a key: a binary search over strings, so the map's size hardly matters. */
export async function run() {
  const sizes = [1_000, 10_000, 100_000, 1_000_000];
  const sides = {};
  for (const size of sizes) {
    const map = chunkMap(size);
    if (map.find(sortableKey([MIN_KEY])) !== 0 || map.find(sortableKey([MAX_KEY])) !== size - 1)
      throw new Error("the chunk map does not find its ends");
    const keys = Array.from({ length: 4_096 }, (_, i) => sortableKey([int32((i * 7_919) % (size * 10))]));
    sides[size] = {
      work: async () => {
        for (let i = 0; i < 200_000; i++) map.find(keys[i & 4_095]);
      },
    };
  }
  const times = await compare(sides);
  for (const size of sizes.slice(1))
    report(
      `finding one key among ${size.toLocaleString("en")} chunks / among 1,000`,
      times[size] / times[1_000],
    );
}
