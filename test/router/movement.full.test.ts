import { expect, test } from "vitest";
import { runMovement } from "./support/movement.js";

/** A failure names its seed: SEED=… repeats that session by itself. */
const given = process.env.SEED;
const first = given ? Number(given) : Math.floor(Math.random() * 1e9);
const SESSIONS = given ? 1 : 40;

test("documents are there exactly once while everything moves: 10,000 operations", async () => {
  const done = new Set<string>();
  let checked = 0;
  for (let i = 0; i < SESSIONS; i++) {
    const tally = await runMovement(first + i, 260);
    for (const name of Object.keys(tally.moves)) done.add(name);
    checked += tally.checked;
  }
  // It was about something: hundreds of documents were found where they should be in every session.
  expect(checked).toBeGreaterThan(SESSIONS * 300);
  if (given) return;
  for (const name of [
    "split",
    "moveChunk",
    "moveRange",
    "mergeChunks",
    "movePrimary",
    "balancerRound",
    "refineCollectionShardKey",
    "reshardCollection",
    "unshardCollection",
    "shardCollection",
    "moveCollection",
  ]) {
    expect(done).toContain(name);
  }
});
