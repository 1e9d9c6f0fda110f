import { deserialize, serialize } from "bson";
import { Query } from "mingo";
import { Mongod } from "../../dist/lib/mongod/index.js";
import { readCursorReply, request } from "../../dist/lib/protocol/index.js";
import { compare, report } from "./measure.mjs";

const DOCUMENTS = 100_000;
const BATCH = 10_000;
const FILTER = { deviceId: "dev-00042" };
const MATCHES = DOCUMENTS / 5_000;

/** An equality scan of a whole collection against what it takes elsewhere: decode each document, ask mingo. */
export async function run() {
  const documents = Array.from({ length: DOCUMENTS }, (_, i) =>
    serialize({ _id: i, deviceId: `dev-${String(i % 5_000).padStart(5, "0")}`, i, note: "x".repeat(56) }),
  );
  const mongod = new Mongod({ environment: { now: Date.now, random: Math.random }, host: "127.0.0.1:27018" });
  const body = serialize({ insert: "scan" });
  for (let i = 0; i < DOCUMENTS; i += BATCH)
    await mongod.run(request("bench", body, { documents: documents.slice(i, i + BATCH) }));
  const query = new Query(FILTER);
  const check = (found) => {
    if (found !== MATCHES) throw new Error(`${found} found instead of ${MATCHES}`);
  };
  const times = await compare({
    mingo: {
      work: async () => check(documents.filter((bytes) => query.test(deserialize(bytes))).length),
    },
    shard: {
      work: async () => {
        const reply = await mongod.run(request("bench", { find: "scan", filter: FILTER }));
        check(readCursorReply(reply).batch.length);
      },
    },
  });
  report(
    `equality scan of ${DOCUMENTS.toLocaleString("en")} documents / decoding them and asking mingo`,
    times.mingo / times.shard,
    "≥ 2",
  );
}
