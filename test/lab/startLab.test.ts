import { inspect } from "node:util";
import { MongoServerError } from "mongodb";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ClusterOptions } from "../../lib/cluster/index.js";
import { connectHost } from "../../lib/cluster/index.js";
import { Lab } from "../../lib/lab/lab.js";
import { currentLab, openLab, startLab } from "../../lib/lab/startLab.js";
import { listens } from "../cluster/processes.js";

afterEach(async () => {
  for (let lab = openLab(); lab; lab = openLab()) await lab.close();
  vi.unstubAllEnvs();
});

describe("startLab", () => {
  it("opens a cluster with the driver connected to it", async () => {
    const lab = await startLab({ shards: 2, seed: 7 });
    expect(lab.info).toMatchObject({ engine: "embedded", seed: 7, rules: "8.0" });
    expect(lab.capabilities.trace).toBe(true);
    const loans = lab.db("library").collection("loans");
    await loans.insertMany([{ memberId: 1 }, { memberId: 2 }]);
    expect(await lab.client.db("library").collection("loans").countDocuments()).toBe(2);
  });

  it("lets a lesson look inside each shard and the config server", async () => {
    const lab = await startLab();
    expect(lab.shards.map((shard) => shard.id)).toEqual(["shardA", "shardB"]);
    await lab.sh.shardCollection("library.events", { deviceId: "hashed" });
    const events = Array.from({ length: 200 }, (_, n) => ({ deviceId: `dev-${n}` }));
    await lab.db("library").collection("events").insertMany(events);
    const counts = await Promise.all(
      lab.shards.map((shard) => shard.client.db("library").collection("events").countDocuments()),
    );
    expect(counts[0]! + counts[1]!).toBe(200);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    const ids = await lab.config.client
      .db("config")
      .collection("shards")
      .distinct("_id")
      .catch(async () =>
        (await lab.config.client.db("config").collection("shards").find().toArray()).map(
          (shard) => shard._id,
        ),
      );
    expect(ids.map(String).sort()).toEqual(["shardA", "shardB"]);
  });

  it("shows what the router did", async () => {
    const lab = await startLab();
    await lab.sh.shardCollection("library.loans", { memberId: 1 });
    const before = (await lab.trace()).at(-1)?.n ?? 0;
    await lab.db("library").collection("loans").find({ memberId: 7 }).toArray();
    const [entry] = (await lab.trace(before + 1)).filter(({ op }) => op === "find");
    expect(entry).toMatchObject({
      ns: "library.loans",
      targeting: { kind: "shardKey" },
      merge: { kind: "none" },
    });
    expect(entry!.shards).toHaveLength(1);
  });

  it("is closed with its cluster, and twice does no harm", async () => {
    const lab = await startLab({ shards: 1 });
    await lab.shards[0]!.client.db("admin").command({ ping: 1 });
    await lab.close();
    await lab.close();
    expect(await listens(lab.uri)).toBe(false);
  });

  it("says that it is closed to whoever goes on using it", async () => {
    const lab = await startLab();
    await lab.close();
    expect(() => lab.db("library")).toThrow("this lab is closed; open another one with startLab()");
    await expect(lab.sh.status()).rejects.toThrow("this lab is closed");
    await expect(lab.sh.shardCollection("library.loans", { memberId: 1 })).rejects.toThrow(
      "this lab is closed",
    );
    await expect(lab.trace()).rejects.toThrow("this lab is closed");
  });

  it("is closed at the end of an await using block", async () => {
    let uri: string;
    {
      await using lab = await startLab({ shards: 1 });
      uri = lab.uri;
      expect(await listens(uri)).toBe(true);
    }
    expect(await listens(uri)).toBe(false);
  });

  it("fails in one line, and leaves no lab", async () => {
    await expect(startLab({ shards: 0 })).rejects.toMatchObject({
      name: "ClusterError",
      message: "shards can't be 0; give a whole number from 1 to 26",
    });
    const { uri, close } = await (async () => {
      const lab = await startLab({ shards: 1 });
      return { uri: lab.uri, close: () => lab.close() };
    })();
    await expect(startLab({ port: Number(new URL(uri).port) })).rejects.toMatchObject({ code: "EADDRINUSE" });
    await close();
    expect(openLab()).toBeUndefined();
  });

  it("takes the engine from SHARDLAB_ENGINE where the cell does not say", async () => {
    vi.stubEnv("SHARDLAB_ENGINE", "runner");
    await expect(startLab()).rejects.toThrow(/^engine runner is not available yet/);
    const lab = await startLab({ engine: "embedded", shards: 1 });
    expect(lab.info.engine).toBe("embedded");
  });

  it("says what runs when it is shown", async () => {
    const lab = await startLab({ shards: 1, chunkSize: "1MB" });
    expect(inspect(lab)).toBe(
      `Shardlab: 1 shard, engine embedded (simulated router and shards in memory, no MongoDB server), rules 8.0, seed 1, chunk size scaled to 1 MB\n${lab.uri}`,
    );
  });
});

describe("the current lab", () => {
  it("is the one opened last and not closed", async () => {
    expect(() => currentLab()).toThrow("no lab is open; run the cell with startLab first");
    const first = await startLab({ shards: 1 });
    const second = await startLab({ shards: 1, rules: "2.4" });
    expect(currentLab()).toBe(second);
    await second.close();
    expect(currentLab()).toBe(first);
    await first.close();
    expect(openLab()).toBeUndefined();
  });

  it("stays open next to others: one host holds them all", async () => {
    const options: ClusterOptions[] = [{ shards: 1 }, { shards: 2, rules: "5.0" }];
    const [first, second] = [await startLab(options[0]), await startLab(options[1])];
    await expect(second.sh.shardCollection("library.loans", { memberId: 1 })).rejects.toBeInstanceOf(
      MongoServerError,
    ); // enableSharding first
    await first.sh.shardCollection("library.loans", { memberId: 1 });
    expect(await (await connectHost()).request("close", { lab: "lab-0" })).toBeUndefined();
    expect(first).toBeInstanceOf(Lab);
  });
});
