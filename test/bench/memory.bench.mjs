import { calculateObjectSize } from "bson";
import { MongoClient } from "mongodb";
import { report, startMongod } from "./measure.mjs";

const RAW_BYTES = 150_000_000;
const BATCH = 1_000;
const MB = 1_000_000;
const MIB = 1_048_576;

/** Resident memory of a shard with `_id` and one more index, for documents of several sizes. */
export async function run() {
  for (const text of [56, 400]) await measure(text);
}

async function measure(textLength) {
  const shard = await startMongod();
  const client = new MongoClient(shard.uri);
  try {
    const collection = client.db("bench").collection("memory");
    await collection.createIndex({ deviceId: 1, i: 1 }, { unique: true });
    const resident = async () => (await client.db("admin").command({ serverStatus: 1 })).mem.resident * MIB;
    const empty = await resident();
    let [raw, n, size] = [0, 0, 0];
    while (raw < RAW_BYTES) {
      const batch = Array.from({ length: BATCH }, () => document(n++, textLength));
      await collection.insertMany(batch, { ordered: false });
      size = calculateObjectSize(batch[0]);
      raw += size * BATCH;
    }
    const full = await resident();
    console.log(
      `  ${n.toLocaleString("en")} documents of ${size} bytes, ${mb(raw)} MB: resident ${mb(full)} MB, ` +
        `${mb(empty)} MB of them before the first`,
    );
    report("resident memory over 60 MB / raw data", (full - 60 * MB) / raw, "≤ 3");
  } finally {
    await client.close();
    await shard.stop();
  }
}

function document(i, textLength) {
  return {
    deviceId: `dev-${String((i * 7919) % 5000).padStart(5, "0")}`,
    i,
    note: "x".repeat(textLength),
  };
}

function mb(bytes) {
  return (bytes / MB).toFixed(0);
}
