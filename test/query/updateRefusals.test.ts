/** Updates that are refused, with MongoDB's codes and texts. */
import { Long } from "bson";
import { describe, expect, test } from "vitest";
import { compileUpdate } from "../../lib/query/index.js";
import { bson, failure, text, value } from "./support.js";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const apply = (doc: object, update: object, arrayFilters?: object[]) =>
  text(
    compileUpdate(value(update), arrayFilters && { arrayFilters: arrayFilters.map(bson) }).apply(bson(doc), {
      now: NOW,
    }),
  );

describe("refusals with MongoDB's codes", () => {
  test.each([
    [
      {},
      { $foo: { a: 1 } },
      9,
      "Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update specified as an array",
    ],
    [
      {},
      { $set: { a: 1 }, b: 1 },
      9,
      "Unknown modifier: b. Expected a valid update modifier or pipeline-style update specified as an array",
    ],
    [
      {},
      { $set: 5 },
      9,
      "Modifiers operate on fields but we found type int instead. For example: {$mod: {<field>: ...}} not {$set: 5}",
    ],
    [{}, { $set: { a: 1 }, $inc: { a: 1 } }, 40, "Updating the path 'a' would create a conflict at 'a'"],
    [{}, { $set: { a: 1, "a.b": 1 } }, 40, "Updating the path 'a.b' would create a conflict at 'a'"],
    [{}, { $set: { "a.b": 1, a: 1 } }, 40, "Updating the path 'a' would create a conflict at 'a'"],
    [{}, { $rename: { a: "b" }, $set: { b: 1 } }, 40, "Updating the path 'b' would create a conflict at 'b'"],
    [
      { _id: 1 },
      { $set: { _id: 2 } },
      66,
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    ],
    [
      { _id: 1 },
      { $unset: { _id: 1 } },
      66,
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    ],
    [
      { _id: 1 },
      { _id: 2, a: 1 },
      66,
      "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2",
    ],
    [{}, { $inc: { a: "x" } }, 14, 'Cannot increment with non-numeric argument: {a: "x"}'],
    [
      { _id: 7, a: "x" },
      { $inc: { a: 1 } },
      14,
      "Cannot apply $inc to a value of non-numeric type. {_id: 7} has the field 'a' of non-numeric type string",
    ],
    [
      { _id: 7, a: null },
      { $inc: { a: 1 } },
      14,
      "Cannot apply $inc to a value of non-numeric type. {_id: 7} has the field 'a' of non-numeric type null",
    ],
    [
      { _id: 7, a: Long.MAX_VALUE },
      { $inc: { a: 1 } },
      2,
      "Failed to apply $inc operations to current value ((NumberLong)9223372036854775807) for document {_id: 7}",
    ],
    [{ a: 5 }, { $set: { "a.b": 1 } }, 28, "Cannot create field 'b' in element {a: 5}"],
    [{ a: null }, { $set: { "a.b": 1 } }, 28, "Cannot create field 'b' in element {a: null}"],
    [{ a: [1] }, { $set: { "a.b": 1 } }, 28, "Cannot create field 'b' in element {a: [ 1 ]}"],
    [
      { _id: 7, a: 5 },
      { $push: { a: 1 } },
      2,
      "The field 'a' must be an array but is of type int in document {_id: 7}",
    ],
    [
      {},
      { $push: { a: { $each: 1 } } },
      2,
      "The argument to $each in $push must be an array but it was of type: int",
    ],
    [{}, { $push: { a: { $each: [1], $foo: 1 } } }, 2, "Unrecognized clause in $push: $foo"],
    [
      { a: 5 },
      { $addToSet: { a: 1 } },
      2,
      "Cannot apply $addToSet to non-array field. Field named 'a' has non-array type int",
    ],
    [{ a: 5 }, { $pop: { a: 1 } }, 14, "Path 'a' contains an element of non-array type 'int'"],
    [{ a: [1] }, { $pop: { a: 2 } }, 9, "$pop expects 1 or -1, found: 2"],
    [{ a: 5 }, { $pull: { a: 1 } }, 2, "Cannot apply $pull to a non-array value"],
    [{}, { $pullAll: { a: 1 } }, 2, "$pullAll requires an array argument but was given a int"],
    [{}, { $rename: { a: "a" } }, 2, 'The source and target field for $rename must differ: a: "a"'],
    [{}, { $set: { "": 1 } }, 56, "An empty update path is not valid."],
    [
      {},
      { $set: { "a.": 1 } },
      56,
      "The update path 'a.' contains an empty field name, which is not allowed.",
    ],
    [{}, { $set: { "a.$": 1 } }, 2, "The positional operator did not find the match needed from the query."],
    [{ a: [] }, { $set: { "a.2000000": 1 } }, 34, "can't backfill more than 1500000 elements"],
    [
      { a: 5 },
      { $pull: { "a.b": 1 } },
      28,
      "Cannot use the part (b) of (a.b) to traverse the element ({a: 5})",
    ],
    [
      { _id: 7, a: "x" },
      { $bit: { a: { and: 1 } } },
      2,
      "Cannot apply $bit to a value of non-integral type._id: 7 has the field a of non-integer type string",
    ],
    [{}, { $pop: { a: true } }, 9, "Expected a number in: a: true"],
    [
      {},
      { $push: { a: { $each: [1], $slice: 1.5 } } },
      2,
      "The value for $slice must be an integer value but was given type: double",
    ],
    [
      {},
      { $push: { a: { $each: [1], $position: true } } },
      2,
      "The value for $position must be an integer value, not of type: bool",
    ],
    [
      {},
      { $addToSet: { a: { $each: [1], b: 1 } } },
      2,
      "Found unexpected fields after $each in $addToSet: { $each: [ 1 ], b: 1 }",
    ],
    [
      { _id: { a: 1 } },
      { $set: { "_id.b": 2 } },
      66,
      "Updating the path '_id' to _id: { a: 1, b: 2 } would modify the immutable field '_id'",
    ],
    [
      { _id: 1, a: 1 },
      { $rename: { _id: "b" } },
      66,
      "Unsetting the path '_id' using $rename would modify the immutable field '_id'",
    ],
    [
      { _id: 1, v: [{ a: 1 }] },
      { $rename: { "v.0.a": "q" } },
      2,
      "The source field cannot be an array element, 'v.0.a' in doc with _id: 1 has an array field called 'v'",
    ],
    [
      { _id: 1, v: [{}], z: 1 },
      { $rename: { z: "v.0.b" } },
      2,
      "The destination field cannot be an array element, 'v.0.b' in doc with _id: 1 has an array field called 'v'",
    ],
    [
      { s: "str" },
      { $rename: { "s.a": "q" } },
      28,
      'cannot use the part (s of s.a) to traverse the element ({s: "str"})',
    ],
    [{}, { $rename: { "a.$[].b": "c" } }, 2, "The source field for $rename may not be dynamic: a.$[].b"],
    [{}, { $rename: { a: "b.$[e].c" } }, 2, "No array filter found for identifier 'e' in path 'b.$[e].c'"],
    [
      {},
      { $set: { $x: 1 } },
      52,
      "The dollar ($) prefixed field '$x' in '$x' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.",
    ],
    [{}, { $set: { $id: 1 } }, 55, "Found $id field without a $ref before it, which is invalid."],
    [{}, { $set: { [Array(201).fill("a").join(".")]: 1 } }, 15, "FieldPath is too long"],
  ])("%j %j → %d %s", (doc, update, code, message) => {
    const error = failure(() => apply(doc, update));
    expect(error.code).toBe(code);
    if (message !== undefined) expect(error.message).toBe(message);
  });
});
