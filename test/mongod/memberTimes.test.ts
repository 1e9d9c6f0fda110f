import { Timestamp } from "bson";
import { describe, expect, test } from "vitest";
import { fromDocument, toDocument } from "../../lib/bson/index.js";
import { Mongod } from "../../lib/mongod/index.js";
import type { Endpoint, Reply } from "../../lib/protocol/index.js";
import { request } from "../../lib/protocol/index.js";
import { Router } from "../../lib/router/index.js";

type Doc = Record<string, unknown>;

const SECOND = 1_767_225_600;
const environment = { now: () => SECOND * 1000, random: () => 0.5 };

async function run(endpoint: Endpoint, db: string, command: Doc): Promise<Doc> {
  return fromDocument((await endpoint.run(request(db, command))).body) as Doc;
}

describe("a member of a replica set tells its clients the time", () => {
  const start = (options: object): Mongod => new Mongod({ environment, host: "127.0.0.1:27018", ...options });

  test("in every reply, failures too; a write moves it on", async () => {
    const { member } = start({ replSet: "shardA" });
    const at = (i: number): Doc => ({
      $clusterTime: { clusterTime: new Timestamp({ t: SECOND, i }) },
      operationTime: new Timestamp({ t: SECOND, i }),
    });
    expect(await run(member, "admin", { ping: 1 })).toMatchObject({ ok: 1, ...at(1) });
    expect(await run(member, "test", { insert: "c", documents: [{ _id: 1 }] })).toMatchObject({
      n: 1,
      ...at(2),
    });
    expect(await run(member, "test", { count: "c" })).toMatchObject({ n: 1, ...at(2) });
    expect(await run(member, "test", { nonsense: 1 })).toMatchObject({ ok: 0, code: 59, ...at(2) });
  });

  test("one that belongs to no set, or to one not yet initiated, does not", async () => {
    expect(await run(start({}).member, "admin", { ping: 1 })).toEqual({ ok: 1 });
    const { member } = start({ replSet: "rs", initiated: false });
    expect(await run(member, "admin", { ping: 1 })).toEqual({ ok: 1 });
    expect(await run(member, "admin", { replSetInitiate: {} })).toHaveProperty("operationTime");
  });
});

test("a router on shards behind sockets says its own time, once", async () => {
  const shard = new Mongod({ environment, host: "127.0.0.1:27018", replSet: "shardA" });
  const last: Reply[] = [];
  const remote: Endpoint = {
    ...shard.member,
    run: async (command) => {
      const reply = await shard.member.run(command);
      last.push(reply);
      return reply;
    },
  };
  const config = new Mongod({ environment, host: "127.0.0.1:27100", replSet: "config" });
  const router = new Router({
    environment,
    config,
    rules: "8.0",
    host: "127.0.0.1:27017",
    connect: () => remote,
  });
  await router.start();
  await run(router, "admin", { addShard: "shardA/127.0.0.1:27018", name: "shardA" });
  await run(router, "admin", { shardCollection: "test.c", key: { k: 1 } });
  await run(router, "test", { insert: "c", documents: [{ _id: 1, k: 1 }] });
  for (const command of [{ find: "c", filter: { k: 1 } }, { find: "unsharded" }, { collStats: "c" }]) {
    const { body } = await router.run(request("test", toDocument(command)));
    const names = [
      ...Buffer.from(body)
        .toString("latin1")
        .matchAll(/operationTime\0|\$clusterTime\0/g),
    ].map(String);
    expect(names).toEqual(["$clusterTime\0", "operationTime\0"]);
    expect(Buffer.from(last.at(-1)!.body).includes("operationTime\0")).toBe(true);
  }
});
