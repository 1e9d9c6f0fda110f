import fc from "fast-check";
import { expect, test } from "vitest";
import { addTally, NOTHING, runSession, sessions } from "./support/equivalence.js";

test("a sharded collection answers like an unsharded one, whatever its key, chunks and placement", async () => {
  let sum = NOTHING;
  await fc.assert(
    fc.asyncProperty(sessions, async (session) => {
      sum = addTally(sum, await runSession(session));
    }),
    { numRuns: 30, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
  );
  // It was about something: documents came back, and many operations did not need every shard.
  expect(sum.operations).toBeGreaterThan(100);
  expect(sum.rows).toBeGreaterThan(sum.operations);
  expect(sum.narrowed).toBeGreaterThan(sum.operations / 50);
  expect(sum.refused).toBeLessThan(sum.operations / 10);
});
