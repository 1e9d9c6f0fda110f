/** Comparing two lists of raw documents, exactly or by value. */
import { Decimal128, deserialize, Double, EJSON, Int32, Long } from "bson";
import { compareDocuments, toDocument } from "shardlab/bson";
import { expect } from "vitest";
import type { Doc } from "../cluster.js";
import type { Comparison } from "./pipelines.js";

/** A document with every value in its own type, so that it can be sent again unchanged. */
export function decodeExactly(raw: Uint8Array): Doc {
  return deserialize(raw, { promoteValues: false, promoteBuffers: false, bsonRegExp: true }) as Doc;
}

/** As text in which types can be told apart, for messages. */
export function shown(raw: Uint8Array): string {
  return EJSON.stringify(decodeExactly(raw), { relaxed: false });
}

/** The same whatever the order of its fields: a covered plan gives them in the order of its index. */
export function shownInOrder(raw: Uint8Array): string {
  const document = decodeExactly(raw);
  const names = Object.keys(document).sort();
  return EJSON.stringify(Object.fromEntries(names.map((name) => [name, document[name]])), { relaxed: false });
}

/** Fails unless both lists are the same in the given sense. */
export function expectSame(
  what: string,
  actual: readonly Uint8Array[],
  expected: readonly Uint8Array[],
  comparison: Comparison | "exactBag",
  text = shown,
): void {
  if (comparison === "exact") return expect(actual.map(text), what).toEqual(expected.map(text));
  if (comparison === "exactBag")
    return expect(actual.map(text).sort(), what).toEqual(expected.map(text).sort());
  const values = (rows: readonly Uint8Array[]): unknown[] => {
    const plain = rows.map((row) => plainOf(decodeExactly(row)) as Doc);
    return comparison === "bag" ? inOrder(plain) : plain;
  };
  const [left, right] = [values(actual), values(expected)];
  if (!near(left, right)) {
    // Not equal: let the reader see where.
    expect(left, what).toEqual(right);
    expect.fail(`${what}: the numbers are further apart than rounding explains`);
  }
}

/** Numbers of all types as doubles; arrays under names with `bag` or `set` in ascending order. */
function plainOf(value: unknown, unordered = false): unknown {
  if (value instanceof Int32 || value instanceof Double) return value.valueOf() + 0;
  if (value instanceof Long) return value.toNumber() + 0;
  if (value instanceof Decimal128) return Number(value.toString()) + 0;
  if (Array.isArray(value)) {
    const items = value.map((item) => plainOf(item));
    return unordered ? inOrder(items) : items;
  }
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, plainOf(inner, /^(bag|set)/.test(name))]),
  );
}

function inOrder<T>(values: readonly T[]): T[] {
  const keyed = values.map((value) => ({ value, raw: toDocument({ value }) }));
  return keyed.sort((x, y) => compareDocuments(x.raw, y.raw)).map(({ value }) => value);
}

/** Deep equality in which floats may differ in their last digits. */
function near(x: unknown, y: unknown): boolean {
  if (typeof x === "number" && typeof y === "number")
    return Object.is(x, y) || x === y || Math.abs(x - y) <= 1e-9 * Math.max(1, Math.abs(x), Math.abs(y));
  if (Array.isArray(x) && Array.isArray(y))
    return x.length === y.length && x.every((item, i) => near(item, y[i]));
  const plain = (value: unknown): value is Doc =>
    value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
  if (plain(x) && plain(y)) {
    const names = Object.keys(x);
    // The order of fields counts.
    return near(names, Object.keys(y)) && names.every((name) => near(x[name], y[name]));
  }
  return x === y || EJSON.stringify({ v: x }) === EJSON.stringify({ v: y });
}
