/** The catalog is ordinary documents that clients may write; the router must stay able to read it. */
import { UUID } from "bson";
import { request } from "shardlab/protocol";
import { describe, expect, test } from "vitest";
import type { Doc } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

const uuid = new UUID("00000000-0000-4000-8000-000000000001");

describe("a write that the router could not read is refused", () => {
  test.each<[string, Doc, string]>([
    ["shards", { _id: 1 }, "config.shards { _id: 1 }: field '_id'"],
    ["shards", { _id: "s" }, `config.shards { _id: "s" }: field 'host'`],
    ["databases", { _id: "d", primary: 7 }, `config.databases { _id: "d" }: field 'primary'`],
    ["collections", { _id: "d.c", uuid, key: { x: 5 } }, `config.collections { _id: "d.c" }: field 'key'`],
    [
      "collections",
      { _id: "nodot", uuid, key: { x: 1 } },
      `config.collections { _id: "nodot" }: field '_id'`,
    ],
    ["chunks", { _id: 1, uuid, min: { x: 1 }, max: 3, shard: "a" }, "config.chunks { _id: 1 }: field 'max'"],
    ["shards", { _id: "s", host: "s/1:1", tags: [1] }, `config.shards { _id: "s" }: field 'tags'`],
    ["tags", { _id: 1, ns: "d.c", min: { x: 0 }, max: 5, tag: "EU" }, "config.tags { _id: 1 }: field 'max'"],
    ["settings", { _id: "chunksize", value: "x" }, `config.settings { _id: "chunksize" }: field 'value'`],
    ["settings", { _id: "balancer", mode: "on" }, `config.settings { _id: "balancer" }: field 'mode'`],
  ])("insert into config.%s of %j", async (collection, document, message) => {
    const cluster = await startCluster();
    const before = await cluster.all("config", { find: collection });
    const reply = await cluster.run("config", { insert: collection, documents: [document] });
    expect(reply).toMatchObject({ ok: 0, code: 121, codeName: "DocumentValidationFailure" });
    expect(reply.errmsg).toContain(message);
    expect(await cluster.all("config", { find: collection })).toEqual(before);
    await cluster.admin({ flushRouterConfig: 1 });
  });

  test("by update, upsert and findAndModify, judged by what they would leave", async () => {
    const cluster = await startCluster();
    const q = { _id: "chunksize" };
    const bad = { $set: { value: "x" } };
    const upsert = { update: "settings", updates: [{ q, u: bad, upsert: true }] };
    expect(await cluster.run("config", upsert)).toMatchObject({ ok: 0, code: 121 });
    // Without upsert nothing matches, so nothing is wrong.
    const nothing = { update: "settings", updates: [{ q, u: bad }] };
    expect(await cluster.ok("config", nothing)).toMatchObject({ n: 0 });
    const good = { findAndModify: "settings", query: q, update: { $set: { value: 64 } }, upsert: true };
    expect(await cluster.ok("config", good)).toMatchObject({ lastErrorObject: { n: 1 } });
    expect(await cluster.run("config", nothing)).toMatchObject({ ok: 0, code: 121 });
    expect(await cluster.run("config", { ...good, update: { value: -1 } })).toMatchObject({
      ok: 0,
      code: 121,
    });
    expect(await cluster.run("config", { ...good, update: [{ $unset: "value" }] })).toMatchObject({
      code: 121,
    });
    expect(await cluster.all("config", { find: "settings" })).toEqual([{ _id: "chunksize", value: 64 }]);
  });

  test("fields that the router does not read are the client's", async () => {
    const cluster = await startCluster();
    for (const documents of [
      [{ _id: "autosplit", enabled: "?" }],
      [{ _id: "chunksize", value: 1.5, note: 1 }],
    ])
      expect(await cluster.ok("config", { insert: "settings", documents })).toMatchObject({ n: 1 });
    expect(await cluster.ok("config", { insert: "mine", documents: [{ _id: 1 }] })).toMatchObject({ n: 1 });
  });
});

test("a bad document written on the config server itself is named, and blamed on no other write", async () => {
  const cluster = await startCluster();
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.config.run(request("config", { insert: "shards", documents: [{ _id: 1 }] }));
  const stop = {
    update: "settings",
    updates: [{ q: { _id: "balancer" }, u: { $set: { stopped: true } }, upsert: true }],
  };
  const written = await cluster.ok("config", stop);
  expect([written.n, written.writeErrors]).toEqual([1, undefined]);
  const flush = await cluster.run("admin", { flushRouterConfig: 1 });
  expect(flush).toMatchObject({ ok: 0, code: 121 });
  expect(flush.errmsg).toContain("config.shards { _id: 1 }: field '_id'");
  // Routing goes on by what was known, and the way out works: delete the document.
  expect(await cluster.ok("test", { insert: "c", documents: [{ x: 1 }] })).toMatchObject({ n: 1 });
  await cluster.ok("config", { delete: "shards", deletes: [{ q: { _id: 1 }, limit: 1 }] });
  expect(await cluster.admin({ balancerStatus: 1 })).toMatchObject({ mode: "off" });
});

test("a chunk that does not fit its collection's key is named by the reload", async () => {
  const cluster = await startCluster();
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  const [chunk] = await cluster.all("config", { find: "chunks" });
  await cluster.config.run(
    request("config", {
      insert: "chunks",
      documents: [{ _id: "odd", uuid: chunk!.uuid, min: { y: 1 }, max: { y: 2 }, shard: "shardA" }],
    }),
  );
  const flush = await cluster.run("admin", { flushRouterConfig: 1 });
  expect(flush).toMatchObject({ ok: 0, code: 121 });
  expect(flush.errmsg).toContain(
    `config.chunks { _id: "odd" }: field 'min' must have the fields of the shard key`,
  );
});
