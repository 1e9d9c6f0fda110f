/**
 * The page's style: light and dark after the reader's system, print, contrast of at
 * least 4.5:1 for every text (test/kernel/runner/style.test.ts computes it).
 */

/** The colours of a scheme. */
export interface Palette {
  readonly text: string;
  readonly muted: string;
  readonly link: string;
  readonly page: string;
  readonly panel: string;
  readonly line: string;
  readonly errorText: string;
  readonly errorPanel: string;
  readonly keyword: string;
  readonly string: string;
  readonly number: string;
  readonly comment: string;
  readonly function: string;
  readonly type: string;
}

export const light: Palette = {
  text: "#1b1f24",
  muted: "#57606a",
  link: "#0550ae",
  page: "#ffffff",
  panel: "#f4f6f8",
  line: "#d0d7de",
  errorText: "#8a1a12",
  errorPanel: "#fdeeec",
  keyword: "#8b1fa9",
  string: "#0a5c36",
  number: "#0550ae",
  comment: "#5c6570",
  function: "#6b4a00",
  type: "#00566b",
};

export const dark: Palette = {
  text: "#e6e9ec",
  muted: "#a3adb8",
  link: "#7cb8ff",
  page: "#14171a",
  panel: "#1e2327",
  line: "#3b434b",
  errorText: "#ffb4ab",
  errorPanel: "#37201e",
  keyword: "#dda6f0",
  string: "#8fd6a8",
  number: "#8fc4ff",
  comment: "#a0a9b3",
  function: "#e5c07b",
  type: "#7fd4e6",
};

/** The style sheet. */
export function styleSheet(): string {
  return `:root { color-scheme: light dark; ${variables(light)} }
@media (prefers-color-scheme: dark) { :root { ${variables(dark)} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; background: var(--page); padding: .5rem; }
.layout { max-width: 78rem; margin: 0 auto; padding: 1rem; }
main { max-width: 52rem; min-width: 0; }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.6em 0 .5em; }
h1 { margin-top: .3em; }
nav.contents { font-size: .9rem; border: 1px solid var(--line); border-radius: .4rem; padding: .3rem 1rem; margin-bottom: 1rem; }
nav.contents summary { font-weight: bold; cursor: pointer; }
nav.contents ul { list-style: none; padding-left: .8rem; margin: .2rem 0; }
@media (min-width: 72rem) {
  .layout { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 2.5rem; }
  nav.contents { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow: auto; }
}
pre, code, kbd, samp { font-family: ui-monospace, "Cascadia Code", Menlo, Consolas, monospace; font-size: .9em; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem .9rem; margin: .5rem 0; overflow-x: auto; tab-size: 2; line-height: 1.45; }
:not(pre) > code { background: var(--panel); border-radius: .2rem; padding: .1em .3em; }
.cell.code { margin: 1.2rem 0; }
.label { color: var(--muted); font-size: .8rem; margin: 0; }
.outputs { border-left: 3px solid var(--line); padding-left: .9rem; }
.outputs pre { background: none; border: none; padding: .2rem 0; }
.outputs pre.stream { white-space: pre-wrap; overflow-wrap: anywhere; }
.outputs pre.stderr { border-left: 3px solid var(--errorText); padding-left: .6rem; }
.error { background: var(--errorPanel); border-radius: .4rem; padding: .5rem .8rem; }
.error .label, .error pre { color: var(--errorText); }
.output-heading { font-weight: bold; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; font-size: .95em; }
caption { text-align: left; color: var(--muted); padding: .2rem 0; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; vertical-align: top; text-align: left; }
th[align=right], td[align=right] { text-align: right; }
thead th { background: var(--panel); }
figure { margin: .5rem 0; }
img { max-width: 100%; height: auto; }
.plot { width: 100%; }
blockquote { border-left: 3px solid var(--line); margin-left: 0; padding-left: 1rem; color: var(--muted); }
footer { color: var(--muted); font-size: .85rem; border-top: 1px solid var(--line); margin-top: 3rem; padding-top: .5rem; }
${["keyword", "string", "number", "comment", "function", "type"].map((name) => `.tok-${name} { color: var(--${name}); }`).join("\n")}
.tok-regex { color: var(--string); }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
@media print {
  :root { ${variables(light)} }
  nav.contents, .skip, .modebar-container { display: none; }
  .layout { display: block; max-width: none; padding: 0; }
  main { max-width: none; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .scroll { overflow: visible; }
  .plot, figure, tr, img { break-inside: avoid; }
  h1, h2, h3, h4 { break-after: avoid; }
}
`;
}

function variables(palette: Palette): string {
  return Object.entries(palette)
    .map(([name, colour]) => `--${name}: ${colour};`)
    .join(" ");
}
