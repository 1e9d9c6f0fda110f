import { banner } from "shardlab/cluster";
import type { ClusterInfo } from "shardlab/cluster";
import { describe, expect, it } from "vitest";

const info: ClusterInfo = {
  uri: "mongodb://127.0.0.1:1/",
  engine: "embedded",
  rules: "8.0",
  seed: 7,
  clock: "virtual",
  shards: [
    { id: "shardA", uri: "mongodb://127.0.0.1:2/" },
    { id: "shardB", uri: "mongodb://127.0.0.1:3/" },
  ],
  config: { uri: "mongodb://127.0.0.1:4/" },
  shardProgram: { version: "8.2.6-shardlab", simulated: true },
  chunkSizeBytes: 128 * 1024 * 1024,
  capabilities: { trace: true, virtualClock: true, rules: true, killShard: false },
};

describe("the start banner", () => {
  it("says what runs", () => {
    expect(banner(info)).toBe(
      "Shardlab: 2 shards, engine embedded (simulated router and shards in memory, no MongoDB server), rules 8.0, seed 7",
    );
    expect(banner({ ...info, shards: info.shards.slice(1), chunkSizeBytes: 65536 })).toMatch(
      /^Shardlab: 1 shard, .*, chunk size scaled to 64 KB$/,
    );
  });

  it("calls shards of the engine mongod real only where they are", () => {
    const real = { version: "8.0.12", simulated: false };
    expect(banner({ ...info, engine: "mongod", shardProgram: real })).toContain(
      "engine mongod (simulated router, real MongoDB shards 8.0.12)",
    );
    // SHARDLAB_MONGOD can point to our own program.
    const text = banner({ ...info, engine: "mongod" });
    expect(text).toContain("simulated shards in processes of their own, no MongoDB server");
    expect(text).not.toContain("real");
  });
});
