import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../../lib/cluster/index.js";
import { replyDocument, request } from "../../lib/protocol/index.js";

const port = (uri: string): number => Number(new URL(uri).port);

/** Whether anything listens on a port of 127.0.0.1. */
function listens(number: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port: number, host: "127.0.0.1" });
    socket.once("connect", () => (socket.destroy(), resolve(true))).once("error", () => resolve(false));
  });
}

/** TCP ports this process listens on. */
function openServers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
}

describe("an embedded cluster", () => {
  let cluster: Cluster;
  let client: MongoClient;
  beforeAll(async () => {
    cluster = await Cluster.start({ shards: 3, seed: 7, chunkSize: "64KB" });
    client = await new MongoClient(cluster.info.uri, { serverSelectionTimeoutMS: 5_000 }).connect();
  });
  afterAll(async () => {
    await client.close();
    await cluster.close();
  });

  it("says what it is", () => {
    expect(cluster.info).toMatchObject({
      engine: "embedded",
      rules: "8.0",
      seed: 7,
      chunkSizeBytes: 65_536,
      capabilities: { trace: true, virtualClock: true, rules: true, killShard: false },
    });
    expect(cluster.info.uri).toMatch(/^mongodb:\/\/127\.0\.0\.1:\d+\/$/);
    expect(cluster.info.shards.map((shard) => shard.id)).toEqual(["shardA", "shardB", "shardC"]);
    expect(structuredClone(cluster.info)).toEqual(cluster.info); // it travels between processes
  });

  it("has every part on a port of its own", async () => {
    const uris = [
      cluster.info.uri,
      cluster.info.config.uri,
      ...cluster.info.shards.map((shard) => shard.uri),
    ];
    expect(new Set(uris.map(port)).size).toBe(5);
    for (const uri of uris) expect(await listens(port(uri))).toBe(true);
  });

  it("presents itself to the driver as a sharded cluster, and each shard as a replica set of one", async () => {
    expect(await client.db("admin").command({ hello: 1 })).toMatchObject({ msg: "isdbgrid", ok: 1 });
    for (const { id, uri } of cluster.info.shards) {
      const shard = await new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 }).connect();
      expect(await shard.db("admin").command({ hello: 1 })).toMatchObject({
        setName: id,
        isWritablePrimary: true,
      });
      await shard.close();
    }
  });

  it("knows its shards by name and address", async () => {
    const { shards } = await client.db("admin").command({ listShards: 1 });
    expect((shards as { _id: string; host: string }[]).map(({ _id, host }) => [_id, host])).toEqual(
      cluster.info.shards.map(({ id, uri }) => [id, `${id}/127.0.0.1:${port(uri)}`]),
    );
  });

  it("answers in this process as it does on its port", async () => {
    const inside = replyDocument(await cluster.router.run(request("admin", { listShards: 1 })));
    const outside = await client.db("admin").command({ listShards: 1 });
    expect(inside["shards"]).toEqual(outside["shards"]);
  });

  it("keeps documents where the catalog says, to be seen inside each shard", async () => {
    await client.db("admin").command({ shardCollection: "library.events", key: { deviceId: "hashed" } });
    const events = Array.from({ length: 300 }, (_, n) => ({ _id: n, deviceId: `dev-${n}` }) as object);
    await client.db("library").collection("events").insertMany(events, { ordered: false });
    const counts: number[] = [];
    for (const { uri } of cluster.info.shards) {
      const shard = await new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 }).connect();
      counts.push(await shard.db("library").collection("events").countDocuments());
      await shard.close();
    }
    expect(counts.reduce((sum, count) => sum + count)).toBe(300);
    for (const count of counts) expect(count).toBeGreaterThan(50); // a third each, give or take
    expect(await client.db("library").collection("events").countDocuments()).toBe(300);
  });
});

describe("two clusters with one seed", () => {
  it("make the same choices", async () => {
    const layouts: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const cluster = await Cluster.start({ shards: 4, seed: 11 });
      const client = await new MongoClient(cluster.info.uri, { serverSelectionTimeoutMS: 5_000 }).connect();
      await client.db("admin").command({ shardCollection: "library.events", key: { deviceId: "hashed" } });
      const config = client.db("config");
      const chunks = await config
        .collection("chunks")
        .find({}, { promoteLongs: false })
        .sort({ min: 1 })
        .toArray();
      const [collection] = await config.collection("collections").find().toArray();
      layouts.push([collection!["uuid"], chunks.map(({ min, shard }) => [min, shard] as unknown)]);
      await client.close();
      await cluster.close();
    }
    expect(layouts[0]).toEqual(layouts[1]);
  });
});

describe("close", () => {
  it("ends every part", async () => {
    await expect.poll(openServers).toBe(0);
    const cluster = await Cluster.start({ shards: 2 });
    const ports = [
      cluster.info.uri,
      cluster.info.config.uri,
      ...cluster.info.shards.map((shard) => shard.uri),
    ].map(port);
    expect(openServers()).toBe(4);
    await cluster.close();
    await cluster.close();
    for (const number of ports) expect(await listens(number)).toBe(false);
    await expect.poll(openServers).toBe(0); // a handle is gone one turn of the event loop later
  });
});

describe("a start that fails", () => {
  it("on a port in use names cause and remedy, and leaves nothing open", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const taken = (other.address() as AddressInfo).port;
    await expect.poll(openServers).toBe(1);
    await expect(Cluster.start({ port: taken })).rejects.toMatchObject({
      name: "ClusterError",
      code: "EADDRINUSE",
      message: `port ${taken} on 127.0.0.1 is in use by another program; choose another port, or 0 for any free one`,
    });
    await expect.poll(openServers).toBe(1); // a handle is gone one turn of the event loop later
    await new Promise((resolve) => other.close(resolve));
    const cluster = await Cluster.start({ port: taken });
    expect(port(cluster.info.uri)).toBe(taken);
    await cluster.close();
  });

  it("for an option opens nothing at all", async () => {
    await expect.poll(openServers).toBe(0);
    await expect(Cluster.start({ shards: 0 })).rejects.toThrow("shards can't be 0");
    await expect(Cluster.start({ engine: "runner" })).rejects.toThrow("engine runner is not available yet");
    await expect.poll(openServers).toBe(0); // a handle is gone one turn of the event loop later
  });
});
