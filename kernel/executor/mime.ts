/**
 * A value as a notebook shows it: text by Node's own `inspect`, and a table where
 * the value is an array of documents.
 */
import { inspect } from "node:util";
import { escapeHtml } from "./escape.js";
import type { MimeBundle } from "./result.js";

const maxRows = 50;
const maxColumns = 20;
const maxCell = 80;
/** Longer texts are cut: nobody reads them, and a notebook must stay loadable. */
const maxText = 200_000;

/** How values are printed, by `console.log` too. */
export const inspectOptions = {
  depth: 6,
  maxArrayLength: 100,
  maxStringLength: 10_000,
  breakLength: 100,
} as const;

/** What Node hangs on promises to know whose they are. */
const bookkeeping = new Set(["async_id_symbol", "trigger_async_id_symbol", "kResourceStore"]);

/** Keeps Node's bookkeeping out of printed promises: following async contexts makes it visible. */
export function tidyPromises(): void {
  Reflect.defineProperty(Promise.prototype, inspect.custom, {
    configurable: true,
    value(this: Promise<unknown>) {
      for (const symbol of Object.getOwnPropertySymbols(this)) {
        if (!bookkeeping.has(symbol.description ?? "")) continue;
        Reflect.defineProperty(this, symbol, { enumerable: false });
      }
      return this; // and `inspect` goes on as usual
    },
  });
}

/** The library marks what it has displayed itself, so that it isn't shown twice. */
const displayed = Symbol.for("shardlab.displayed");

/**
 * The MIME bundle of a cell's last expression.
 *
 * @returns undefined for what shows nothing: `undefined`, and what is displayed already
 */
export function bundleOf(value: unknown): MimeBundle | undefined {
  if (value === undefined) return undefined;
  if (isObject(value)) {
    if (Reflect.get(value, displayed) === true) return undefined;
    if (isBundle(value)) return value;
  }
  const shown = cut(inspect(value, inspectOptions));
  if (value instanceof Promise) {
    return { "text/plain": `${shown}: write \`await\` in front of it to get its value` };
  }
  const table = Array.isArray(value) ? tableOf(value) : undefined;
  return table === undefined ? { "text/plain": shown } : { "text/plain": shown, "text/html": table };
}

/** A table with a column for each top-level field; undefined if these aren't documents. */
function tableOf(rows: readonly unknown[]): string | undefined {
  if (rows.length === 0 || !rows.every(isDocument)) return undefined;
  const shown = rows.slice(0, maxRows);
  const columns = [...new Set(shown.flatMap((row) => Object.keys(row)))];
  if (columns.length === 0 || columns.length > maxColumns) return undefined;
  const head = columns.map((name) => `<th scope="col">${escapeHtml(name)}</th>`).join("");
  const body = shown
    .map((row) => `<tr>${columns.map((name) => dataCell(row, name)).join("")}</tr>`)
    .join("\n");
  const rest = rows.length - shown.length;
  const more = rest > 0 ? `<p>… ${rest.toLocaleString("en")} more</p>` : "";
  return `<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body}\n</tbody>\n</table>${more}`;
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null;
}

/** `table(…)` and `markdown(…)` give bundles; as a last expression they show themselves. */
function isBundle(value: Record<string, unknown>): value is MimeBundle {
  const types = Object.keys(value);
  return typeof value["text/plain"] === "string" && types.every((type) => /^[a-z]+\/[\w.+-]+$/.test(type));
}

function isDocument(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function dataCell(row: Record<string, unknown>, name: string): string {
  if (!Object.hasOwn(row, name)) return "<td></td>";
  const value = row[name];
  const text =
    typeof value === "string"
      ? value
      : inspect(value, { depth: 2, breakLength: Infinity, maxArrayLength: 10 });
  const shown = text.length > maxCell ? `${text.slice(0, maxCell - 1)}…` : text;
  const align = typeof value === "number" || typeof value === "bigint" ? ' style="text-align: right"' : "";
  return `<td${align}>${escapeHtml(shown)}</td>`;
}

function cut(text: string): string {
  return text.length <= maxText
    ? text
    : `${text.slice(0, maxText)}\n… ${text.length - maxText} more characters`;
}
