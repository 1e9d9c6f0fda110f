import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hash64, string } from "../../lib/bson/index.js";
import * as data from "../../lib/lab/data/index.js";

describe("data.events", () => {
  it("takes the devices in turn, one event a second", () => {
    const [first, second] = data.events(2);
    expect(first).toEqual({ deviceId: "dev-0", i: 0, ts: 0, value: expect.any(Number) as number });
    expect(second).toEqual({ deviceId: "dev-1", i: 1, ts: 1, value: expect.any(Number) as number });
    expect(data.events(5001).at(-1)).toMatchObject({ deviceId: "dev-0", i: 5000, ts: 5000 });
    expect(data.events(7, { devices: 3 }).map((event) => event.deviceId)).toEqual([
      "dev-0",
      "dev-1",
      "dev-2",
      "dev-0",
      "dev-1",
      "dev-2",
      "dev-0",
    ]);
  });

  it("splits at hash 0 into 51,100 and 48,900 of 100,000, whatever the seed", () => {
    let below = 0;
    for (const { deviceId } of data.events.stream(100_000, { seed: 99 })) {
      if (hash64(string(deviceId)) < 0n) below++;
    }
    expect([below, 100_000 - below]).toEqual([51_100, 48_900]);
  });

  it("gives the same documents as array, stream and batches of any size", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 1, max: 70 }),
        fc.integer({ min: -5, max: 1e9 }),
        fc.integer({ min: 1, max: 50 }),
        (count, size, seed, devices) => {
          const options = { seed, devices };
          const array = data.events(count, options);
          const batches = [...data.events.batches(count, { ...options, size })];
          expect(array).toHaveLength(count);
          expect([...data.events.stream(count, options)]).toEqual(array);
          expect(batches.flat()).toEqual(array);
          expect(batches.slice(0, -1).every((batch) => batch.length === size)).toBe(true);
          // a longer run begins with the shorter one
          expect(data.events(count + 5, options).slice(0, count)).toEqual(array);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("mixes the order of the devices, each once a round", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 1e6 }), (devices, seed) => {
        const mixed = data
          .events(3 * devices, { devices, seed, order: "mixed" })
          .map((event) => event.deviceId);
        const all = data
          .events(devices, { devices })
          .map((event) => event.deviceId)
          .sort();
        for (let round = 0; round < 3; round++) {
          expect(mixed.slice(round * devices, (round + 1) * devices).sort()).toEqual(all);
        }
      }),
      { numRuns: 60 },
    );
    // any 100 neighbours come from both ends of the alphabet
    const some = data.events(100, { order: "mixed" }).filter((event) => event.deviceId < "dev-3").length;
    expect(some).toBeGreaterThan(30);
    expect(some).toBeLessThan(60);
  });

  it("lets the seed change the measurements only, and spreads them over 0 to 100", () => {
    const [one, two] = [data.events(2000, { seed: 1 }), data.events(2000, { seed: 2 })];
    const without = (events: typeof one) => events.map(({ deviceId, i, ts }) => ({ deviceId, i, ts }));
    expect(without(one)).toEqual(without(two));
    expect(one.filter((event, n) => event.value === two[n]!.value).length).toBeLessThan(20);
    const values = one.map((event) => event.value);
    expect(Math.min(...values)).toBeLessThan(1);
    expect(Math.max(...values)).toBeGreaterThan(99);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean).toBeGreaterThan(47);
    expect(mean).toBeLessThan(53);
  });

  it("streams lazily: the first of a billion costs nothing", () => {
    expect(data.events.stream(1e9).next().value).toMatchObject({ i: 0 });
    expect(data.events.batches(1e9, { size: 2 }).next().value).toHaveLength(2);
  });

  it.each([
    [() => data.events(-1), "count is -1; give a whole number of 0 or more"],
    [() => data.events(1.5), "count is 1.5; give a whole number of 0 or more"],
    [() => data.events(1, { devices: 0 }), "devices is 0; give a whole number of 1 or more"],
    [() => [...data.events.batches(1, { size: 0 })], "size is 0; give a whole number of 1 or more"],
    [() => data.events(1, { devices: 1e9 }), "devices is 1000000000; 50000000 are the most"],
    [() => data.events(1, { seed: 0.5 }), "seed is 0.5; give a whole number"],
  ])("refuses what it can't do: %#", (run, message) => {
    expect(run).toThrow(new RangeError(message));
  });
});

describe("randomAt", () => {
  it("gives each seed, index and channel a number of its own in [0, 1)", () => {
    const seen = new Set<number>();
    for (let seed = 0; seed < 5; seed++)
      for (let index = 0; index < 200; index++)
        for (let channel = 0; channel < 3; channel++) seen.add(data.randomAt(seed, index, channel));
    expect(seen.size).toBeGreaterThan(2995); // 3,000 draws of 32 bits: a chance equal or two at most
    expect([...seen].every((x) => x >= 0 && x < 1)).toBe(true);
    expect(data.randomAt(7, 2 ** 40)).not.toBe(data.randomAt(7, 0));
  });
});
