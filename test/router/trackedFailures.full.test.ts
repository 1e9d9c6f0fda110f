/**
 * A collection that was moved away from its primary shard is changed once more, and any one command between the router,
 * its shards and the config server fails, the first, the second, … (facts §8.3). Afterwards all documents are there
 * exactly once or, dropped, not at all, and the catalog agrees with the shards.
 */
import { describe, expect, test } from "vitest";
import { CommandError, ErrorCode } from "shardlab/protocol";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const THIRTY = Array.from({ length: 30 }, (_, _id) => ({ _id }));

/** `library.books` on shardB, `library.members` on the primary shardA. */
async function library(): Promise<TestCluster> {
  const cluster = await startCluster({ shards: 3 });
  await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
  await cluster.ok("library", { insert: "books", documents: THIRTY });
  await cluster.ok("library", { insert: "members", documents: THIRTY });
  await cluster.admin({ moveCollection: "library.books", toShard: "shardB" });
  return cluster;
}

/**
 * Runs a command while one of all commands fails.
 * @param mode before: the server never gets it; after: it is carried out and the reply is lost
 * @returns whether there was such a command
 */
async function failing(
  cluster: TestCluster,
  at: number,
  mode: "before" | "after",
  work: () => Promise<Doc>,
): Promise<{ reply: Doc; failed: boolean }> {
  let n = 0;
  let failed = false;
  const servers = [...[...cluster.shards.values()].map((shard) => shard.inner), cluster.config];
  const originals = servers.map((server) => server.run.bind(server));
  servers.forEach((server, i) => {
    server.run = async (request) => {
      if (n++ !== at) return originals[i]!(request);
      failed = true;
      if (mode === "after") await originals[i]!(request);
      throw new CommandError(ErrorCode.HostUnreachable, "gone");
    };
  });
  try {
    return { reply: await work(), failed };
  } finally {
    servers.forEach((server, i) => {
      server.run = originals[i]!;
    });
  }
}

const COMMANDS: readonly [string, string, Doc, number[]][] = [
  ["drop", "library", { drop: "books" }, [0, 30]],
  ["dropDatabase", "library", { dropDatabase: 1 }, [0, 30]],
  ["renameCollection", "admin", { renameCollection: "library.books", to: "library.works" }, [30]],
  ["shardCollection", "admin", { shardCollection: "library.books", key: { _id: 1 } }, [30]],
  ["movePrimary", "admin", { movePrimary: "library", to: "shardB" }, [30]],
  ["moveCollection", "admin", { moveCollection: "library.books", toShard: "shardA" }, [30]],
];

describe.each(["before", "after"] as const)("a command fails %s it was carried out", (mode) => {
  test.each(COMMANDS)("%s", async (_name, db, command, expected) => {
    for (let at = 0; ; at++) {
      const cluster = await library();
      const { reply, failed } = await failing(cluster, at, mode, () => cluster.run(db, command));
      const books = await cluster.all("library", { find: "books" });
      const works = await cluster.all("library", { find: "works" });
      const why = `command ${at}: ${JSON.stringify(reply)}`;
      expect(expected, why).toContain(books.length + works.length);
      expect(await cluster.all("admin", { checkMetadataConsistency: 1, cursor: {} }), why).toEqual([]);
      if (!failed) break;
    }
  });
});
