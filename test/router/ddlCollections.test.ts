/** Creating, dropping and renaming collections and databases of a cluster: everywhere or nowhere. */
import { UUID } from "bson";
import { fromDocument } from "shardlab/bson";
import type { Endpoint, Request } from "shardlab/protocol";
import { EndpointUnreachableError } from "shardlab/protocol";
import type { RulesVersion } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { chunksOf, startCluster } from "./support/cluster.js";

describe("drop and dropDatabase", () => {
  test("drop and dropDatabase leave nothing on any shard or in the catalog", async () => {
    const cluster = await startCluster();
    for (const name of ["one", "two"]) {
      await cluster.admin({ shardCollection: `library.${name}`, key: { d: "hashed" } });
      await cluster.ok("library", { insert: name, documents: [{ d: 1 }, { d: 2 }, { d: 3 }, { d: 4 }] });
    }
    await cluster.ok("library", { insert: "plain", documents: [{ a: 1 }] });
    await cluster.ok("library", { drop: "one" });
    expect((await cluster.all("config", { find: "collections" })).map(({ _id }) => _id)).toEqual([
      "library.two",
    ]);
    expect(await cluster.ok("library", { count: "one" })).toMatchObject({ n: 0 });
    // Its name is free for an unsharded collection.
    await cluster.ok("library", { insert: "one", documents: [{ a: 1 }] });

    expect(await cluster.ok("library", { dropDatabase: 1 })).toMatchObject({ dropped: "library" });
    for (const collection of ["collections", "chunks", "databases"]) {
      expect(await cluster.all("config", { find: collection })).toEqual([]);
    }
    for (const shard of cluster.shards.keys()) {
      const { databases } = await cluster.shard(shard, "admin", { listDatabases: 1, nameOnly: true });
      expect((databases as Doc[]).map(({ name }) => name)).not.toContain("library");
    }
    expect(await cluster.run("library", { drop: "never" })).toMatchObject({
      ok: expect.any(Number) as number,
    });
  });
});

describe("create", () => {
  test("passes every option to the primary shard", async () => {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "library", primaryShard: "shardB" });
    const options = { capped: true, size: 4096, max: 10, validator: { a: 1 }, validationAction: "warn" };
    await cluster.ok("library", { create: "log", ...options });
    const reply = await cluster.shard("shardB", "library", { listCollections: 1 });
    expect((reply.cursor as { firstBatch: Doc[] }).firstBatch).toMatchObject([{ name: "log", options }]);
    expect(await cluster.run("library", { create: "log" })).toMatchObject({ code: 48 });
    expect(await cluster.run("library", { create: "log2", capped: true })).toMatchObject({ ok: 0, code: 72 });
  });

  test("convertToCapped: unsharded on its shard, sharded never (20)", async () => {
    const cluster = await startCluster();
    await cluster.ok("library", { insert: "plain", documents: [{ a: 1 }] });
    await cluster.ok("library", { convertToCapped: "plain", size: 4096 });
    expect(await cluster.ok("library", { collStats: "plain" })).toMatchObject({ capped: true });
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    expect(await cluster.run("library", { convertToCapped: "c", size: 4096 })).toMatchObject({
      code: 20,
      errmsg: "You can't convertToCapped a sharded collection",
    });
  });
});

describe("what is not there, and what fails", () => {
  test("a database that does not exist is dropped, with a word about it", async () => {
    const cluster = await startCluster();
    expect(await cluster.ok("never", { dropDatabase: 1 })).toMatchObject({ info: "database does not exist" });
    expect(await cluster.ok("never", { drop: "c" })).toMatchObject({ info: "database does not exist" });
    expect(await cluster.run("config", { dropDatabase: 1 })).toMatchObject({ code: 20 });
  });

  test("collections of config and admin stay: without config.chunks nobody could route (20)", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.c", key: { d: 1 } });
    for (const [db, name] of [
      ["config", "chunks"],
      ["admin", "system.version"],
    ] as const) {
      expect(await cluster.run(db, { drop: name })).toMatchObject({
        code: 20,
        errmsg: `Cannot drop collection in '${db}' database in sharded cluster`,
      });
    }
    expect(await chunksOf(cluster, "library.c")).toHaveLength(1);
  });

  test("with a shard gone nothing is dropped; afterwards everything", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.h", key: { d: "hashed" } });
    const documents = Array.from({ length: 20 }, (_, d) => ({ d }));
    await cluster.ok("library", { insert: "h", documents });
    const shardB = cluster.shards.get("shardB")!;
    shardB.failWhen = () => new EndpointUnreachableError("gone");
    for (const command of [{ drop: "h" }, { dropDatabase: 1 }]) {
      expect(await cluster.run("library", command)).toMatchObject({ ok: 0 });
    }
    shardB.failWhen = undefined;
    expect(await cluster.ok("library", { count: "h" })).toMatchObject({ n: 20 });
    await cluster.ok("library", { drop: "h" });
    await cluster.admin({ shardCollection: "library.h", key: { d: "hashed" } });
    expect(await cluster.ok("library", { count: "h" })).toMatchObject({ n: 0 });
  });

  test("zone ranges go with the namespace, also of one that was never sharded", async () => {
    const cluster = await startCluster();
    const tag = (ns: string): Doc => ({ ns, min: { x: 0 }, max: { x: 1 }, tag: "EU" });
    const documents = ["library.plain", "library.c", "library2.c", "library.other"].map(tag);
    await cluster.ok("config", { insert: "tags", documents });
    await cluster.ok("library", { insert: "plain", documents: [{ a: 1 }] });
    await cluster.ok("library", { drop: "plain" });
    const left = async (): Promise<unknown[]> =>
      (await cluster.all("config", { find: "tags" })).map(({ ns }) => ns);
    expect(await left()).toEqual(["library.c", "library2.c", "library.other"]);
    await cluster.ok("library", { dropDatabase: 1 });
    expect(await left()).toEqual(["library2.c"]);
  });

  test("each step is told to config.changelog (§3.4)", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    await cluster.ok("library", { dropDatabase: 1 });
    const log = await cluster.all("config", {
      find: "changelog",
      filter: { what: /^drop/ },
      sort: { time: 1 },
    });
    expect(log.map(({ what, ns }) => [what, ns])).toEqual([
      ["dropDatabase.start", "library"],
      ["dropCollection.start", "library.c"],
      ["dropCollection", "library.c"],
      ["dropDatabase", "library"],
    ]);
  });
});

describe("renameCollection", () => {
  /** library.c: x below 0 on shardA, the rest on shardB, one document each; library.plain beside it. */
  async function sharded(rules: RulesVersion = "8.0"): Promise<TestCluster> {
    const cluster = await startCluster({ rules });
    await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
    await cluster.admin({ shardCollection: "library.c", key: { x: 1 } });
    await cluster.admin({ split: "library.c", middle: { x: 0 } });
    await cluster.admin({ moveChunk: "library.c", find: { x: 0 }, to: "shardB" });
    await cluster.ok("library", { insert: "c", documents: [{ x: -1 }, { x: 1 }] });
    await cluster.ok("library", { insert: "plain", documents: [{ a: 1 }] });
    return cluster;
  }
  const rename = (from: string, to: string, more: Doc = {}): Doc => ({ renameCollection: from, to, ...more });
  const countOn = async (cluster: TestCluster, shard: string, name: string): Promise<unknown> =>
    (await cluster.shard(shard, "library", { count: name })).n;

  test("a sharded one keeps uuid, key and chunks; epoch and timestamp are new; the shards follow", async () => {
    const cluster = await sharded();
    const [before] = (await cluster.all("config", { find: "collections" })) as [Doc & { uuid: UUID }];
    const chunks = await cluster.all("config", { find: "chunks" });
    await cluster.ok("config", {
      insert: "tags",
      documents: [{ ns: "library.c", min: { x: 0 }, max: { x: 1 }, tag: "EU" }],
    });
    await cluster.admin(rename("library.c", "library.loans"));
    const [after] = await cluster.all("config", { find: "collections" });
    expect(after).toMatchObject({
      _id: "library.loans",
      uuid: before.uuid,
      key: { x: 1 },
      lastmod: before.lastmod,
    });
    expect(Object.keys(after!)).toEqual(Object.keys(before));
    expect(after!.lastmodEpoch).not.toEqual(before.lastmodEpoch);
    expect(after!.timestamp).not.toEqual(before.timestamp);
    expect(await cluster.all("config", { find: "chunks" })).toEqual(chunks);
    expect((await cluster.all("config", { find: "tags" })).map(({ ns }) => ns)).toEqual(["library.loans"]);
    expect([await countOn(cluster, "shardA", "loans"), await countOn(cluster, "shardB", "loans")]).toEqual([
      1, 1,
    ]);
    // Routed as before, under the new name.
    const [entry] = await cluster.traced(() => cluster.ok("library", { find: "loans", filter: { x: 1 } }));
    expect(entry!.shards.map(({ shard }) => shard)).toEqual(["shardB"]);
    expect(await cluster.ok("library", { count: "c" })).toMatchObject({ n: 0 });
    const log = await cluster.all("config", {
      find: "changelog",
      filter: { what: /^rename/ },
      sort: { time: 1 },
    });
    expect(log.map(({ what, details }) => [what, details])).toEqual([
      ["renameCollection.start", { source: "library.c", destination: "library.loans" }],
      ["renameCollection.end", { source: "library.c", destination: "library.loans" }],
    ]);
  });

  test("with dropTarget, whatever is sharded of the two", async () => {
    const cluster = await sharded();
    await cluster.admin({ shardCollection: "library.h", key: { d: "hashed" } });
    await cluster.ok("library", { insert: "h", documents: [{ d: 1 }, { d: 2 }, { d: 3 }] });
    await cluster.admin(rename("library.c", "library.h", { dropTarget: true }));
    expect((await cluster.all("library", { find: "h", sort: { x: 1 } })).map(({ x }) => x)).toEqual([-1, 1]);
    expect((await chunksOf(cluster, "library.h")).map(({ shard }) => shard)).toEqual(["shardA", "shardB"]);
    expect(await cluster.all("config", { find: "chunks" })).toHaveLength(2);
    // An unsharded one in the place of a sharded one: it is unsharded then.
    await cluster.admin(rename("library.plain", "library.h", { dropTarget: true }));
    expect(await cluster.all("library", { find: "h", projection: { _id: 0 } })).toEqual([{ a: 1 }]);
    expect(await cluster.all("config", { find: "collections" })).toEqual([]);
    expect(await cluster.all("config", { find: "chunks" })).toEqual([]);
    expect(await countOn(cluster, "shardB", "h")).toBe(0);
    expect((await cluster.all("library", { listCollections: 1 })).map(({ name }) => name)).toEqual(["h"]);
  });

  test("unsharded: in its database, and to another one with the same primary", async () => {
    const cluster = await sharded();
    await cluster.admin({ enableSharding: "same", primaryShard: "shardA" });
    await cluster.admin({ enableSharding: "elsewhere", primaryShard: "shardB" });
    await cluster.admin(rename("library.plain", "library.p"));
    await cluster.admin(rename("library.p", "same.p"));
    // A database that is not there begins where the collection is.
    await cluster.admin(rename("same.p", "fresh.p"));
    expect(await cluster.ok("fresh", { count: "p" })).toMatchObject({ n: 1 });
    expect(await cluster.run("admin", rename("fresh.p", "elsewhere.p"))).toMatchObject({
      code: 125,
      errmsg: "Source and destination collections must be on same shard",
    });
  });

  test.each<[Doc, number, string]>([
    [rename("library.c", "library.c"), 20, "Can't rename a collection to itself"],
    [
      rename("library.c", "other.c"),
      125,
      "Source and destination collections must be on the same database because library.c is sharded.",
    ],
    [
      rename("library.c", "library.plain"),
      48,
      "Target collection library.plain exists but dropTarget is not set",
    ],
    [
      rename("library.plain", "library.c"),
      48,
      "Target collection library.c exists but dropTarget is not set",
    ],
    [rename("library.c", "library.view"), 166, "because it is a view"],
    [
      rename("library.never", "library.c", { dropTarget: true }),
      26,
      "Source collection library.never does not exist",
    ],
    [rename("library.view", "library.c", { dropTarget: true }), 166, "cannot rename view"],
    [rename("library.c", "library.system.x"), 73, "Invalid system namespace"],
    [rename("library.c", "library.tagged"), 125, "it must not have associated zones/tags"],
    [rename("library.plain", "library.tagged"), 125, "it must not have associated zones/tags"],
    [rename("library.c", `library.${"x".repeat(230)}`), 73, "Namespace of target collection too long."],
    [rename("library.c", "nodot"), 73, "Invalid namespace specified 'nodot'"],
    [{ renameCollection: "library.c" }, 40414, "renameCollection.to"],
    [rename("never.c", "library.c"), 26, "Database never does not exist"],
    [rename("config.chunks", "config.pieces"), 20, "the config database"],
    [
      rename("library.plain", "library.c", { dropTarget: new UUID("00000000-0000-4000-8000-000000000001") }),
      361,
      "Collection UUID does not match that specified",
    ],
  ])("%j: %i", async (command, code, gist) => {
    const cluster = await sharded();
    await cluster.shard("shardA", "library", { create: "view", viewOn: "plain", pipeline: [] });
    await cluster.ok("config", {
      insert: "tags",
      documents: [{ ns: "library.tagged", min: { x: 0 }, max: { x: 1 }, tag: "EU" }],
    });
    const reply = await cluster.run("admin", command);
    expect(reply).toMatchObject({ ok: 0, code });
    expect(reply.errmsg).toContain(gist);
    expect(await cluster.ok("library", { count: "c" })).toMatchObject({ n: 2 });
    expect(await cluster.ok("library", { count: "plain" })).toMatchObject({ n: 1 });
  });

  test("before 5.0 not when sharded (20)", async () => {
    const cluster = await sharded("4.4");
    expect(await cluster.run("admin", rename("library.c", "library.d"))).toMatchObject({
      code: 20,
      errmsg: "source namespace 'library.c' must not be sharded",
    });
    expect(await cluster.run("admin", rename("library.plain", "library.c"))).toMatchObject({ code: 20 });
  });

  test.each<[string, string, string]>([
    ["a shard fails", "shardB", "renameCollection"],
    ["the catalog fails", "config", "insert"],
  ])("%s: nothing has another name, and what was to be replaced is whole", async (_what, where, what) => {
    const cluster = await sharded();
    await cluster.admin({ shardCollection: "library.h", key: { d: "hashed" } });
    await cluster.ok("library", { insert: "h", documents: [{ d: 1 }, { d: 2 }, { d: 3 }] });
    const collections = await cluster.all("config", { find: "collections" });
    let armed = true;
    const fail = (command: string): Error | undefined => {
      if (!armed || command !== what) return undefined;
      armed = false;
      return new EndpointUnreachableError("gone");
    };
    if (where === "config") {
      // The entries of the changelog are inserts too: the one of config.collections is the second.
      let inserts = 0;
      const { config } = cluster;
      const run = config.run.bind(config);
      config.run = (command) => {
        const failure = command.command === "insert" && ++inserts === 2 ? fail("insert") : undefined;
        return failure ? Promise.reject(failure) : run(command);
      };
    } else cluster.shards.get(where)!.failWhen = fail;
    expect(await cluster.run("admin", rename("library.c", "library.h", { dropTarget: true }))).toMatchObject({
      ok: 0,
    });
    expect(armed).toBe(false);
    expect(await cluster.all("config", { find: "collections" })).toEqual(collections);
    expect(await cluster.ok("library", { count: "c" })).toMatchObject({ n: 2 });
    expect(await cluster.ok("library", { count: "h" })).toMatchObject({ n: 3 });
    expect((await cluster.all("library", { listCollections: 1 })).map(({ name }) => name).sort()).toEqual([
      "c",
      "h",
      "plain",
    ]);
  });
});

/** Makes an endpoint lose its reply to a command, once, after the command has run. */
function loseReply(endpoint: Endpoint, lost: (request: Request) => boolean): void {
  const run = endpoint.run.bind(endpoint);
  let done = false;
  Object.assign(endpoint, {
    run: async (request: Request) => {
      const reply = await run(request);
      if (done || !lost(request)) return reply;
      done = true;
      throw new EndpointUnreachableError("the server", undefined, true);
    },
  });
}

describe("a reply is lost, though the command has run", () => {
  test.each(["shardA", "shardB"])(
    "renaming on %s: the old name stays, with every document",
    async (shard) => {
      const cluster = await startCluster();
      await cluster.admin({ shardCollection: "library.c", key: { d: "hashed" } });
      await cluster.admin({ shardCollection: "library.old", key: { d: "hashed" } });
      const documents = Array.from({ length: 20 }, (_, d) => ({ d }));
      await cluster.ok("library", { insert: "c", documents });
      await cluster.ok("library", { insert: "old", documents: documents.slice(0, 5) });
      loseReply(
        cluster.shards.get(shard)!.inner,
        ({ command, body }) =>
          command === "renameCollection" && fromDocument(body).renameCollection === "library.c",
      );
      const rename = { renameCollection: "library.c", to: "library.old", dropTarget: true };
      expect(await cluster.run("admin", rename)).toMatchObject({ code: 6 });
      expect(await cluster.all("library", { find: "c" })).toHaveLength(20);
      expect(await cluster.all("library", { find: "old" })).toHaveLength(5);
      await cluster.admin(rename);
      expect(await cluster.all("library", { find: "old" })).toHaveLength(20);
    },
  );

  test.each<[string, Doc]>([
    ["createIndexes", { createIndexes: "c", indexes: [{ key: { w: 1 }, name: "w_1" }] }],
    ["dropIndexes", { dropIndexes: "c", index: "v_1" }],
  ])("%s: every shard has the indexes of before", async (name, command) => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "library.c", key: { d: "hashed" } });
    await cluster.ok("library", { createIndexes: "c", indexes: [{ key: { v: 1 }, name: "v_1" }] });
    loseReply(cluster.shards.get("shardB")!.inner, (request) => request.command === name);
    expect(await cluster.run("library", command)).toMatchObject({ code: 6 });
    for (const shard of cluster.shards.keys()) {
      const { cursor } = await cluster.shard(shard, "library", { listIndexes: "c" });
      const names = (cursor as { firstBatch: Doc[] }).firstBatch.map((index) => index.name);
      expect(names.sort()).toEqual(["_id_", "d_hashed", "v_1"]);
    }
    await cluster.ok("library", command);
  });

  test("moving a database: it has moved, with every document", async () => {
    const cluster = await startCluster();
    await cluster.admin({ enableSharding: "library", primaryShard: "shardA" });
    await cluster.ok("library", { insert: "plain", documents: [{ _id: 1 }, { _id: 2 }] });
    loseReply(cluster.config, ({ command }) => command === "update");
    expect(await cluster.run("admin", { movePrimary: "library", to: "shardB" })).toMatchObject({ code: 6 });
    expect(await cluster.all("library", { find: "plain" })).toEqual([{ _id: 1 }, { _id: 2 }]);
    expect(await cluster.shard("shardA", "library", { count: "plain" })).toMatchObject({ n: 0 });
    expect(await cluster.shard("shardB", "library", { count: "plain" })).toMatchObject({ n: 2 });
  });

  test("registering a collection: it is sharded whole, and can be asked for again", async () => {
    const cluster = await startCluster();
    const shard = { shardCollection: "library.c", key: { d: 1 } };
    loseReply(cluster.config, ({ command }) => command === "bulkWrite");
    expect(await cluster.run("admin", shard)).toMatchObject({ code: 6 });
    expect(await cluster.all("config", { find: "collections" })).toMatchObject([{ _id: "library.c" }]);
    expect(await chunksOf(cluster, "library.c")).toHaveLength(1);
    await cluster.admin(shard);
    expect(await chunksOf(cluster, "library.c")).toHaveLength(1);
    expect(await cluster.all("config", { find: "chunks" })).toHaveLength(1);
  });
});
