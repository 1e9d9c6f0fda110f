import { Binary, Double, Int32, Long } from "bson";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileFilter, matchedPosition } from "../../lib/query/index.js";
import { bson, scalar } from "./support.js";

describe("bitwise operators against bits written out as text", () => {
  /** The bits of a number from the lowest on, its sign bit repeated up to 100 places. */
  const bitsOf = (n: bigint) => [...BigInt.asUintN(100, n).toString(2).padStart(100, "0")].reverse().join("");
  const stored = fc.oneof(
    fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((n) => ({ v: Long.fromBigInt(n), bits: bitsOf(n) })),
    fc.integer().map((n) => ({ v: new Int32(n), bits: bitsOf(BigInt(n)) })),
    fc.integer().map((n) => ({ v: new Double(n), bits: bitsOf(BigInt(n)) })),
    fc.uint8Array({ maxLength: 12 }).map((data) => ({
      v: new Binary(data),
      bits: [...data]
        .map((byte) => [...byte.toString(2).padStart(8, "0")].reverse().join(""))
        .join("")
        .padEnd(100, "0"),
    })),
  );
  const operand = fc.oneof(
    fc.array(fc.nat({ max: 99 }), { maxLength: 5 }).map((list) => ({ operand: list as unknown, list })),
    fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map((n) => ({
      operand: Long.fromBigInt(n) as unknown,
      list: [...bitsOf(n)].flatMap((bit, i) => (bit === "1" ? [i] : [])),
    })),
    fc.uint8Array({ maxLength: 9 }).map((data) => ({
      operand: new Binary(data) as unknown,
      list: [...data].flatMap((byte, at) =>
        [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (byte >> bit) & 1).map((bit) => at * 8 + bit),
      ),
    })),
  );

  test("all four, with numbers, binary data and lists of positions as operands", () => {
    fc.assert(
      fc.property(stored, operand, ({ v, bits }, { operand, list }) => {
        const has = (op: string) => compileFilter(bson({ a: { [op]: operand } })).matches(bson({ a: v }));
        expect(has("$bitsAllSet")).toBe(list.every((i) => bits[i] === "1"));
        expect(has("$bitsAllClear")).toBe(list.every((i) => bits[i] === "0"));
        expect(has("$bitsAnySet")).toBe(list.some((i) => bits[i] === "1"));
        expect(has("$bitsAnyClear")).toBe(list.some((i) => bits[i] === "0"));
      }),
      { numRuns: 500 },
    );
  });
});

test("$mod is JavaScript's remainder of the whole parts", () => {
  const number = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.double({ min: -50, max: 50, noNaN: true }));
  fc.assert(
    fc.property(number, number, fc.integer({ min: -9, max: 9 }), (a, divisor, remainder) => {
      if (Math.trunc(divisor) === 0) return;
      const filter = { a: { $mod: [new Double(divisor), remainder] } };
      const expected = (Math.trunc(a) % Math.trunc(divisor)) + 0 === remainder; // + 0: no -0
      expect(compileFilter(bson(filter)).matches(bson({ a: new Double(a) }))).toBe(expected);
    }),
    { numRuns: 500 },
  );
});

test("the positional $ is the first element that satisfies the condition on its own", () => {
  const condition = fc.oneof(
    fc
      .tuple(fc.constantFrom("$eq", "$gt", "$gte", "$lt", "$lte"), scalar)
      .filter(([, v]) => !(v instanceof RegExp))
      .map(([op, v]) => ({ [op]: v })),
    fc.array(scalar, { minLength: 2, maxLength: 4 }).map((list) => ({ $in: list })),
    fc.constantFrom({ $type: "number" }, { $mod: [2, 1] }, { $regex: "^a" }, { $bitsAllSet: 1 }),
  );
  fc.assert(
    fc.property(condition, fc.array(scalar, { maxLength: 6 }), fc.boolean(), (wanted, list, below) => {
      const filter = compileFilter(bson(below ? { "a.b": wanted } : { a: wanted }));
      const doc = bson({ a: below ? list.map((b) => ({ b })) : list });
      const own = compileFilter(bson({ e: wanted }));
      const first = list.findIndex((e) => own.matches(bson({ e })));
      if (filter.matches(doc)) {
        // An element matches, or the array as a whole (by MinKey or MaxKey), which has no position.
        expect(matchedPosition(filter.node, doc)).toBe(first === -1 ? undefined : first);
      } else {
        expect(first).toBe(-1);
      }
    }),
    { numRuns: 1500 },
  );
});

test("a long $or of equalities matches what one of them does, and $nor what none does", () => {
  const values = fc.array(scalar, { minLength: 9, maxLength: 30 });
  const doc = fc.oneof(
    scalar.map((a) => ({ a })),
    fc.array(scalar, { maxLength: 4 }).map((a) => ({ a })),
    fc.constant({}),
  );
  fc.assert(
    fc.property(values, doc, (list, given) => {
      const branches = [...list.map((a) => ({ a })), { b: 1 }];
      const one = branches.some((branch) => compileFilter(bson(branch)).matches(bson(given)));
      expect(compileFilter(bson({ $or: branches })).matches(bson(given))).toBe(one);
      expect(compileFilter(bson({ $nor: branches })).matches(bson(given))).toBe(!one);
    }),
    { numRuns: 300 },
  );
});
