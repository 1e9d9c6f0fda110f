/**
 * What clients do while a collection is resharded (facts-mongos.md §8.2): they read and write it; what would change its
 * definition has to wait; the operation can be watched, hastened and taken back.
 */
import { fromDocument, toDocument } from "shardlab/bson";
import type { Endpoint, Request } from "shardlab/protocol";
import { describe, expect, it } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { chunksOf, seeded, startCluster } from "../support/cluster.js";
import { session } from "../support/zeroSplit.js";

async function prepared(count: number): Promise<TestCluster> {
  const cluster = await startCluster({ shards: 3 });
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { a: 1 } });
  await cluster.admin({ split: "test.c", middle: { a: 50 } });
  await cluster.admin({ moveChunk: "test.c", find: { a: 50 }, to: "shardB" });
  const documents = Array.from({ length: count }, (_, i) => ({ _id: i, a: i % 100, n: 0, u: i, a2: i % 97 }));
  await cluster.ok("test", { insert: "c", documents });
  return cluster;
}

const RESHARD = { reshardCollection: "test.c", key: { _id: "hashed" }, numInitialChunks: 6 };

/** Runs `work` once, as soon as a document is copied. */
function whenCopying(cluster: TestCluster, work: () => Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let done = false;
    for (const shard of cluster.shards.values()) {
      const { inner } = shard;
      const watching: Endpoint = {
        run: async (request) => {
          const reply = await inner.run(request);
          if (request.command === "insert" && !done && isTemporary(request)) {
            done = true;
            await work().then(resolve, reject);
          }
          return reply;
        },
      };
      shard.inner = watching;
    }
  });
}

const isTemporary = ({ body }: Request): boolean =>
  String(fromDocument(body).insert).startsWith("system.resharding.");

async function isCopying(cluster: TestCluster): Promise<boolean> {
  return (await cluster.all("config", { find: "reshardingOperations" })).length > 0;
}

/** Lets clients run while a document is on its way to a recipient: for so many turns of the loop of promises. */
function slowCopies(cluster: TestCluster): void {
  for (const shard of cluster.shards.values()) {
    const { inner } = shard;
    shard.inner = {
      run: async (request) => {
        if (request.command === "insert" && isTemporary(request)) {
          for (let turn = 0; turn < 300; turn++) await Promise.resolve();
        }
        return inner.run(request);
      },
    };
  }
}

describe("while a collection is resharded", () => {
  it.each([1, 2])("writers and readers go on, and no write is lost (seed %i)", async (seed) => {
    const cluster = await prepared(200);
    const random = seeded(seed);
    const any = (n: number): number => Math.floor(random() * n);
    const model = new Map<number, Doc>();
    for (const document of await cluster.all("test", { find: "c" }))
      model.set(Number(document._id), document);
    let isOver = false;
    let operations = 0;
    let txnNumber = 1;
    slowCopies(cluster);
    const write = async (): Promise<void> => {
      while (!isOver) {
        operations += 1;
        const id = any(300);
        const present = model.get(id);
        const kind = any(4);
        if (!present) {
          const document = { _id: id, a: any(100), n: 1, u: id, a2: any(97) };
          await cluster.ok("test", { insert: "c", documents: [document] });
          model.set(id, document);
        } else if (kind === 0) {
          const deletes = [{ q: { a: present.a, _id: id }, limit: 1 }];
          expect(await cluster.ok("test", { delete: "c", deletes })).toMatchObject({ n: 1 });
          model.delete(id);
        } else {
          // Every third changes the old key, and with it the donor.
          const change =
            kind === 1 ? { a: any(100), n: Number(present.n) + 1 } : { n: Number(present.n) + 1 };
          const updates = [{ q: { a: present.a, _id: id }, u: { $set: change } }];
          const reply = await cluster.ok("test", { update: "c", updates, ...session(txnNumber++) });
          expect(reply).toMatchObject({ n: 1 });
          model.set(id, { ...present, ...change });
        }
      }
    };
    const read = async (): Promise<void> => {
      while (!isOver) {
        const expected = model.size;
        const found = await cluster.all("test", { find: "c", projection: { _id: 1 }, batchSize: 10_000 });
        // One writer: at most its one write is between the two looks at the model.
        expect(new Set(found.map(({ _id }) => Number(_id))).size).toBe(found.length);
        expect(Math.abs(found.length - expected)).toBeLessThanOrEqual(2);
      }
    };
    const clients = Promise.all([write(), read()]);
    const [entry] = (
      await cluster.traced(async () => {
        await cluster.admin(RESHARD);
      })
    ).filter(({ op }) => op === "reshardCollection");
    isOver = true;
    await clients;
    expect(operations).toBeGreaterThan(20);
    expect(entry!.resharding!.writesApplied).toBeGreaterThan(0);
    const found = await cluster.all("test", { find: "c", sort: { _id: 1 }, batchSize: 10_000 });
    expect(found).toEqual([...model.values()].sort((x, y) => Number(x._id) - Number(y._id)));
    // Each on the shard that owns it: a search by the new key finds it.
    for (const { _id } of found.slice(0, 50)) {
      expect(await cluster.all("test", { find: "c", filter: { _id } })).toHaveLength(1);
    }
    expect(await chunksOf(cluster, "test.c")).toHaveLength(6);
  });

  it("documents may exchange values that are unique", async () => {
    const cluster = await prepared(100);
    await cluster.ok("test", {
      createIndexes: "c",
      indexes: [{ key: { a: 1, u: 1 }, name: "a_u", unique: true }],
    });
    const swapped = whenCopying(cluster, async () => {
      const set = (_id: number, u: number): Promise<Doc> =>
        cluster.ok("test", { update: "c", updates: [{ q: { _id, a: _id }, u: { $set: { u } } }] });
      await set(1, 1000);
      await cluster.ok("test", { insert: "c", documents: [{ _id: 500, a: 1, u: 1 }] });
    });
    await cluster.admin({ reshardCollection: "test.c", key: { a: 1, u: 1 }, numInitialChunks: 3 });
    await swapped;
    expect(await cluster.all("test", { find: "c", filter: { a: 1 }, sort: { _id: 1 } })).toMatchObject([
      { _id: 1, u: 1000 },
      { _id: 500, u: 1 },
    ]);
    const twin = await cluster.run("test", { insert: "c", documents: [{ _id: 501, a: 1, u: 1 }] });
    expect(twin).toMatchObject({ writeErrors: [{ code: 11000 }] });
  });

  it("documents that expire while nobody may write are not missed", async () => {
    const cluster = await prepared(100);
    await cluster.ok("test", {
      createIndexes: "c",
      indexes: [{ key: { until: 1 }, name: "until", expireAfterSeconds: 0 }],
    });
    // The donor's TTL pass comes between the last changes and the count.
    const donor = cluster.shards.get("shardA")!;
    const { inner } = donor;
    let counts = 0;
    donor.inner = {
      run: async (request) => {
        if (request.command === "count" && ++counts === 1) {
          await cluster.shard("shardA", "test", { delete: "c", deletes: [{ q: { _id: 7 }, limit: 1 }] });
        }
        return inner.run(request);
      },
    };
    expect(await cluster.run("admin", RESHARD)).toMatchObject({ ok: 1 });
    expect(counts).toBeGreaterThan(1);
    const left = await cluster.all("test", { find: "c", sort: { _id: 1 } });
    expect(left.map(({ _id }) => _id)).toEqual(
      Array.from({ length: 100 }, (_, i) => i).filter((i) => i !== 7),
    );
  });

  it("its definition can't be changed", async () => {
    const cluster = await prepared(100);
    const replies: Doc[] = [];
    const asked = whenCopying(cluster, async () => {
      for (const [db, command] of [
        ["test", { drop: "c" }],
        ["test", { dropDatabase: 1 }],
        ["test", { collMod: "c", validator: {} }],
        ["test", { createIndexes: "c", indexes: [{ key: { n: 1 }, name: "n_1" }] }],
        ["test", { dropIndexes: "c", index: "a_1" }],
        ["admin", { renameCollection: "test.c", to: "test.d" }],
        ["admin", { movePrimary: "test", to: "shardB" }],
        ["admin", { removeShard: "shardC" }],
        ["admin", { reshardCollection: "test.c", key: { n: 1 } }],
      ] as [string, Doc][]) {
        replies.push(await cluster.run(db, command));
      }
    });
    await cluster.admin(RESHARD);
    await asked;
    expect(replies.map(({ code }) => code)).toEqual(replies.map(() => 338));
    expect(replies).toHaveLength(9);
    const moved = await cluster.run("admin", { moveChunk: "test.c", find: { _id: 1 }, to: "shardA" });
    expect(moved).toMatchObject({ ok: 1 });
  });

  it("$currentOp shows donors, recipients and the coordinator", async () => {
    const cluster = await prepared(100);
    let rows: Doc[] = [];
    const looked = whenCopying(cluster, async () => {
      rows = await cluster.all("admin", {
        aggregate: 1,
        pipeline: [
          { $currentOp: { allUsers: true, localOps: false } },
          { $match: { "originatingCommand.reshardCollection": "test.c" } },
        ],
        cursor: {},
      });
    });
    await cluster.admin(RESHARD);
    await looked;
    const by = (service: string): Doc[] => rows.filter(({ desc }) => String(desc).startsWith(service));
    expect(by("ReshardingDonorService").map(({ shard, donorState }) => [shard, donorState])).toEqual([
      ["shardA", "donating-initial-data"],
      ["shardB", "donating-initial-data"],
    ]);
    expect(by("ReshardingRecipientService")).toHaveLength(3);
    expect(by("ReshardingRecipientService")[0]).toMatchObject({
      type: "op",
      op: "command",
      ns: "test.c",
      originatingCommand: { ...RESHARD },
      recipientState: "cloning",
      opStatus: "running",
    });
    expect(by("ReshardingCoordinatorService")).toMatchObject([{ coordinatorState: "cloning" }]);
  });

  it("can be aborted: nothing has changed, and the caller hears of it", async () => {
    const cluster = await prepared(100);
    const before = await cluster.all("config", { find: "collections" });
    let abort: Promise<Doc> | undefined;
    const asked = whenCopying(cluster, () => {
      abort = cluster.run("admin", { abortReshardCollection: "test.c" });
      return Promise.resolve();
    });
    expect(await cluster.run("admin", RESHARD)).toMatchObject({ ok: 0, code: 341 });
    await asked;
    expect(await abort).toMatchObject({ ok: 1 });
    expect(await cluster.all("config", { find: "collections" })).toEqual(before);
    expect(await cluster.all("test", { find: "c" })).toHaveLength(100);
    expect((await cluster.all("test", { listCollections: 1 })).map(({ name }) => name)).toEqual(["c"]);
    expect(await isCopying(cluster)).toBe(false);
  });

  it("can be committed before its five minutes are over", async () => {
    const cluster = await prepared(100);
    let commit: Promise<Doc> | undefined;
    const asked = whenCopying(cluster, () => {
      commit = cluster.run("admin", { commitReshardCollection: "test.c" });
      return Promise.resolve();
    });
    const [entry] = await cluster.traced(() => cluster.admin(RESHARD));
    await asked;
    expect(await commit).toMatchObject({ ok: 1 });
    const phases = entry!.resharding!.phases;
    expect(phases.reduce((sum, { ms }) => sum + ms, 0)).toBeLessThan(60_000);
  });

  it("the same command again waits for the first", async () => {
    const cluster = await prepared(100);
    let second: Promise<Doc> | undefined;
    const asked = whenCopying(cluster, () => {
      second = cluster.run("admin", RESHARD);
      return Promise.resolve();
    });
    const entries = await cluster.traced(() => cluster.admin(RESHARD));
    await asked;
    expect(await second).toMatchObject({ ok: 1 });
    expect(entries.filter(({ op }) => op === "reshardCollection")).toHaveLength(1);
  });

  it("shards that can't tell what changes keep writers waiting instead", async () => {
    const cluster = await prepared(100);
    const notFound = toDocument({ ok: 0, code: 59, codeName: "CommandNotFound", errmsg: "no such command" });
    for (const shard of cluster.shards.values()) {
      const { inner } = shard;
      shard.inner = {
        run: (request) =>
          request.command === "_shardlabCaptureWrites"
            ? Promise.resolve({ body: notFound })
            : inner.run(request),
      };
    }
    let written: Promise<Doc> | undefined;
    const asked = whenCopying(cluster, () => {
      written = cluster.ok("test", { insert: "c", documents: [{ _id: 999, a: 1 }] });
      return Promise.resolve();
    });
    const entries = await cluster.traced(async () => {
      await cluster.admin(RESHARD);
      await asked;
      await written;
    });
    // It was routed by the new key: it has waited for the end.
    const insert = entries.find(({ op }) => op === "insert");
    expect(insert!.targeting.key).toBe('{ _id: "hashed" }');
    expect(await cluster.all("test", { find: "c" })).toHaveLength(101);
  });
});

describe("a copy that is not complete", () => {
  it("is never committed: both sides are counted before", async () => {
    const cluster = await prepared(100);
    const lost = whenCopying(cluster, async () => {
      const [{ tempNs } = {}] = await cluster.all("config", { find: "reshardingOperations" });
      const name = String(tempNs).slice("test.".length);
      for (const id of cluster.shards.keys()) {
        await cluster.shard(id, "test", { delete: name, deletes: [{ q: {}, limit: 1 }] });
      }
    });
    expect(await cluster.run("admin", RESHARD)).toMatchObject({
      code: 96,
      errmsg: expect.stringMatching(
        /^the copy of test\.c has 9[79] documents, the collection has 100$/,
      ) as unknown,
    });
    await lost;
    expect(await cluster.all("test", { find: "c", batchSize: 1000 })).toHaveLength(100);
    expect(await isCopying(cluster)).toBe(false);
  });
});
