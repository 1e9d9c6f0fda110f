/**
 * How a shard looks in every figure: a letter, a colour and a pattern. Colour is
 * never alone: the letter stands in each label, and neighbours differ in pattern,
 * so a figure can be read in black and white.
 *
 * The colours are Okabe and Ito's, told apart by people with any of the common
 * colour deficiencies. Black and yellow are left out: they vanish on a dark and
 * on a light page. Six colours would not do for 26 shards, but the patterns have
 * another period (8) and shift by one after 24, so that 26 shards look different.
 */

/** Okabe–Ito colours that stand out from white and from black. */
export const SHARD_COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9"] as const;

/** Plotly's fill patterns; the first is a plain fill. */
export const SHARD_PATTERNS = ["", "/", "x", ".", "\\", "-", "+", "|"] as const;

/**
 * Grey for text and outlines: 4.6:1 on white and 4.6:1 on black, the only band of
 * grey that is readable on both. A page that knows its theme may set another.
 */
export const NEUTRAL = "#757575";

/** Letter, colour and pattern of one shard. */
export interface ShardMark {
  letter: string;
  colour: string;
  pattern: string;
}

/**
 * Marks for a set of shards, the same for the same set in whatever order.
 * `shardA` … `shardZ` keep their own letter; other names get A, B, … by their order.
 */
export function shardMarks(shards: readonly string[]): Map<string, ShardMark> {
  const names = [...new Set(shards)].sort();
  const own = names.map((name) => /^shard([A-Z])$/.exec(name)?.[1]);
  const lettered = own.every((letter) => letter !== undefined);
  return new Map(
    names.map((name, position) => {
      const letter = lettered ? (own[position] ?? "") : letterAt(position);
      const index = lettered ? letter.charCodeAt(0) - 65 : position;
      return [
        name,
        {
          letter,
          colour: SHARD_COLOURS[index % SHARD_COLOURS.length] ?? NEUTRAL,
          pattern: SHARD_PATTERNS[(index + Math.floor(index / 24)) % SHARD_PATTERNS.length] ?? "",
        },
      ];
    }),
  );
}

/** A … Z, AA, AB, … as spreadsheet columns. */
function letterAt(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest > 0 ? letterAt(rest - 1) : "") + String.fromCharCode(65 + (index % 26));
}
