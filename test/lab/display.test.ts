import { afterEach, describe, expect, it, vi } from "vitest";
import { alreadyDisplayed, display, htmlTable, markdown, table } from "../../lib/lab/display.js";
import type { DisplayOptions, MimeBundle } from "../../lib/lab/display.js";

const TARGET = Symbol.for("shardlab.display");
const globals = globalThis as Record<symbol, unknown>;

afterEach(() => {
  delete globals[TARGET];
  vi.restoreAllMocks();
});

/** A front end that keeps what it is shown. */
function frontEnd(): { shown: { bundle: MimeBundle; options?: DisplayOptions }[] } {
  const shown: { bundle: MimeBundle; options?: DisplayOptions }[] = [];
  globals[TARGET] = {
    display: (bundle: MimeBundle, options?: DisplayOptions) => shown.push({ bundle, options }),
  };
  return { shown };
}

describe("display", () => {
  it("hands a bundle to the front end as it is, with its options", () => {
    const { shown } = frontEnd();
    display({ "text/plain": "3", "text/html": "<b>3</b>" }, { id: "progress", update: true });
    expect(shown).toEqual([
      { bundle: { "text/plain": "3", "text/html": "<b>3</b>" }, options: { id: "progress", update: true } },
    ]);
  });

  it("always gives a text, also for a bundle without one and for other objects", () => {
    const { shown } = frontEnd();
    display({ "text/markdown": "**3**" });
    display({ shard: "shardA", documents: 3 });
    expect(shown.map(({ bundle }) => bundle["text/plain"])).toEqual([
      "**3**",
      "{ shard: 'shardA', documents: 3 }",
    ]);
    expect(Object.keys(shown[1]!.bundle)).toEqual(["text/plain"]);
  });

  it("prints the text when no front end is there", () => {
    const write = vi.spyOn(process.stdout, "write").mockImplementation(() => true);
    display(markdown("one chunk"));
    expect(write.mock.calls).toEqual([["one chunk\n"]]);
  });

  it("marks a value as shown without changing how it looks", () => {
    const value = alreadyDisplayed({ score: 3 });
    expect(JSON.stringify(value)).toBe('{"score":3}');
    expect((value as Record<symbol, unknown>)[Symbol.for("shardlab.displayed")]).toBe(true);
  });
});

describe("table", () => {
  const rows = [
    { shard: "shardA", documents: 48900 },
    { shard: "shardB", documents: 51100, jumbo: true },
  ];

  it("aligns text, numbers to the right, in columns of first appearance", () => {
    expect(table(rows, { caption: "Where they are" })["text/plain"]).toBe(
      [
        "Where they are",
        "shard   documents  jumbo",
        "------  ---------  -----",
        "shardA      48900",
        "shardB      51100  true",
      ].join("\n"),
    );
  });

  it("heads rows and columns for screen readers and escapes what data holds", () => {
    const html = htmlTable({ caption: "a < b", columns: ["<x>"], rows: [["\"&'"]] });
    expect(html).toBe(
      '<table><caption>a &#60; b</caption><thead><tr><th scope="col" align="left">&#60;x&#62;</th></tr></thead>' +
        '<tbody><tr><th scope="row" align="left">&#34;&#38;&#39;</th></tr></tbody></table>',
    );
  });

  it("shows chosen columns and nested values on one line", () => {
    const text = table([{ min: { ts: 1 }, max: { ts: 2 }, shard: "shardA" }], { columns: ["shard", "min"] });
    expect(text["text/plain"]).toBe("shard   min\n------  ---------\nshardA  { ts: 1 }");
  });
});
