/** When the balancer may work (facts-mongos.md §3.4): `activeWindow` from its start, inclusive, to its stop, exclusive. */
import { expect, it } from "vitest";
import { mayBalance } from "../../../lib/router/balancer/settings.js";

const at = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

it.each([
  ["02:00", "06:00", { "01:59": false, "02:00": true, "05:59": true, "06:00": false, "23:00": false }],
  [
    "23:00",
    "6:00",
    { "22:59": false, "23:00": true, "00:00": true, "05:59": true, "06:00": false, "12:00": false },
  ],
])("%s to %s", (start, stop, expected) => {
  const settings = {
    balancerMode: "full",
    autoMerge: true,
    chunkSizeBytes: 1,
    activeWindow: { start, stop },
  } as const;
  for (const [time, may] of Object.entries(expected))
    expect([time, mayBalance(settings, at(time))]).toEqual([time, may]);
});
