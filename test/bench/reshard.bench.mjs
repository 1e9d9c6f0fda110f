import { toDocument } from "../../dist/lib/bson/index.js";
import { Mongod } from "../../dist/lib/mongod/index.js";
import { isOk, request } from "../../dist/lib/protocol/index.js";
import { Router } from "../../dist/lib/router/index.js";
import { report, time } from "./measure.mjs";

const SIZES = [100_000, 1_000_000];
const BATCH = 10_000;
const HOSTS = { shardA: "127.0.0.1:27018", shardB: "127.0.0.1:27019" };

/** A router with two shards in this process and `count` documents of 120 bytes, sharded on {a: 1}. */
async function prepared(count) {
  const environment = { now: Date.now, random: Math.random };
  const shards = new Map(
    Object.entries(HOSTS).map(([name, host]) => [
      `${name}/${host}`,
      new Mongod({ environment, host, replSet: name }),
    ]),
  );
  const router = new Router({
    environment,
    config: new Mongod({ environment, host: "127.0.0.1:27100", replSet: "config" }),
    rules: "8.0",
    host: "127.0.0.1:27017",
    connect: (connectionString) => shards.get(connectionString),
  });
  await router.start();
  const run = async (db, command, sequences) => {
    const reply = await router.run(request(db, command, sequences));
    if (!isOk(reply)) throw new Error(`${Object.keys(command)[0]} failed`);
  };
  for (const connectionString of shards.keys()) await run("admin", { addShard: connectionString });
  await run("admin", { shardCollection: "test.c", key: { a: "hashed" } });
  for (let from = 0; from < count; from += BATCH) {
    const documents = Array.from({ length: BATCH }, (_, i) =>
      toDocument({ _id: from + i, a: from + i, b: (from + i) % 5000, text: "x".repeat(70) }),
    );
    await run("test", { insert: "c" }, { documents });
  }
  return run;
}

/** Resharding: seconds of the whole, and that ten times the documents take ten times as long. */
export async function run() {
  const milliseconds = [];
  for (const size of SIZES) {
    const command = await prepared(size);
    milliseconds.push(await time(() => command("admin", { reshardCollection: "test.c", key: { b: 1 } })));
  }
  report("seconds to reshard 100,000 documents", milliseconds[0] / 1000, "≤ 10");
  report("resharding 1,000,000 : 10 times 100,000", milliseconds[1] / (10 * milliseconds[0]), "≤ 1.5");
}
