/**
 * Readers look while writers change shard keys: whatever they ask, every
 * document is there exactly once.
 */
import { expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { seeded, startCluster } from "./support/cluster.js";

const DOCUMENTS = 12;
const SHARDS = 3;

/** Key {x: 1}: x < 100 on shardA, < 200 on shardB, else on shardC. Every reply takes its time. */
async function slowCluster(seed: number): Promise<TestCluster> {
  const cluster = await startCluster({ shards: SHARDS, seed });
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  for (const [x, to] of [
    [100, "shardB"],
    [200, "shardC"],
  ] as const) {
    await cluster.admin({ split: "test.c", middle: { x } });
    await cluster.admin({ moveChunk: "test.c", find: { x }, to });
  }
  const documents = Array.from({ length: DOCUMENTS }, (_, i) => ({ _id: i, x: i * 25, moves: 0 }));
  await cluster.ok("test", { insert: "c", documents });
  const random = seeded(seed + 1);
  for (const shard of cluster.shards.values()) {
    const { inner } = shard;
    Object.assign(shard, {
      inner: {
        async run(request: Parameters<typeof inner.run>[0]) {
          // Before and after the command, so that steps of different clients mix in any way.
          for (let turns = Math.floor(random() * 4); turns > 0; turns--) await Promise.resolve();
          const reply = await inner.run(request);
          for (let turns = Math.floor(random() * 4); turns > 0; turns--) await Promise.resolve();
          return reply;
        },
      },
    });
  }
  return cluster;
}

test.each([1, 2, 3, 4])("point reads and counts during random key changes (seed %i)", async (seed) => {
  const cluster = await slowCluster(seed);
  const random = seeded(seed);
  const below = (n: number): number => Math.floor(random() * n);
  let done = 0;
  const writers = 3;
  const moved = new Array<number>(DOCUMENTS).fill(0);

  async function write(writer: number): Promise<void> {
    for (let txn = 1; txn <= 25; txn++) {
      const _id = below(DOCUMENTS);
      const x = below(300);
      const lsid = { id: new Uint8Array(16).fill(writer + 1) };
      const fields = { lsid, txnNumber: BigInt(txn) };
      const change = { $set: { x }, $inc: { moves: 1 } };
      const update = { update: 0, filter: { _id }, updateMods: change };
      const commands: [db: string, command: Doc][] = [
        ["test", { update: "c", updates: [{ q: { _id }, u: change }] }],
        ["test", { findAndModify: "c", query: { _id }, update: change }],
        ["admin", { bulkWrite: 1, ops: [update], nsInfo: [{ ns: "test.c" }] }],
      ];
      const [db, command] = commands[below(3)]!;
      const reply = await cluster.ok(db, { ...command, ...fields });
      expect([reply.writeErrors, reply.nErrors ?? 0]).toEqual([undefined, 0]);
      moved[_id]! += 1;
    }
    done++;
  }

  async function read(): Promise<void> {
    while (done < writers) {
      const _id = below(DOCUMENTS);
      switch (below(4)) {
        case 0:
          expect(await cluster.all("test", { find: "c", filter: { _id } })).toHaveLength(1);
          break;
        case 1:
          expect(await cluster.ok("test", { count: "c", query: { _id: { $gte: 0 } } })).toMatchObject({
            n: DOCUMENTS,
          });
          break;
        case 2: {
          const { values } = await cluster.ok("test", { distinct: "c", key: "_id" });
          expect(values).toEqual(Array.from({ length: DOCUMENTS }, (_, i) => i));
          break;
        }
        default: {
          const pipeline = [{ $group: { _id: "$_id", n: { $sum: 1 } } }, { $match: { n: { $ne: 1 } } }];
          expect(await cluster.all("test", { aggregate: "c", pipeline, cursor: {} })).toEqual([]);
        }
      }
    }
  }

  await Promise.all([...Array.from({ length: writers }, (_, i) => write(i)), read(), read(), read()]);
  const found = await cluster.all("test", { find: "c", sort: { _id: 1 } });
  expect(found.map(({ moves }) => moves)).toEqual(moved);
  // And each lies on the shard that owns its key.
  for (const { _id, x } of found)
    expect(await cluster.all("test", { find: "c", filter: { x } })).toContainEqual(
      expect.objectContaining({ _id }),
    );
});
