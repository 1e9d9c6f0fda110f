/**
 * What a golden scenario is made of. Scenarios are in `scenarios/`, one lesson a file.
 */
import type { RoutingTraceEntry, RulesVersion } from "shardlab/router";
import type { Doc, TestCluster } from "../router/support/cluster.js";

/** One operation with what must happen, written by hand. */
export interface Step {
  /** What a student should see, in a few words. */
  readonly lesson: string;
  /** Where the expectation follows from in facts-mongos.md. */
  readonly facts: string;
  readonly command: Doc;
  readonly expected: Routed | Refused;
}

/** The operation is carried out. */
export interface Routed {
  readonly kind: RoutingTraceEntry["targeting"]["kind"];
  /** Letters of the shards asked: `"AC"`. */
  readonly asks: string;
  /** The ranges met, in order of their bounds: `"[100, 200) B"`, for inserts with documents: `"[100, 200) B 2"`. */
  readonly ranges: readonly string[];
  /** Fields of the reply. */
  readonly reply?: Doc;
  /** Of a write that finds its document first: `"search A 1"` (it found one), `"write A"`, `"insert B"`. */
  readonly steps?: readonly string[];
}

/** The operation fails, or its only write does. */
export interface Refused {
  readonly code: number;
}

export interface Scenario {
  /** Name of the `.trace` file. */
  readonly file: string;
  readonly title: string;
  readonly rules?: RulesVersion;
  readonly setUp: (cluster: TestCluster) => Promise<void>;
  readonly steps: readonly Step[];
}

/** A step that is carried out. */
export function routed(
  lesson: string,
  facts: string,
  command: Doc,
  kind: Routed["kind"],
  asks: string,
  ranges: readonly string[],
  reply?: Doc,
): Step {
  return { lesson, facts, command, expected: { kind, asks, ranges, ...(reply && { reply }) } };
}

/** A write in several steps. */
export function stepwise(step: Step, ...steps: string[]): Step {
  return { ...step, expected: { ...(step.expected as Routed), steps } };
}

/** A step that is refused. */
export function refused(lesson: string, facts: string, command: Doc, code: number): Step {
  return { lesson, facts, command, expected: { code } };
}

/** `from, from + 1, … to - 1` */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/**
 * Shards a collection on shardA and puts pieces elsewhere.
 * @param pieces `[lower bound, letter of the shard]`, ascending; below the first it is shardA
 */
export async function layOut(
  cluster: TestCluster,
  ns: string,
  key: Doc,
  pieces: readonly [Doc, string][],
): Promise<void> {
  const db = ns.slice(0, ns.indexOf("."));
  await cluster.admin({ enableSharding: db, primaryShard: "shardA" });
  await cluster.admin({ shardCollection: ns, key });
  for (const [middle] of pieces) await cluster.run("admin", { split: ns, middle });
  await place(cluster, ns, `A${pieces.map(([, letter]) => letter).join("")}`);
}

/** Moves a collection's chunks, in order of their bounds, to the shards with these letters. */
export async function place(cluster: TestCluster, ns: string, letters: string): Promise<void> {
  const [collection] = await cluster.all("config", { find: "collections", filter: { _id: ns } });
  const filter = { uuid: collection!.uuid };
  const chunks = await cluster.all("config", { find: "chunks", filter, sort: { min: 1 } });
  if (chunks.length !== letters.length) throw new Error(`${ns} has ${chunks.length} chunks, not ${letters.length}`);
  for (const [i, { min, max }] of chunks.entries()) {
    await cluster.admin({ moveChunk: ns, bounds: [min, max], to: `shard${letters[i]}` });
  }
}

/** A document in the form of a retryable write of session 1. */
export function retryable(command: Doc, txnNumber: number): Doc {
  return { ...command, lsid: { id: new Uint8Array(16) }, txnNumber: BigInt(txnNumber) };
}
