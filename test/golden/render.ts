/**
 * A routing trace as text to read.
 *
 *     find test.events {"ts":{"$gte":120,"$lt":150}}
 *       bounds      { ts: 120 } .. { ts: 150 }                 key { ts: 1 }
 *       ranges      [{ ts: 100 }, { ts: 200 })  →  shardB
 *       shards      shardB ⇒ 30 documents
 *       merge       none
 */
import { describeDocument, toDocument } from "shardlab/bson";
import type { RoutingTraceEntry } from "shardlab/router";

/** One operation with what the router did. */
export function render(command: object, entries: readonly RoutingTraceEntry[]): string {
  return [JSON.stringify(command, shorten), ...entries.map(renderEntry)].join("\n");
}

function renderEntry({ op, ns, targeting, ranges, shards, merge }: RoutingTraceEntry): string {
  const lines = [`  ${op} ${ns}`];
  const key = targeting.key ? `   key ${targeting.key}` : "";
  lines.push(`    ${targeting.kind.padEnd(10)}  ${targeting.bounds ?? "—"}${key}`);
  for (const { min, max, shard, documents } of ranges) {
    const count = documents === undefined ? "" : `   ${documents} ${documents === 1 ? "document" : "documents"}`;
    lines.push(`    range       [${text(min)}, ${text(max)})  →  ${shard}${count}`);
  }
  for (const { shard, sent, returned } of shards) {
    const work = [
      ...(sent === undefined ? [] : [`← ${sent} sent`]),
      ...(returned === undefined ? [] : [`⇒ ${returned} returned`]),
    ];
    lines.push(`    shard       ${[shard, ...work].join("  ")}`);
  }
  const window = [
    ...(merge.skip === undefined ? [] : [`skip ${merge.skip}`]),
    ...(merge.limit === undefined ? [] : [`limit ${merge.limit}`]),
  ];
  lines.push(`    merge       ${[merge.kind, ...window].join(", ")}`);
  return lines.join("\n");
}

function text(bound: object): string {
  return describeDocument(toDocument(bound));
}

/** Long lists of documents are not worth reading. */
function shorten(name: string, value: unknown): unknown {
  if (name === "documents" && Array.isArray(value) && value.length > 4) return `(${value.length} documents)`;
  if (typeof value === "bigint") return `NumberLong(${value})`;
  return value;
}
