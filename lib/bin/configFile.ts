/**
 * The part of YAML in which mongod's configuration files are written: maps in maps by indentation, one value a
 * line, comments, quotes. JSON is read as well. Whatever else YAML can do (lists over several lines, anchors,
 * folded text) is refused by its line number rather than read wrongly.
 */

type Tree = Record<string, unknown>;

/** Maps deeper than this are nobody's configuration. */
const MAX_DEPTH = 20;

/**
 * Reads a configuration file.
 * @param text the content of the file
 * @returns maps of values: text, numbers, booleans, null, one-line lists
 * @throws Error one line that names the place
 */
export function parseConfigFile(text: string): Tree {
  if (text.trimStart().startsWith("{")) {
    const value = JSON.parse(text) as unknown;
    return value as Tree;
  }
  const root: Tree = {};
  /** Maps that are open, the outermost first, each with the column its keys start at. */
  const open: { column: number; map: Tree }[] = [{ column: -1, map: root }];
  let waiting: { map: Tree; key: string; column: number } | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const fail = (what: string): Error => new Error(`line ${index + 1}: ${what}`);
    const line = withoutComment(raw);
    if (line.trim() === "" || line.trim() === "---") continue;
    if (line.trim() === "...") break;
    if (/^\s*\t/.test(line)) throw fail("a tab can't indent");
    const match = /^( *)([A-Za-z_][\w.-]*|"[^"]*"|'[^']*')\s*:(?:\s+(.*))?$/.exec(line.trimEnd());
    if (!match) throw fail("only 'name: value' is understood here");
    const column = (match[1] as string).length;
    const key = (match[2] as string).replace(/^(["'])(.*)\1$/, "$2");
    const rest = match[3]?.trim() ?? "";
    if (waiting && column > waiting.column) {
      const map: Tree = {};
      waiting.map[waiting.key] = map;
      open.push({ column, map });
      if (open.length > MAX_DEPTH) throw fail("maps are nested too deeply");
    } else {
      while (open.length > 1 && column < (open.at(-1) as { column: number }).column) open.pop();
      const top = open.at(-1) as { column: number; map: Tree };
      if (top.column >= 0 && column !== top.column) throw fail("the indentation fits no line above");
      if (top.column < 0) top.column = column;
    }
    waiting = undefined;
    const { map } = open.at(-1) as { map: Tree };
    if (Object.hasOwn(map, key)) throw fail(`${key} is there twice`);
    Object.defineProperty(map, key, { value: null, enumerable: true, writable: true, configurable: true });
    if (rest === "") waiting = { map, key, column };
    else map[key] = scalar(rest, fail);
  }
  return root;
}

/** A `#` starts a comment at the start of a word, outside quotes. */
function withoutComment(line: string): string {
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i] as string;
    if (quote) {
      if (c === quote) quote = "";
    } else if ((c === '"' || c === "'") && /[\s:[,]/.test(line[i - 1] ?? " ")) {
      quote = c;
    } else if (c === "#" && (i === 0 || /\s/.test(line[i - 1] as string))) {
      return line.slice(0, i);
    }
  }
  return line;
}

function scalar(text: string, fail: (what: string) => Error): unknown {
  const quoted = /^"((?:[^"\\]|\\.)*)"$|^'((?:[^']|'')*)'$/.exec(text);
  if (quoted?.[1] !== undefined) return JSON.parse(text) as unknown;
  if (quoted?.[2] !== undefined) return quoted[2].replaceAll("''", "'");
  const list = /^\[(.*)\]$/.exec(text)?.[1];
  if (list !== undefined)
    return list.trim() === "" ? [] : list.split(",").map((part) => scalar(part.trim(), fail));
  if (/^[&*!|>%@`{["']/.test(text)) throw fail(`${text.slice(0, 20)} is YAML that is not understood here`);
  if (text === "true" || text === "false") return text === "true";
  if (/^(null|~)$/i.test(text)) return null;
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  return text;
}
