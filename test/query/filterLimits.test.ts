/** Filters that nest too deeply, and masks of very many bits. */
import { Binary } from "bson";
import { describe, expect, test } from "vitest";
import { compileFilter, filterDocument } from "../../lib/query/index.js";
import { bson, failure } from "./support.js";

const nest = (levels: number, wrap: (inner: object) => object, innermost: object): object => {
  let filter = innermost;
  for (let i = 0; i < levels; i++) filter = wrap(filter);
  return filter;
};

describe("a filter has 100 levels: filters within filters, and objects of operators, count one each", () => {
  // The innermost `{a: {$gt: 1}}` is a filter and an object of operators: two levels by itself, the outermost being 0.
  const leaf = { a: { $gt: 1 } };
  test.each<[string, (levels: number) => object, number]>([
    ["$and", (n) => nest(n, (inner) => ({ $and: [inner] }), leaf), 99],
    ["$or", (n) => nest(n, (inner) => ({ $or: [inner, { b: 1 }] }), leaf), 99],
    ["$nor", (n) => nest(n, (inner) => ({ $nor: [inner] }), leaf), 99],
    ["$not", (n) => ({ a: nest(n, (inner) => ({ $not: inner }), { $gt: 1 }) }), 99],
    // `{a: {$elemMatch: …}}` has two levels with each step.
    ["$elemMatch of objects", (n) => nest(n, (inner) => ({ a: { $elemMatch: inner } }), leaf), 49],
    ["$elemMatch of values", (n) => ({ a: nest(n, (inner) => ({ $elemMatch: inner }), { $gt: 1 }) }), 99],
    ["$all", (n) => nest(n, (inner) => ({ a: { $all: [{ $elemMatch: inner }] } }), leaf), 33],
  ])("%s", (_name, filter, most) => {
    expect(() => compileFilter(bson(filter(most)))).not.toThrow();
    expect(failure(() => compileFilter(bson(filter(most + 1))))).toEqual({
      code: 2,
      message: "exceeded maximum query tree depth of 100",
    });
  });

  test("values may nest as deeply as documents do", () => {
    const deep = nest(150, (inner) => ({ v: inner }), {});
    expect(compileFilter(bson({ a: deep })).matches(bson({ a: deep }))).toBe(true);
  });
});

describe("a mask of 10 MB names 80 million bits, which are nowhere listed", () => {
  const mask = new Binary(new Uint8Array(10 * 1024 * 1024).fill(0xff));
  const bytes = (n: number, last: number): Binary => {
    const data = new Uint8Array(n).fill(0xff);
    data[n - 1] = last;
    return new Binary(data);
  };

  test("reading and describing it takes no memory to speak of", () => {
    const filter = bson({ a: { $bitsAllSet: mask } });
    const before = process.memoryUsage();
    const compiled = compileFilter(filter);
    filterDocument(compiled.node);
    const after = process.memoryUsage();
    // The positions alone would take 320 MB as 32-bit numbers.
    const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    expect(grown).toBeLessThan(100 * 1024 * 1024);
  });

  test("it matches as a small one does", () => {
    expect(compileFilter(bson({ a: { $bitsAllSet: mask } })).matches(bson({ a: bytes(4, 0xff) }))).toBe(
      false,
    );
    expect(compileFilter(bson({ a: { $bitsAnySet: mask } })).matches(bson({ a: bytes(4, 0) }))).toBe(true);
    expect(compileFilter(bson({ a: { $bitsAnyClear: mask } })).matches(bson({ a: 1 }))).toBe(true);
    const small = new Binary(Uint8Array.of(0xff, 0x0f));
    expect(compileFilter(bson({ a: { $bitsAllSet: small } })).matches(bson({ a: bytes(2, 0x0f) }))).toBe(
      true,
    );
    expect(compileFilter(bson({ a: { $bitsAllSet: small } })).matches(bson({ a: bytes(2, 0x07) }))).toBe(
      false,
    );
    expect(compileFilter(bson({ a: { $bitsAllClear: small } })).matches(bson({ a: 4096 }))).toBe(true);
  });
});
