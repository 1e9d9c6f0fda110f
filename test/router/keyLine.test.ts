import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyLine } from "../../lib/router/catalog/keyLine.js";

/** The rule itself: the last chunk that begins at or before the key. */
function slowly(begins: readonly string[], key: string): number {
  return begins.findLastIndex((begin) => begin <= key);
}

test("a key belongs to the last chunk that begins at or before it", () => {
  const line = new KeyLine(["", "dev-10", "dev-20", "dev-30"]);
  const found = ["a", "dev-0", "dev-10", "dev-1999", "dev-20", "dev-3", "dev-30", "e"].map((key) =>
    line.find(key),
  );
  expect(found).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
});

test("heads that are equal leave the decision to the strings", () => {
  // Behind the common "k" the first six characters are the same in all but the last.
  const line = new KeyLine(["", "k______1", "k______2", "k______4", "k______5", "k_____a"]);
  const found = ["k______", "k______1", "k______3", "k______4x", "k______6", "k_____a"].map((key) =>
    line.find(key),
  );
  expect(found).toEqual([0, 1, 2, 3, 4, 5]);
});

// Few letters, 0 and 255 among them, make long common beginnings and bounds that begin with each other.
const keys = fc
  .array(fc.constantFrom("\0", "a", "b", "\xff"), { maxLength: 12 })
  .map((letters) => letters.join(""));

test("it finds what a look at every bound finds", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("", "p", "prefix-"),
      fc.uniqueArray(keys, { minLength: 1, maxLength: 200, size: "max" }),
      fc.array(keys, { minLength: 1, maxLength: 30 }),
      (prefix, bounds, sought) => {
        const begins = ["", ...bounds.map((bound) => `${prefix}${bound}.`).sort()];
        const line = new KeyLine(begins);
        for (const key of [
          ...begins,
          ...sought,
          ...sought.map((end) => prefix + end),
          ...sought.map((end) => prefix + end + ".x"),
        ])
          expect(line.find(key)).toBe(slowly(begins, key));
      },
    ),
    { numRuns: 400 },
  );
});

test("among thousands of chunks it goes through every level", () => {
  const begins = ["", ...Array.from({ length: 40_000 }, (_, i) => `k${String(i * 2).padStart(8, "0")}`)];
  const line = new KeyLine(begins);
  for (let i = 0; i < 40_000; i += 7) {
    expect(line.find(`k${String(i * 2).padStart(8, "0")}`)).toBe(i + 1);
    expect(line.find(`k${String(i * 2 + 1).padStart(8, "0")}`)).toBe(i + 1);
  }
});
