import fc from "fast-check";
import { expect, test } from "vitest";
import { runSession, sessions } from "./support/equivalence.js";

test("10,000 operations on sharded collections answer as on unsharded ones", async () => {
  let operations = 0;
  await fc.assert(
    fc.asyncProperty(sessions, async (session) => {
      operations += await runSession(session);
    }),
    { numRuns: 650 },
  );
  expect(operations).toBeGreaterThan(10_000);
});
