/**
 * The 100 MB of stages that take in everything first: a limit only for clients that forbid the disk, because a real
 * server goes on there (the manual's "Memory Restrictions" of `$sort` and `$group`).
 */
import { beforeAll, describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

const MB = 1024 * 1024;
let t: TestMongod;

/** 14 documents of 8 MB: 112 MB. */
beforeAll(async () => {
  t = new TestMongod();
  for (let i = 0; i < 14; i++) {
    await t.run({ insert: "c", documents: [{ _id: i, k: -i, pad: "x".repeat(8 * MB - 100) }] });
  }
});

const code = async (command: object): Promise<unknown> => (await t.reply(command)).code;
const stages = (...pipeline: object[]): object => ({ aggregate: "c", pipeline, cursor: {} });
const BLOCKING: [string, object[]][] = [
  ["$sort", [{ $addFields: { n: 1 } }, { $sort: { k: 1 } }]],
  ["$group with $push", [{ $group: { _id: "$k", all: { $push: "$pad" } } }]],
  ["$bucketAuto", [{ $bucketAuto: { groupBy: "$k", buckets: 2 } }]],
  ["$setWindowFields", [{ $setWindowFields: { sortBy: { k: 1 }, output: { r: { $documentNumber: {} } } } }]],
];

describe("without the disk: 292 beyond 100 MB", () => {
  it.each(BLOCKING)("%s", async (_name, pipeline) => {
    const command = {
      ...stages(...pipeline, { $project: { one: { $literal: 1 }, _id: 0 } }),
      allowDiskUse: false,
    };
    expect(await t.reply(command)).toMatchObject({
      ok: 0,
      code: 292,
      codeName: "QueryExceededMemoryLimitNoDiskUseAllowed",
    });
    expect(await code({ ...command, allowDiskUse: true })).toBeUndefined();
  });

  it("find with a sort that no index gives", async () => {
    expect(await code({ find: "c", sort: { k: 1 }, batchSize: 1, allowDiskUse: false })).toBe(292);
    expect(await code({ find: "c", sort: { k: 1 }, batchSize: 1 })).toBeUndefined();
  });

  it("a limit keeps the sort small", async () => {
    expect(await code({ find: "c", sort: { k: 1 }, limit: 1, allowDiskUse: false })).toBeUndefined();
  });

  it("allowDiskUseByDefault forbids it for those who say nothing", async () => {
    const command = stages({ $bucketAuto: { groupBy: "$k", buckets: 2 } });
    await t.run({ setParameter: 1, allowDiskUseByDefault: false }, "admin");
    expect(await code(command)).toBe(292);
    expect(await code({ ...command, allowDiskUse: true })).toBeUndefined();
    await t.run({ setParameter: 1, allowDiskUseByDefault: true }, "admin");
    expect(await code(command)).toBeUndefined();
  });
});
