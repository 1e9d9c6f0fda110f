import { describe, expect, it } from "vitest";
import { distributionFigure, keyText } from "../../lib/lab/plot/distribution.js";
import { count, counted, percent, PLOTLY_MIME, toBundle } from "../../lib/lab/plot/figure.js";
import { insertBatches, insertsFigure } from "../../lib/lab/plot/inserts.js";
import { NEUTRAL, SHARD_COLOURS, shardMarks } from "../../lib/lab/plot/palette.js";

/** Body rows of the HTML form's table, as text. */
function htmlRows(html: string): string[][] {
  const body = /<tbody>(.*)<\/tbody>/.exec(html)![1]!;
  return [...body.matchAll(/<tr>(.*?)<\/tr>/g)].map((row) =>
    [...row[1]!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map((cell) => cell[1]!),
  );
}

describe("plot.distribution", () => {
  const hashed = {
    ns: "library.events",
    key: { deviceId: "hashed" },
    shards: [
      { shard: "shardA", documents: 48_900, chunks: 1 },
      { shard: "shardB", documents: 51_100, chunks: 1 },
    ],
  };

  it("says in one sentence what the bars show, the fullest first", () => {
    expect(distributionFigure(hashed).summary).toBe(
      'library.events, shard key { deviceId: "hashed" }: 100,000 documents on 2 shards: ' +
        "shardB 51,100 (51.1 %), shardA 48,900 (48.9 %).",
    );
  });

  it("names a hotspot for what it is", () => {
    const figure = distributionFigure({
      ns: "library.readings",
      key: { ts: 1 },
      shards: [
        { shard: "shardA", documents: 0, chunks: 0 },
        { shard: "shardB", documents: 100_000, chunks: 1 },
      ],
    });
    expect(figure.summary).toBe(
      "library.readings, shard key { ts: 1 }: 100,000 of 100,000 documents are on one shard, shardB; the other holds none.",
    );
  });

  it("lets every number of the picture be read from the HTML and the text table", () => {
    const figure = distributionFigure(hashed, "Chunk size scaled to 64 KB.");
    const bundle = toBundle(figure);
    expect(htmlRows(bundle["text/html"] as string)).toEqual([
      ["shardA", "A", "48900", "48.9", "1"],
      ["shardB", "B", "51100", "51.1", "1"],
    ]);
    expect(bundle["text/plain"]).toBe(
      [
        `${figure.summary}`,
        "",
        "Documents of library.events per shard",
        "shard   mark  documents  share in %  chunks",
        "------  ----  ---------  ----------  ------",
        "shardA  A         48900        48.9       1",
        "shardB  B         51100        51.1       1",
      ].join("\n"),
    );
    expect(figure.summary).toMatch(/Chunk size scaled to 64 KB\.$/);
    const plotly = bundle[PLOTLY_MIME] as { data: { x: string[]; y: number[]; text: string[] }[] };
    expect(plotly.data[0]!.x).toEqual(["shardA", "shardB"]);
    expect(plotly.data[0]!.y).toEqual([48_900, 51_100]);
    expect(plotly.data[0]!.text).toEqual(["<b>A</b> 48,900 (48.9 %)", "<b>B</b> 51,100 (51.1 %)"]);
  });

  it("keeps its JSON plain and its HTML free of script and style", () => {
    const bundle = toBundle(distributionFigure({ ...hashed, ns: "a.<script>alert(1)</script>" }));
    expect(Object.keys(bundle)).toEqual([PLOTLY_MIME, "text/html", "text/plain"]);
    expect(JSON.parse(JSON.stringify(bundle))).toEqual(bundle);
    expect(bundle["text/html"]).not.toMatch(/<(script|style|svg)|style=/);
    expect((bundle[PLOTLY_MIME] as { layout: { title: { text: string } } }).layout.title.text).not.toContain(
      "<script",
    );
    expect(bundle["text/html"]).toMatch(
      /^<figure><figcaption>.*<\/figcaption><details><summary>.*<table>.*<\/details><\/figure>$/s,
    );
  });

  it("copes with an unsharded, an empty and a very wide cluster", () => {
    const unsharded = distributionFigure({ ns: "a.b", shards: [{ shard: "shardA", documents: 3 }] });
    expect(unsharded.summary).toBe(
      "a.b, not sharded: 3 of 3 documents are on one shard, shardA; the only one.",
    );
    expect(unsharded.table.columns).not.toContain("chunks");
    const empty = distributionFigure({
      ns: "a.b",
      key: { x: 1 },
      shards: [{ shard: "shardA", documents: 0, chunks: 1 }],
    });
    expect(empty.summary).toBe("a.b, shard key { x: 1 }: no documents on 1 shard.");
    expect(empty.table.rows).toEqual([["shardA", "A", 0, 0, 1]]);
    const wide = distributionFigure({
      ns: "a.b",
      key: { x: 1 },
      shards: Array.from({ length: 6 }, (_, n) => ({
        shard: `shard${"ABCDEF"[n]}`,
        documents: n < 5 ? 10 : 0,
      })),
    });
    expect(wide.summary).toMatch(/shardD 10 \(20 %\), and 1 more shard; 1 shard with none\.$/);
  });

  it("writes a key as one would type it", () => {
    expect(keyText({ region: 1, "a.b": "hashed" })).toBe('{ region: 1, "a.b": "hashed" }');
  });
});

describe("plot.inserts", () => {
  const entry = (ns: string, sent: Record<string, number>, op = "insert") => ({
    op,
    ns,
    shards: Object.entries(sent).map(([shard, n]) => ({ shard, sent: n })),
  });

  it("takes the insert commands of one collection from the trace", () => {
    const trace = [
      entry("a.b", { shardA: 2 }),
      entry("a.c", { shardA: 9 }),
      entry("a.b", { shardA: 1 }, "find"),
      entry("a.b", { shardB: 3 }),
    ];
    expect(insertBatches(trace, "a.b").map((batch) => batch.sent)).toEqual([{ shardA: 2 }, { shardB: 3 }]);
    expect(insertBatches(trace)).toHaveLength(3);
  });

  it("shows one column a command while there is room", () => {
    const figure = insertsFigure({
      ns: "a.b",
      shards: ["shardA", "shardB"],
      batches: [
        { ns: "a.b", sent: { shardB: 1000 } },
        { ns: "a.b", sent: { shardA: 400, shardB: 600 } },
      ],
    });
    expect(figure.table.rows).toEqual([
      ["1", 0, 1000],
      ["2", 400, 600],
    ]);
    expect(figure.data[0]).toMatchObject({
      zmin: 0,
      zmax: 1000,
      x: ["1", "2"],
      y: ["shardA (A)", "shardB (B)"],
      z: [
        [0, 400],
        [1000, 600],
      ],
    });
    expect(figure.summary).toBe(
      "a.b: 2,000 documents in 2 insert commands, drawn in order of arrival, not by the clock: " +
        "shardB 1,600 (80 %), shardA 400 (20 %); in 1 of 2 columns one shard took everything.",
    );
  });

  it("puts neighbouring commands together when there are too many, losing none", () => {
    const batches = Array.from({ length: 101 }, (_, n) => ({
      ns: "a.b",
      sent: { [n % 2 ? "shardA" : "shardB"]: 10 },
    }));
    const figure = insertsFigure({ ns: "a.b", shards: ["shardA", "shardB"], batches }, 20);
    expect(figure.columns).toHaveLength(17); // six commands a column, five in the last
    expect(figure.table.rows[0]).toEqual(["1–6", 30, 30]);
    expect(figure.table.rows.at(-1)).toEqual(["97–101", 20, 30]);
    expect(figure.total).toBe(1010);
    const sums = (figure.data[0] as { z: number[][] }).z.map((row) => row.reduce((a, b) => a + b));
    expect(sums).toEqual([500, 510]);
  });

  it("says that its axis is no clock, what the trace lost, and that there is nothing yet", () => {
    const none = insertsFigure({ ns: "a.b", shards: ["shardA"], batches: [], dropped: 12 });
    expect(none.summary).toBe(
      "a.b: the trace has no inserts yet. The router keeps a bounded trace and has forgotten the first 12 operations.",
    );
    expect((none.layout["xaxis"] as { title: { text: string } }).title.text).toMatch(/not seconds/);
  });
});

describe("colours, letters and patterns", () => {
  it("keeps the letter a shard has in its name", () => {
    const marks = shardMarks(["shardC", "shardA"]);
    expect(marks.get("shardA")!.letter).toBe("A");
    expect(marks.get("shardC")!.letter).toBe("C");
  });

  it("letters other names by order, whatever order they come in", () => {
    const names = ["atlas-x-shard-1", "atlas-x-shard-0"];
    expect([...shardMarks(names)].map(([name, mark]) => [name, mark.letter])).toEqual([
      ["atlas-x-shard-0", "A"],
      ["atlas-x-shard-1", "B"],
    ]);
    expect(shardMarks(names)).toEqual(shardMarks(names.toReversed()));
  });

  it("gives 26 shards 26 different looks", () => {
    const marks = shardMarks(Array.from({ length: 26 }, (_, n) => `shard${String.fromCharCode(65 + n)}`));
    expect(new Set([...marks.values()].map((mark) => mark.colour + mark.pattern)).size).toBe(26);
    const neighbours = [...marks.values()];
    neighbours.slice(1).forEach((mark, n) => {
      expect(mark.colour).not.toBe(neighbours[n]!.colour);
      expect(mark.pattern).not.toBe(neighbours[n]!.pattern);
    });
  });

  it("has text that is readable on white and on black (4.5:1) and bars that stand out from both", () => {
    const luminance = (hex: string) => {
      const channel = (n: number) => {
        const c = parseInt(hex.slice(n, n + 2), 16) / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      };
      return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
    };
    const onWhite = (hex: string) => 1.05 / (luminance(hex) + 0.05);
    const onBlack = (hex: string) => (luminance(hex) + 0.05) / 0.05;
    expect(onWhite(NEUTRAL)).toBeGreaterThanOrEqual(4.5);
    expect(onBlack(NEUTRAL)).toBeGreaterThanOrEqual(4.5);
    for (const colour of SHARD_COLOURS) expect(Math.min(onWhite(colour), onBlack(colour))).toBeGreaterThan(2);
  });
});

describe("numbers", () => {
  it("are grouped in sentences and plain in percent", () => {
    expect(count(100_000)).toBe("100,000");
    expect([counted(1, "document"), counted(0, "document"), counted(2, "batch", "batches")]).toEqual([
      "1 document",
      "0 documents",
      "2 batches",
    ]);
    expect([percent(51_100, 100_000), percent(1, 3), percent(0, 0)]).toEqual([51.1, 33.3, 0]);
  });
});
