import { MongoClient } from "mongodb";
import { calculateObjectSize } from "bson";
import { compare, ratioOnClusters, report, startCluster } from "./measure.mjs";

const DOCUMENTS = 100_000;
/** Documents in one insertMany: what each command costs beside its documents counts less in a large one. */
const BATCHES = [1_000, 10_000];
const ROUNDS = 9;
/** Rounds before those: what a router in use all day would do, not one that has just been compiled. */
const WARM_UP = 4;

/** Documents of 120 bytes, `_id` included: what a small event looks like. */
function batches(size) {
  const all = [];
  for (let i = 0; i < DOCUMENTS; i += size) {
    all.push(
      Array.from({ length: size }, (_, j) => ({
        deviceId: `dev-${String((i + j) % 5000).padStart(5, "0")}`,
        i: i + j,
        note: "x".repeat(56),
      })),
    );
  }
  return all;
}

/** Router against one shard directly; server in its own process, the driver in this one. */
export async function run() {
  for (const batch of BATCHES) {
    const ratio = await ratioOnClusters(() => measure(batch));
    const what = `inserts per second, ${batch.toLocaleString("en")} a batch, through the router / into a shard`;
    report(what, ratio, "≥ 0.95");
  }
}

async function measure(length) {
  const cluster = await startCluster(["--shards", "2"]);
  const router = new MongoClient(cluster.uri);
  const direct = new MongoClient(cluster.shards[0].uri);
  try {
    const docs = batches(length);
    const size = calculateObjectSize({ _id: "123456789012", ...docs[0][0] }) - 5;
    let n = 0;
    const insertAll = async (collection) => {
      for (const batch of docs) {
        for (const doc of batch) delete doc._id;
        await collection.insertMany(batch, { ordered: false });
      }
    };
    const side = (client, shard) => {
      let collection;
      return {
        prepare: async () => {
          await collection?.drop();
          const name = `events${n++}`;
          collection = client.db("bench").collection(name);
          if (shard)
            await router
              .db("admin")
              .command({ shardCollection: `bench.${name}`, key: { deviceId: "hashed" } });
          else await collection.createIndex({ deviceId: "hashed" });
        },
        work: () => insertAll(collection),
      };
    };
    // Databases of their own: the router's names would meet the direct ones on shardA.
    const times = await compare({ direct: side(direct, false), router: side(router, true) }, ROUNDS, WARM_UP);
    console.log(
      `  ${DOCUMENTS.toLocaleString("en")} documents of ${size} bytes, batches of ${length.toLocaleString("en")}: ` +
        `direct ${times.direct.toFixed(0)} ms, router ${times.router.toFixed(0)} ms`,
    );
    return times;
  } finally {
    await router.close();
    await direct.close();
    await cluster.stop();
  }
}
