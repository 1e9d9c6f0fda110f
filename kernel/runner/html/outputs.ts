/**
 * A cell's outputs as HTML. All of it came from code that nobody here trusts, so
 * every piece is escaped, sanitised, or checked for being what it says it is.
 *
 * A figure comes three times: drawn by Plotly where scripts run, and in any case as
 * a sentence and as a table with its numbers.
 */
import type { MimeBundle } from "../../executor/index.js";
import type { Output } from "../../session/index.js";
import { escapeHtml } from "../../executor/escape.js";
import type { MarkdownDocument } from "./markdown.js";
import { sanitizeHtml } from "./sanitize.js";

const plotlyType = "application/vnd.plotly.v1+json";
const terminalSequence = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[ -/]*[@-~]`, "g");
const base64 = /^[A-Za-z0-9+/=\s]*$/;

/** Writes the outputs of one page, and knows whether it needs Plotly. */
export class OutputWriter {
  /** Figures on the page so far. */
  figures = 0;
  readonly #markdown: MarkdownDocument;

  constructor(markdown: MarkdownDocument) {
    this.#markdown = markdown;
  }

  /** The HTML of a code cell's outputs. */
  write(outputs: readonly Output[]): string {
    return outputs.map((output) => this.#one(output)).join("\n");
  }

  #one(output: Output): string {
    switch (output.output_type) {
      case "stream":
        return block(`stream ${output.name === "stderr" ? "stderr" : "stdout"}`, textOf(output.text));
      case "error": {
        const text =
          (output.traceback ?? []).map(textOf).join("\n") ||
          `${textOf(output.ename)}: ${textOf(output.evalue)}`;
        return `<div class="error" role="group" aria-label="Error"><p class="label">Error</p>${block("traceback", text)}</div>`;
      }
      case "display_data":
      case "execute_result":
        return `<div class="data">${this.#bundle(output.data ?? {})}</div>`;
      default:
        return "";
    }
  }

  #bundle(data: MimeBundle): string {
    const words =
      data["text/html"] === undefined
        ? block("text", textOf(data["text/plain"]))
        : sanitizeHtml(textOf(data["text/html"]));
    const figure = data[plotlyType];
    if (typeof figure === "object" && figure !== null)
      return this.#figure(figure, words, textOf(data["text/plain"]));
    if (data["text/html"] !== undefined)
      return `<div class="scroll" tabindex="0" role="group" aria-label="Output">${words}</div>`;
    for (const type of ["image/png", "image/jpeg", "image/gif", "image/webp"]) {
      const bytes = textOf(data[type]);
      if (bytes !== "" && base64.test(bytes))
        return image(type, bytes.replace(/\s/g, ""), textOf(data["text/plain"]));
    }
    if (data["image/svg+xml"] !== undefined) {
      // As a picture an SVG runs no scripts and loads nothing.
      const bytes = Buffer.from(textOf(data["image/svg+xml"]), "utf8").toString("base64");
      return image("image/svg+xml", bytes, textOf(data["text/plain"]));
    }
    if (data["text/markdown"] !== undefined)
      return this.#markdown.renderOutput(textOf(data["text/markdown"]));
    if (data["text/plain"] === undefined && data["application/json"] !== undefined) {
      return block("text", JSON.stringify(data["application/json"], undefined, 2));
    }
    return words;
  }

  /** The drawing's place, which stays empty without scripts, then the words and numbers. */
  #figure(figure: object, words: string, plain: string): string {
    const id = `figure-${++this.figures}`;
    const [summary = "Figure"] = plain.split("\n");
    // Inside a script element only this character could end it or open a comment.
    const json = JSON.stringify(figure).replaceAll("<", "\\u003c");
    return `<div class="plot" id="${id}" role="img" aria-label="${escapeHtml(summary)}"></div>
<script type="application/json" class="plot-data" data-for="${id}">${json}</script>
<div class="figure-words">${words}</div>`;
  }
}

function block(kind: string, text: string): string {
  return `<pre class="${kind}" tabindex="0">${escapeHtml(text)}</pre>`;
}

function image(type: string, bytes: string, alt: string): string {
  return `<img src="data:${type};base64,${bytes}" alt="${escapeHtml(alt)}">`;
}

/** nbformat's texts may be arrays of lines; colours of a terminal mean nothing here. */
function textOf(value: unknown): string {
  const text = Array.isArray(value) ? value.join("") : typeof value === "string" ? value : "";
  return text.replace(terminalSequence, "");
}
