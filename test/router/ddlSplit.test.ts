import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

describe("split (§3.2)", () => {
  async function ranged(): Promise<TestCluster> {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    return cluster;
  }

  test("in the middle, by a key, by bounds", async () => {
    const cluster = await ranged();
    await cluster.ok("library", { insert: "c", documents: [1, 2, 3, 4].map((x) => ({ x })) });
    await cluster.admin({ split: "library.c", middle: { x: 100 } });
    // The median of 1 2 3 4 in [MinKey, 100): position 2 counted from 0.
    await cluster.admin({ split: "library.c", find: { x: 1 } });
    const bounds = await chunksOf(cluster, "library.c");
    expect(bounds.slice(1).map(({ min }) => min)).toEqual([{ x: 3 }, { x: 100 }]);
    await cluster.admin({ split: "library.c", bounds: [{ x: 3 }, { x: 100 }] });
    expect((await chunksOf(cluster, "library.c")).slice(1).map(({ min }) => min)).toEqual([
      { x: 3 },
      { x: 4 },
      { x: 100 },
    ]);
  });

  test("every piece gets the next minor version (§3.4)", async () => {
    const cluster = await ranged();
    const versions = async (): Promise<string[]> => {
      const chunks = await cluster.all("config", { find: "chunks", sort: { min: 1 } });
      return chunks.map(({ lastmod }) => {
        const { t, i } = lastmod as { t: number; i: number };
        return `${t}|${i}`;
      });
    };
    expect(await versions()).toEqual(["1|0"]);
    await cluster.admin({ split: "library.c", middle: { x: 10 } });
    expect(await versions()).toEqual(["1|1", "1|2"]);
    await cluster.admin({ split: "library.c", middle: { x: 5 } });
    expect(await versions()).toEqual(["1|3", "1|4", "1|2"]);
  });

  test.each<[Doc, number, string]>([
    [{}, 8, "need to specify find/bounds or middle"],
    [{ find: { x: 1 }, middle: { x: 1 } }, 8, "cannot specify find and middle together"],
    [{ find: { x: 1 }, bounds: [{ x: 1 }, { x: 2 }] }, 8, "cannot specify bounds and find at the same time"],
    [{ bounds: [{ x: 1 }, { x: 2 }], middle: { x: 1 } }, 8, "cannot specify bounds and middle together"],
    [{ find: { y: 1 } }, 8, "no shard key found in chunk query"],
    [{ bounds: [{ x: 1 }, { x: 2 }] }, 8, "no chunk found with the shard key bounds"],
    [{ bounds: [{ y: 1 }, { y: 2 }] }, 8, "are not valid for shard key pattern"],
    [{ middle: { y: 1 } }, 8, "is not valid for shard key pattern"],
    [{ middle: { x: { $gt: 1 } } }, 8, "is not valid for shard key pattern"],
    [{ middle: { x: [1] } }, 8, "is not valid for shard key pattern"],
    [{ middle: { x: 1, y: 1 } }, 8, "is not valid for shard key pattern"],
    [{ find: { x: { $gt: 1 } } }, 8, "no shard key found in chunk query"],
    [{ middle: { x: 10 } }, 8, "is a boundary key of existing chunk"],
    [{ find: { x: 1 } }, 87, "chunk is indivisible"],
  ])("%j: %i %s", async (options, code, message) => {
    const cluster = await ranged();
    await cluster.admin({ split: "library.c", middle: { x: 10 } });
    await cluster.ok("library", { insert: "c", documents: [{ x: 5 }, { x: 5 }, { x: 5 }] });
    const reply = await cluster.run("admin", { split: "library.c", ...options });
    expect(reply).toMatchObject({ ok: 0, code });
    expect(reply.errmsg).toContain(message);
  });

  test("of an unsharded collection: 118", async () => {
    const cluster = await ranged();
    expect(await cluster.run("admin", { split: "library.other", middle: { x: 1 } })).toMatchObject({
      code: 118,
    });
  });

  test("a hashed chunk is cut at a NumberLong, or at the median hash", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.h", key: { d: "hashed" } });
    expect(await cluster.run("admin", { split: "library.h", middle: { d: 5 } })).toMatchObject({ code: 8 });
    await cluster.admin({ split: "library.h", middle: { d: 5_000_000_000_000_000_000n } });
    await cluster.ok("library", {
      insert: "h",
      documents: Array.from({ length: 100 }, (_, i) => ({ d: `dev-${i}` })),
    });
    await cluster.admin({ split: "library.h", find: { d: "dev-1" } });
    const mins = (await chunksOf(cluster, "library.h")).map(({ min }) => String(min.d));
    expect(mins).toHaveLength(4);
    expect(mins).toContain("5000000000000000000");
  });
});
