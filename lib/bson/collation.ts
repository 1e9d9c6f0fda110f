/**
 * Collations: how strings compare where byte order is not wanted.
 *
 * A collation is an order on strings (JavaScript's `Intl.Collator` gives it,
 * ICU as in MongoDB). But the engine keeps keys as strings that compare with
 * `<`, and a collator cannot be asked for such a key. So a collation *gives out
 * labels*: each class of equal strings it meets gets a label that lies between
 * the labels of its neighbours, and keeps it for ever.
 *
 *     key("banana") → "\x80"                      the first one: the middle
 *     key("Apple")  → "\x40"                      the middle of what lies before
 *     key("BANANA") → "\x80"  (strength 1 and 2)  equal strings, one label
 *     key("cherry") → "\xbf"                      the middle of what lies behind
 *
 * Labels are fractions written in digits 2–253, so there is always room
 * between two of them. Strings in any order halve the gap: a digit more every
 * eight halvings. Strings that come in order would halve one gap for ever, so
 * there the neighbour's label counts on: three digits last for 16 million steps.
 *
 * Keys of one collation object compare with keys of the same object only. An
 * index owns one, a query has its own.
 */

/** How strings compare. */
export interface Collation {
  /** The complete specification, as explain and `listIndexes` show it. */
  readonly spec: Uint8Array;
  /** Negative, 0 or positive: the order of two strings. */
  compare(a: string, b: string): number;
  /**
   * The place of a string among all strings given to this object: `<` and `===` of keys are its order.
   * @returns characters 2–253; does not end with the character 2
   */
  key(text: string): string;
}

/** Whether two collations order alike; absent is the simple one. */
export function sameCollation(a: Collation | undefined, b: Collation | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a === b || (a.spec.length === b.spec.length && a.spec.every((byte, i) => byte === b.spec[i]));
}

/** Spellings whose label is remembered without a search. */
const REMEMBERED = 50_000;
/** Classes in one block of the ordered list, before it is divided. */
const BLOCK = 512;

interface Entry {
  readonly text: string;
  readonly label: string;
}

/**
 * A collation that compares with the given function.
 * @param spec see {@link Collation.spec}
 * @param compare a total order on strings, equality included
 * @example
 * const collation = new LabelledCollation(spec, new Intl.Collator("en", { sensitivity: "base" }).compare);
 * collation.key("a") === collation.key("Á") && collation.key("a") < collation.key("b") // true
 */
export class LabelledCollation implements Collation {
  /** Classes in order, in blocks, so that a new one moves few others. */
  readonly #blocks: Entry[][] = [];
  readonly #remembered = new Map<string, string>();
  #last = "";

  constructor(
    readonly spec: Uint8Array,
    readonly compare: (a: string, b: string) => number,
  ) {}

  key(text: string): string {
    const known = this.#remembered.get(text);
    if (known !== undefined) return known;
    const label = this.#labelOf(text);
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear();
    this.#remembered.set(text, label);
    return label;
  }

  #labelOf(text: string): string {
    const { compare } = this;
    const blocks = this.#blocks;
    if (blocks.length === 0) {
      this.#last = labelBetween("", undefined);
      blocks.push([{ text, label: this.#last }]);
      return this.#last;
    }
    const at = Math.max(0, countWhile(blocks.length, (i) => compare(blocks[i]![0]!.text, text) <= 0) - 1);
    const block = blocks[at]!;
    const place = countWhile(block.length, (i) => compare(block[i]!.text, text) < 0);
    const next = block[place];
    if (next !== undefined && compare(next.text, text) === 0) return next.label;
    const before = block[place - 1] ?? blocks[at - 1]?.at(-1);
    const after = next ?? blocks[at + 1]?.[0];
    const label = labelBetween(before?.label ?? "", after?.label, this.#last);
    this.#last = label;
    block.splice(place, 0, { text, label });
    if (block.length > BLOCK) blocks.splice(at + 1, 0, block.splice(BLOCK / 2));
    return label;
  }
}

/** How many of the first `n` numbers satisfy a condition that turns from true to false once. */
function countWhile(n: number, holds: (i: number) => boolean): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const LOWEST = 2;
const HIGHEST = 253;
const DIGITS = HIGHEST - LOWEST + 1;
/** Digits that count on where strings come in order. */
const COUNTER = 3;

const digitAt = (label: string, i: number): number => (i < label.length ? label.charCodeAt(i) - LOWEST : 0);
const char = (digit: number): string => String.fromCharCode(digit + LOWEST);

/**
 * A label above `low` and below `high`.
 * @param low "" for no lower neighbour
 * @param high undefined for no upper neighbour
 * @param last the label given out last: where strings come in order it is a neighbour, and its counter goes on
 */
export function labelBetween(low: string, high: string | undefined, last?: string): string {
  if (low !== "" && low === last) {
    for (const next of [counted(low, 1), low + START]) {
      if (next !== undefined && (high === undefined || next < high)) return next;
    }
  }
  if (high !== undefined && high === last) {
    const previous = counted(high, -1);
    if (previous !== undefined && previous > low) return previous;
    return middle(low, high) + START;
  }
  return middle(low, high);
}

/** A step of the counter; none beyond its ends, nor to a label that ends with the lowest digit: nothing fits below that. */
function counted(label: string, step: 1 | -1): string | undefined {
  if (label.length <= COUNTER) return undefined;
  const head = label.slice(0, -COUNTER);
  let count = 0;
  for (let i = head.length; i < label.length; i++) count = count * DIGITS + digitAt(label, i);
  count += step;
  if (count % DIGITS === 0) count += step;
  if (count <= 0 || count >= DIGITS ** COUNTER) return undefined;
  let digits = "";
  for (let i = 0; i < COUNTER; i++) {
    digits = char(count % DIGITS) + digits;
    count = Math.floor(count / DIGITS);
  }
  return head + digits;
}

/** The middle of a gap, as short as can be. */
function middle(low: string, high: string | undefined): string {
  let label = "";
  let bounded = high !== undefined;
  for (let i = 0; ; i++) {
    const a = digitAt(low, i);
    const b = bounded ? digitAt(high!, i) : DIGITS;
    if (b - a > 1) return label + char((a + b) >>> 1);
    label += char(a);
    // One step apart: everything above `low` from here on lies below `high`.
    if (b - a === 1) bounded = false;
  }
}

/** A counter in the middle of its range. */
const START = char(DIGITS >>> 1) + char(0) + char(1);
