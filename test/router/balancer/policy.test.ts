/**
 * What the balancer moves next, as a table worked out by hand (facts §3.3).
 *
 * A row reads: shards, each with its zones, `*` for one that is draining; the chunks in order, each a letter for its
 * shard, `!` for a jumbo one; zones as ranges of chunk numbers; megabytes on each shard; what has to move. Chunk n is
 * [n, n+1) of the key x, the first one from MinKey, the last one to MaxKey.
 *
 *     ["A:EU B", "AAB", { EU: [0, 2] }]        shards A (in zone EU) and B; chunks 0 and 1 on A, 2 on B; 0 and 1 are in EU
 */
import { MaxKey, MinKey } from "bson";
import { documentSortableKey, toDocument } from "shardlab/bson";
import { describe, expect, it } from "vitest";
import { cutsAtZones, Distribution } from "../../../lib/router/balancer/distribution.js";
import type { Situation } from "../../../lib/router/balancer/policy.js";
import { differenceThreshold, plan } from "../../../lib/router/balancer/policy.js";
import { ChunkMap } from "../../../lib/router/catalog/chunkMap.js";
import type { ZoneRange } from "../../../lib/router/catalog/entries.js";

type Zones = Readonly<Record<string, readonly [from: number, to: number]>>;

const MB = 1024 * 1024;
const bound = (x: unknown): Uint8Array => toDocument({ x });

function chunkMap(text: string): { chunks: ChunkMap; jumbo: Set<string> } {
  const letters = text.match(/[A-Z]!?/g)!;
  const min = (i: number): Uint8Array => bound(i === 0 ? new MinKey() : i);
  const starts = letters.map((letter, i) => ({ min: min(i), shard: letter[0]! }));
  const jumbo = letters.flatMap((letter, i) => (letter.endsWith("!") ? [documentSortableKey(min(i))] : []));
  return { chunks: ChunkMap.build(starts, bound(new MaxKey())), jumbo: new Set(jumbo) };
}

function zoneRanges(zones: Zones, size: number): ZoneRange[] {
  return Object.entries(zones).map(([zone, [from, to]]) => ({
    min: bound(from === 0 ? new MinKey() : from),
    max: bound(to === size ? new MaxKey() : to),
    zone,
  }));
}

function shardList(text: string): Situation["shards"] {
  return text.split(" ").map((entry) => {
    const [name, zones] = entry.replace("*", "").split(":");
    return { id: name!, draining: entry.includes("*"), zones: zones?.split(",") ?? [] };
  });
}

/** The migrations as text: `chunksImbalance 0 A>B`. */
function moves(
  balancesBy: Situation["balancesBy"],
  shards: string,
  text: string,
  { zones = {}, sizes = {}, chunkSize = 128 }: Options = {},
): string[] {
  const { chunks, jumbo } = chunkMap(text);
  const list = shardList(shards);
  const megabytes = Object.entries(sizes).map(([id, size]): [string, number] => [id, size * MB]);
  const situation: Situation = {
    shards: list,
    distribution: new Distribution(chunks, zoneRanges(zones, chunks.size), jumbo),
    balancesBy,
    sizes: new Map(megabytes),
    maxChunkSize: chunkSize * MB,
  };
  const due = plan(situation, new Set(list.map(({ id }) => id)));
  return due.map(({ chunk, from, to, reason }) => `${reason} ${chunk} ${from}>${to}`);
}

interface Options {
  readonly zones?: Zones;
  /** In MB. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** In MB. */
  readonly chunkSize?: number;
}

type Row = readonly [what: string, shards: string, chunks: string, options: Options, expected: string[]];

const EU = (from: number, to: number): Options => ({ zones: { EU: [from, to] } });

/** Each shard's share is all chunks through all shards, rounded: the donor has more, the recipient fewer. */
const BY_CHUNKS: readonly Row[] = [
  ["2 + 0, share 1", "A B", "AA", {}, ["chunksImbalance 0 A>B"]],
  ["1 + 1, share 1", "A B", "AB", {}, []],
  ["2 + 1, share 1.5 ≈ 2: nobody has more", "A B", "AAB", {}, []],
  ["3 + 1, share 2", "A B", "AAAB", {}, ["chunksImbalance 0 A>B"]],
  ["a single chunk, share 0.5 ≈ 1", "A B", "A", {}, []],
  ["3 + 0, share 1.5 ≈ 2", "A B", "AAA", {}, ["chunksImbalance 0 A>B"]],
  ["3 + 1 + 1: the share is 5 / 3, rounded up to 2", "A B C", "AAABC", {}, ["chunksImbalance 0 A>B"]],
  ["2 + 1 + 1: the share is 4 / 3, rounded down to 1", "A B C", "AABC", {}, []],
  ["6 + 0 + 0: A can only give once in a round", "A B C", "AAAAAA", {}, ["chunksImbalance 0 A>B"]],
  [
    "4 + 4 + 0 + 0, share 2: two pairs at once",
    "A B C D",
    "AAAABBBB",
    {},
    ["chunksImbalance 0 A>C", "chunksImbalance 4 B>D"],
  ],
  ["3 + 2 + 1, share 2: to the emptiest", "A B C", "AAABBC", {}, ["chunksImbalance 0 A>C"]],
  ["3 + 3 + 0: of equals the first gives", "A B C", "AAABBB", {}, ["chunksImbalance 0 A>C"]],
  ["the first chunk is jumbo, the next one goes", "A B", "A!AAAB", {}, ["chunksImbalance 1 A>B"]],
  ["all are jumbo", "A B", "A!A!A!A!", {}, []],
  ["a draining shard gives its chunk away", "A* B", "AB", {}, ["draining 0 A>B"]],
  ["… to the emptiest, the first of equals", "A* B C", "AABC", {}, ["draining 0 A>B"]],
  ["… to the emptiest", "A* B C", "AABBC", {}, ["draining 0 A>C"]],
  ["… passing over the jumbo one", "A* B", "A!A", {}, ["draining 1 A>B"]],
  ["… and keeps it for ever when it is the last", "A* B", "A!", {}, []],
  ["two draining shards at once", "A* B* C D", "AABB", {}, ["draining 0 A>C", "draining 2 B>D"]],
  ["a draining shard gets nothing", "A B*", "AAAA", {}, []],
  [
    "a draining shard's chunk of a zone stays in the zone",
    "A*:EU B C:EU",
    "AB",
    EU(0, 1),
    ["draining 0 A>C"],
  ],
  ["… and where nobody else is in it, on the shard", "A*:EU B", "AB", EU(0, 1), []],
  ["… while its other chunks go", "A*:EU B", "AA", EU(0, 1), ["draining 1 A>B"]],
  ["a chunk in a zone that its shard is not in", "A B:EU", "AB", EU(0, 1), ["zoneViolation 0 A>B"]],
  ["… stays when it is jumbo", "A B:EU", "A!B", EU(0, 1), []],
  ["… stays when nobody is in the zone", "A B", "AB", EU(0, 1), []],
  [
    "… goes to the shard with the fewest of the zone",
    "A B:EU C:EU",
    "AABC",
    EU(1, 3),
    ["zoneViolation 1 A>C"],
  ],
  [
    "two chunks on each other's shard: one after the other",
    "A:EU B:US",
    "BA",
    { zones: { EU: [0, 1], US: [1, 2] } },
    ["zoneViolation 1 A>B"],
  ],
  [
    "two violations in different pairs: at once",
    "A:EU B:US C:FR D:DE",
    "ABCD",
    { zones: { US: [0, 1], DE: [2, 3] } },
    ["zoneViolation 0 A>B", "zoneViolation 2 C>D"],
  ],
  ["draining comes before zones: B is taken", "A* B:EU C D", "ACCD", EU(1, 2), ["draining 0 A>B"]],
  ["balance within a zone: 4 + 0, share 2", "A:EU B:EU C", "AAAAC", EU(0, 4), ["chunksImbalance 0 A>B"]],
  [
    "a zone, and the chunks in none: 7 chunks, 4 shards, share 2",
    "A:EU B:EU C D",
    "AAAACCC",
    EU(0, 4),
    ["chunksImbalance 0 A>B", "chunksImbalance 4 C>D"],
  ],
  ["chunks in no zone share with all: 5 through 2 ≈ 3", "A:EU B", "AAABB", EU(0, 3), []],
  ["a zone's chunks stay in it, however many", "A:EU B", "AAAAAA", EU(0, 6), []],
  ["a chunk that sticks out of its zone is in none", "A B:EU", "AAB", EU(1.5, 2), []],
];

/** The fullest and the emptiest shard differ by 2 (under 20 chunks), 4 (under 80), 8: one migration at a time. */
const BY_DIFFERENCE: readonly Row[] = [
  ["2 + 0", "A B", "AA", {}, ["chunksImbalance 0 A>B"]],
  ["1 + 0", "A B", "A", {}, []],
  ["2 + 1", "A B", "AAB", {}, []],
  ["3 + 1", "A B", "AAAB", {}, ["chunksImbalance 0 A>B"]],
  ["19 chunks, 11 + 8", "A B", "A".repeat(11) + "B".repeat(8), {}, ["chunksImbalance 0 A>B"]],
  ["20 chunks, 11 + 9", "A B", "A".repeat(11) + "B".repeat(9), {}, []],
  ["20 chunks, 12 + 8", "A B", "A".repeat(12) + "B".repeat(8), {}, ["chunksImbalance 0 A>B"]],
  ["80 chunks, 43 + 37", "A B", "A".repeat(43) + "B".repeat(37), {}, []],
  ["80 chunks, 44 + 36", "A B", "A".repeat(44) + "B".repeat(36), {}, ["chunksImbalance 0 A>B"]],
  ["two pairs, one migration", "A B C D", "AAAABBBB", {}, ["chunksImbalance 0 A>C"]],
  ["two draining shards, one migration", "A* B* C D", "AABB", {}, ["draining 0 A>C"]],
  ["a violation before an imbalance", "A B:EU C", "BBBBA", EU(4, 5), ["zoneViolation 4 A>B"]],
];

/** Bytes: three chunk sizes, 384 MB, between the fullest and the emptiest. The share is the mean of the shards. */
const BY_SIZE: readonly Row[] = [
  ["384 MB + 0", "A B", "AA", { sizes: { A: 384 } }, ["chunksImbalance 0 A>B"]],
  ["383 MB + 0", "A B", "AA", { sizes: { A: 383 } }, []],
  ["600 MB + 200 MB", "A B", "AB", { sizes: { A: 600, B: 200 } }, ["chunksImbalance 0 A>B"]],
  ["500 MB + 200 MB", "A B", "AB", { sizes: { A: 500, B: 200 } }, []],
  ["nothing", "A B", "AAAA", { sizes: {} }, []],
  [
    "3 MB with a chunk size of 1 MB",
    "A B",
    "A",
    { sizes: { A: 3 }, chunkSize: 1 },
    ["chunksImbalance 0 A>B"],
  ],
  ["2 MB with a chunk size of 1 MB", "A B", "A", { sizes: { A: 2 }, chunkSize: 1 }, []],
  [
    "900 + 500 + 400: the mean is 600",
    "A B C",
    "ABC",
    { sizes: { A: 900, B: 500, C: 400 } },
    ["chunksImbalance 0 A>C"],
  ],
  [
    "two pairs at once",
    "A B C D",
    "AABBCD",
    { sizes: { A: 900, B: 900, C: 100, D: 100 } },
    ["chunksImbalance 0 A>C", "chunksImbalance 2 B>D"],
  ],
  ["chunks don't count", "A B", "ABBBBBBBB", { sizes: { A: 1000 } }, ["chunksImbalance 0 A>B"]],
  ["jumbo is passed over", "A B", "A!AB", { sizes: { A: 1000 } }, ["chunksImbalance 1 A>B"]],
  ["only jumbo", "A B", "A!B", { sizes: { A: 1000 } }, []],
  ["one megabyte leaves a draining shard", "A* B", "AB", { sizes: { A: 1 } }, ["draining 0 A>B"]],
  [
    "to where the least data is, not the fewest chunks",
    "A* B C",
    "ABCCC",
    { sizes: { A: 10, B: 500, C: 100 } },
    ["draining 0 A>C"],
  ],
  [
    "a violation goes to where the least data is",
    "A B:EU C:EU",
    "ABC",
    { ...EU(0, 1), sizes: { A: 1, B: 900, C: 200 } },
    ["zoneViolation 0 A>C"],
  ],
  [
    "balance within a zone",
    "A:EU B:EU C",
    "AABC",
    { ...EU(0, 2), sizes: { A: 1000, B: 100 } },
    ["chunksImbalance 0 A>B"],
  ],
  ["nothing leaves its zone for size", "A:EU B", "AB", { ...EU(0, 1), sizes: { A: 1000 } }, []],
  [
    "what is in no zone does",
    "A:EU B",
    "AAB",
    { ...EU(0, 1), sizes: { A: 1000 } },
    ["chunksImbalance 1 A>B"],
  ],
  ["a draining shard counts for the mean: 400", "A B* C", "AAC", { sizes: { A: 800, C: 400 } }, []],
];

describe("by number of chunks, each shard its share", () => {
  it.each(BY_CHUNKS)("%s", (_what, shards, chunks, options, expected) => {
    expect(moves("chunks", shards, chunks, options)).toEqual(expected);
  });
});

describe("by difference of chunks", () => {
  it.each(BY_DIFFERENCE)("%s", (_what, shards, chunks, options, expected) => {
    expect(moves("chunkDifference", shards, chunks, options)).toEqual(expected);
  });

  it("has its thresholds at 20 and 80 chunks", () => {
    expect([0, 19, 20, 79, 80, 1e6].map(differenceThreshold)).toEqual([2, 2, 4, 4, 8, 8]);
  });
});

describe("by size", () => {
  it.each(BY_SIZE)("%s", (_what, shards, chunks, options, expected) => {
    expect(moves("dataSize", shards, chunks, options)).toEqual(expected);
  });
});

it("the table has at least forty distributions", () => {
  expect(BY_CHUNKS.length + BY_DIFFERENCE.length + BY_SIZE.length).toBeGreaterThanOrEqual(40);
});

it("a shard that took part in another collection's migration has its turn later", () => {
  const { chunks } = chunkMap("AAAA");
  const situation = (by: Situation["balancesBy"]): Situation => ({
    shards: shardList("A B C"),
    distribution: new Distribution(chunks, []),
    balancesBy: by,
  });
  expect(plan(situation("chunks"), new Set(["B", "C"]))).toEqual([]);
  expect(plan(situation("chunks"), new Set(["A", "C"]))).toMatchObject([{ from: "A", to: "C" }]);
});

describe("cuts at the bounds of zones", () => {
  const cuts = (chunks: string, ranges: ZoneRange[]): [number, number[]][] =>
    [...cutsAtZones(chunkMap(chunks).chunks, ranges)].map(([index, points]) => [index, points.map(xOf)]);
  const xOf = (point: Uint8Array): number => new DataView(point.buffer, point.byteOffset).getInt32(7, true);
  const range = (min: unknown, max: unknown): ZoneRange => ({ min: bound(min), max: bound(max), zone: "EU" });

  it("cuts a chunk at both bounds inside it, and none at a bound that is a border", () => {
    expect(cuts("AA", [range(1, 10)])).toEqual([[1, [10]]]);
    expect(cuts("AA", [range(-5, 0)])).toEqual([[0, [-5, 0]]]);
    expect(cuts("AA", [range(-5, 20)])).toEqual([
      [0, [-5]],
      [1, [20]],
    ]);
    expect(cuts("AA", [range(new MinKey(), new MaxKey())])).toEqual([]);
  });

  it("cuts once where two zones meet", () => {
    expect(cuts("A", [range(0, 10), range(10, 20)])).toEqual([[0, [0, 10, 20]]]);
  });
});
