import { describe, expect, test } from "vitest";
import { compileFilter, matchedPosition } from "../../lib/query/index.js";
import { bson } from "./support.js";

const position = (filter: object, doc: object) =>
  matchedPosition(compileFilter(bson(filter)).node, bson(doc));

describe("the element that the positional $ stands for", () => {
  test.each<[string, object, object, number | undefined]>([
    ["the first element that matches", { a: 2 }, { a: [1, 2, 2] }, 1],
    ["an operator asks each element", { a: { $gte: 2 } }, { a: [1, 3] }, 1],
    ["below the array: the element, not what is in it", { "a.b": 2 }, { a: [{ b: 1 }, { b: [0, 2] }] }, 1],
    ["an array below objects", { "x.a": 2 }, { x: { a: [1, 2] } }, 1],
    ["the outermost of nested arrays", { "a.b.c": 5 }, { a: [{}, { b: [{}, {}, { c: 5 }] }] }, 1],
    ["$elemMatch on objects", { a: { $elemMatch: { b: 1, c: 2 } } }, { a: [{ b: 1 }, { b: 1, c: 2 }] }, 1],
    ["$elemMatch on values", { a: { $elemMatch: { $gt: 1, $lt: 4 } } }, { a: [0, 5, 3] }, 2],
    ["$in", { a: { $in: [7, 8] } }, { a: [1, 8] }, 1],
    ["$regex", { a: /^x/ }, { a: ["a", "xy"] }, 1],
    ["$all: the last member's", { a: { $all: [3, 1] } }, { a: [1, 2, 3] }, 0],
    ["several arrays: the one looked at last, by path", { b: 5, a: 1 }, { a: [0, 1], b: [5] }, 0],
    ["equality before $in", { a: { $in: [1] }, b: { $in: [5, 6] } }, { a: [0, 0, 1], b: [0, 6] }, 1],
    ["$elemMatch is looked at first", { a: { $elemMatch: { $eq: 1 } }, b: 2 }, { a: [1], b: [0, 0, 2] }, 2],
    ["an $or of equalities on one path is an $in", { $or: [{ a: 3 }, { a: 2 }] }, { a: [1, 2, 3] }, 1],
    ["any other $or tells nothing", { $or: [{ a: 2 }, { b: 1 }] }, { a: [1, 2], b: 0 }, undefined],
    ["a negation tells nothing", { a: { $ne: 5 } }, { a: [1, 2] }, undefined],
    ["no array", { a: 2 }, { a: 2 }, undefined],
    ["the array as a whole", { a: { $eq: [1, 2] } }, { a: [1, 2] }, undefined],
    ["a named index is not implicit", { "a.1": 2 }, { a: [1, 2] }, undefined],
    ["$size asks about the array", { a: { $size: 2 } }, { a: [1, 2] }, undefined],
    ["$exists asks about the array", { a: { $exists: true } }, { a: [1, 2] }, undefined],
  ])("%s: %j on %j → %s", (_, filter, doc, expected) => expect(position(filter, doc)).toBe(expected));
});
