/**
 * Sensor events: 5,000 devices report, one event a second, each device once a round.
 *
 * | i    | deviceId   | ts   | value |
 * |------|------------|------|-------|
 * | 0    | `dev-0`    | 0    | 0 … 100 |
 * | 1    | `dev-1`    | 1    | … |
 * | 5000 | `dev-0`    | 5000 | … |
 *
 * `ts` only ever grows, the typical key that makes a hotspot; `deviceId` has
 * 5,000 values of equal frequency. The 64-bit hashes of `dev-0` … `dev-4999`
 * lie below zero for 2,555 names and at or above zero for 2,445 (facts-mongos.md
 * §2.2), so that 100,000 events on a key `{deviceId: "hashed"}` over two chunks
 * split at 0 give 51,100 and 48,900 documents, whatever seed and order.
 */
import { dataSet, whole } from "./dataset.js";
import type { DataSet } from "./dataset.js";
import { randomAt } from "./random.js";

/** One event; `insertMany` adds `_id`. */
export interface SensorEvent {
  /** `"dev-" + (i % devices)`, or a mixed order of the devices in each round. */
  deviceId: string;
  /** Running number from 0. */
  i: number;
  /** Time stamp: seconds since the recording began. One event a second, so it equals `i`. */
  ts: number;
  /** The measurement, 0 to 100 with one decimal; depends on the seed. */
  value: number;
}

/** Options of `data.events`. */
export interface EventOptions {
  /** Changes the measurements and, where it is mixed, the order; default 1. */
  seed?: number;
  /** Number of devices, 1 to 50,000,000; default 5,000. */
  devices?: number;
  /**
   * How devices follow each other in a round: `"inTurn"` (default) is dev-0, dev-1, …; `"mixed"`
   * jumps about, as independent devices do. Either way each device reports once a round.
   */
  order?: "inTurn" | "mixed";
}

/**
 * Sensor events, the data of lessons 02 and 03.
 *
 * @example await lab.db("library").collection("events").insertMany(data.events(100_000))
 * @since Shardlab 0.1
 */
export const events: DataSet<SensorEvent, EventOptions> = dataSet(
  ({ seed = 1, devices = 5000, order = "inTurn" }) => {
    whole("devices", devices, 1);
    if (devices > MOST_DEVICES) throw new RangeError(`devices is ${devices}; ${MOST_DEVICES} are the most`);
    if (!Number.isSafeInteger(seed)) throw new RangeError(`seed is ${seed}; give a whole number`);
    const deviceAt = order === "mixed" ? mixedOrder(devices, seed) : (i: number) => i % devices;
    return (i) => ({
      deviceId: `dev-${deviceAt(i)}`,
      i,
      ts: i,
      value: Math.floor(randomAt(seed, i) * 1001) / 10,
    });
  },
);

/** Beyond it, the products in {@link mixedOrder} would no longer be exact. */
const MOST_DEVICES = 50_000_000;

/**
 * Steps through the devices by about 0.618 of their number (the golden section, which spreads best),
 * from another start each round. The step has no common divisor with the number, so every round meets
 * every device once.
 */
function mixedOrder(devices: number, seed: number): (i: number) => number {
  let step = Math.max(1, Math.floor(devices * 0.6180339887));
  while (commonDivisor(step, devices) !== 1) step++;
  return (i) => {
    const start = Math.floor(randomAt(seed, Math.floor(i / devices), 1) * devices);
    return ((i % devices) * step + start) % devices;
  };
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
