/**
 * A figure is data first: Plotly traces, a one-sentence summary, and a table from
 * which every number in the picture can be read. This module turns one into the
 * three forms a front end may take:
 *
 * - `application/vnd.plotly.v1+json`: drawn by front ends that can;
 * - `text/html`: figure, caption and table in elements every sanitiser keeps, without
 *   script, so that it says the same where nothing is drawn;
 * - `text/plain`: the summary and the aligned table.
 *
 * Text says `51,100`; tables say `51100`, to be copied into a calculation.
 */
import { alreadyDisplayed, display, escapeHtml, htmlTable, textTable } from "../display.js";
import type { MimeBundle, TableContent } from "../display.js";
import { NEUTRAL } from "./palette.js";

/** A figure before it takes a form. Builders make these from plain data. */
export interface Figure {
  title: string;
  /** Plotly traces. */
  data: Record<string, unknown>[];
  /** Plotly layout. */
  layout: Record<string, unknown>;
  /** One sentence (or two) that says what the picture shows, with its numbers. */
  summary: string;
  /** Every number of the picture. */
  table: TableContent;
}

/** The MIME type that JupyterLab, VS Code and Shardlab's own page draw with Plotly. */
export const PLOTLY_MIME = "application/vnd.plotly.v1+json";

/** The figure in its three forms. */
export function toBundle(figure: Figure): MimeBundle {
  const { title, data, layout, summary, table } = figure;
  const html =
    `<figure><figcaption>${escapeHtml(summary)}</figcaption>` +
    `<details><summary>Numbers of this figure: ${escapeHtml(title)}</summary>${htmlTable(table)}</details></figure>`;
  return {
    [PLOTLY_MIME]: { data, layout, config: { displaylogo: false, responsive: true } },
    "text/html": html,
    "text/plain": `${summary}\n\n${textTable(table)}`,
  };
}

/** Shows a figure; the returned value isn't printed again by the kernel. */
export function show<T extends Figure>(figure: T): T {
  display(toBundle(figure));
  return alreadyDisplayed(figure);
}

/**
 * What all figures share: see-through paper for dark and light pages, a grey that is
 * readable on both, and no motion.
 */
export function baseLayout(title: string, height: number): Record<string, unknown> {
  return {
    title: { text: escapeHtml(title), x: 0, xanchor: "left", xref: "paper" },
    font: { color: NEUTRAL, size: 14 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { t: 56, r: 24, b: 56, l: 72 },
    height,
    showlegend: false,
    transition: { duration: 0 },
  };
}

/** Axis fields common to all figures. */
export function baseAxis(title: string): Record<string, unknown> {
  return {
    title: { text: title },
    gridcolor: "rgba(128,128,128,0.35)",
    zerolinecolor: NEUTRAL,
    automargin: true,
  };
}

/** `51100` → `"51,100"`; for sentences and labels, never for tables. */
export function count(n: number): string {
  return n.toLocaleString("en-US");
}

/** `count(1, "document")` → "1 document", `counted(2, "batch", "batches")` → "2 batches". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Share in percent with one decimal, as a plain number; 0 of 0 is 0. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 1000) / 10;
}
