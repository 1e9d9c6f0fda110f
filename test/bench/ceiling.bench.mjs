import { MongoClient } from "mongodb";
import { compare, report, startChild, startCluster } from "./measure.mjs";

/** Inserts through the router against a server that throws everything away: the driver's own ceiling. */
export async function run() {
  const cluster = await startCluster(["--shards", "2"]);
  const sink = await startChild("sink.mjs");
  const clients = [new MongoClient(cluster.uri), new MongoClient(sink.uri)];
  try {
    const [router, nowhere] = clients;
    await router.db("admin").command({ shardCollection: "bench.ceiling", key: { deviceId: "hashed" } });
    const batch = Array.from({ length: 1_000 }, (_, i) => ({
      deviceId: `dev-${i}`,
      i,
      note: "x".repeat(56),
    }));
    const insert = async (client) => {
      for (let i = 0; i < 50; i++) {
        for (const doc of batch) delete doc._id;
        await client.db("bench").collection("ceiling").insertMany(batch, { ordered: false });
      }
    };
    const times = await compare({
      nowhere: { work: () => insert(nowhere) },
      router: { work: () => insert(router) },
    });
    report("inserts through the router / into a server that keeps nothing", times.nowhere / times.router);
  } finally {
    for (const client of clients) await client.close();
    await sink.stop();
    await cluster.stop();
  }
}
