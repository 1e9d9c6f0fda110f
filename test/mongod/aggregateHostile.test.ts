import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

/** Pipelines that nobody means well with: each ends in a code, and the server answers on. */
describe("a hostile pipeline", () => {
  async function refused(pipeline: object[], code: number, more: object = {}): Promise<void> {
    const t = new TestMongod();
    await t.insert("c", { _id: 1, a: [1, 2] });
    expect(await t.reply({ aggregate: "c", pipeline, cursor: {}, ...more })).toMatchObject({ ok: 0, code });
    expect(await t.run({ count: "c" })).toMatchObject({ n: 1 });
  }

  it("of pipelines within pipelines ends at 20", async () => {
    const within = (depth: number): object =>
      depth === 0 ? { $limit: 1 } : { $lookup: { from: "c", pipeline: [within(depth - 1)], as: "x" } };
    await refused([within(25)], 232);
  });

  it("of views that reach each other through stages cannot be made", async () => {
    const t = new TestMongod();
    await t.run({ create: "v", viewOn: "c", pipeline: [{ $unionWith: "w" }] });
    expect(await t.reply({ create: "w", viewOn: "v", pipeline: [] })).toMatchObject({ code: 5 });
  });

  it("of views over views, each with a $lookup, is read", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1 });
    await t.run({ create: "v0", viewOn: "c", pipeline: [] });
    for (let i = 1; i < 8; i++) {
      const join = { $lookup: { from: `v${i - 1}`, pipeline: [{ $project: { _id: 1 } }], as: "x" } };
      await t.run({ create: `v${i}`, viewOn: `v${i - 1}`, pipeline: [join] });
    }
    expect((await t.find("v7")).map(({ _id, x }) => [_id, x.length])).toEqual([[1, 1]]);
  });

  it("of numbers beyond sense", async () => {
    await refused([{ $limit: 1e300 }], 5107201);
    await refused([{ $skip: -1e300 }], 5107200);
    await refused([{ $sample: { size: NaN } }], 28747);
    await refused([{ $bucketAuto: { groupBy: "$_id", buckets: 1e10 } }], 40242);
    await refused(
      [{ $bucketAuto: { groupBy: { $literal: Infinity }, buckets: 1, granularity: "R5" } }],
      11785400,
    );
    await refused(
      [
        {
          $graphLookup: {
            from: "c",
            as: "x",
            startWith: "$a",
            connectFromField: "a",
            connectToField: "_id",
            maxDepth: 1.5,
          },
        },
      ],
      40102,
    );
  });

  it("that multiplies documents ends after maxTimeMS", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1, list: Array.from({ length: 1000 }, (_, i) => i) });
    const clock = t.environment;
    // Each look at the clock costs 10 ms.
    Object.assign(clock, { now: () => (clock.time += 10) });
    const pipeline = [
      { $set: { list2: "$list", list3: "$list" } },
      { $unwind: "$list" },
      { $unwind: "$list2" },
      { $unwind: "$list3" },
      { $count: "n" },
    ];
    expect(await t.reply({ aggregate: "c", pipeline, cursor: {}, maxTimeMS: 500 })).toMatchObject({
      code: 50,
    });
  });

  it("that collects more than 100 MB into one document is refused", async () => {
    const t = new TestMongod();
    const pad = "x".repeat(4_000_000);
    await t.insert("c", ...Array.from({ length: 4 }, (_, i) => ({ _id: i, pad })));
    const many = Array.from({ length: 8 }, (_, i) => [`f${i}`, []] as const);
    const pipeline = [{ $facet: Object.fromEntries(many) }];
    expect(await t.reply({ aggregate: "c", pipeline, cursor: {} })).toMatchObject({ code: 4031700 });
  });
});
