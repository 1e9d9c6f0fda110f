import fc from "fast-check";
import { expect, test } from "vitest";
import { addTally, NOTHING, runSession, sessions } from "./support/equivalence.js";

test("10,000 operations on sharded collections answer as on unsharded ones", async () => {
  let sum = NOTHING;
  await fc.assert(
    fc.asyncProperty(sessions, async (session) => {
      sum = addTally(sum, await runSession(session));
    }),
    // A failure prints its seed: SEED=… repeats it.
    { numRuns: 400, ...(process.env.SEED && { seed: Number(process.env.SEED) }) },
  );
  // It was about something: documents came back, and many operations did not need every shard.
  expect(sum.operations).toBeGreaterThan(10_000);
  expect(sum.rows).toBeGreaterThan(sum.operations);
  expect(sum.narrowed).toBeGreaterThan(sum.operations / 50);
  expect(sum.refused).toBeLessThan(sum.operations / 10);
});
