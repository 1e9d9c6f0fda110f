import { Decimal128, Double, Long } from "bson";
import { array, describeValue, document, toDocument } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import {
  compileFilter,
  compileUpdate,
  createStages,
  filterDocument,
  leadingMatch,
  optimizePipeline,
  parsePipeline,
  PipelineRunner,
  runStages,
  streaming,
} from "../../lib/query/index.js";
import { granularityOf, SERIES } from "../../lib/query/pipeline/stages/granularity.js";
import { bson, failure, js, text, value } from "./support.js";

const fromRaw = describeValue;

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
    [{ $geoNear: {} }, 238, "not simulated: stage $geoNear"],
    [{ $lookup: {} }, 9, "must specify 'as' field for a $lookup"],
    [{ $lookup: { as: "x" } }, 9, "must specify 'pipeline' when 'from' is empty"],
    [
      { $lookup: { from: "c", as: "x", localField: "a" } },
      9,
      "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    ],
    [
      { $lookup: { from: "c", as: "x", localField: "a", pipeline: [] } },
      9,
      "$lookup requires both or neither of 'localField' and 'foreignField' to be specified",
    ],
    [
      { $lookup: { from: "c", as: "x", pipeline: [{ $out: "x" }] } },
      51047,
      "$out is not allowed within a $lookup's sub-pipeline",
    ],
    [
      { $facet: { a: [{ $lookup: { from: "c", as: "x", pipeline: [{ $facet: { b: [] } }] } }] } },
      40600,
      "$facet inside of $lookup is not allowed to be used within a $facet stage",
    ],
    [{ $facet: { a: 5 } }, 40170, "arguments to $facet must be arrays, a is type int"],
    [{ $bucket: { groupBy: "$a" } }, 40198, "$bucket requires 'groupBy' and 'boundaries' to be specified."],
    [
      { $bucketAuto: { groupBy: "$a", buckets: 2, granularity: "R7" } },
      40257,
      "Unknown rounding granularity 'R7'",
    ],
    [{ $merge: { into: "c", on: [] } }, 51187, undefined],
    [
      { $merge: { into: "c", whenMatched: [{ $match: {} }] } },
      72,
      "$match is not allowed to be used within an update",
    ],
    [{ $out: { db: "d" } }, 40414, "BSON field '$out.coll' is missing but a required field"],
    [{ $group: { a: { $sum: 1 } } }, 15955, "a group specification must include an _id"],
    [{ $group: { _id: 1, a: { $foo: 1 } } }, 15952, "unknown group operator '$foo'"],
    [{ $group: { _id: 1, a: 5 } }, 40234, "The field 'a' must be an accumulator object"],
    [{ $limit: 0 }, 15958, "the limit must be positive"],
    [{ $limit: "x" }, 5107201, 'invalid argument to $limit stage: Expected a number in: $limit: "x"'],
    [
      { $limit: new Double(-2) },
      5107201,
      "invalid argument to $limit stage: Expected a non-negative number in: $limit: -2.0",
    ],
    [{ $skip: -1 }, 5107200, "invalid argument to $skip stage: Expected a non-negative number in: $skip: -1"],
    [{ $skip: 1.5 }, 5107200, "invalid argument to $skip stage: Expected an integer: $skip: 1.5"],
    [{ $sort: {} }, 15976, "$sort stage must have at least one sort key"],
    [{ $sort: { a: 5 } }, 15975, undefined],
    [{ $project: {} }, 51272, undefined],
    [{ $project: { a: 1, b: 0 } }, 31254, undefined],
    [{ $count: "" }, 40157, undefined],
    [{ $count: 1 }, 40156, undefined],
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

  test("one document may bring out four million others, and no more", () => {
    const doc = bson({});
    const flood = (n: number) => {
      const stage = streaming("$flood", (_, emit) => {
        for (let i = 0; i < n; i++) emit(doc);
      });
      return runStages([stage], [doc]).length;
    };
    expect(flood(4_000_000)).toBe(4_000_000);
    expect(failure(() => flood(4_000_001)).code).toBe(146);
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

test("a $match moves in front of stages that leave its fields alone", () => {
  const order = (...stages: object[]) =>
    optimizePipeline(parsePipeline(stages.map(bson))).map(({ raw }) => js(raw));
  const match = { $match: { a: 1 } };
  for (const before of [
    { $sort: { b: 1 } },
    { $set: { b: 1, "c.a": 2 } },
    { $project: { a: 1 } },
    { $project: { b: 0 } },
    { $unset: "b" },
    { $unwind: "$b" },
    { $lookup: { from: "c", as: "b", localField: "x", foreignField: "y" } },
  ]) {
    expect(order(before, match)).toEqual([match, before]);
  }
  for (const before of [
    { $set: { "a.b": 1 } },
    { $project: { b: 1 } },
    { $project: { "a.b": 1 } },
    { $project: { a: { $add: ["$a", 1] } } },
    { $unset: "a.b" },
    { $unwind: { path: "$b", includeArrayIndex: "a" } },
    { $limit: 5 },
    { $group: { _id: "$a" } },
    { $replaceWith: "$b" },
    { $match: { b: 1 } },
  ]) {
    expect(order(before, match)).toEqual([before, match]);
  }
  expect(order({ $sort: { b: 1 } }, { $match: { $expr: { $gt: ["$a", 1] } } })).toHaveLength(2);
});

test("positions: sources first, $out and $merge last, 1000 stages at most", () => {
  const code = (...stages: object[]) => failure(() => parsePipeline(stages.map(bson))).code;
  expect(code({ $match: {} }, { $documents: [] })).toBe(40602);
  expect(code({ $out: "x" }, { $limit: 1 })).toBe(40601);
  expect(code({ $merge: "x" }, { $limit: 1 })).toBe(40601);
  expect(parsePipeline(Array.from({ length: 1000 }, () => bson({ $match: {} })))).toHaveLength(1000);
  expect(failure(() => parsePipeline(Array.from({ length: 1001 }, () => bson({ $match: {} }))))).toEqual({
    code: 7749501,
    message: "Pipeline length must be no longer than 1000 stages.",
  });
});

test("pipelines inside pipelines end at a depth of 20", () => {
  const nested = (depth: number): object =>
    depth === 0 ? { $limit: 1 } : { $unionWith: { coll: "c", pipeline: [nested(depth - 1)] } };
  expect(parsePipeline([bson(nested(20))])).toHaveLength(1);
  expect(failure(() => parsePipeline([bson(nested(21))])).code).toBe(232);
});

test("stages that need a server say what they read and write, and refuse to run without one", () => {
  const [join, union, write] = parsePipeline(
    [
      { $lookup: { from: "a", as: "x", pipeline: [{ $unionWith: "b" }] } },
      { $facet: { f: [{ $unionWith: "c" }] } },
      { $out: { db: "d", coll: "e" } },
    ].map(bson),
  );
  expect(join!.reads!.map(({ collection }) => collection)).toEqual(["a", "b"]);
  expect(union!.reads).toEqual([{ db: undefined, collection: "c" }]);
  expect(write!.writes).toEqual({ db: "d", collection: "e" });
  for (const stage of [join!, union!, write!]) {
    expect(stage.needsHost).toBe(true);
  }
  const lookup = parsePipeline([
    bson({ $lookup: { from: "a", as: "x", localField: "y", foreignField: "z" } }),
  ]);
  expect(failure(() => runStages(createStages(lookup), [bson({})])).code).toBe(238);
  expect(failure(() => createStages([write!])).code).toBe(238);
});

test("the series of $bucketAuto's granularity", () => {
  const up = (name: string, n: unknown) => fromRaw(granularityOf(name).up(value(n)));
  const down = (name: string, n: unknown) => fromRaw(granularityOf(name).down(value(n)));
  expect([up("R5", 7), down("R5", 7), up("R5", 10), down("R5", 10)]).toEqual([
    "10.0",
    "6.300000000000001",
    "16.0",
    "6.300000000000001",
  ]);
  expect([up("E24", 0.8), down("E6", 0.8), up("1-2-5", 99)]).toEqual(["0.8200000000000001", "0.68", "100.0"]);
  expect([up("POWERSOF2", 8), down("POWERSOF2", 8), down("POWERSOF2", 0.5)]).toEqual(["16", "4", "0.25"]);
  expect([up("R5", 0), down("POWERSOF2", 0)]).toEqual(["0", "0"]);
  expect(up("E12", Decimal128.fromString("1.2E+50"))).toBe("1.5E+50");
  expect(["E192", "E96", "R80"].map((name) => SERIES.get(name)!.length)).toEqual([192, 96, 40]);
  expect(SERIES.get("E48")!.slice(0, 5)).toEqual([100, 105, 110, 115, 121]);
  expect(failure(() => up("R5", Infinity)).code).toBe(11785400);
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
