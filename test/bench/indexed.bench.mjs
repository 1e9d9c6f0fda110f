import { MongoClient } from "mongodb";
import { compare, report, startMongod } from "./measure.mjs";

const DOCUMENTS = 50_000;

/** findOne by an indexed field against findOne by `_id`, on one shard in its own process. */
export async function run() {
  const shard = await startMongod();
  const client = new MongoClient(shard.uri);
  try {
    const collection = client.db("bench").collection("indexed");
    await collection.createIndex({ k: 1 });
    await collection.insertMany(
      Array.from({ length: DOCUMENTS }, (_, _id) => ({
        _id,
        k: (_id * 7919) % DOCUMENTS,
        note: "x".repeat(60),
      })),
    );
    const look = async (field) => {
      for (let i = 0; i < 2_000; i++) {
        const found = await collection.findOne({ [field]: (i * 104_729) % DOCUMENTS });
        if (!found) throw new Error(`nothing found by ${field}`);
      }
    };
    const times = await compare(
      { byId: { work: () => look("_id") }, byIndex: { work: () => look("k") } },
      11,
    );
    report("findOne by an index / by _id", times.byId / times.byIndex, "≥ 0.8");
  } finally {
    await client.close();
    await shard.stop();
  }
}
