import { describe, expect, it } from "vitest";
import { toDocument } from "../../lib/bson/index.js";
import { expressionContext, type Scope } from "../../lib/query/expression/context.js";
import { stepper } from "../../lib/query/expression/limits.js";
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

  it("of loops in loops ends with its time, or at a number of steps", async () => {
    let time = 0;
    const t = new TestMongod({ environment: { now: () => (time += 1), random: () => 0.5 } });
    await t.insert("c", { _id: 1 });
    const loop = (depth: number): object => ({
      $filter: { input: { $range: [0, 100_000] }, cond: depth === 0 ? false : { $size: loop(depth - 1) } },
    });
    const pipeline = [{ $set: { x: loop(5) } }];
    expect(await t.reply({ aggregate: "c", pipeline, cursor: {}, maxTimeMS: 200 })).toMatchObject({
      code: 50,
    });
    const scope = { options: {}, binding: undefined, slots: 0, depth: 0 } as unknown as Scope;
    const step = stepper(scope, "$map");
    const context = expressionContext(toDocument({}));
    step(context, 10_000_000);
    expect(() => step(context)).toThrow(
      /^\$map: the loops of one expression can go through 10000000 elements/,
    );
  });

  it("of values that double with every step", async () => {
    const doubling = (initialValue: unknown, step: object): object => ({
      $set: { x: { $reduce: { input: { $range: [0, 100] }, initialValue, in: step } } },
    });
    const nested = { a: "$$value", b: "$$value" };
    await refused([doubling({}, nested)], 146);
    await refused([doubling({}, { $setField: { field: "c", input: nested, value: nested } })], 146);
    await refused([doubling("ab", { $concat: ["$$value", "$$value"] })], 146);
  });

  it("of a million small parts of one string", async () => {
    const doubled = {
      $reduce: { input: { $range: [0, 22] }, initialValue: ",", in: { $concat: ["$$value", "$$value"] } },
    };
    await refused([{ $set: { x: { $split: [doubled, ","] } } }], 146);
  });

  it("of a long string sought in one that nearly has it everywhere", async () => {
    const t = new TestMongod();
    const text = "a".repeat(1_000_000);
    await t.insert("c", { _id: 1, text, token: `b${"a".repeat(500_000)}` });
    const [found] = await t.aggregate("c", [
      {
        $project: {
          _id: 0,
          bytes: { $indexOfBytes: ["$text", "$token"] },
          points: { $indexOfCP: [{ $concat: ["é", "$text", "$token"] }, "$token"] },
          pieces: { $size: { $split: [{ $concat: ["$text", "$token"] }, "$token"] } },
          once: { $strLenCP: { $replaceOne: { input: "$text", find: "$token", replacement: "" } } },
          every: { $strLenCP: { $replaceAll: { input: "$text", find: "$token", replacement: "" } } },
        },
      },
    ]);
    expect(found).toEqual({ bytes: -1, points: 1_000_001, pieces: 2, once: 1_000_000, every: 1_000_000 });
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
