/**
 * A notebook as a web page: one outline, everything escaped, figures that can be read
 * without being drawn, and nothing of a student's that could run.
 */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { exportHtml } from "../../../kernel/runner/html/index.js";
import { highlight } from "../../../kernel/runner/html/highlight.js";
import { dark, light } from "../../../kernel/runner/html/style.js";
import type { Palette } from "../../../kernel/runner/html/style.js";
import type { Notebook, NotebookCell } from "../../../kernel/runner/index.js";
import type { Output } from "../../../kernel/session/index.js";

const evil = '</script><script>alert("x")</script><img src=x onerror=alert(1)>';

test("one H1, no level skipped, an anchor and a table of contents", () => {
  const html = page([
    text("# Hot *spots*\n\ntext\n\n## Why\n\n#### Deep\n\n# Another\n\n## Why"),
    text("### Last"),
  ]);
  expect(outline(html)).toEqual(["1 Hot spots", "2 Why", "3 Deep", "2 Another", "2 Why", "3 Last"]);
  const anchors = [...html.matchAll(/ id="(h-[^"]+)"/g)].map(([, anchor]) => anchor);
  expect(anchors).toEqual(["h-hot-spots", "h-why", "h-deep", "h-another", "h-why-2", "h-last"]);
  const links = [...html.matchAll(/href="#(h-[^"]+)"/g)].map(([, anchor]) => anchor);
  expect(links).toEqual(anchors.slice(1));
  expect(html).toContain('<html lang="en">');
  expect(html).toContain("<title>Hot spots</title>");
});

test("a notebook without a heading gets its name as one", () => {
  const html = page([code("1")]);
  expect(outline(html)).toEqual(["1 lesson"]);
  expect(html).toContain("<title>lesson</title>");
});

test("headings in outputs stay out of the outline", () => {
  const shown = data({ "text/plain": "", "text/html": "<h1>PASS</h1>" });
  const markdown = data({ "text/plain": "", "text/markdown": "# PASS" });
  expect(outline(page([text("# One"), code("x", [shown, markdown])]))).toEqual(["1 One"]);
});

describe("what comes from a cell can't run", () => {
  const outputs: Record<string, Output> = {
    stream: { output_type: "stream", name: "stdout", text: evil },
    error: { output_type: "error", ename: evil, evalue: evil, traceback: [evil] },
    text: data({ "text/plain": evil }),
    html: data({ "text/plain": evil, "text/html": evil }),
    markdown: data({
      "text/plain": "",
      "text/markdown": `${evil} [a](javascript:alert(1)) ![b](https://evil.example/b.png)`,
    }),
    json: data({ "application/json": { [evil]: evil } }),
    svg: data({ "text/plain": evil, "image/svg+xml": `<svg onload=alert(1)>${evil}</svg>` }),
    png: data({ "text/plain": evil, "image/png": `"><script>alert(1)</script>` }),
    figure: data({
      "text/plain": evil,
      "text/html": evil,
      "application/vnd.plotly.v1+json": {
        data: [{ x: [evil], name: "<!--<script>" }],
        layout: { title: evil },
      },
    }),
  };
  for (const [name, output] of Object.entries(outputs)) {
    test(name, () => expectNothingRuns(page([code("1", [output])])));
  }

  test("source and markdown", () => {
    const html = page([
      code(`const a = "${evil}"; // ${evil}\n/${evil}/`),
      text(
        `${evil}\n\n# ${evil}\n\n<div onclick="x">raw</div>\n\n[l](javascript:alert(1)) [m](data:text/html,x)\n\n![p](https://evil.example/p.png)`,
      ),
    ]);
    expectNothingRuns(html);
    expect(html).not.toContain("evil.example");
  });
});

describe("a figure", () => {
  const figure = data({
    "text/plain": "shardA has 51,100 documents, shardB 48,900.\n\ntable",
    "text/html":
      "<figure><figcaption>shardA has 51,100</figcaption><table><tr><td>51100</td></tr></table></figure>",
    "application/vnd.plotly.v1+json": { data: [{ type: "bar", y: [51100, 48900] }], layout: {} },
  });

  test("can be read without scripts: a sentence, and a table with its numbers", () => {
    const html = page([code("plot", [figure])]).replace(/<script[^]*?<\/script>/g, "");
    expect(html).toContain('role="img" aria-label="shardA has 51,100 documents, shardB 48,900."></div>');
    expect(html).toContain(
      "<figcaption>shardA has 51,100</figcaption><table><tr><td>51100</td></tr></table>",
    );
  });

  test("brings one copy of Plotly, however many there are, and a page without figures brings none", () => {
    const several = page([code("a", [figure, figure]), code("b", [figure])]);
    expect(several.match(/plotly\.js \(cartesian/gi)?.length ?? 0).toBe(1);
    expect([...several.matchAll(/class="plot" id="(figure-\d)"/g)].map(([, id]) => id)).toEqual([
      "figure-1",
      "figure-2",
      "figure-3",
    ]);
    expect(page([code("c", [data({ "text/plain": "no figure" })])]).length).toBeLessThan(20_000);
  });

  test("is drawn by the only scripts that the page allows, named by their hashes", () => {
    const html = page([code("plot", [figure])]);
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script = ""]) => script);
    expect(scripts).toHaveLength(2);
    const hashes = scripts.map(
      (script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
    );
    expect(policy).toContain(`default-src 'none'; script-src ${hashes.join(" ")};`);
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  });
});

test("cells say whether they were run, and links to notebooks lead to their pages", () => {
  const html = page([
    code("1"),
    { ...code("2"), execution_count: null },
    text("[next](03-hotspots.ipynb#why) [web](https://x.org/a.ipynb)"),
  ]);
  expect(html).toContain('<p class="label">Cell 1</p>');
  expect(html).toContain('<p class="label">Cell 2 (not run)</p>');
  expect(html).toContain('href="03-hotspots.html#why"');
  expect(html).toContain('href="https://x.org/a.ipynb"');
});

test("pictures of a markdown cell come from the notebook itself", () => {
  const cell: NotebookCell = {
    ...text("![dot](attachment:dot.png)"),
    attachments: { "dot.png": { "image/png": "AAAA" } },
  };
  expect(page([cell])).toContain('<img src="data:image/png;base64,AAAA" alt="dot">');
});

describe("code is coloured by TypeScript's scanner", () => {
  const coloured: Record<string, string> = {
    "const a = 1;": "keyword:const number:1",
    "`a${b ? `c${1}` : {}}d` / 2": "string:`a${ string:`c${ number:1 string:}` string:}d` number:2",
    "x.replace(/[/]\"/g, '') / y / z": "function:replace regex:/[/]\"/g string:''",
    "new Map<string, Long>() // done": "keyword:new type:Map keyword:string type:Long comment:// done",
    "lab.for.of({ type: 1, of: 2 })": "function:of number:1 number:2",
    "await f(<T>x)": "keyword:await function:f type:T",
    "'unclosed": "string:'unclosed",
  };
  for (const [source, expected] of Object.entries(coloured)) {
    test(source, () => {
      const html = highlight(source);
      const tokens = [...html.matchAll(/<span class="tok-(\w+)">([^<]*)<\/span>/g)].map(
        ([, kind = "", token = ""]) => `${kind}:${unescape(token)}`,
      );
      expect(tokens.join(" ")).toBe(expected);
      expect(unescape(html.replace(/<\/?span[^>]*>/g, ""))).toBe(source);
    });
  }
});

describe("every text has a contrast of at least 4.5:1", () => {
  for (const [scheme, palette] of Object.entries({ light, dark })) {
    test(scheme, () => {
      const { page: ground, panel, errorPanel, line, ...texts } = palette as Palette;
      expect(line).toMatch(/^#/); // decoration only
      for (const [name, colour] of Object.entries(texts)) {
        const grounds = name === "errorText" ? [errorPanel, ground] : [ground, panel];
        for (const behind of grounds)
          expect(contrast(colour, behind), `${name} on ${behind}`).toBeGreaterThanOrEqual(4.5);
      }
    });
  }
});

function page(cells: NotebookCell[]): string {
  const notebook: Notebook = { nbformat: 4, nbformat_minor: 5, metadata: {}, cells };
  return exportHtml(notebook, "lesson");
}

function text(source: string): NotebookCell {
  return { cell_type: "markdown", source, metadata: {} };
}

function code(source: string, outputs: Output[] = []): NotebookCell {
  return { cell_type: "code", source, metadata: {}, execution_count: 1, outputs };
}

function data(bundle: Record<string, unknown>): Output {
  return { output_type: "display_data", data: bundle, metadata: {} };
}

function outline(html: string): string[] {
  return [...html.matchAll(/<h([1-6])[^>]*>([^]*?)<\/h\1>/g)].map(
    ([, level, inner = ""]) => `${level} ${inner.replace(/<[^>]*>/g, "")}`,
  );
}

/** Scripts are ours or data, no element of the page has a handler, and nothing is loaded. */
function expectNothingRuns(html: string): void {
  const own = /<script>[^]*?<\/script>/g;
  const scripts = html.match(/<script/gi)?.length ?? 0;
  const datas =
    html.match(/<script type="application\/json" class="plot-data" data-for="figure-\d+">[^<]*<\/script>/g)
      ?.length ?? 0;
  expect(scripts).toBe(datas === 0 ? 0 : datas + 2);
  const rest = html.replace(own, "");
  // What stands in a quoted value is text: pictures and figures have such descriptions.
  expect(rest.replace(/="[^"<>]*"/g, "")).not.toMatch(/<[^>]+\son[a-z]+\s*=/i);
  expect(rest).not.toMatch(/(href|src)\s*=\s*["']?\s*(javascript|data:text)/i);
  expect(rest).not.toMatch(/<img [^>]*src="(?!data:image\/|")/);
  expect(rest).not.toMatch(/<(iframe|object|embed|form|svg|base|link)\b/i);
}

function unescape(html: string): string {
  return html.replace(/&#(\d+);/g, (_, digits: string) => String.fromCharCode(Number(digits)));
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

/** Relative luminance as WCAG 2 defines it. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
