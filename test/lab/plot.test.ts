import { MongoClient } from "mongodb";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "../../lib/cluster/index.js";
import type { MimeBundle } from "../../lib/lab/display.js";
import { plot, readDistribution } from "../../lib/lab/plot/index.js";

const TARGET = Symbol.for("shardlab.display");
const shown: MimeBundle[] = [];
let cluster: Cluster;
let client: MongoClient;

beforeAll(async () => {
  (globalThis as Record<symbol, unknown>)[TARGET] = { display: (bundle: MimeBundle) => shown.push(bundle) };
  cluster = await Cluster.start({ shards: 2, seed: 5 });
  client = new MongoClient(cluster.info.uri);
});
beforeEach(() => {
  shown.length = 0;
});
afterAll(async () => {
  await client.close();
  await cluster.close();
  delete (globalThis as Record<symbol, unknown>)[TARGET];
});

const lab = () => ({ client, info: cluster.info });
const admin = (command: object) => client.db("admin").command(command as Record<string, unknown>);

describe("figures of a running cluster", () => {
  it("counts what each shard owns of a hashed collection, and shows it", async () => {
    await admin({ shardCollection: "library.events", key: { deviceId: "hashed" } });
    const documents = Array.from({ length: 5000 }, (_, n) => ({ deviceId: `dev-${n}` }));
    await client.db("library").collection("events").insertMany(documents);
    const figure = await plot.distribution("library.events", { lab: lab() });
    expect(figure.shards.map((share) => share.documents).sort()).toEqual([2445, 2555]);
    expect(figure.shards.map((share) => share.chunks)).toEqual([1, 1]);
    expect(figure).toMatchObject({ total: 5000, key: { deviceId: "hashed" } });
    expect(shown).toHaveLength(1);
    expect(shown[0]!["text/plain"]).toContain("5,000 documents on 2 shards");
  });

  it("names every shard, also those that hold nothing, and follows a chunk that moves", async () => {
    await admin({ shardCollection: "library.loans", key: { memberId: 1 } });
    await client
      .db("library")
      .collection<{ memberId: number }>("loans")
      .insertMany([1, 2, 3, 4, 5].map((memberId) => ({ memberId })));
    const before = await readDistribution(client, "library.loans");
    const owner = before.shards.find((share) => share.documents === 5)!.shard;
    const other = before.shards.find((share) => share.documents === 0)!.shard;
    expect([owner, other].sort()).toEqual(["shardA", "shardB"]);
    await admin({ split: "library.loans", middle: { memberId: 3 } });
    await admin({ moveChunk: "library.loans", find: { memberId: 3 }, to: other });
    const after = await readDistribution(client, "library.loans");
    expect(after.shards.find((share) => share.shard === owner)).toEqual({
      shard: owner,
      documents: 2,
      chunks: 1,
    });
    expect(after.shards.find((share) => share.shard === other)).toEqual({
      shard: other,
      documents: 3,
      chunks: 1,
    });
  });

  it("draws an unsharded collection and one that isn't there", async () => {
    await client.db("library").collection("notes").insertOne({ text: "hello" });
    const unsharded = await readDistribution(client, "library.notes");
    expect(unsharded.key).toBeUndefined();
    expect(unsharded.shards.map((share) => share.documents).sort()).toEqual([0, 1]);
    const nothing = await plot.distribution("library.nowhere", { lab: lab() });
    expect(nothing.summary).toBe("library.nowhere, not sharded: no documents on 2 shards.");
    await expect(plot.distribution("events", { lab: lab() })).rejects.toThrow(/"events" is no namespace/);
    await expect(plot.distribution(5 as never, { lab: lab() })).rejects.toThrow(/^5 is no namespace/);
    await expect(plot.inserts("", { lab: lab() })).rejects.toThrow(/^"" is no namespace/);
    await expect(plot.inserts("nodot", { lab: lab() })).rejects.toThrow(/"nodot" is no namespace/);
  });

  it("shows inserts in the order they came, all collections or one, from any point on", async () => {
    await admin({ shardCollection: "library.readings", key: { ts: 1 } });
    const readings = client.db("library").collection("readings");
    const next = Number((await admin({ routingTrace: 1, limit: 1 }))["next"]);
    for (let n = 0; n < 3; n++) await readings.insertMany([{ ts: 2 * n }, { ts: 2 * n + 1 }]);
    const figure = (await plot.inserts("library.readings", { lab: lab() }))!;
    expect([figure.batches, figure.total]).toEqual([3, 6]);
    expect(figure.columns.map(({ sent }) => Object.values(sent).sort())).toEqual([
      [0, 2],
      [0, 2],
      [0, 2],
    ]);
    expect((await plot.inserts(undefined, { lab: lab() }))!.batches).toBeGreaterThan(4);
    const last = await admin({ routingTrace: 1 });
    const since = Number(last["next"]);
    expect(since).toBeGreaterThan(next);
    await readings.insertOne({ ts: 7 });
    expect((await plot.inserts("library.readings", { lab: lab(), since }))!.total).toBe(1);
  });

  it("says in a sentence when the engine keeps no trace", async () => {
    const info = {
      ...cluster.info,
      engine: "uri" as const,
      capabilities: { ...cluster.info.capabilities, trace: false },
    };
    expect(await plot.inserts("library.readings", { lab: { client, info } })).toBeUndefined();
    expect(shown).toEqual([
      {
        "text/plain":
          "The router of engine uri keeps no trace, so inserts over time can't be drawn; use engine embedded.",
      },
    ]);
  });

  it("says under the figure when the chunk size is scaled", async () => {
    const info = { ...cluster.info, chunkSizeBytes: 64 * 1024 };
    const figure = await plot.distribution("library.readings", { lab: { client, info } });
    expect(figure.summary).toMatch(/ Chunk size scaled to 64 KB\.$/);
    expect((await plot.distribution("library.readings", { lab: lab() })).summary).not.toMatch(/scaled/);
  });
});
