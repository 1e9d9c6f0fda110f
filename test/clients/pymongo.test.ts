import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Cluster } from "../../lib/cluster/index.js";
import { expect, it } from "vitest";
import { describeWith, pymongo } from "./programs.js";
import { servers } from "./servers.js";

/** What a script of this folder prints, given a connection string. */
async function run(script: string, uri: string): Promise<Record<string, unknown>> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await promisify(execFile)("/usr/bin/python3", [path, uri]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describeWith(pymongo, "pymongo, given only the connection string", () => {
  it("repeats the experiments of reference/004 with the same numbers", async () => {
    const cluster = await Cluster.start({ shards: 2 });
    try {
      const seen = await run("reference004.py", cluster.info.uri);
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

  it("works on sharded collections through the router as on those of a mongos", async () => {
    const cluster = await Cluster.start({ shards: 2 });
    try {
      // 20 pupils, form = _id % 4: forms 0 and 1 on shardA, 2 and 3 on shardB; marks are [_id, 2 _id].
      expect(await run("cluster.py", cluster.info.uri)).toEqual({
        isMongos: true,
        find: [17, 13, 9, 5, 1],
        merged: [7, 8, 9, 10, 11, 12, 13],
        count: [5, 20],
        distinct: [0, 1, 2],
        update: 6,
        updateOne: 1,
        upsert: 77,
        findAndModify: { _id: 77, form: 3, name: "later" },
        replace: 1,
        delete: [1, 0],
        moved: [1, 2, 1],
        bulk: [2, 3, 2],
        bulkErrors: [1, [0, 11000], [2, 11000]],
        indexes: ["_id_", "form_1__id_1", "form_1__id_1_name_1", "name_hashed"],
        noUnique: 67,
        duplicate: [11000, { _id: 1 }],
        explain: [
          ["SINGLE_SHARD", ["shardB"]],
          ["SHARD_MERGE", ["shardA", "shardB"]],
          ["SHARD_MERGE_SORT", ["shardA", "shardB"]],
        ],
        group: [
          { _id: 0, n: 5, best: 32 },
          { _id: 1, n: 5, best: 34 },
          { _id: 2, n: 5, best: 36 },
          { _id: 3, n: 5, best: 38 },
        ],
        lookup: [
          { _id: 1, teacher: "t1" },
          { _id: 7, teacher: "t3" },
        ],
        lookupSharded: [0, 1, 2, 3].map((_id) => ({ _id, n: 5 })),
        facet: [{ all: [{ n: 20 }], third: [{ n: 5 }] }],
        out: 5,
        view: [["p03", "p07", "p11", "p15", "p19"], 3, ["p03"]],
        session: 6,
        retried: [1, 1],
        once: 1,
        errors: [61, 2, 40324, 59, 23],
        collections: ["forms", "pupils", "second", "seniors", "system.views"],
        stats: [true, 1],
        dropped: [false, 0],
      });
    } finally {
      await cluster.close();
    }
  });

  it.each(Object.keys(servers))("finds what it expects of MongoDB in %s", async (name) => {
    const server = await servers[name]!();
    try {
      expect(await run("crud.py", server.uri)).toEqual({
        find: [7, 4, 1],
        elemMatch: [6, 7], // of [6, 12] and [7, 14]
        project: { name: "p4", marks: [8] },
        count: [4, 10],
        distinct: [0, 1, 2],
        update: 4, // $mul makes a field of 0, so all four change
        upsert: 77,
        findAndModify: { _id: 77, name: "late", visits: 5 },
        delete: 1,
        types: ["00000000-0000-0000-0000-000000000007", "0.10", "9007199254740993", "Int64"],
        bulk: [1, 11000],
        indexes: ["_id_", "formName", "left_1", "name_1", "name_hashed"],
        indexOptions: { v: 2, key: [["left", 1]], expireAfterSeconds: 10, sparse: true },
        unique: [11000, { name: 1 }, { name: "p1" }],
        explain: ["FETCH", "IXSCAN", "formName"],
        executionStats: [3, 3, 3],
        aggregate: [
          { _id: 0, ids: [0, 3], best: 6 },
          { _id: 1, ids: [1, 4], best: 8 },
          { _id: 2, ids: [2, 5], best: 10 },
        ],
        lookup: [
          { _id: 1, n: 3 },
          { _id: 4, n: 3 },
        ],
        sample: 4,
        view: ["p1", "p4", "p7"],
        validator: 121,
        collMod: 1,
        errors: [14, 238, 40324, 59, 238],
        databases: true,
        collections: ["pupils", "strict", "system.views", "typed", "view"],
        batches: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        session: 10,
        dropped: false,
      });
    } finally {
      await server.close();
    }
  });
});
