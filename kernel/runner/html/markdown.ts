/**
 * A notebook's markdown as one document.
 *
 * Cells are written one by one, but a page has one outline: one H1, no skipped
 * level, an anchor for each heading. Raw HTML is shown as text, links that run
 * something are not links, and pictures come from the notebook itself, since the
 * page must open offline and tell nobody that it was opened.
 */
import markdownIt from "markdown-it";
import type { MarkdownIt, Token } from "markdown-it";
import type { NotebookCell } from "../notebook.js";
import { sourceOf } from "../notebook.js";
import { escapeHtml } from "../../executor/escape.js";
import { highlight } from "./highlight.js";

/** A heading of the page, in order. */
export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly anchor: string;
}

const picture = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;

/** Renders the markdown cells of one notebook. */
export class MarkdownDocument {
  readonly headings: Heading[] = [];
  readonly #anchors = new Set<string>();
  readonly #markdown: MarkdownIt;

  constructor() {
    this.#markdown = markdownIt({
      html: false,
      linkify: false,
      typographer: false,
      highlight: (code, language) =>
        /^(ts|typescript|js|javascript|mjs|json)$/i.test(language) ? highlight(code) : escapeHtml(code),
    });
    // Long code scrolls, and what scrolls must be reachable by keyboard.
    const fence = this.#markdown.renderer.rules.fence;
    this.#markdown.renderer.rules.fence = (...args) =>
      (fence?.(...args) ?? "").replace(/^<pre>/, '<pre tabindex="0">');
    this.#markdown.renderer.rules.table_open = () =>
      '<div class="scroll" tabindex="0" role="group" aria-label="Table">\n<table>\n';
    this.#markdown.renderer.rules.table_close = () => "</table>\n</div>\n";
  }

  /** A cell's HTML; its headings become part of the outline. */
  render(cell: NotebookCell): string {
    const tokens = this.#markdown.parse(sourceOf(cell), {});
    tokens.forEach((token, index) => {
      if (token.type === "heading_open") this.#heading(token, tokens[index + 1], tokens[index + 2]);
      for (const child of token.children ?? []) {
        if (child.type === "link_open") child.attrSet("href", linkOf(String(child.attrGet("href"))));
        if (child.type === "image") child.attrSet("src", imageOf(String(child.attrGet("src")), cell));
      }
    });
    return this.#markdown.renderer.render(tokens, this.#markdown.options, {});
  }

  /** Markdown that a cell put out: it is text among outputs, and its headings stay out of the outline. */
  renderOutput(text: string): string {
    const tokens = this.#markdown.parse(text, {});
    for (const token of tokens) {
      if (token.type === "heading_open" || token.type === "heading_close") {
        token.tag = "p";
        if (token.nesting === 1) token.attrSet("class", "output-heading");
      }
      for (const child of token.children ?? []) {
        if (child.type === "image") child.attrSet("src", imageOf(String(child.attrGet("src")), undefined));
      }
    }
    return this.#markdown.renderer.render(tokens, this.#markdown.options, {});
  }

  #heading(open: Token, content: Token | undefined, close: Token | undefined): void {
    const wanted = Number(open.tag.slice(1));
    const before = this.headings.at(-1)?.level ?? 0;
    // The first heading is the page's title; another H1 is a section; no level is skipped.
    const level = before === 0 ? 1 : Math.min(Math.max(wanted, 2), before + 1);
    const text = plainText(content?.children ?? []);
    const anchor = this.#anchor(text);
    open.tag = `h${level}`;
    if (close) close.tag = open.tag;
    open.attrSet("id", anchor);
    this.headings.push({ level, text, anchor });
  }

  #anchor(text: string): string {
    const slug =
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, "-")
        .replace(/^-|-$/g, "") || "section";
    let anchor = `h-${slug}`;
    for (let n = 2; this.#anchors.has(anchor); n++) anchor = `h-${slug}-${n}`;
    this.#anchors.add(anchor);
    return anchor;
  }
}

function plainText(children: readonly Token[]): string {
  return children.map(({ type, content }) => (type === "softbreak" ? " " : content)).join("");
}

/** A link to another notebook leads to its page. */
function linkOf(href: string): string {
  const isLocal = !/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href);
  return isLocal ? href.replace(/\.ipynb(?=$|#|\?)/, ".html") : href;
}

/** Pictures are in the page or are not there; the alternative text always is. */
function imageOf(src: string, cell: NotebookCell | undefined): string {
  if (picture.test(src)) return src;
  const name = /^attachment:(.+)$/.exec(src)?.[1];
  const bundle = name === undefined ? undefined : cell?.attachments?.[decodeURIComponent(name)];
  const [type, data] = Object.entries(bundle ?? {})[0] ?? [];
  const attached = `data:${type};base64,${String(data).replace(/\s/g, "")}`;
  return picture.test(attached) ? attached : "";
}
