/**
 * Every sharding helper of mongosh, run by mongosh itself on `shardlab cluster`: what each of them gives. The values can
 * be checked by hand against helpers.mongosh.js: 1,000 loans, memberId 0 to 999, days its last digit.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Program } from "../cluster/processes.js";
import { startProgram } from "../cluster/processes.js";
import { describeWith, mongosh } from "./programs.js";
import type { RunningServer } from "./servers.js";
import { mongodProgram, portOf, startRouter } from "./servers.js";
import { lastLine, run, shellEnvironment } from "./shell.js";

const both = ["shardA", "shardB"];
const NONE_RUNNING = expect.objectContaining({ code: 339 }) as unknown;

/** By the helper's name. */
const EXPECTED: Readonly<Record<string, unknown>> = {
  enableSharding: 1,
  shardCollection: "library.loans",
  stopBalancer: [1, false, "off"],
  // Chunks. splitFind cuts [MinKey, 500) at the median of memberId 0 to 499.
  splitAt: 1,
  splitFind: 1,
  moveChunk: 1,
  moveRange: 1,
  "moveRange.min": 1, // back to shardA: its size is the server's choice, and what is there is small
  "moveRange.max": 1,
  chunks: [
    [{ $minKey: 1 }, "shardA"],
    [250, "shardA"],
    [300, "shardB"],
    [500, "shardB"],
  ],
  // Balancer
  startBalancer: [1, true],
  setBalancerState: [1, false],
  isBalancerRunning: ["off", false, "number"],
  disableBalancing: [[true, 1, 0], true],
  enableBalancing: [[true, 1, 0], false],
  balancerCollectionStatus: [128, true],
  stopAutoMerger: [[true, 0, 1], false, false],
  startAutoMerger: [[true, 1, 0], true],
  disableAutoMerger: [[true, 1, 0], false],
  enableAutoMerger: [[true, 1, 0], false],
  disableAutoSplit: [[true, 0, 1], false],
  enableAutoSplit: [[true, 1, 0], true],
  disableMigrations: 1,
  "disableMigrations.moveChunk": {
    code: 117,
    message: "Collection is undergoing changes so moveChunk is not allowed.",
  },
  enableMigrations: [1, 4],
  // Zones
  addShardToZone: 1,
  addShardTag: 1,
  zones: [
    ["shardA", ["low"]],
    ["shardB", ["high"]],
  ],
  updateZoneKeyRange: 1,
  addTagRange: 1,
  tags: [
    [{ $minKey: 1 }, 500, "low"],
    [500, { $maxKey: 1 }, "high"],
  ],
  "status.tags": ["low", "high"],
  removeRangeFromZone: 1,
  removeTagRange: [1, 0],
  removeShardFromZone: 1,
  removeShardTag: [1, []],
  // Measuring and looking
  isConfigShardEnabled: { enabled: false },
  getShardedDataDistribution: [
    ["shardA", 300],
    ["shardB", 700],
  ],
  checkMetadataConsistency: [[], [], []],
  getShardLocation: { shards: both, sharded: true },
  counts: [100, 1000],
  analyzeShardKey: [1000, 10, 100, false],
  configureQueryAnalyzer: ["full", 5, 1, "full"],
  // Other keys, other places
  commitReshardCollection: NONE_RUNNING,
  abortReshardCollection: NONE_RUNNING,
  reshardCollection: [1, { _id: "hashed" }, 1000, 90, both], // 90 chunks unless it is told otherwise
  shardAndDistributeCollection: [1, 1000, both],
  moveCollection: [1, { shards: ["shardB"], sharded: false }, 2],
  abortMoveCollection: NONE_RUNNING,
  unshardCollection: [1, { shards: ["shardB"], sharded: false }, 1000],
  abortUnshardCollection: NONE_RUNNING,
  // Shards
  addShard: ["shardC", [...both, "shardC"]],
  "listShards.filter": [],
  removeShard: ["started", "completed", 2],
  status: [
    [
      "shardingVersion",
      "shards",
      "active mongoses",
      "autosplit",
      "balancer",
      "shardedDataDistribution",
      "databases",
    ],
    2,
    "yes",
    "yes",
  ],
};

describeWith(mongosh, "mongosh's helpers", () => {
  let router: RunningServer;
  let shardC: Program;
  let folder: string;
  let seen: Record<string, unknown>;

  beforeAll(async () => {
    router = await startRouter();
    folder = mkdtempSync(path.join(tmpdir(), "shardlab-shardC-"));
    const words = ["--shardsvr", "--replSet", "shardC", "--port", "0", "--dbpath", folder];
    shardC = startProgram(mongodProgram, words, { SHARDLAB_NODE: process.execPath });
    const port = await portOf(shardC);
    const client = await MongoClient.connect(`mongodb://127.0.0.1:${port}/?directConnection=true`);
    const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
    await client.db("admin").command({ replSetInitiate: { _id: "shardC", members } });
    await client.close();
    const script = fileURLToPath(new URL("helpers.mongosh.js", import.meta.url));
    const ended = await run(
      process.execPath,
      [mongosh.path, "--norc", "--quiet", router.uri, "--file", script],
      { ...shellEnvironment(), SHARD_C: `shardC/127.0.0.1:${port}` },
    );
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    seen = lastLine(ended) as Record<string, unknown>;
  });
  afterAll(async () => {
    await router?.close();
    shardC?.child.kill("SIGTERM");
    await shardC?.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  describe("by name", () => {
    it.each(Object.entries(EXPECTED))("%s", (name, expected) => {
      expect(seen[name]).toEqual(expected);
    });

    it("and no other", () => {
      expect(Object.keys(seen).sort()).toEqual(Object.keys(EXPECTED).sort());
    });
  });
});
