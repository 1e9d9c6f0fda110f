/** enableSharding, initial chunks and the default chunk size under each release (facts-mongos.md §1.1, §1.3, §1.4, §2.4, §3.1). */
import { resolveOptions } from "../../../lib/cluster/options.js";
import type { Doc, TestCluster } from "../support/cluster.js";
import { outcome, splitAtZero, tryRow } from "./releases.js";

interface Chunk {
  readonly min: Doc;
  readonly shard: string;
}

async function chunksOf(cluster: TestCluster, ns: string): Promise<Chunk[]> {
  const [collection] = await cluster.all("config", { find: "collections", filter: { _id: ns } });
  const filter = { uuid: collection!.uuid };
  return (await cluster.all("config", { find: "chunks", filter, sort: { min: 1 } })) as unknown as Chunk[];
}

/** Enables `lab`, whether the release wants it or not. */
async function enabled(cluster: TestCluster): Promise<void> {
  await cluster.admin({ enableSharding: "lab" });
}

tryRow("enableSharding first", async (cluster) => {
  const shardLoans = { shardCollection: "library.loans", key: { memberId: 1 } };
  const first = await outcome(cluster, "admin", shardLoans);
  // With enableSharding it works under every release.
  await cluster.admin({ enableSharding: "library" });
  await cluster.admin(shardLoans);
  return first;
});

tryRow("numInitialChunks of a ranged key", async (cluster) => {
  await enabled(cluster);
  return outcome(cluster, "admin", { shardCollection: "lab.c", key: { a: 1 }, numInitialChunks: 6 });
});

tryRow("numInitialChunks of a hashed key", async (cluster) => {
  await enabled(cluster);
  await cluster.admin({ shardCollection: "lab.c", key: { a: "hashed" }, numInitialChunks: 6 });
  const owners = (await chunksOf(cluster, "lab.c")).map(({ shard }) => shard);
  const inARow = (shard: string): number => owners.lastIndexOf(shard) - owners.indexOf(shard) + 1;
  return [owners.length, inARow("shardA"), inARow("shardB")];
});

tryRow(
  "sharding a collection with data",
  async (cluster) => {
    await enabled(cluster);
    // 100 documents of about 100 bytes, chunks of 4000: several pieces if it is cut at all.
    const documents = Array.from({ length: 100 }, (_, m) => ({ m, pad: "x".repeat(60) }));
    await cluster.ok("lab", { insert: "c", documents });
    await cluster.ok("lab", { createIndexes: "c", indexes: [{ key: { m: 1 }, name: "m_1" }] });
    await cluster.admin({ shardCollection: "lab.c", key: { m: 1 } });
    const chunks = await chunksOf(cluster, "lab.c");
    if (new Set(chunks.map(({ shard }) => shard)).size !== 1) return "moved";
    return chunks.length === 1 ? "one chunk" : "several chunks";
  },
  { chunkSizeBytes: 4000 },
);

tryRow(
  "initial hashed chunks",
  async (cluster) => {
    await enabled(cluster);
    await cluster.admin({ shardCollection: "lab.c", key: { a: "hashed" } });
    const [first, ...others] = await chunksOf(cluster, "lab.c");
    if ((first!.min.a as Doc)._bsontype !== "MinKey") return "the line does not begin at MinKey";
    return others.map(({ min }) => BigInt(String(min.a)));
  },
  { shards: 3 },
);

tryRow(
  "order of the initial shards",
  async (cluster) => {
    await enabled(cluster);
    const orders = new Set<string>();
    for (let i = 0; i < 8; i++) {
      await cluster.admin({ shardCollection: `lab.c${i}`, key: { a: "hashed" } });
      const owners = (await chunksOf(cluster, `lab.c${i}`)).map(({ shard }) => shard);
      orders.add([...new Set(owners)].join());
    }
    if (orders.size > 1) return "differs from collection to collection";
    return orders.has("shardA,shardB,shardC") ? "ascending" : [...orders];
  },
  { shards: 3 },
);

tryRow("default chunk size", async (_cluster, release) => {
  const { chunkSizeBytes } = resolveOptions({ rules: release });
  return chunkSizeBytes / 1024 / 1024;
});

tryRow("renaming a sharded collection", async (cluster) => {
  await splitAtZero(cluster);
  const result = await outcome(cluster, "admin", { renameCollection: "test.c", to: "test.d" });
  const { n } = await cluster.ok("test", { count: result === "ok" ? "d" : "c" });
  return n === 5 ? result : { result, n };
});

tryRow("first answer of removeShard", async (cluster) => {
  await splitAtZero(cluster);
  const reply = await cluster.admin({ removeShard: "shardA" });
  return Object.entries(reply)
    .filter(([name]) => name.endsWith("ToMove"))
    .sort();
});
