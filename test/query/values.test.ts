import { Decimal128, Double, Long } from "bson";
import fc from "fast-check";
import {
  asBigInt,
  asNumber,
  compareValues,
  describeValue,
  double,
  int32,
  int64,
  type RawValue,
} from "shardlab/bson";
import { describe, expect, test } from "vitest";
import { typeName } from "../../lib/query/index.js";
import {
  addDecimals,
  divideDecimals,
  multiplyDecimals,
  remainderOfDecimals,
  roundDecimal,
  roundDouble,
  subtractDecimals,
} from "../../lib/query/values/decimal.js";
import { EditableNode, nest, withPath } from "../../lib/query/values/editor.js";
import { addNumbers, multiplyNumbers, subtractNumbers } from "../../lib/query/values/numeric.js";
import { NumberTotal } from "../../lib/query/values/sum.js";
import { bson, text, value } from "./support.js";

const dec = (s: string) => value(Decimal128.fromString(s));

describe("decimal arithmetic keeps 34 digits and meaningful zeros", () => {
  test.each<[string, RawValue, string]>([
    ["1.50 + 2", addDecimals(dec("1.50"), int32(2)), "3.50"],
    ["0.1 + 0.2", addDecimals(dec("0.1"), dec("0.2")), "0.3"],
    ["1E+30 + 1E-10", addDecimals(dec("1E+30"), dec("1E-10")), "1000000000000000000000000000000.000"],
    ["1E+6000 + 1", addDecimals(dec("1E+6000"), int32(1)), "1.000000000000000000000000000000000E+6000"],
    ["0 + 5E+10", addDecimals(dec("0"), dec("5E+10")), "50000000000"],
    ["Infinity + -Infinity", addDecimals(dec("Infinity"), dec("-Infinity")), "NaN"],
    ["1 - 1.00", subtractDecimals(int32(1), dec("1.00")), "0.00"],
    ["1.2 × 1.5", multiplyDecimals(dec("1.2"), dec("1.5")), "1.80"],
    ["-2 × 0.5 (double)", multiplyDecimals(dec("-2"), double(0.5)), "-1.000000000000000"],
    ["10 ÷ 4", divideDecimals(dec("10"), int32(4)), "2.5"],
    ["2 ÷ 3", divideDecimals(dec("2"), int32(3)), "0.6666666666666666666666666666666667"],
    ["-2 ÷ 3", divideDecimals(dec("-2"), int32(3)), "-0.6666666666666666666666666666666667"],
    ["100 ÷ 5", divideDecimals(dec("100"), int32(5)), "20"],
    ["7.5 % 2", remainderOfDecimals(dec("7.5"), int32(2)), "1.5"],
    ["-7 % 3", remainderOfDecimals(dec("-7"), int32(3)), "-1"],
    ["round 2.5", roundDecimal(dec("2.5"), 0, "halfEven"), "2"],
    ["round 2.675, 2", roundDecimal(dec("2.675"), 2, "halfEven"), "2.68"],
    ["ceil -2.1", roundDecimal(dec("-2.1"), 0, "ceil"), "-2"],
    ["floor -2.1", roundDecimal(dec("-2.1"), 0, "floor"), "-3"],
  ])("%s", (_, result, expected) => expect(describeValue(result)).toBe(expected));

  test("a double is rounded on its exact value", () => {
    expect([
      roundDouble(2.675, 2, "halfEven"),
      roundDouble(2.5, 0, "halfEven"),
      roundDouble(-0.4, 0, "halfEven"),
    ]).toEqual([2.67, 2, -0]);
    expect(roundDouble(1e300, -20, "trunc")).toBe(1e300);
    expect(roundDouble(5e-324, 3, "ceil")).toBe(0.001);
  });
});

describe("integers are exact and widen only when they must", () => {
  const integer = fc.oneof(
    fc.integer().map((n) => ({ n: BigInt(n), raw: int32(n) })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => ({ n, raw: int64(n) })),
    fc.constantFrom(2147483647, -2147483648, 65536).map((n) => ({ n: BigInt(n), raw: int32(n) })),
  );
  test.each([
    ["+", addNumbers, (a: bigint, b: bigint) => a + b],
    ["-", subtractNumbers, (a: bigint, b: bigint) => a - b],
    ["×", multiplyNumbers, (a: bigint, b: bigint) => a * b],
  ] as const)("%s", (_, operation, reference) => {
    fc.assert(
      fc.property(integer, integer, (a, b) => {
        const wanted = reference(a.n, b.n);
        const result = operation(a.raw, b.raw);
        if (wanted !== BigInt.asIntN(64, wanted)) {
          expect(result).toBeUndefined();
          return;
        }
        expect(asBigInt(result!)).toBe(wanted);
        const bothInt32 = typeName(a.raw) === "int" && typeName(b.raw) === "int";
        expect(typeName(result)).toBe(bothInt32 && wanted === BigInt.asIntN(32, wanted) ? "int" : "long");
      }),
    );
  });
});

describe("running totals", () => {
  const total = (values: unknown[]) => {
    const sum = new NumberTotal();
    for (const v of values) sum.add(value(v));
    return { result: sum.total(), count: sum.count };
  };

  test("integers of any size and order have an exact sum", () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), { maxLength: 30 }), (list) => {
        const wanted = list.reduce((sum, n) => sum + n, 0n);
        const { result } = total(list);
        if (wanted === BigInt.asIntN(64, wanted)) expect(asBigInt(result)).toBe(wanted);
        else expect(asNumber(result)).toBe(Number(wanted));
      }),
    );
  });

  test("the type is the widest met", () => {
    expect(typeName(total([1, 2]).result)).toBe("int");
    expect(typeName(total([1, Long.fromNumber(2)]).result)).toBe("long");
    expect(typeName(total([Long.fromNumber(2), new Double(1)]).result)).toBe("double");
    expect(describeValue(total([1, new Double(0.5), Decimal128.fromString("1.25")]).result)).toBe(
      "2.750000000000000",
    );
  });

  test("roundings of doubles are made good: 0.1 ten times is 1", () => {
    expect(asNumber(total(Array<number>(10).fill(0.1)).result)).toBe(1);
    expect(asNumber(total([1e16, 1.5, -1e16]).result)).toBe(1.5);
    expect(asNumber(total([Infinity, 1]).result)).toBe(Infinity);
    expect(total([Infinity, -Infinity, "x", null]).count).toBe(2);
  });
});

describe("editing a document", () => {
  test("paths are replaced, created and taken out", () => {
    const doc = bson({ a: { b: 1, c: 2 }, d: [1] });
    expect(text(withPath(doc, ["a", "b"], value(9)))).toBe("{ a: { b: 9, c: 2 }, d: [ 1 ] }");
    expect(text(withPath(doc, ["x", "y"], value(9)))).toBe("{ a: { b: 1, c: 2 }, d: [ 1 ], x: { y: 9 } }");
    expect(text(withPath(doc, ["a", "b"], undefined))).toBe("{ a: { c: 2 }, d: [ 1 ] }");
    expect(text(withPath(doc, ["a", "b", "c"], value(9)))).toBe("{ a: { b: { c: 9 }, c: 2 }, d: [ 1 ] }");
    expect(describeValue(nest(["a", "b"], value(1)))).toBe("{ a: { b: 1 } }");
  });

  test("an opened but unchanged document gives back its own bytes", () => {
    const doc = bson({ a: { b: [{ c: 1 }] } });
    const node = EditableNode.of(doc);
    node.open(node.find("a")!);
    expect(node.toDocument()).toBe(doc);
    expect(compareValues(node.toValue(), value({ a: { b: [{ c: 1 }] } }))).toBe(0);
  });
});
