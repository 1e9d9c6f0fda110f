import fc from "fast-check";
import { fromDocument, toDocument } from "shardlab/bson";
import { request } from "shardlab/protocol";
import { expect, test } from "vitest";
import { NamespaceLocks } from "../../lib/router/support/locks.js";
import { startCluster } from "./support/cluster.js";

test("broken BSON is answered with an error, whatever is broken", async () => {
  const cluster = await startCluster();
  await cluster.admin({ shardCollection: "test.c", key: { "a.b": 1 } });
  const good = toDocument({ _id: 1, a: { b: "text", c: [1, 2, { d: 1 }] }, e: 5n });
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: good.length - 1 }), fc.nat({ max: 255 }), async (at, byte) => {
      const broken = good.slice();
      broken[at] = byte;
      const reply = await cluster.router.run(request("test", { insert: "c" }, { documents: [broken] }));
      expect(fromDocument(reply.body)).toHaveProperty("ok");
    }),
    { numRuns: 2000 },
  );
});

test("placement follows from seed and name, not from what happened before", async () => {
  const placement = async (before: number): Promise<unknown[]> => {
    const cluster = await startCluster({ shards: 4, seed: 3 });
    for (let i = 0; i < before; i++) {
      await cluster.ok("test", { insert: "other", documents: [{ i }] });
      await cluster.ok("test", { find: "other", batchSize: 0 });
    }
    await cluster.admin({ shardCollection: "test.c", key: { d: "hashed" } });
    return (await cluster.all("config", { find: "chunks", sort: { min: 1 } })).map(({ shard }) => shard);
  };
  expect(await placement(7)).toEqual(await placement(0));
});

test("locks: readers share, a writer is alone, nobody overtakes", async () => {
  const locks = new NamespaceLocks();
  const log: string[] = [];
  expect(locks.shared("ns")).toBeUndefined();
  expect(locks.shared("ns")).toBeUndefined();
  const writer = locks.whileExclusive("ns", async () => {
    log.push("writer in");
    await Promise.resolve();
    log.push("writer out");
  });
  const late = locks.whileShared("ns", async () => void log.push("late reader"));
  expect(locks.shared("other")).toBeUndefined();
  locks.release("ns");
  await Promise.resolve();
  expect(log).toEqual([]);
  locks.release("ns");
  await Promise.all([writer, late]);
  expect(log).toEqual(["writer in", "writer out", "late reader"]);
});

test("creating, sharding, writing and dropping at once end in a state that fits together", async () => {
  const cluster = await startCluster({ shards: 3 });
  const names = ["a", "b", "c"];
  const work = Array.from({ length: 60 }, (_, i) => {
    const name = names[i % 3]!;
    switch (i % 5) {
      case 0:
        return cluster.run("admin", { shardCollection: `test.${name}`, key: { x: "hashed" } });
      case 1:
        return cluster.run("test", { drop: name });
      case 2:
        return i % 20 === 2 ? cluster.run("test", { dropDatabase: 1 }) : cluster.run("test", { count: name });
      default:
        return cluster.run("test", { insert: name, documents: [{ x: i }], ordered: false });
    }
  });
  await Promise.all(work);
  // What is on the shards is what clients see, and the catalog names no collection that is gone.
  for (const name of names) {
    const { n } = await cluster.ok("test", { count: name });
    let there = 0;
    for (const shard of cluster.shards.keys())
      there += Number((await cluster.shard(shard, "test", { count: name })).n);
    expect(there, name).toBe(n);
  }
  const uuids = (await cluster.all("config", { find: "collections" })).map(({ uuid }) => String(uuid));
  for (const chunk of await cluster.all("config", { find: "chunks" }))
    expect(uuids).toContain(String(chunk.uuid));
});
