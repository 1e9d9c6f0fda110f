import { expect, test } from "vitest";
import { runMovement } from "./support/movement.js";

test("documents are there exactly once while they are moved, written and read", async () => {
  const { checked, moves, writes } = await runMovement(7, 150);
  expect(checked).toBeGreaterThan(500);
  expect(writes).toBeGreaterThan(40);
  expect(Object.keys(moves).length).toBeGreaterThan(5);
});
