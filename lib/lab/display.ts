/**
 * How something a cell made reaches the reader.
 *
 * A cell shows a **bundle**: the same thing in several forms, keyed by MIME
 * type. The front end takes the richest form it can draw: a page draws the
 * Plotly figure, a viewer without Plotly the HTML table, a terminal the text.
 * `text/plain` is always there, so nothing a lesson shows depends on a picture.
 *
 * Who draws is not known here. The kernel puts a {@link DisplayTarget} under
 * `Symbol.for("shardlab.display")`; without one (a plain script) the text goes
 * to standard output.
 *
 * ```ts
 * display(table([{ shard: "shardA", documents: 48900 }], { caption: "Where they are" }));
 * display(markdown("**Half** of the documents"));
 * ```
 */
import { inspect } from "node:util";

/** One thing in several forms, keyed by MIME type; `text/plain` is always present. */
export type MimeBundle = Record<string, unknown>;

/** Options of {@link display}. */
export interface DisplayOptions {
  /** Names the output, so that a later call can replace it. */
  id?: string;
  /** Replaces the output shown under `id` instead of adding one. */
  update?: boolean;
}

/** What receives bundles: the kernel, a page, a test. */
export interface DisplayTarget {
  display(bundle: MimeBundle, options?: DisplayOptions): void;
}

const TARGET = Symbol.for("shardlab.display");
const DISPLAYED = Symbol.for("shardlab.displayed");

/**
 * Shows a bundle, or any other object as its inspected text.
 *
 * @param value a {@link MimeBundle} (recognised by its MIME-type keys) or any value
 * @param options name of the output, to replace it later
 * @example display({ "text/plain": "3 chunks", "text/html": "<b>3</b> chunks" })
 * @since Shardlab 0.1
 */
export function display(value: MimeBundle | object, options?: DisplayOptions): void {
  const bundle = isBundle(value)
    ? { "text/plain": plainTextOf(value), ...value }
    : { "text/plain": inspect(value) };
  const target = (globalThis as Record<symbol, unknown>)[TARGET] as DisplayTarget | undefined;
  if (target) {
    target.display(bundle, options);
  } else {
    process.stdout.write(`${String(bundle["text/plain"])}\n`);
  }
}

/**
 * Marks a value that was already shown, so that a kernel that prints the value
 * of a cell's last line does not show it a second time.
 */
export function alreadyDisplayed<T extends object>(value: T): T {
  Object.defineProperty(value, DISPLAYED, { value: true, enumerable: false, configurable: true });
  return value;
}

/** Options of {@link table}. */
export interface TableOptions {
  /** Title above the rows; screen readers announce it. */
  caption?: string;
  /** Columns to show, in this order; by default every field in order of appearance. */
  columns?: readonly string[];
}

/**
 * A table of rows as HTML and as aligned text. Numbers are right-aligned and
 * stay plain (`51100`), so that they can be copied.
 *
 * @param rows one object a row; a missing field is an empty cell
 * @returns a bundle for {@link display}
 * @example display(table([{ shard: "shardA", documents: 48900 }]))
 * @since Shardlab 0.1
 */
export function table(rows: readonly object[], options: TableOptions = {}): MimeBundle {
  const columns = options.columns ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => columns.map((column) => (row as Record<string, unknown>)[column]));
  const content: TableContent = { columns, rows: cells };
  if (options.caption !== undefined) content.caption = options.caption;
  return { "text/plain": textTable(content), "text/html": htmlTable(content) };
}

/**
 * A piece of Markdown as a bundle.
 *
 * @example display(markdown("One chunk, **one** shard."))
 * @since Shardlab 0.1
 */
export function markdown(text: string): MimeBundle {
  return { "text/plain": text, "text/markdown": text };
}

/** Rows and columns before they take a form. */
export interface TableContent {
  caption?: string;
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
}

/** The aligned text form: header, rule, rows; numeric columns to the right. */
export function textTable(content: TableContent): string {
  const lines = [content.columns, ...content.rows.map((row) => row.map(cellText))];
  const widths = content.columns.map((_, c) => Math.max(...lines.map((line) => width(line[c] ?? ""))));
  const numeric = numericColumns(content);
  const format = (line: readonly string[]): string =>
    line
      .map((text, c) => {
        const padding = " ".repeat(Math.max(0, (widths[c] ?? 0) - width(text)));
        return numeric[c] ? padding + text : text + padding;
      })
      .join("  ")
      .trimEnd();
  const rule = widths.map((n) => "-".repeat(n)).join("  ");
  const [head, ...body] = lines;
  const caption = content.caption === undefined ? [] : [content.caption];
  return [...caption, format(head ?? []), rule, ...body.map(format)].join("\n");
}

/**
 * The HTML form: only elements that notebook sanitisers keep, no style, no
 * script. The first column heads its row.
 */
export function htmlTable(content: TableContent): string {
  const numeric = numericColumns(content);
  const align = (c: number): string => (numeric[c] ? ' align="right"' : ' align="left"');
  const caption = content.caption === undefined ? "" : `<caption>${escapeHtml(content.caption)}</caption>`;
  const head = content.columns
    .map((name, c) => `<th scope="col"${align(c)}>${escapeHtml(name)}</th>`)
    .join("");
  const body = content.rows
    .map((row) => {
      const cells = row.map((value, c) => {
        const text = escapeHtml(cellText(value));
        return c === 0 ? `<th scope="row"${align(c)}>${text}</th>` : `<td${align(c)}>${text}</td>`;
      });
      return `<tr>${cells.join("")}</tr>`;
    })
    .join("");
  return `<table>${caption}<thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

/** Escapes text for an HTML element or a double-quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

function isBundle(value: object): value is MimeBundle {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => /^[a-z]+\/[\w.+-]+$/.test(key));
}

/** A bundle that lacks `text/plain` gets the closest thing it has. */
function plainTextOf(bundle: MimeBundle): string {
  const nearest = bundle["text/plain"] ?? bundle["text/markdown"] ?? bundle["text/html"];
  return typeof nearest === "string" ? nearest : `[${Object.keys(bundle).join(", ")}]`;
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "object") return inspect(value, { breakLength: Infinity, depth: 4 });
  return String(value as number | bigint | boolean);
}

function numericColumns(content: TableContent): boolean[] {
  return content.columns.map((_, c) => {
    const values = content.rows.map((row) => row[c]).filter((v) => v !== undefined && v !== null);
    return values.length > 0 && values.every((v) => typeof v === "number" || typeof v === "bigint");
  });
}

/** Columns a text takes in a terminal; combining marks don't matter for what lessons print. */
function width(text: string): number {
  return [...text].length;
}
