import fc from "fast-check";
import { expect, test } from "vitest";
import { runSession, sessions } from "./support/equivalence.js";

test("a sharded collection answers like an unsharded one, whatever its key, chunks and placement", async () => {
  let operations = 0;
  await fc.assert(
    fc.asyncProperty(sessions, async (session) => {
      operations += await runSession(session);
    }),
    { numRuns: 40, interruptAfterTimeLimit: 30_000, markInterruptAsFailure: false },
  );
  expect(operations).toBeGreaterThan(100);
});
