import { MongoClient } from "mongodb";
import { compare, ratioOnClusters, report, startCluster } from "./measure.mjs";

/** findOne by shard key through the router against the same on the shard directly. */
export async function run() {
  const ratio = await ratioOnClusters(measure);
  report("findOne by shard key through the router / on the shard directly", ratio, "≥ 0.9");
}

async function measure() {
  const cluster = await startCluster(["--shards", "2"]);
  const router = new MongoClient(cluster.uri);
  const shards = cluster.shards.map((shard) => new MongoClient(shard.uri));
  try {
    await router.db("admin").command({ shardCollection: "bench.byKey", key: { k: 1 } });
    const collection = router.db("bench").collection("byKey");
    await collection.insertMany(Array.from({ length: 10_000 }, (_, k) => ({ k, note: "x".repeat(60) })));
    const counts = await Promise.all(
      shards.map((shard) => shard.db("bench").collection("byKey").countDocuments()),
    );
    const direct = shards[counts.indexOf(10_000)].db("bench").collection("byKey");
    const look = async (from) => {
      for (let i = 0; i < 2_000; i++) await from.findOne({ k: (i * 7919) % 10_000 });
    };
    return await compare({
      direct: { work: () => look(direct) },
      router: { work: () => look(collection) },
    });
  } finally {
    await router.close();
    for (const shard of shards) await shard.close();
    await cluster.stop();
  }
}
