import { MongoClient } from "mongodb";
import { compare, report, startChild, startMongod } from "./measure.mjs";

const DOCUMENTS = 50_000;
const BATCH = 1_000;

/** Inserts into a shard with `_id` and one unique index against a server that parses them, says yes and keeps nothing. */
export async function run() {
  const [shard, sink] = await Promise.all([startMongod(), startChild("sink.mjs")]);
  const clients = [new MongoClient(shard.uri), new MongoClient(sink.uri)];
  let n = 0;
  const side = (client, keeps) => {
    let collection;
    return {
      prepare: async () => {
        if (keeps) await collection?.drop();
        collection = client.db("bench").collection(`acknowledge${n++}`);
        if (keeps) await collection.createIndex({ deviceId: 1, i: 1 }, { unique: true });
      },
      work: async () => {
        for (let i = 0; i < DOCUMENTS; i += BATCH) await collection.insertMany(batch(i), { ordered: false });
      },
    };
  };
  try {
    const times = await compare({ nowhere: side(clients[1], false), shard: side(clients[0], true) }, 21, 4);
    report(
      "inserts with _id and a unique index / into a server that keeps nothing",
      times.nowhere / times.shard,
      "≥ 0.6",
    );
  } finally {
    for (const client of clients) await client.close();
    for (const child of [shard, sink]) await child.stop();
  }
}

/** Documents of 120 bytes, `_id` included, their devices in no order. */
function batch(start) {
  return Array.from({ length: BATCH }, (_, j) => ({
    deviceId: `dev-${String(((start + j) * 7919) % 5000).padStart(5, "0")}`,
    i: start + j,
    note: "x".repeat(56),
  }));
}
