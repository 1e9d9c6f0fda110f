/**
 * A routing trace as text to read.
 *
 *     ## A range inside one chunk (§4.1 step 2)
 *     {"find":"events","filter":{"ts":{"$gte":120,"$lt":150}}}
 *       expected      bounds, asks shardB: [100, 200) B
 *       find test.events
 *         bounds      { ts: 120 } .. { ts: 150 }   key { ts: 1 }
 *         range       [{ ts: 100 }, { ts: 200 })  →  shardB
 *         shard       shardB  ⇒ 30 returned
 *         merge       none
 */
import { describeDocument, describeValue, fields, toDocument } from "shardlab/bson";
import type { RoutingTraceEntry } from "shardlab/router";
import type { Doc } from "../router/support/cluster.js";
import type { Step } from "./scenario.js";

/** One step with what the router did and what came of it. */
export function renderStep(step: Step, entries: readonly RoutingTraceEntry[], reply: Doc): string {
  return [
    `## ${step.lesson} (${step.facts})`,
    JSON.stringify(step.command, shorten),
    `  expected      ${expectation(step)}`,
    ...entries.map(renderEntry),
    ...outcome(reply),
  ].join("\n");
}

function expectation({ expected }: Step): string {
  if ("code" in expected) return `refused with ${expected.code}`;
  const { kind, asks, ranges, steps } = expected;
  const shards = asks === "" ? "no shard" : [...asks].map((letter) => `shard${letter}`).join(", ");
  return `${kind}, asks ${shards}${ranges.length > 0 ? `: ${ranges.join("  ")}` : ""}${steps ? `; ${steps.join(", ")}` : ""}`;
}

function renderEntry({ op, ns, targeting, ranges, shards, merge }: RoutingTraceEntry): string {
  const lines = [`  ${op} ${ns}`];
  const key = targeting.key ? `   key ${targeting.key}` : "";
  lines.push(`    ${targeting.kind.padEnd(10)}  ${targeting.bounds ?? "—"}${key}`);
  for (const sample of targeting.samples ?? []) lines.push(`    document    ${sample}`);
  for (const { min, max, shard, documents } of ranges) {
    const count = documents === undefined ? "" : `   ${documents} ${documents === 1 ? "document" : "documents"}`;
    lines.push(`    range       [${text(min)}, ${text(max)})  →  ${shard}${count}`);
  }
  for (const { shard, step, sent, returned } of shards) {
    const work = [
      ...(sent === undefined ? [] : [`← ${sent} sent`]),
      ...(returned === undefined ? [] : [`⇒ ${returned} returned`]),
    ];
    lines.push(`    ${(step ?? "shard").padEnd(10)}  ${[shard, ...work].join("  ")}`);
  }
  const window = [
    ...(merge.skip === undefined ? [] : [`skip ${merge.skip}`]),
    ...(merge.limit === undefined ? [] : [`limit ${merge.limit}`]),
  ];
  lines.push(`    merge       ${[merge.kind, ...window].join(", ")}`);
  return lines.join("\n");
}

/** What a write or a count came to, or why the operation was refused. */
function outcome(reply: Doc): string[] {
  const [error] = (reply.writeErrors ?? []) as Doc[];
  if (reply.ok !== 1 || error) {
    const { code, errmsg } = error ?? reply;
    return [`  refused       ${String(code)} ${String(errmsg)}`];
  }
  const counts = ["n", "nModified"].flatMap((name) => (name in reply ? [`${name} ${String(reply[name])}`] : []));
  if (reply.upserted) counts.push("upserted");
  return counts.length > 0 ? [`  answer        ${counts.join(", ")}`] : [];
}

/** A range as steps write it: `[100, 200) B`, `[(10, 0), (10, 50)) C 3`. */
export function rangeText({ min, max, shard, documents }: RoutingTraceEntry["ranges"][number]): string {
  const count = documents === undefined ? "" : ` ${documents}`;
  return `[${short(min)}, ${short(max)}) ${shard.slice(-1)}${count}`;
}

/** A step of a careful write as scenarios write it: `search A 1`, `write A`. */
export function stepText({ shard, step, returned }: RoutingTraceEntry["shards"][number]): string {
  return `${String(step)} ${shard.slice(-1)}${returned === undefined ? "" : ` ${returned}`}`;
}

function short(bound: object): string {
  const values = fields(toDocument(bound)).map(([, value]) => describeValue(value));
  return values.length === 1 ? values[0]! : `(${values.join(", ")})`;
}

function text(bound: object): string {
  return describeDocument(toDocument(bound));
}

/** Long lists of documents are not worth reading, and bytes neither. */
function shorten(name: string, value: unknown): unknown {
  if (name === "documents" && Array.isArray(value) && value.length > 4) return `(${value.length} documents)`;
  if (name === "lsid") return "(session)";
  if (typeof value === "bigint") return `NumberLong(${value})`;
  return value;
}
