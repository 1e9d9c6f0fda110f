/** Random filters over all operators; most of them meet the shard key, some do not. */
import { BSONRegExp, MaxKey, MinKey } from "bson";
import fc from "fast-check";
import type { Doc } from "../cluster.js";
import { anyValues, keyValues, smallInts, texts } from "./values.js";

/** Key fields more often than others. */
export const paths = fc.constantFrom(
  ...["a", "a", "a", "b", "b", "n.x", "n.x", "c", "d", "n", "n.y", "q", "q", "s", "arr", "arr.x", "_id"],
);

const comparison = fc
  .tuple(fc.constantFrom("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), keyValues)
  .map(([operator, value]): Doc => ({ [operator]: value }));
const range = fc.tuple(keyValues, keyValues).map(([low, high]): Doc => ({ $gte: low, $lt: high }));
const types = fc.constantFrom<unknown>(
  ...[
    "int",
    "number",
    "string",
    "null",
    "object",
    "array",
    "date",
    "bool",
    "minKey",
    ["double", "decimal"],
    16,
  ],
);
const prefix = fc.constantFrom("^a", "^ab", "^z", "b", "^", "^(a|b)", "c$");
const bits = fc.constantFrom("$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear");

const operators: fc.Arbitrary<Doc> = fc.oneof(
  { weight: 4, arbitrary: comparison },
  { weight: 3, arbitrary: range },
  { weight: 2, arbitrary: fc.array(anyValues, { maxLength: 4 }).map(($in) => ({ $in })) },
  { weight: 1, arbitrary: fc.constantFrom([new BSONRegExp("^a"), 1], [null, "b"]).map(($in) => ({ $in })) },
  { weight: 1, arbitrary: fc.array(keyValues, { maxLength: 3 }).map(($nin) => ({ $nin })) },
  { weight: 1, arbitrary: fc.boolean().map(($exists) => ({ $exists })) },
  { weight: 1, arbitrary: types.map(($type) => ({ $type })) },
  { weight: 1, arbitrary: prefix.map(($regex) => ({ $regex })) },
  { weight: 1, arbitrary: prefix.map(($regex) => ({ $regex, $options: "i" })) },
  { weight: 1, arbitrary: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat(3)).map(($mod) => ({ $mod })) },
  { weight: 1, arbitrary: fc.tuple(bits, fc.nat(7)).map(([operator, mask]) => ({ [operator]: mask })) },
  { weight: 1, arbitrary: fc.nat(3).map(($size) => ({ $size })) },
  { weight: 1, arbitrary: fc.array(smallInts, { maxLength: 2 }).map(($all) => ({ $all })) },
  { weight: 1, arbitrary: comparison.map(($elemMatch) => ({ $elemMatch })) },
  { weight: 1, arbitrary: smallInts.map((x) => ({ $elemMatch: { x: { $gt: x }, y: { $exists: true } } })) },
);

const condition: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: anyValues },
  { weight: 8, arbitrary: operators },
  { weight: 1, arbitrary: operators.map(($not) => ({ $not })) },
  { weight: 1, arbitrary: prefix.map((pattern) => new BSONRegExp(pattern)) },
);

const constants = fc.oneof(
  smallInts,
  texts,
  fc.constantFrom<unknown>(null, true, new Date(0), new MinKey(), new MaxKey()),
);
const comparisons = fc.constantFrom("$eq", "$ne", "$gt", "$gte", "$lt", "$lte");
const expression: fc.Arbitrary<Doc> = fc.oneof(
  fc
    .tuple(comparisons, paths, constants)
    .map(([op, path, value]) => ({ [op]: [`$${path}`, { $literal: value }] })),
  fc.tuple(comparisons, paths, paths).map(([op, path, other]) => ({ [op]: [`$${path}`, `$${other}`] })),
  fc
    .tuple(paths, smallInts)
    .map(([path, value]) => ({ $and: [{ $eq: [`$${path}`, value] }, { $lt: ["$q", 80] }] })),
  fc
    .tuple(paths, fc.array(smallInts, { maxLength: 3 }))
    .map(([path, values]) => ({ $in: [`$${path}`, values] })),
);

/** Up to two fields with a condition each. */
export const simpleFilters: fc.Arbitrary<Doc> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .uniqueArray(fc.tuple(paths, condition), { maxLength: 2, selector: ([name]) => name })
      .map((pairs) => Object.fromEntries(pairs) as Doc),
  },
  { weight: 1, arbitrary: expression.map(($expr) => ({ $expr })) },
);

const branches = fc.array(simpleFilters, { minLength: 1, maxLength: 3 });
const nested: fc.Arbitrary<Doc> = fc.oneof(
  branches.map(($or) => ({ $or })),
  branches.map(($and) => ({ $and })),
  branches.map(($nor) => ({ $nor })),
);

/** Filters of any form, nested up to three deep. */
export const filters: fc.Arbitrary<Doc> = fc.oneof(
  { weight: 8, arbitrary: simpleFilters },
  { weight: 3, arbitrary: nested },
  { weight: 1, arbitrary: fc.tuple(simpleFilters, nested).map(([one, other]) => ({ ...one, ...other })) },
  { weight: 1, arbitrary: fc.tuple(nested, nested).map((both) => ({ $or: both })) },
  { weight: 1, arbitrary: fc.tuple(nested, simpleFilters).map((both) => ({ $and: both })) },
);
