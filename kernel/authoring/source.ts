/**
 * Reads a lesson's source, a MyST notebook: front matter, prose, and code in
 * `{code-cell}` fences.
 *
 * ````text
 * ---
 * title: Hotspots
 * lesson: "03"
 * ---
 * # Hotspots
 *
 * Prose, plain Markdown. Each heading begins a cell; so does a line `+++` between blank lines.
 *
 * ```{code-cell} typescript
 * :id: load
 * await events.insertMany(data.events(1000));
 * ```
 * ````
 *
 * markdown-it finds the fences and headings, so that what is code is decided by the
 * same parser that renders the lesson. What a notebook front end could not show (other
 * MyST directives and roles) is refused here with file and line, not printed raw there.
 */
import MarkdownIt from "markdown-it";
import { AuthoringError } from "./error.js";

/** One cell of the source. */
export type SourceCell = MarkdownCell | CodeCell;

/** Prose up to the next heading, code cell or `+++` line. */
export interface MarkdownCell {
  kind: "markdown";
  text: string;
  /** Line of its first text, from 1. */
  line: number;
  /** Its heading, if it begins with one. */
  heading?: string;
}

/** A `{code-cell} typescript` fence. */
export interface CodeCell {
  kind: "code";
  code: string;
  /** Line of the first code line, from 1. */
  line: number;
  options: CellOptions;
}

/** The `:key: value` lines at the head of a code cell. */
export interface CellOptions {
  /** Stable cell id; made from the section's heading when left out. */
  id?: string;
  /** The question this cell answers: its student form has a stub, and a check cell follows. */
  question?: string;
  /** Expression handed to the check, usually a variable of this cell; left out for questions about the cluster. */
  answer?: string;
  /** Lines that stand for the solution in the student's notebook. */
  stub: string[];
  /** Jupyter cell tags. */
  tags: string[];
}

/** A parsed source. */
export interface LessonSource {
  /** File name for messages. */
  file: string;
  /** Number of the lesson, two digits. */
  lesson: string;
  title: string;
  /** Other front matter, as text. */
  frontMatter: Record<string, string>;
  cells: SourceCell[];
}

const SINGLE_OPTIONS = ["id", "question", "answer"] as const;
const OPTION = /^:([A-Za-z][\w-]*):(?:\s+(.*?))?\s*$/;

const parser = new MarkdownIt("commonmark").enable("table");

/**
 * @param text the whole file
 * @param file its name, for messages
 * @throws AuthoringError with file and line
 */
export function parseSource(text: string, file: string): LessonSource {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const { values, bodyStart } = readFrontMatter(lines, file);
  const body = lines.slice(bodyStart);
  const at = (bodyLine: number): number => bodyStart + bodyLine + 1;

  const cells: SourceCell[] = [];
  let proseStart = 0;
  let heading: string | undefined;
  const endProse = (end: number): void => {
    let first = proseStart;
    let last = end;
    while (first < last && body[first]?.trim() === "") first++;
    while (last > first && body[last - 1]?.trim() === "") last--;
    if (first < last) {
      const cell: MarkdownCell = {
        kind: "markdown",
        text: body.slice(first, last).join("\n"),
        line: at(first),
      };
      if (heading !== undefined) cell.heading = heading;
      cells.push(cell);
    }
    heading = undefined;
  };

  let level = 0;
  const tokens = parser.parse(body.join("\n"), {});
  tokens.forEach((token, index) => {
    const [start, end] = token.map ?? [0, 0];
    if (token.type === "heading_open") {
      const depth = Number(token.tag.slice(1));
      if (level === 0 && depth !== 1)
        throw new AuthoringError(file, at(start), "the first heading must be the lesson's `# title`");
      if (level > 0 && depth === 1)
        throw new AuthoringError(file, at(start), "a second `#` heading; a lesson has one title, use `##`");
      if (depth > level + 1) {
        throw new AuthoringError(
          file,
          at(start),
          `heading level ${depth} after level ${level}; don't skip a level`,
        );
      }
      level = depth;
      endProse(start);
      proseStart = start;
      heading = tokens[index + 1]?.content ?? "";
    } else if (token.type === "fence" && token.info.trim().startsWith("{")) {
      if (token.level > 0)
        throw new AuthoringError(
          file,
          at(start),
          "a code cell inside a list or quote; move it to the margin",
        );
      if (body[end - 1]?.trim().startsWith(token.markup) !== true || end - start < 2) {
        throw new AuthoringError(file, at(start), `this code cell has no closing ${token.markup}`);
      }
      endProse(start);
      cells.push(readCodeCell(token.info.trim(), token.content, file, at(start)));
      proseStart = end;
    } else if (token.type === "inline") {
      inlineFaults(token.content, file, at(start));
      if (token.content.trim() === "+++") {
        endProse(start);
        proseStart = end;
      }
    }
  });
  endProse(body.length);
  if (level === 0) throw new AuthoringError(file, at(0), "the lesson has no `# title`");

  const lesson = values["lesson"] ?? "";
  if (!/^\d\d$/.test(lesson)) {
    throw new AuthoringError(file, 1, 'front matter needs the lesson\'s two digits: lesson: "03"');
  }
  const title = values["title"] ?? "";
  if (title === "") throw new AuthoringError(file, 1, "front matter needs a title: title: Hotspots");
  return { file, lesson, title, frontMatter: values, cells };
}

function inlineFaults(content: string, file: string, line: number): void {
  content.split("\n").forEach((text, n) => {
    if (text.trim() === "+++" && content.trim() !== "+++") {
      throw new AuthoringError(file, line + n, "put blank lines around +++");
    }
    if (/^:{3,}\s*\{/.test(text) || /(^|[^`\\])\{[a-z][\w:-]*\}`/.test(text)) {
      throw new AuthoringError(
        file,
        line + n,
        "notebooks don't render MyST directives and roles; write plain Markdown",
      );
    }
  });
}

function readCodeCell(info: string, content: string, file: string, fenceLine: number): CodeCell {
  if (!/^\{code-cell\}\s+typescript$/.test(info)) {
    throw new AuthoringError(
      file,
      fenceLine,
      `unknown block ${info}; code cells are written {code-cell} typescript`,
    );
  }
  const lines = content.replace(/\n$/, "").split("\n");
  const options: CellOptions = { stub: [], tags: [] };
  let used = 0;
  for (; used < lines.length; used++) {
    const match = OPTION.exec(lines[used] ?? "");
    if (!match) break;
    const [, key = "", value = ""] = match;
    const line = fenceLine + 1 + used;
    if (value === "") throw new AuthoringError(file, line, `option :${key}: has no value`);
    if (key === "stub") options.stub.push(value);
    else if (key === "tags") options.tags.push(...value.split(/[\s,]+/));
    else if (isSingle(key)) {
      if (options[key] !== undefined) throw new AuthoringError(file, line, `option :${key}: is given twice`);
      options[key] = value;
    } else {
      throw new AuthoringError(
        file,
        line,
        `unknown option :${key}:; known are id, question, answer, stub, tags`,
      );
    }
  }
  const rest = lines.slice(used);
  while (rest.length > 0 && rest[0]?.trim() === "") {
    rest.shift();
    used++;
  }
  while (rest.length > 0 && rest.at(-1)?.trim() === "") rest.pop();
  if (rest.length === 0) throw new AuthoringError(file, fenceLine, "this code cell has no code");
  return { kind: "code", code: rest.join("\n"), line: fenceLine + 1 + used, options };
}

function isSingle(key: string): key is (typeof SINGLE_OPTIONS)[number] {
  return (SINGLE_OPTIONS as readonly string[]).includes(key);
}

/** `key: value` lines between two `---`; one level of nesting is read as `outer.inner`. */
function readFrontMatter(
  lines: readonly string[],
  file: string,
): { values: Record<string, string>; bodyStart: number } {
  if (lines[0]?.trimEnd() !== "---")
    throw new AuthoringError(file, 1, "the source begins with front matter between two --- lines");
  const values: Record<string, string> = {};
  let outer = "";
  for (let n = 1; n < lines.length; n++) {
    const line = lines[n] ?? "";
    if (line.trimEnd() === "---") return { values, bodyStart: n + 1 };
    if (line.trim() === "" || line.trim().startsWith("#")) continue;
    const match = /^(\s*)([\w-]+):(?:\s+(.*?))?\s*$/.exec(line);
    if (!match) throw new AuthoringError(file, n + 1, "front matter holds `key: value` lines only");
    const [, indent = "", key = "", raw = ""] = match;
    if (indent === "") outer = raw === "" ? key : "";
    else if (outer === "")
      throw new AuthoringError(file, n + 1, `${key} is indented, but no key above it opens a group`);
    const name = indent === "" ? key : `${outer}.${key}`;
    if (name in values) throw new AuthoringError(file, n + 1, `front matter has ${name} twice`);
    if (raw !== "") values[name] = unquote(raw);
  }
  throw new AuthoringError(file, 1, "the front matter has no closing ---");
}

function unquote(text: string): string {
  const match = /^(["'])(.*)\1$/.exec(text);
  return match ? (match[2] ?? "") : text;
}
