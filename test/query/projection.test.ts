import { Double } from "bson";
import { describe, expect, test } from "vitest";
import { compileFilter, compileProjection, compileSort } from "../../lib/query/index.js";
import { bson, failure, js, text } from "./support.js";

const DOC = {
  _id: 1,
  a: 5,
  b: { c: 1, d: 2 },
  e: [{ f: 1, g: 2 }, 7, [{ f: 3 }], { g: 4 }],
  h: [1, 2, 3, 4],
};
const project = (spec: object, doc: object = DOC) => text(compileProjection(bson(spec))(bson(doc)));

describe("projection", () => {
  test.each([
    [{}, text(bson(DOC))],
    [{ a: 1 }, "{ _id: 1, a: 5 }"],
    [{ a: true, _id: 0 }, "{ a: 5 }"],
    [{ _id: 1 }, "{ _id: 1 }"],
    // kept fields stay in the document's order
    [{ h: 1, a: 1 }, "{ _id: 1, a: 5, h: [ 1, 2, 3, 4 ] }"],
    [{ "b.d": 1 }, "{ _id: 1, b: { d: 2 } }"],
    [{ b: { d: 1 } }, "{ _id: 1, b: { d: 2 } }"],
    [{ "b.x": 1 }, "{ _id: 1, b: {} }"],
    [{ "a.x": 1 }, "{ _id: 1 }"],
    [{ "e.f": 1 }, "{ _id: 1, e: [ { f: 1 }, [ { f: 3 } ], {} ] }"],
    [{ nosuch: 1 }, "{ _id: 1 }"],
    [{ a: 0, e: 0, h: 0 }, "{ _id: 1, b: { c: 1, d: 2 } }"],
    [{ _id: 0, e: 0, h: 0 }, "{ a: 5, b: { c: 1, d: 2 } }"],
    [{ "b.c": 0, e: 0, h: 0 }, "{ _id: 1, a: 5, b: { d: 2 } }"],
    [{ "e.f": 0, b: 0, h: 0 }, "{ _id: 1, a: 5, e: [ { g: 2 }, 7, [ {} ], { g: 4 } ] }"],
    // computed fields are appended
    [{ a: 1, sum: { $add: ["$a", 1] } }, "{ _id: 1, a: 5, sum: 6 }"],
    [{ _id: 0, a: "$b.c" }, "{ a: 1 }"],
    [{ _id: 0, x: "text" }, '{ x: "text" }'],
    [{ _id: 0, "b.x": "$a", "b.c": 1 }, "{ b: { c: 1, x: 5 } }"],
    [{ _id: 0, x: "$nosuch" }, "{}"],
    // $slice keeps everything else, or goes with an inclusion; $elemMatch includes
    [{ h: { $slice: 2 }, e: 0, b: 0 }, "{ _id: 1, a: 5, h: [ 1, 2 ] }"],
    [{ h: { $slice: -1 }, e: 0, b: 0 }, "{ _id: 1, a: 5, h: [ 4 ] }"],
    [{ h: { $slice: [1, 2] }, a: 1 }, "{ _id: 1, a: 5, h: [ 2, 3 ] }"],
    [{ h: { $slice: [-3, 2] }, a: 1 }, "{ _id: 1, a: 5, h: [ 2, 3 ] }"],
    [{ h: { $elemMatch: { $gt: 2 } } }, "{ _id: 1, h: [ 3 ] }"],
    [{ e: { $elemMatch: { g: 4 } }, a: 1 }, "{ _id: 1, a: 5, e: [ { g: 4 } ] }"],
    [{ h: { $elemMatch: { $gt: 9 } } }, "{ _id: 1 }"],
  ])("%j → %s", (spec, expected) => expect(project(spec)).toBe(expected));

  test.each([
    [{ a: 1, b: 0 }, 31254, "Cannot do exclusion on field b in inclusion projection"],
    [{ a: 0, b: 1 }, 31253, "Cannot do inclusion on field b in exclusion projection"],
    [{ a: 1, "a.b": 1 }, 31249, "Path collision at a.b remaining portion b"],
    [{ "a.b": 1, a: 1 }, 31250, "Path collision at a"],
    [{ "a.$": 1 }, 51050, "Projections with a positional operator require a matcher"],
    [{ a: { $nosuch: 1 } }, 31325, "Unknown expression $nosuch"],
    [{ "a.b.c": 1, "a.b": { c: { d: 1 } } }, 31250, "Path collision at a.b"],
    [{ "a.b": 1, "a.b.c.d": 1 }, 31249, "Path collision at a.b.c.d remaining portion b.c.d"],
    [
      { h: { $slice: ["x", 1, 2, 3] } },
      28667,
      'Invalid $slice syntax. The given syntax { $slice: [ "x", 1, 2, 3 ] } did not match the find() syntax because :: ' +
        "Location31272: $slice array argument should be of form [skip, limit] :: The given syntax did not match the " +
        "expression $slice syntax. :: caused by :: Expression $slice takes at least 2 arguments, and at most 3, but 4 were passed in.",
    ],
  ])("%j is refused with %d", (spec, code, message) => {
    expect(failure(() => compileProjection(bson(spec)))).toEqual({ code, message });
  });

  test.each([
    [{ $expr: { $in: [2, "$h"] } }],
    [{ $jsonSchema: { required: ["h"] } }],
    [{ $or: [{ $expr: true }, { $jsonSchema: {} }] }],
    [{}],
  ])("a filter that leads through no array (%j) tells no position: 51246", (query) => {
    const { node } = compileFilter(bson(query));
    const project = compileProjection(bson({ "h.$": 1 }), {}, node);
    expect(failure(() => project(bson({ h: [1, 2] })))).toEqual({
      code: 51246,
      message: "positional operator '.$' couldn't find a matching element in the array",
    });
    // Where there is no array, nothing has to be found.
    expect(text(project(bson({ h: 5 })))).toBe("{ h: 5 }");
  });

  test("values pass through with their bytes", () => {
    const doc = bson({ a: new Double(1), b: 2 });
    expect(text(compileProjection(bson({ a: 1 }))(doc))).toBe("{ a: 1.0 }");
  });
});

describe("sort", () => {
  const sorted = (spec: object, docs: object[]) => {
    const { key } = compileSort(bson(spec));
    return docs
      .map((doc) => ({ doc, key: key(bson(doc)) }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
      .map(({ doc }) => docs.indexOf(doc));
  };

  test("across types: MinKey … null and missing, numbers, strings, objects, …", () => {
    const docs = [
      { a: "x" },
      { a: 2 },
      {},
      { a: { b: 1 } },
      { a: new Date(0) },
      { a: true },
      { a: NaN },
      { a: -1.5 },
    ];
    expect(sorted({ a: 1 }, docs)).toEqual([2, 6, 7, 1, 0, 3, 5, 4]);
    expect(sorted({ a: -1 }, docs)).toEqual([4, 5, 3, 0, 1, 7, 6, 2]);
  });

  test("null and missing are the same place, the order of the input decides", () => {
    expect(sorted({ a: 1 }, [{ a: null }, {}, { a: null }])).toEqual([0, 1, 2]);
  });

  test("an array sorts by its least element, descending by its greatest; the empty one lowest", () => {
    const docs = [{ a: [2, 9] }, { a: 3 }, { a: [1, 4] }, { a: [] }, {}];
    expect(sorted({ a: 1 }, docs)).toEqual([3, 4, 2, 0, 1]);
    expect(sorted({ a: -1 }, docs)).toEqual([0, 2, 1, 4, 3]);
  });

  test("several fields, dotted, mixed directions", () => {
    const docs = [{ a: 1, b: { c: 1 } }, { a: 1, b: { c: 2 } }, { a: 0 }];
    expect(sorted({ a: 1, "b.c": -1 }, docs)).toEqual([2, 1, 0]);
  });

  test("fields of the same array come from the same element", () => {
    const docs = [
      {
        a: [
          { x: 2, y: 1 },
          { x: 1, y: 9 },
        ],
      },
      { a: [{ x: 1, y: 5 }] },
    ];
    expect(sorted({ "a.x": 1, "a.y": 1 }, docs)).toEqual([1, 0]);
    expect(sorted({ "a.x": -1, "a.y": 1 }, docs)).toEqual([0, 1]);
  });

  test("one array beside a scalar, and a number in the path", () => {
    const docs = [
      { a: [5, 1], b: 2 },
      { a: [2], b: 1 },
    ];
    expect(sorted({ a: 1, b: 1 }, docs)).toEqual([0, 1]);
    expect(sorted({ b: 1, a: 1 }, docs)).toEqual([1, 0]);
    expect(sorted({ "a.0": 1 }, docs)).toEqual([1, 0]);
  });

  test("parallel arrays, bad directions, $meta", () => {
    const { key } = compileSort(bson({ a: 1, b: 1 }));
    expect(failure(() => key(bson({ a: [1], b: [2] })))).toEqual({
      code: 2,
      message: "cannot sort with keys that are parallel arrays",
    });
    expect(failure(() => compileSort(bson({ a: 2 })))).toEqual({
      code: 15975,
      message: "$sort key ordering must be 1 (for ascending) or -1 (for descending)",
    });
    expect(failure(() => compileSort(bson({ a: { $meta: "textScore" } })))).toEqual({
      code: 40218,
      message: "query requires text score metadata, but it is not available",
    });
    expect(failure(() => compileSort(bson({ a: { $meta: "nosuch" } }))).code).toBe(31138);
    expect(failure(() => compileSort(bson({ a: { $add: 1 } }))).code).toBe(17312);
    expect(failure(() => compileSort(bson({ a: "x" })))).toEqual({
      code: 15974,
      message: 'Illegal key in $sort specification: a: "x"',
    });
    expect(compileSort(bson({ $natural: -1 }))).toMatchObject({ natural: -1, fields: [] });
    expect(js(bson({}))).toEqual({});
  });
});
