import { Decimal128, Double, Long, ObjectId, Timestamp } from "bson";
import { fromDocument, toDocument } from "shardlab/bson";
import { Mongod } from "shardlab/mongod";
import { request } from "shardlab/protocol";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "./support/cluster.js";
import { startCluster } from "./support/cluster.js";

/** Whether every index of the collection says what its documents say, on each shard. */
async function indexesAgree(cluster: TestCluster): Promise<unknown[]> {
  const replies = await Promise.all(
    ["shardA", "shardB"].map((id) => cluster.shard(id, "test", { validate: "c" })),
  );
  return replies.map(({ valid }) => valid);
}

/** How many documents the hashed index finds for a value, over both shards. */
async function found(cluster: TestCluster, path: string, value: unknown): Promise<number> {
  const hint = { [path]: "hashed" };
  return (await cluster.all("test", { find: "c", filter: { [path]: value }, hint })).length;
}

describe("the router sends the hashes along that it has computed", () => {
  test("each document keeps its own, whatever is refused in between", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "test.c", key: { "at.k": "hashed" } });
    const values = [
      "dev-0",
      "dev-1",
      7,
      new Double(7.5),
      Long.fromNumber(2 ** 40),
      null,
      new ObjectId(),
      "x".repeat(90),
    ];
    const documents: Doc[] = values.flatMap((k, _id) => [
      { _id, at: { k } },
      { _id: -1 - _id, at: { k: [k] } },
    ]);
    documents.push({ _id: 100 }, { _id: 101, at: 3 }, { _id: 102, at: { k: Decimal128.fromString("7") } });
    const reply = await cluster.ok("test", { insert: "c", documents, ordered: false });
    expect(reply.n).toBe(values.length + 3);
    expect((reply.writeErrors as Doc[]).map(({ code }) => code)).toEqual(values.map(() => 61));
    expect(await indexesAgree(cluster)).toEqual([true, true]);
    expect(await found(cluster, "at.k", "dev-0")).toBe(1);
    expect(await found(cluster, "at.k", 7)).toBe(2); // the int and the decimal
    expect(await found(cluster, "at.k", null)).toBe(3); // null, missing, and a scalar on the way
  });

  test("an ordered list is cut into runs, each with its own hashes", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "test.c", key: { k: "hashed" } });
    const documents = Array.from({ length: 200 }, (_, i) => ({ _id: i, k: `dev-${i}` }));
    await cluster.ok("test", { insert: "c", documents, ordered: true });
    expect(await indexesAgree(cluster)).toEqual([true, true]);
    expect(await found(cluster, "k", "dev-42")).toBe(1);
  });

  test("other hashed indexes, and sparse ones on the same field, have keys of their own", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "test.c", key: { k: "hashed" } });
    const indexes = [
      { key: { other: "hashed" }, name: "other" },
      { key: { k: "hashed", n: 1 }, name: "sparse", sparse: true },
      { key: { n: 1, k: "hashed" }, name: "second" },
    ];
    await cluster.ok("test", { createIndexes: "c", indexes });
    const documents = Array.from({ length: 50 }, (_, i) => ({
      _id: i,
      ...(i % 3 && { k: i }),
      other: i % 7,
    }));
    await cluster.ok("test", { insert: "c", documents, ordered: false });
    expect(await indexesAgree(cluster)).toEqual([true, true]);
    expect(await found(cluster, "other", 3)).toBe(7);
  });

  test("an empty timestamp becomes the present time, and so does its key", async () => {
    const cluster = await startCluster();
    await cluster.admin({ shardCollection: "test.c", key: { k: "hashed" } });
    const documents = [{ _id: 1, k: new Timestamp({ t: 0, i: 0 }) }];
    await cluster.ok("test", { insert: "c", documents });
    expect(await indexesAgree(cluster)).toEqual([true, true]);
  });
});

test("a shard takes the hashes that it is sent for a hashed index on that path, and no others", async () => {
  const mongod = new Mongod({ environment: { now: Date.now, random: Math.random }, host: "127.0.0.1:27018" });
  const insert = async (name: string, path: string, words: number): Promise<unknown> => {
    const index = { key: { k: "hashed" }, name: "k" };
    await mongod.run(request("test", { createIndexes: name, indexes: [index] }));
    const command = request("test", { insert: name }, { documents: [toDocument({ _id: 1, k: "dev-0" })] });
    await mongod.run({ ...command, hashes: { path, words: new Int32Array(words) } });
    const { body } = await mongod.run(request("test", { validate: name }));
    return fromDocument(body).valid;
  };
  expect(await insert("wrong", "k", 2)).toBe(false); // zero is not the hash of dev-0, and nobody looked
  expect(await insert("another", "kk", 2)).toBe(true);
  expect(await insert("unlike", "k", 4)).toBe(true); // not two words a document
});
