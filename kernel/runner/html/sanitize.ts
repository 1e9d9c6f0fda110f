/**
 * HTML that a cell made, cut down to what can only be read.
 *
 * A page is opened by a teacher with a double click, so what a student's cell put
 * out may look like anything and must do nothing. This is an allow-list: the input
 * is cut into tags and text, and a new text is *written* from what is known to be
 * harmless. Nothing is copied through: names come from the lists below, values are
 * checked one by one and escaped again, tags are closed in the order they were
 * opened. No element whose content isn't plain HTML (script, style, svg, textarea,
 * …) can come out, so that the browser reads the result the way it was written.
 *
 *     <b onclick="x()">hi</b><script>x()</script>   →   <b>hi</b>
 */
import { escapeHtml } from "../../executor/escape.js";

/** Elements that stay, with the attributes they may have beside the common ones. */
// prettier-ignore
const elements: Readonly<Record<string, readonly string[]>> = {
  a: ["href"],
  abbr: [], b: [], bdi: [], blockquote: [], br: [], caption: ["align"], cite: [], code: [],
  col: ["span"], colgroup: ["span"], dd: [], del: [], details: ["open"], dfn: [], div: [],
  dl: [], dt: [], em: [], figcaption: [], figure: [], hr: [], i: [], img: ["src", "alt", "width", "height"],
  ins: [], kbd: [], li: ["value"], mark: [], ol: ["start", "reversed"], p: [], pre: [], q: [], s: [],
  samp: [], section: [], small: [], span: [], strong: [], sub: [], summary: [], sup: [], table: [],
  tbody: [], td: ["colspan", "rowspan", "align"], tfoot: [], th: ["colspan", "rowspan", "align", "scope"],
  thead: [], time: ["datetime"], tr: ["align"], u: [], ul: [], var: [], wbr: [],
  meter: ["min", "max", "low", "high", "optimum", "value"], progress: ["max", "value"],
};

const voidElements = new Set(["br", "col", "hr", "img", "wbr"]);

/** Elements that go with everything in them: their content is no text to read. */
// prettier-ignore
const swallowed = new Set([
  "script", "style", "template", "noscript", "noembed", "noframes", "iframe", "frameset", "object", "applet",
  "svg", "math", "textarea", "title", "xmp", "select", "head", "canvas", "audio", "video", "plaintext",
]);

/** A cell's headings must not take part in the page's outline. */
const headings = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);

const align = /^(left|right|center|justify)$/;
const wholeNumber = /^-?\d{1,6}$/;
const decimal = /^-?\d{1,12}(\.\d{1,12})?$/;
const plainText = /^/;

/** What an attribute's value must look like; attributes that aren't here don't stay. */
const attributes: Readonly<Record<string, RegExp>> = {
  align,
  alt: plainText,
  "aria-hidden": /^(true|false)$/,
  "aria-label": plainText,
  colspan: wholeNumber,
  datetime: plainText,
  dir: /^(ltr|rtl|auto)$/,
  height: wholeNumber,
  high: decimal,
  // A link leads somewhere when it is clicked, and to nothing that runs.
  href: /^(https?:\/\/|mailto:|#)[^\s<>"'`\\]*$/i,
  lang: /^[A-Za-z0-9-]{1,35}$/,
  low: decimal,
  max: decimal,
  min: decimal,
  open: /^(|open)$/,
  optimum: decimal,
  reversed: /^(|reversed)$/,
  role: /^(img|table|row|cell|rowgroup|columnheader|rowheader|list|listitem|note|group|status|figure|presentation)$/,
  rowspan: wholeNumber,
  scope: /^(col|row|colgroup|rowgroup)$/,
  span: wholeNumber,
  // Pictures are in the page itself; loading one would tell somebody that the page was opened.
  src: /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*$/,
  start: wholeNumber,
  style: plainText, // checked declaration by declaration
  title: plainText,
  value: decimal,
  width: wholeNumber,
};

const common = ["aria-hidden", "aria-label", "dir", "lang", "role", "style", "title"];

/** Style declarations that stay: nothing that moves, covers, hides or loads. */
const styles: Readonly<Record<string, RegExp>> = {
  "text-align": align,
  "font-weight": /^(normal|bold|[1-9]00)$/,
  "font-style": /^(normal|italic)$/,
  "font-family": /^monospace$/,
  "white-space": /^(normal|nowrap|pre|pre-wrap)$/,
  "vertical-align": /^(top|middle|bottom|baseline)$/,
  width: /^\d{1,3}(\.\d+)?(%|em|ch)$/,
};

/**
 * Makes untrusted HTML harmless.
 *
 * @param html anything at all
 * @returns balanced HTML of allowed elements; unknown elements leave their text
 */
export function sanitizeHtml(html: string): string {
  const writer = new Writer();
  let position = 0;
  while (position < html.length) {
    const open = html.indexOf("<", position);
    if (open < 0) break;
    writer.text(html.slice(position, open));
    position = readMarkup(html, open, writer);
  }
  writer.text(html.slice(position));
  return writer.finish();
}

/** Reads what begins at a `<`, and gives the position behind it. */
function readMarkup(html: string, open: number, writer: Writer): number {
  if (html.startsWith("<!--", open)) return after(html, /--!?>/g, open + 4);
  if (/^<[!?]/.test(html.slice(open, open + 2))) return after(html, />/g, open + 1);
  const tag = readTag(html, open);
  if (tag === undefined) {
    writer.text("<");
    return open + 1;
  }
  if (tag.isEnd) writer.end(tag.name);
  else if (!swallowed.has(tag.name)) writer.start(tag);
  else return skipElement(html, tag);
  return tag.next;
}

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly attributes: ReadonlyMap<string, string>;
  /** Position behind the tag. */
  readonly next: number;
}

/** Cuts a tag as a browser does: quotes may hold `>`, and the first of two equal attributes counts. */
function readTag(html: string, open: number): Tag | undefined {
  const head = sticky(/<(\/?)([a-z][^\s/>]*)/iy, html, open);
  if (head === null) return undefined;
  const found = new Map<string, string>();
  let position = open + head[0].length;
  for (;;) {
    position += sticky(/[\s/]*/y, html, position)?.[0].length ?? 0;
    if (position >= html.length) break;
    if (html[position] === ">") {
      position++;
      break;
    }
    const part = sticky(
      /([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)(?:"|$)|'([^']*)(?:'|$)|([^\s>]*)))?/y,
      html,
      position,
    );
    if (part === null) {
      position++;
      continue;
    }
    position += part[0].length;
    const name = (part[1] ?? "").toLowerCase();
    if (!found.has(name)) found.set(name, part[2] ?? part[3] ?? part[4] ?? "");
  }
  return { name: (head[2] ?? "").toLowerCase(), isEnd: head[1] === "/", attributes: found, next: position };
}

/** Goes to the end of an element that is dropped with its content: too much rather than too little. */
function skipElement(html: string, tag: Tag): number {
  if (tag.name === "plaintext") return html.length;
  const same = new RegExp(`<(/?)${tag.name}(?=[\\s/>]|$)`, "gi");
  same.lastIndex = tag.next;
  let depth = 1;
  for (let match = same.exec(html); match !== null; match = same.exec(html)) {
    depth += match[1] === "/" ? -1 : 1;
    if (depth === 0) return after(html, />/g, same.lastIndex);
  }
  return html.length;
}

class Writer {
  readonly #out: string[] = [];
  readonly #open: string[] = [];
  /** How many of each name are open: a search through a deep stack for each end tag would be quadratic. */
  readonly #depths = new Map<string, number>();

  text(text: string): void {
    this.#out.push(escapeHtml(decodeEntities(text)));
  }

  start({ name, attributes: given }: Tag): void {
    if (headings.has(name)) {
      this.#out.push("<p><strong>");
      this.#push(name);
      return;
    }
    const own = Object.hasOwn(elements, name) ? elements[name] : undefined;
    if (own === undefined) return;
    const written = [...given].map(([key, value]) => writeAttribute(key, value, own)).join("");
    const link = name === "a" ? ' rel="noopener noreferrer nofollow"' : "";
    this.#out.push(`<${name}${written}${link}>`);
    if (!voidElements.has(name)) this.#push(name);
  }

  /** Closes an element and what was left open in it; an end without a start is nothing. */
  end(name: string): void {
    if (!this.#depths.get(name)) return;
    for (let last = this.#open.pop(); last !== undefined; last = this.#open.pop()) {
      this.#depths.set(last, (this.#depths.get(last) ?? 1) - 1);
      this.#out.push(headings.has(last) ? "</strong></p>" : `</${last}>`);
      if (last === name) return;
    }
  }

  finish(): string {
    for (let last = this.#open.at(-1); last !== undefined; last = this.#open.at(-1)) this.end(last);
    return this.#out.join("");
  }

  #push(name: string): void {
    this.#open.push(name);
    this.#depths.set(name, (this.#depths.get(name) ?? 0) + 1);
  }
}

function writeAttribute(name: string, given: string, own: readonly string[]): string {
  if (!own.includes(name) && !common.includes(name)) return "";
  const value = decodeEntities(given).trim();
  if (!attributes[name]?.test(value)) return "";
  if (name !== "style") return ` ${name}="${escapeHtml(value)}"`;
  const kept = value.split(";").flatMap((declaration) => {
    const [property = "", ...rest] = declaration.split(":");
    const key = property.trim().toLowerCase();
    const setting = rest.join(":").trim().toLowerCase();
    return Object.hasOwn(styles, key) && styles[key]?.test(setting) ? [`${key}: ${setting}`] : [];
  });
  return kept.length === 0 ? "" : ` style="${kept.join("; ")}"`;
}

// prettier-ignore
const namedEntities: Readonly<Record<string, string>> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", ndash: "–", mdash: "—", hellip: "…",
  times: "×", rarr: "→", larr: "←", le: "≤", ge: "≥", ne: "≠", copy: "©", deg: "°", middot: "·", bull: "•",
  colon: ":", Tab: "\t", NewLine: "\n", lpar: "(", rpar: ")",
};

/** An entity that isn't known stays as the text it is, and is escaped as such. */
function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));?/gi,
    (whole, hex?: string, digits?: string, name?: string) => {
      if (name !== undefined)
        return Object.hasOwn(namedEntities, name) ? (namedEntities[name] ?? whole) : whole;
      const code = hex === undefined ? Number(digits) : parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}

function sticky(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

function after(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text) === null ? text.length : pattern.lastIndex;
}
