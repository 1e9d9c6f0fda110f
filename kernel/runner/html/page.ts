/**
 * A notebook as one HTML file that a double click opens, offline, years later.
 *
 * Readable without scripts; with them figures are drawn. The content security
 * policy is the second fence behind the sanitiser (sanitize.ts): no script but our
 * own two, no request to anywhere.
 */
import { createHash } from "node:crypto";
import { isRunnable, sourceOf } from "../notebook.js";
import type { Notebook, NotebookCell } from "../notebook.js";
import { escapeHtml } from "../../executor/escape.js";
import { drawScript, plotlySource } from "./figures.js";
import { highlight } from "./highlight.js";
import { MarkdownDocument } from "./markdown.js";
import type { Heading } from "./markdown.js";
import { OutputWriter } from "./outputs.js";
import { styleSheet } from "./style.js";

/**
 * Writes the page.
 *
 * @param notebook an executed notebook
 * @param name the file's name without extension: the title if the notebook has no heading
 */
export function exportHtml(notebook: Notebook, name: string): string {
  const markdown = new MarkdownDocument();
  const outputs = new OutputWriter(markdown);
  let number = 0;
  const cells = notebook.cells.map((cell) => {
    if (cell.cell_type === "markdown") return `<div class="cell markdown">\n${markdown.render(cell)}</div>`;
    if (cell.cell_type === "raw") return "";
    return codeCell(cell, isRunnable(cell) ? ++number : undefined, outputs);
  });
  const title = markdown.headings[0]?.text ?? name;
  const heading = markdown.headings.length > 0 ? "" : `<h1 id="h-title">${escapeHtml(name)}</h1>\n`;
  const scripts = outputs.figures > 0 ? [plotlySource(), drawScript] : [];
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(scripts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>
${styleSheet()}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="layout">
${contents(markdown.headings)}
<main id="content">
${heading}${cells.filter((cell) => cell !== "").join("\n")}
<footer><p>Made by <code>shardlab run --html</code>.</p></footer>
</main>
</div>
${scripts.map((script) => `<script>${script}</script>\n`).join("")}</body>
</html>
`;
}

function codeCell(cell: NotebookCell, number: number | undefined, outputs: OutputWriter): string {
  const source = sourceOf(cell).replace(/\n+$/, "");
  if (source.trim() === "" && (cell.outputs ?? []).length === 0) return "";
  const wasRun = typeof cell.execution_count === "number";
  const label =
    number === undefined ? "" : `<p class="label">Cell ${number}${wasRun ? "" : " (not run)"}</p>`;
  const written = outputs.write(cell.outputs ?? []);
  const result =
    written === ""
      ? ""
      : `\n<div class="outputs" role="group" aria-label="Output of cell ${number ?? ""}">\n${written}\n</div>`;
  return `<div class="cell code">
${label}<pre tabindex="0"><code>${highlight(source)}</code></pre>${result}
</div>`;
}

function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return "<div></div>";
  const items: string[] = [];
  let depth = 2;
  for (const { level, text, anchor } of shown) {
    for (; depth < level; depth++) items.push("<li><ul>");
    for (; depth > level; depth--) items.push("</ul></li>");
    items.push(`<li><a href="#${encodeURIComponent(anchor)}">${escapeHtml(text)}</a></li>`);
  }
  for (; depth > 2; depth--) items.push("</ul></li>");
  return `<nav class="contents" aria-label="Contents">
<details open><summary>Contents</summary>
<ul>
${items.join("\n")}
</ul>
</details>
</nav>`;
}

/** What the page may do: show what is in it, and run these scripts. */
function policy(scripts: readonly string[]): string {
  const hashes = scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  const script = hashes.length === 0 ? "'none'" : hashes.join(" ");
  // Plotly writes its own style rules and draws its export through a blob.
  return `default-src 'none'; script-src ${script}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'`;
}
