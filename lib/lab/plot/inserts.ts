/**
 * Which shard took the inserts, and when: a heat map of time against shards, made from
 * the router's trace.
 *
 * Time is the order in which insert commands reached the router, not seconds: a lesson
 * gives the same picture on a slow and on a fast machine. With more commands than
 * columns, neighbouring commands share a column, all columns the same number of them
 * (the last perhaps fewer).
 */
import { baseAxis, baseLayout, count, counted, percent } from "./figure.js";
import type { Figure } from "./figure.js";
import { shardMarks } from "./palette.js";

/** One insert command as the router carried it out: documents sent to each shard. */
export interface InsertBatch {
  ns: string;
  sent: Record<string, number>;
}

/** Data of {@link insertsFigure}. */
export interface Inserts {
  /** Restrict to one `database.collection`; for the title only. */
  ns?: string;
  /** All shards of the cluster: one row each, also those without inserts. */
  shards: readonly string[];
  /** Insert commands in order of arrival. */
  batches: readonly InsertBatch[];
  /** Operations that the bounded trace had already forgotten. */
  dropped?: number;
}

/** An inserts figure and the numbers in it. */
export interface InsertsFigure extends Figure {
  /** Insert commands seen. */
  batches: number;
  /** Documents inserted, all shards together. */
  total: number;
  /** One entry a column: first and last command (from 1) and documents per shard. */
  columns: { first: number; last: number; sent: Record<string, number> }[];
}

/** Just enough of a trace entry to draw inserts. */
export interface TraceEntryLike {
  op: string;
  ns: string;
  shards: readonly { shard: string; sent?: number }[];
}

/** Picks the insert commands (of one collection) out of a routing trace. */
export function insertBatches(entries: readonly TraceEntryLike[], ns?: string): InsertBatch[] {
  return entries
    .filter((entry) => entry.op === "insert" && (ns === undefined || entry.ns === ns))
    .map((entry) => {
      const sent: Record<string, number> = {};
      for (const { shard, sent: n = 0 } of entry.shards) sent[shard] = (sent[shard] ?? 0) + n;
      return { ns: entry.ns, sent };
    });
}

/**
 * The heat map; a pure function.
 *
 * @param maxColumns most columns drawn, 1 or more
 */
export function insertsFigure(inserts: Inserts, maxColumns = 50, note?: string): InsertsFigure {
  const { batches, dropped = 0 } = inserts;
  const shards = [...new Set([...inserts.shards, ...batches.flatMap((b) => Object.keys(b.sent))])].sort();
  const marks = shardMarks(shards);
  const perColumn = Math.max(1, Math.ceil(batches.length / maxColumns));
  const columns: InsertsFigure["columns"] = [];
  for (let start = 0; start < batches.length; start += perColumn) {
    const group = batches.slice(start, start + perColumn);
    const sent = Object.fromEntries(
      shards.map((shard) => [shard, group.reduce((sum, batch) => sum + (batch.sent[shard] ?? 0), 0)]),
    );
    columns.push({ first: start + 1, last: start + group.length, sent });
  }
  const labels = columns.map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`));
  const rows = shards.map((shard) => columns.map((column) => column.sent[shard] ?? 0));
  const total = rows.flat().reduce((sum, n) => sum + n, 0);
  const title = `Inserts over time per shard${inserts.ns === undefined ? "" : `, ${inserts.ns}`}`;

  const heat = {
    type: "heatmap",
    x: labels,
    y: shards.map((shard) => `${shard} (${marks.get(shard)?.letter ?? "?"})`),
    z: rows,
    // Both ends fixed: without zmax Plotly would stretch the colours over small differences.
    zmin: 0,
    zmax: Math.max(1, ...rows.flat()),
    colorscale: "Cividis",
    colorbar: { title: { text: "documents" }, thickness: 14 },
    xgap: 1,
    ygap: 3,
    ...(columns.length <= 10 ? { texttemplate: "%{z:,}" } : {}),
    hovertemplate: "batches %{x}, %{y}: %{z:,} documents<extra></extra>",
  };
  const layout = {
    ...baseLayout(title, 200 + 44 * Math.max(2, shards.length)),
    xaxis: {
      ...baseAxis("insert commands in order of arrival (not seconds)"),
      type: "category",
      nticks: 12,
      showgrid: false,
    },
    yaxis: { ...baseAxis(""), type: "category", autorange: "reversed", showgrid: false },
  };
  return {
    batches: batches.length,
    total,
    columns,
    title,
    data: [heat],
    layout,
    summary: [summarise(inserts, shards, columns, total), lost(dropped), note]
      .filter((s) => s !== undefined)
      .join(" "),
    table: {
      caption: `${title} (documents; insert commands in order of arrival)`,
      columns: ["commands", ...shards],
      rows: columns.map((column, c) => [labels[c] ?? "", ...shards.map((shard) => column.sent[shard] ?? 0)]),
    },
  };
}

function summarise(
  { ns, batches }: Inserts,
  shards: readonly string[],
  columns: InsertsFigure["columns"],
  total: number,
): string {
  const where = ns ?? "all collections";
  if (batches.length === 0) return `${where}: the trace has no inserts yet.`;
  const took = shards
    .map((shard) => ({ shard, n: columns.reduce((sum, column) => sum + (column.sent[shard] ?? 0), 0) }))
    .sort((a, b) => b.n - a.n)
    .slice(0, 4)
    .map(({ shard, n }) => `${shard} ${count(n)} (${percent(n, total)} %)`);
  const single = columns.filter(({ sent }) => Object.values(sent).filter((n) => n > 0).length === 1).length;
  return (
    `${where}: ${counted(total, "document")} in ${counted(batches.length, "insert command")}, drawn in order of arrival, ` +
    `not by the clock: ${took.join(", ")}; in ${count(single)} of ${counted(columns.length, "column")} ` +
    `one shard took everything.`
  );
}

function lost(dropped: number): string | undefined {
  if (dropped === 0) return undefined;
  return `The router keeps a bounded trace and has forgotten the first ${counted(dropped, "operation")}.`;
}
