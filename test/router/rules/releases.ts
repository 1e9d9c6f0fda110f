/**
 * What a row of facts-mongos.md says for each release, and how it is tried.
 *
 * A row is written as changes, like rules.ts: `{ "2.4": 61, "4.4": "accepted" }`
 * says 61 from the first release on and "accepted" since 4.4. Each row is tried
 * on a cluster of its own under every one of the seven releases, those between
 * two changes too.
 */
import type { RulesVersion } from "shardlab/router";
import { RULES_VERSIONS } from "shardlab/router";
import { describe, expect, test } from "vitest";
import type { Doc, TestCluster } from "../support/cluster.js";
import { startCluster } from "../support/cluster.js";
import type { RowName } from "./rows.js";
import { ROWS } from "./rows.js";

/** Values by the release that they begin with; the first release has one. */
export type ByRelease = { readonly "2.4": unknown } & Readonly<Partial<Record<RulesVersion, unknown>>>;

/** The row's value under each release, oldest first. */
export function valuesOf(values: ByRelease): unknown[] {
  let value: unknown;
  return RULES_VERSIONS.map((release) => (value = release in values ? values[release] : value));
}

/** A value as text, for titles and comparisons. */
export const printed = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? `${inner}n` : inner)) ??
  "undefined";

/**
 * Tries a row under every release.
 * @param observe does what the row is about and gives what came out, in the words of the row
 */
export function tryRow(
  name: RowName,
  observe: (cluster: TestCluster, release: RulesVersion) => Promise<unknown>,
  options: { shards?: number; chunkSizeBytes?: number } = {},
): void {
  const row = ROWS[name];
  const expected = valuesOf(row.values);
  describe(`§${row.section} ${name}: ${row.text}`, () => {
    test.each(RULES_VERSIONS.map((release, i) => [release, printed(expected[i]), expected[i]] as const))(
      "rules %s: %s",
      async (release, _printed, value) => {
        const cluster = await startCluster({ ...options, rules: release });
        expect(await observe(cluster, release)).toEqual(value);
      },
    );
  });
}

/** `"ok"`, or the code a command (or its first statement) failed with. */
export async function outcome(cluster: TestCluster, db: string, command: Doc): Promise<unknown> {
  const reply = await cluster.run(db, command);
  const [first] = (reply.writeErrors ?? []) as Doc[];
  return first?.code ?? reply.code ?? "ok";
}

/** Collection `test.c`, key {x: 1}: below 0 on shardA with x -2 and -1, from 0 on shardB with x 0, 1 and 2; all have g: 1. */
export async function splitAtZero(cluster: TestCluster): Promise<void> {
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.c", key: { x: 1 } });
  await cluster.admin({ split: "test.c", middle: { x: 0 } });
  await cluster.admin({ moveChunk: "test.c", find: { x: 0 }, to: "shardB" });
  const documents = [-2, -1, 0, 1, 2].map((x) => ({ _id: x + 2, x, g: 1 }));
  await cluster.ok("test", { insert: "c", documents });
}

/** What makes a command a retryable write. */
export const RETRYABLE: Doc = { lsid: { id: new Uint8Array(16).fill(7) }, txnNumber: 1n };
