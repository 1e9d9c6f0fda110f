import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MaxKey, MinKey } from "bson";
import { MAX_KEY, MIN_KEY, int32, int64, sortableKey, toDocument } from "../../dist/lib/bson/index.js";
import { compileFilter } from "../../dist/lib/query/index.js";
import { ChunkMap } from "../../dist/lib/router/catalog/chunkMap.js";
import { ShardKeyPattern } from "../../dist/lib/router/keys/shardKeyPattern.js";
import { targetFilter } from "../../dist/lib/router/targeting/target.js";
import { compare, report } from "./measure.mjs";

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const MB = 1_000_000;

/** A map of `size` chunks of {x: 1}, cut at 0, 10, 20, … */
function rangedMap(size) {
  return mapOf(size, (i) => i * 10);
}

/** A map of `size` chunks of {x: "hashed"}, cut in equal parts. */
function hashedMap(size) {
  const part = 2n ** 64n / BigInt(size);
  return mapOf(size, (i) => -(2n ** 63n) + part * BigInt(i + 1));
}

function mapOf(size, bound) {
  function* starts() {
    yield { min: toDocument({ x: new MinKey() }), shard: "shardA" };
    for (let i = 0; i < size - 1; i++)
      yield { min: toDocument({ x: bound(i) }), shard: i % 2 ? "shardA" : "shardB" };
  }
  return ChunkMap.build(starts(), toDocument({ x: new MaxKey() }));
}

/** Bytes that are in use when everything that nobody needs is gone. */
function bytesInUse() {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Runs `work` with each of 4,096 items in turn, 200,000 times in all. */
function over(items, work) {
  return {
    work: async () => {
      for (let i = 0; i < 200_000; i++) work(items[i & 4_095]);
    },
  };
}

/** Keys all over a map of so many chunks. */
const keysFor = (size) => Array.from({ length: 4_096 }, (_, i) => (i * 7_919 * 613) % (size * 10));

/** Routing among many chunks: the map's size should hardly matter, and it has to fit into memory. */
export async function run() {
  const before = bytesInUse();
  const big = rangedMap(1_000_000);
  big.find(sortableKey([int32(1)]));
  report("MB of a map of 1,000,000 chunks", (bytesInUse() - before) / MB, "≤ 300");

  const ranged = { key: ShardKeyPattern.parse(toDocument({ x: 1 })), mapOf: rangedMap };
  const hashed = { key: ShardKeyPattern.parse(toDocument({ x: "hashed" })), mapOf: hashedMap };
  await ratios("looking one key up", ranged, ({ chunks }, size) => {
    if (chunks.find(sortableKey([MIN_KEY])) !== 0 || chunks.find(sortableKey([MAX_KEY])) !== size - 1)
      throw new Error("the chunk map does not find its ends");
    const keys = keysFor(size).map((x) => sortableKey([int32(x)]));
    return over(keys, (key) => chunks.find(key));
  });
  await ratios("looking one hash up", hashed, ({ chunks }) => {
    const keys = keysFor(1_000).map((x) => sortableKey([int64(BigInt(x) * 7_919_000_001_234_577n)]));
    return over(keys, (key) => chunks.find(key));
  });
  for (const [name, side] of Object.entries({ "{x: 1}": ranged, '{x: "hashed"}': hashed })) {
    await ratios(`routing one document by ${name}`, side, ({ key, chunks }, size) => {
      const documents = keysFor(size).map((x) => toDocument({ _id: x, x }));
      return over(documents, (document) => chunks.ownerOf(key.chunkOf(document, chunks)));
    });
    await ratios(`routing one filter by ${name}`, side, (table, size) => {
      const filters = keysFor(size).map((x) => compileFilter(toDocument({ x })).node);
      return over(filters, (node) => targetFilter(node, table).shards);
    });
  }
}

/** Compares the same work on maps of all sizes. */
async function ratios(what, { key, mapOf }, sideOf) {
  const sides = {};
  for (const size of SIZES) sides[size] = sideOf({ key, chunks: mapOf(size) }, size);
  const times = await compare(sides);
  for (const size of SIZES.slice(1)) {
    const among = `${what} among ${size.toLocaleString("en")} chunks / among 1,000`;
    // A bare look-up is a part of routing a key, and has no goal of its own.
    const isRouting = what.startsWith("routing");
    report(among, times[size] / times[1_000], isRouting && size === 1_000_000 ? "≤ 2" : undefined);
  }
}
