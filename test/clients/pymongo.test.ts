import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Cluster } from "shardlab/cluster";
import { expect, it } from "vitest";
import { describeWith, pymongo } from "./programs.js";

const script = fileURLToPath(new URL("reference004.py", import.meta.url));

describeWith(pymongo, "pymongo, given only the connection string", () => {
  it("repeats the experiments of reference/004 with the same numbers", async () => {
    const cluster = await Cluster.start({ shards: 2 });
    try {
      const { stdout } = await promisify(execFile)("/usr/bin/python3", [script, cluster.info.uri]);
      const seen = JSON.parse(stdout) as Record<string, unknown>;
      const primary = seen["primary"] as string;
      const owner = seen["ownerOfTop"] as string;
      const other = owner === "shardA" ? "shardB" : "shardA";
      expect(seen).toEqual({
        shardCollection: 1,
        primary: expect.stringMatching(/^shard[AB]$/),
        balancer: "full",
        equality: ["SINGLE_SHARD", [owner]], // hash64("dev-42") is 7632986869154119240, above 0
        otherField: ["SHARD_MERGE", ["shardA", "shardB"]],
        range: ["SHARD_MERGE", ["shardA", "shardB"]],
        hashed: [
          [other, 51_100],
          [owner, 48_900],
        ].sort(),
        ranged: [[primary, 100_000]],
        found: 20,
        ownerOfTop: expect.stringMatching(/^shard[AB]$/),
        duplicate: 11000,
      });
    } finally {
      await cluster.close();
    }
  });
});
