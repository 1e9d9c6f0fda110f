import { Mongod } from "../../dist/lib/mongod/index.js";
import { fromDocument, toDocument } from "../../dist/lib/bson/index.js";
import { request } from "../../dist/lib/protocol/index.js";
import { Router } from "../../dist/lib/router/index.js";
import { report } from "./measure.mjs";

const CHUNKS = 100_000;
const SHARDS = ["shardA", "shardB", "shardC", "shardD"];

/** Whole rounds over a collection of 100,000 chunks in ten zones: each plans everything anew and moves two chunks. */
export async function run() {
  for (const rules of ["8.0", "5.0"]) {
    const cluster = await startCluster(rules);
    const times = [];
    for (let i = 0; i < 5; i++) {
      const start = performance.now();
      const { migrations } = await cluster.admin({ balancerRound: 1 });
      times.push((performance.now() - start) / 1000);
      if (migrations.length === 0 || migrations.some(({ error }) => error))
        throw new Error("the round did not move anything");
    }
    times.sort((a, b) => a - b);
    report(`seconds of a round over 100,000 chunks, rules ${rules}`, times[2], "≤ 1");
    cluster.router.close();
  }
}

/** A cluster in this process with `test.c`, key {x: 1}, chunks at 0, 1, 2, …: three of four on shardA, none on the last. */
async function startCluster(rules) {
  const environment = { now: Date.now, random: Math.random };
  const servers = new Map(
    SHARDS.map((id, i) => {
      const host = `127.0.0.1:${27018 + i}`;
      return [`${id}/${host}`, new Mongod({ environment, host, replSet: id })];
    }),
  );
  const config = new Mongod({ environment, host: "127.0.0.1:27100", replSet: "config" });
  const connect = (name) => servers.get(name);
  const router = new Router({
    environment,
    config,
    rules,
    host: "127.0.0.1:27017",
    chunkSizeBytes: 10_000,
    connect,
  });
  await router.start();
  const send = async (db, command, sequences) => {
    const reply = fromDocument((await router.run(request(db, command, sequences))).body);
    if (reply.ok !== 1) throw new Error(`${Object.keys(command)[0]}: ${reply.errmsg}`);
    return reply;
  };
  const admin = (command) => send("admin", command);
  for (const name of servers.keys()) await admin({ addShard: name, name: name.slice(0, name.indexOf("/")) });
  for (const shard of SHARDS) await admin({ addShardToZone: shard, zone: "all" });
  await admin({ enableSharding: "test", primaryShard: "shardA" });
  await admin({ shardCollection: "test.c", key: { x: 1 } });
  const [whole] = (await send("config", { find: "chunks" })).cursor.firstBatch;
  const chunks = [];
  const { max, ...fields } = whole;
  delete fields._id; // each gets one of its own
  for (let i = 1; i < CHUNKS; i++) {
    const shard = SHARDS[i % 4 === 3 ? 1 + (i % 2) : 0];
    chunks.push(toDocument({ ...fields, min: { x: i }, max: i + 1 < CHUNKS ? { x: i + 1 } : max, shard }));
  }
  for (let from = 0; from < chunks.length; from += 10_000)
    await config.run(
      request("config", { insert: "chunks" }, { documents: chunks.slice(from, from + 10_000) }),
    );
  const end = { q: { _id: whole._id }, u: { $set: { max: { x: 1 } } } };
  await config.run(request("config", { update: "chunks", updates: [end] }));
  await admin({ flushRouterConfig: 1 });
  for (let i = 0; i < 10; i++) {
    const [min, max] = [{ x: i * 9_000 }, { x: (i + 1) * 9_000 }];
    await admin({ updateZoneKeyRange: "test.c", min, max, zone: "all" });
  }
  // A document in each of the first thousand chunks: what moves is not nothing.
  const documents = Array.from({ length: 1_000 }, (_, x) => toDocument({ _id: x, x, pad: "p".repeat(500) }));
  await send("test", { insert: "c" }, { documents });
  return { router, admin };
}
