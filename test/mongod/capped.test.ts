import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

const ids = async (t: TestMongod, options: object = {}): Promise<unknown[]> =>
  (await t.find("c", {}, options)).map(({ _id }) => _id);

describe("a capped collection", () => {
  it("keeps as many documents as it may, the newest, in order of insertion", async () => {
    const t = new TestMongod();
    await t.run({ create: "c", capped: true, size: 100_000, max: 3 });
    await t.createIndex("c", { x: 1 }, { unique: true });
    await t.insert("c", { _id: 5, x: 1 }, { _id: 3, x: 2 }, { _id: 9, x: 3 });
    await t.insert("c", { _id: 1, x: 4 });
    expect(await ids(t)).toEqual([3, 9, 1]);
    expect(await ids(t, { sort: { $natural: -1 } })).toEqual([1, 9, 3]);
    // What went is gone from the indexes: its key is free again.
    await t.insert("c", { _id: 5, x: 1 });
    expect(await ids(t)).toEqual([9, 1, 5]);
    expect(await t.find("c", { x: 2 }, { hint: "x_1" })).toEqual([]);
    expect((await t.run({ validate: "c" }))["valid"]).toBe(true);
  });

  it("keeps as many bytes as it may", async () => {
    const t = new TestMongod();
    await t.run({ create: "c", capped: true, size: 4096 });
    // 4 length, 9 _id, 6 + 5 + 970 + 1 text, 1 end: 1000 bytes or so; four fit.
    for (let _id = 0; _id < 10; _id++) await t.insert("c", { _id, text: "x".repeat(970) });
    expect(await ids(t)).toEqual([6, 7, 8, 9]);
    const { size, count, capped } = await t.run({ collStats: "c" });
    expect([count, capped, size <= 4096]).toEqual([4, true, true]);
    expect(await t.run({ insert: "c", documents: [{ _id: 10, text: "x".repeat(5000) }] })).toMatchObject({
      writeErrors: [{ code: 2, errmsg: "object to insert exceeds cappedMaxSize" }],
    });
    expect(await ids(t)).toEqual([6, 7, 8, 9]);
  });

  it("takes updates that change the size (since 5.3) and deletes (since 5.0); places stay", async () => {
    const t = new TestMongod();
    await t.run({ create: "c", capped: true, size: 4096, max: 3 });
    await t.insert("c", { _id: 1 }, { _id: 2 }, { _id: 3 });
    await t.run({ update: "c", updates: [{ q: { _id: 1 }, u: { $set: { text: "longer" } } }] });
    await t.run({ delete: "c", deletes: [{ q: { _id: 2 }, limit: 1 }] });
    await t.insert("c", { _id: 4 });
    expect(await ids(t)).toEqual([1, 3, 4]);
  });

  it("that shrinks lets go of its oldest with the next insert", async () => {
    const t = new TestMongod();
    await t.run({ create: "c", capped: true, size: 100_000 });
    for (let _id = 0; _id < 10; _id++) await t.insert("c", { _id });
    await t.run({ collMod: "c", cappedMax: 2 });
    expect(await ids(t)).toHaveLength(10);
    await t.insert("c", { _id: 10 });
    expect(await ids(t)).toEqual([9, 10]);
  });
});
