/** Functions of decimals: digits from published tables, and identities. */
import { Decimal128 } from "bson";
import fc from "fast-check";
import { asNumber, describeValue, type RawValue } from "shardlab/bson";
import { describe, expect, test } from "vitest";
import { addDecimals, multiplyDecimals, subtractDecimals } from "../../lib/query/values/decimal.js";
import {
  exponentialOfDecimal,
  naturalLogOfDecimal,
  powerOfDecimals,
  squareRootOfDecimal,
} from "../../lib/query/values/decimalMath.js";
import { DECIMAL_FUNCTIONS } from "../../lib/query/values/decimalTrigonometry.js";
import { value } from "./support.js";

const dec = (s: string) => value(Decimal128.fromString(s));
const shown = (v: RawValue) => describeValue(v);
const close = (a: RawValue, b: RawValue) =>
  expect(Math.abs(asNumber(subtractDecimals(a, b)))).toBeLessThan(1e-31 * Math.max(1, Math.abs(asNumber(a))));

describe("decimal functions to 34 digits", () => {
  test.each<[string, RawValue, string]>([
    ["√2", squareRootOfDecimal(dec("2")), "1.414213562373095048801688724209698"],
    ["e", exponentialOfDecimal(dec("1")), "2.718281828459045235360287471352662"],
    ["ln 2", naturalLogOfDecimal(dec("2")), "0.6931471805599453094172321214581766"],
    ["ln 10", naturalLogOfDecimal(dec("10")), "2.302585092994045684017991454684364"],
    ["2^0.5", powerOfDecimals(dec("2"), dec("0.5")), "1.414213562373095048801688724209698"],
    ["tanh 0.5", DECIMAL_FUNCTIONS["tanh"]!(dec("0.5")), "0.4621171572600097585023184836436725"],
    ["atan 1", DECIMAL_FUNCTIONS["atan"]!(dec("1")), "0.7853981633974483096156608458198757"],
    ["sin 1", DECIMAL_FUNCTIONS["sin"]!(dec("1")), "0.8414709848078965066525023216302990"],
    ["cos 1", DECIMAL_FUNCTIONS["cos"]!(dec("1")), "0.5403023058681397174009366074429766"],
    ["tan 1", DECIMAL_FUNCTIONS["tan"]!(dec("1")), "1.557407724654902230506974807458360"],
    ["asinh 1", DECIMAL_FUNCTIONS["asinh"]!(dec("1")), "0.8813735870195430252326093249797923"],
  ])("%s", (_, result, expected) => expect(shown(result)).toBe(expected));

  // Calculated with Python's decimal module and 6,400 digits of π. No double says anything about such angles.
  test.each<["sin" | "cos" | "tan", string, string]>([
    ["sin", "1E45", "-0.9982027039250593576735459707460891"],
    ["cos", "1E45", "-0.05992797240604997820578544517306236"],
    ["tan", "1E45", "16.65670744141990428284223587585840"],
    ["sin", "1E6000", "-0.7249266534376325863453460198136025"],
    ["cos", "1E6000", "-0.6888260645008393834757008024508130"],
    ["tan", "1E6000", "1.052408860229401513505574301283600"],
    ["sin", "9.999999999999999999999999999999999E6144", "0.5582907749092521238056875912416942"],
    ["cos", "9.999999999999999999999999999999999E6144", "-0.8296453523350967216289114223081673"],
    ["tan", "9.999999999999999999999999999999999E6144", "-0.6729270203682844056779140311680751"],
  ])("%s of %s is exact too", (name, angle, expected) => {
    expect(shown(DECIMAL_FUNCTIONS[name](dec(angle)))).toBe(expected);
    expect(shown(DECIMAL_FUNCTIONS.cos(dec(`-${angle}`)))).toBe(shown(DECIMAL_FUNCTIONS.cos(dec(angle))));
  });

  const number = fc.integer({ min: -4000, max: 4000 }).map((n) => dec(`${n / 1000}`));

  test("sin² + cos² = 1, exp and ln undo each other", () => {
    fc.assert(
      fc.property(number, (x) => {
        const sin = DECIMAL_FUNCTIONS["sin"]!(x);
        const cos = DECIMAL_FUNCTIONS["cos"]!(x);
        close(addDecimals(multiplyDecimals(sin, sin), multiplyDecimals(cos, cos)), dec("1"));
        close(naturalLogOfDecimal(exponentialOfDecimal(x)), x);
      }),
      { numRuns: 40 },
    );
  });
});
