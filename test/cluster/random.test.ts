import { describe, expect, it } from "vitest";
import { seededRandom } from "../../lib/cluster/random.js";

const draw = (count: number, seed: number | string, stream?: string): number[] => {
  const random = seededRandom(seed, stream);
  return Array.from({ length: count }, random);
};

describe("the random source", () => {
  it("repeats itself for a seed and a stream", () => {
    expect(draw(100, 7, "shardA")).toEqual(draw(100, 7, "shardA"));
  });

  it("differs for another seed, another stream, and a text that looks like a number", () => {
    const streams = [
      draw(20, 7, "shardA"),
      draw(20, 8, "shardA"),
      draw(20, 7, "shardB"),
      draw(20, "7", "shardA"),
    ];
    const all = streams.flat();
    expect(new Set(all).size).toBe(all.length);
  });

  it("stays in [0, 1)", () => {
    for (const value of draw(10_000, 1)) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThan(1);
    }
  });

  it("is even: of 160,000 draws each sixteenth gets its 10,000, give or take 4 %", () => {
    for (const seed of [0, 1, -1, 2 ** 40, "a class"]) {
      const buckets = new Array<number>(16).fill(0);
      for (const value of draw(160_000, seed)) buckets[Math.floor(value * 16)]!++;
      for (const count of buckets) expect(Math.abs(count - 10_000)).toBeLessThan(400);
    }
  });

  it("has every one of its 32 bits set half the time", () => {
    const values = draw(10_000, 42).map((value) => value * 2 ** 32);
    for (let bit = 0; bit < 32; bit++) {
      const set = values.filter((value) => (value >>> bit) & 1).length;
      expect(Math.abs(set - 5_000)).toBeLessThan(250);
    }
  });
});
