import { Decimal128, Double, Long } from "bson";
import { array, document, toDocument } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import {
  compileFilter,
  compileUpdate,
  createStages,
  filterDocument,
  leadingMatch,
  parsePipeline,
  PipelineRunner,
  runStages,
} from "../../lib/query/index.js";
import { bson, failure, js, text, value } from "./support.js";

const run = (stages: object[], docs: object[]) =>
  runStages(createStages(parsePipeline(stages.map(bson))), docs.map(bson)).map(text);

const SALES = [
  { _id: 1, city: "Rome", qty: 2, price: new Double(1.5), tags: ["a", "b"] },
  { _id: 2, city: "Oslo", qty: 5, price: 2, tags: [] },
  { _id: 3, city: "Rome", qty: 1 },
  { _id: 4, qty: "none", tags: "a" },
];

describe("stages", () => {
  test.each<[object[], string[]]>([
    [
      [{ $match: { qty: { $gte: 2 } } }, { $project: { qty: 1 } }],
      ["{ _id: 1, qty: 2 }", "{ _id: 2, qty: 5 }"],
    ],
    [
      [{ $project: { _id: 0, double: { $multiply: ["$qty", 2] } } }, { $limit: 2 }],
      ["{ double: 4 }", "{ double: 10 }"],
    ],
    [
      [{ $match: { _id: 3 } }, { $addFields: { qty: "$city", "x.y": 1 } }],
      ['{ _id: 3, city: "Rome", qty: "Rome", x: { y: 1 } }'],
    ],
    [[{ $match: { _id: 3 } }, { $set: { city: "$$REMOVE" } }], ["{ _id: 3, qty: 1 }"]],
    [[{ $match: { _id: 3 } }, { $set: { city: { a: "$qty" } } }], ["{ _id: 3, city: { a: 1 }, qty: 1 }"]],
    [[{ $match: { _id: 3 } }, { $unset: ["city", "qty"] }], ["{ _id: 3 }"]],
    [
      [{ $sort: { qty: -1 } }, { $limit: 3 }, { $project: { _id: 1 } }],
      ["{ _id: 4 }", "{ _id: 2 }", "{ _id: 1 }"],
    ],
    [
      [{ $sort: { _id: -1 } }, { $skip: 1 }, { $limit: 2 }, { $project: { _id: 1 } }],
      ["{ _id: 3 }", "{ _id: 2 }"],
    ],
    [[{ $match: { city: "Rome" } }, { $count: "n" }], ["{ n: 2 }"]],
    [[{ $match: { city: "Bonn" } }, { $count: "n" }], []],
    [
      [{ $sortByCount: "$city" }],
      ['{ _id: "Rome", count: 2 }', '{ _id: "Oslo", count: 1 }', "{ _id: null, count: 1 }"],
    ],
    [[{ $match: { _id: 1 } }, { $replaceRoot: { newRoot: { c: "$city" } } }], ['{ c: "Rome" }']],
    [
      [{ $match: { _id: 1 } }, { $replaceWith: { $mergeObjects: [{ x: 1 }, { y: "$qty" }] } }],
      ["{ x: 1, y: 2 }"],
    ],
    [
      [{ $unwind: "$tags" }, { $project: { tags: 1 } }],
      ['{ _id: 1, tags: "a" }', '{ _id: 1, tags: "b" }', '{ _id: 4, tags: "a" }'],
    ],
    [
      [
        { $unwind: { path: "$tags", preserveNullAndEmptyArrays: true, includeArrayIndex: "i" } },
        { $project: { tags: 1, i: 1 } },
      ],
      [
        '{ _id: 1, tags: "a", i: 0 }',
        '{ _id: 1, tags: "b", i: 1 }',
        "{ _id: 2, i: null }",
        "{ _id: 3, i: null }",
        '{ _id: 4, tags: "a", i: null }',
      ],
    ],
  ])("%j", (stages, expected) => expect(run(stages, SALES)).toEqual(expected));

  test("unwinding inside an object keeps the rest of it", () => {
    expect(run([{ $unwind: "$a.b" }], [{ a: { x: 1, b: [1, 2] }, c: 3 }])).toEqual([
      "{ a: { x: 1, b: 1 }, c: 3 }",
      "{ a: { x: 1, b: 2 }, c: 3 }",
    ]);
  });
});

describe("$group", () => {
  const one = (accumulator: object, docs: object[]) =>
    run([{ $group: { _id: null, r: accumulator } }], docs)[0];
  test.each<[object, object[], string]>([
    [{ $sum: "$a" }, [{ a: 1 }, { a: 2 }, { a: "x" }, {}], "3"],
    [{ $sum: 1 }, [{}, {}], "2"],
    [{ $sum: "$a" }, [{ a: 2147483647 }, { a: 1 }], "2147483648"],
    [{ $sum: "$a" }, [{ a: 0.1 }, { a: 0.2 }, { a: 0.3 }, { a: -0.3 }, { a: -0.2 }, { a: -0.1 }], "0.0"],
    [{ $sum: "$a" }, [{ a: 1 }, { a: 0.5 }], "1.5"],
    [{ $sum: "$a" }, [{ a: Decimal128.fromString("1.10") }, { a: 1 }], "2.10"],
    [{ $sum: "$a" }, [{ a: Long.MAX_VALUE }, { a: Long.MAX_VALUE }], "18446744073709552000.0"],
    [{ $sum: "$nosuch" }, [{}], "0"],
    [{ $avg: "$a" }, [{ a: 1 }, { a: 2 }, { a: null }], "1.5"],
    [{ $avg: "$a" }, [{ a: "x" }], "null"],
    [{ $min: "$a" }, [{ a: 5 }, { a: null }, {}, { a: 2 }], "2"],
    [{ $max: "$a" }, [{ a: 5 }, { a: "x" }, { a: [1] }], "[ 1 ]"],
    [{ $max: "$a" }, [{}], "null"],
    [{ $first: "$a" }, [{}, { a: 1 }], "null"],
    [{ $last: "$a" }, [{ a: 1 }, { a: 2 }], "2"],
    [{ $push: "$a" }, [{ a: 1 }, {}, { a: [2] }, { a: null }], "[ 1, [ 2 ], null ]"],
    [{ $push: { x: "$a" } }, [{ a: 1 }, {}], "[ { x: 1 }, {} ]"],
    [{ $addToSet: "$a" }, [{ a: 1 }, { a: new Double(1) }, { a: 2 }, {}], "[ 1, 2 ]"],
    [{ $count: {} }, [{}, {}], "2"],
    [{ $mergeObjects: "$a" }, [{ a: { x: 1 } }, { a: { y: 2, x: 3 } }, {}], "{ x: 3, y: 2 }"],
  ])("%j over %j → %s", (accumulator, docs, expected) => {
    expect(one(accumulator, docs)).toBe(`{ _id: null, r: ${expected} }`);
  });

  test("groups by value, numbers of all types together, missing with null", () => {
    const docs = [{ k: 1 }, { k: new Double(1) }, { k: null }, {}, { k: Long.fromNumber(1) }, { k: [1] }];
    expect(run([{ $group: { _id: "$k", n: { $sum: 1 } } }], docs)).toEqual([
      "{ _id: 1, n: 3 }",
      "{ _id: null, n: 2 }",
      "{ _id: [ 1 ], n: 1 }",
    ]);
  });

  test("a compound _id, no accumulators", () => {
    expect(run([{ $group: { _id: { c: "$city", big: { $gt: ["$qty", 1] } } } }], SALES.slice(0, 3))).toEqual([
      '{ _id: { c: "Rome", big: true } }',
      '{ _id: { c: "Oslo", big: true } }',
      '{ _id: { c: "Rome", big: false } }',
    ]);
  });
});

describe("refusals with MongoDB's codes", () => {
  test.each<[object, number, string | undefined]>([
    [{ $foo: 1 }, 40324, "Unrecognized pipeline stage name: '$foo'"],
    [
      { $match: {}, $limit: 1 },
      40323,
      "A pipeline stage specification object must contain exactly one field.",
    ],
    [{}, 40323, undefined],
    [{ $lookup: {} }, 238, "not simulated: stage $lookup, use engine mongod"],
    [{ $out: "x" }, 238, "not simulated: stage $out, use engine mongod"],
    [{ $group: { a: { $sum: 1 } } }, 15955, "a group specification must include an _id"],
    [{ $group: { _id: 1, a: { $foo: 1 } } }, 15952, "unknown group operator '$foo'"],
    [{ $group: { _id: 1, a: 5 } }, 40234, "The field 'a' must be an accumulator object"],
    [{ $group: { _id: 1, a: { $top: {} } } }, 238, "not simulated: accumulator $top, use engine mongod"],
    [{ $limit: 0 }, 15958, "the limit must be positive"],
    [{ $limit: "x" }, 2107201, undefined],
    [{ $skip: -1 }, 5107200, undefined],
    [{ $sort: {} }, 15976, "$sort stage must have at least one sort key"],
    [{ $sort: { a: 5 } }, 15975, undefined],
    [{ $project: {} }, 51272, undefined],
    [{ $project: { a: 1, b: 0 } }, 31254, undefined],
    [{ $count: "" }, 40156, undefined],
    [{ $unwind: "a" }, 28818, "path option to $unwind stage should be prefixed with a '$': a"],
    [{ $match: 5 }, 15959, undefined],
    [{ $unset: [] }, 31119, undefined],
  ])("%j → %d", (stage, code, message) => {
    const error = failure(() => parsePipeline([bson(stage)]));
    expect(error.code).toBe(code);
    if (message !== undefined) expect(error.message).toBe(message);
  });

  test("$replaceRoot needs an object", () => {
    expect(failure(() => run([{ $replaceRoot: { newRoot: "$a" } }], [{ a: 5 }])).code).toBe(40228);
  });

  test("sources are recognised in front, and answered by the host only", () => {
    const [stage] = parsePipeline([bson({ $collStats: { storageStats: {} } }), bson({ $limit: 1 })]);
    expect([stage!.name, stage!.isSource]).toEqual(["$collStats", true]);
    expect(failure(() => stage!.create()).code).toBe(238);
    expect(failure(() => parsePipeline([bson({ $limit: 1 }), bson({ $collStats: {} })])).code).toBe(40602);
  });
});

describe("running", () => {
  test("a reached $limit is satisfied and lets nothing more through", () => {
    const runner = new PipelineRunner(
      createStages(parsePipeline([bson({ $match: { a: 1 } }), bson({ $limit: 2 })])),
    );
    const pushed: boolean[] = [];
    for (const a of [1, 0, 1, 1]) {
      runner.push(bson({ a }));
      pushed.push(runner.satisfied);
    }
    expect(pushed).toEqual([false, false, true, true]);
    expect(runner.take()).toHaveLength(2);
    runner.finish();
    expect(runner.take()).toEqual([]);
  });

  test("a $limit behind a $sort gives the same as sorting all", () => {
    const docs = Array.from({ length: 500 }, (_, i) => ({ _id: i, k: (i * 7919) % 97 }));
    const all = run([{ $sort: { k: 1 } }], docs);
    expect(run([{ $sort: { k: 1 } }, { $skip: 3 }, { $limit: 10 }], docs)).toEqual(all.slice(3, 13));
    expect(run([{ $sort: { k: 1 } }, { $match: { k: 96 } }, { $limit: 2 }], docs)).toHaveLength(2);
  });

  test("a stage object can be run again: parsed pipelines hold no state", () => {
    const parsed = parsePipeline([bson({ $skip: 1 }), bson({ $count: "n" })]);
    const once = () => runStages(createStages(parsed), [bson({}), bson({})]).map(text);
    expect([once(), once()]).toEqual([["{ n: 1 }"], ["{ n: 1 }"]]);
  });
});

test("the leading $match decides about routing, also behind a $sort and in parts", () => {
  const lead = (stages: object[]) => js(filterDocument(leadingMatch(parsePipeline(stages.map(bson)))));
  expect(lead([{ $match: { a: 1 } }, { $match: { b: 2 } }, { $limit: 1 }])).toEqual({
    $and: [{ a: { $eq: 1 } }, { b: { $eq: 2 } }],
  });
  expect(lead([{ $sort: { a: 1 } }, { $match: { a: 1 } }])).toEqual({ a: { $eq: 1 } });
  expect(lead([{ $limit: 1 }, { $match: { a: 1 } }])).toEqual({});
  expect(lead([])).toEqual({});
});

test("let and $$NOW reach every stage", () => {
  const parsed = parsePipeline([bson({ $set: { x: "$$k", t: "$$NOW" } })], {
    let: bson({ k: 7 }),
    now: () => 5,
  });
  expect(runStages(createStages(parsed), [bson({})]).map(text)).toEqual(["{ x: 7, t: new Date(5) }"]);
});

test("raw values of array and object arguments work for updates as for pipelines", () => {
  const update = compileUpdate(array([document(toDocument({ $set: { a: 1 } }))]));
  expect([update.kind, compileUpdate(value({ a: 1 })).kind]).toEqual(["pipeline", "replacement"]);
  expect(compileFilter(bson({ a: 1 })).matches(update.apply(bson({}), { now: 0 }))).toBe(true);
});
