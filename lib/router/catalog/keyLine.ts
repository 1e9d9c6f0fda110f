/**
 * Finding a key among a million chunks, without a million strings.
 *
 * A binary search over the sortable keys of all bounds touches twenty strings,
 * each somewhere else in memory; among a million that waits for memory twenty
 * times. So six characters of each bound, those behind what all bounds have in
 * common, are kept as one number, its *head*, and the heads in arrays:
 *
 *     begins   dev-00000…  dev-00417…  dev-00833…       common: "dev-00"
 *     heads    "000…"      "417…"      "833…"           ascending numbers
 *
 * A table over the heads says where to begin: the line from the first head to
 * the last is cut into as many equal stretches as there are bounds, and the
 * table has the position of each stretch's first head. Where heads are spread
 * evenly a stretch has one or two of them, so that a look-up costs about the
 * same whatever the size; where they are not, the binary search does the rest:
 *
 *     stretch   0        1        2        3
 *     heads     0  1     2                 3  4  5
 *     table     0        2        3        3        6
 *
 * Different heads order like their keys. Where the heads of several bounds are
 * equal (long common beginnings, many fields), the strings themselves decide.
 */
import type { SortableKey } from "../../bson/index.js";

/** Characters in a head: as many as a double holds exactly. */
const HEAD = 6;

/** Lower bounds of chunks 1, 2, …, ready to be searched; chunk 0 begins below every key. */
export class KeyLine {
  readonly #begins: readonly SortableKey[];
  /** What bounds 1, 2, … have in common. */
  readonly #common: string;
  /** The heads of bounds 1, 2, … */
  readonly #heads: Float64Array;
  /** For each stretch the position of its first head; at the end the number of heads. */
  readonly #table: Uint32Array;
  /** Stretches per unit of a head. */
  readonly #scale: number;

  /** @param begins lower bounds of all chunks, ascending; at least two */
  constructor(begins: readonly SortableKey[]) {
    const count = begins.length - 1;
    this.#begins = begins;
    this.#common = commonBeginning(begins[1]!, begins[count]!);
    this.#heads = new Float64Array(count);
    for (let i = 0; i < count; i++) this.#heads[i] = headOf(begins[i + 1]!, this.#common.length);
    this.#scale = count / (this.#heads[count - 1]! - this.#heads[0]! + 1);
    this.#table = new Uint32Array(count + 1).fill(count);
    for (let i = count - 1; i >= 0; i--) this.#table[this.#stretchOf(this.#heads[i]!)] = i;
    // An empty stretch begins where the next one does.
    for (let i = count - 1; i >= 0; i--) this.#table[i] = Math.min(this.#table[i]!, this.#table[i + 1]!);
  }

  /** The index of the chunk that a key belongs to: the last that begins at or before it. */
  find(key: SortableKey): number {
    const begins = this.#begins;
    const common = this.#common;
    // All bounds begin alike: a key that does not is below or above them all.
    if (!key.startsWith(common)) return key < begins[1]! ? 0 : begins.length - 1;
    const head = headOf(key, common.length);
    const heads = this.#heads;
    if (head < heads[0]!) return 0;
    if (head > heads[heads.length - 1]!) return heads.length;
    const stretch = this.#stretchOf(head);
    let from = this.#table[stretch]!;
    let to = this.#table[stretch + 1]!;
    // Invariant: heads before `from` are at or below this one, those from `to` on above it.
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (heads[middle]! <= head) from = middle + 1;
      else to = middle;
    }
    return heads[from - 1] === head ? this.#amongEqual(key, head, from) : from;
  }

  /** The stretch of a head between the first and the last. */
  #stretchOf(head: number): number {
    return Math.floor((head - this.#heads[0]!) * this.#scale);
  }

  /** Decides between bounds with the key's own head; `after` is the first position behind them. */
  #amongEqual(key: SortableKey, head: number, after: number): number {
    const begins = this.#begins;
    if (begins[after]! <= key) return after;
    const heads = this.#heads;
    // The first of them: steps that double, then halves.
    let step = 1;
    while (after - step > 0 && heads[after - step - 1] === head && begins[after - step]! > key) step *= 2;
    let low = Math.max(0, after - step);
    let high = after;
    // Invariant: chunk `low` begins at or before the key, chunk `high` after it.
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (begins[middle]! <= key) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** What two strings begin with; of a sorted list's first and last, what all of it begins with. */
function commonBeginning(first: string, last: string): string {
  let length = 0;
  while (length < first.length && first.charCodeAt(length) === last.charCodeAt(length)) length++;
  return first.slice(0, length);
}

/** Six characters from a position on as a number; missing ones count as 0. */
function headOf(key: SortableKey, at: number): number {
  if (key.length >= at + HEAD) {
    const high = (key.charCodeAt(at) << 16) | (key.charCodeAt(at + 1) << 8) | key.charCodeAt(at + 2);
    const low = (key.charCodeAt(at + 3) << 16) | (key.charCodeAt(at + 4) << 8) | key.charCodeAt(at + 5);
    return high * 0x1000000 + low;
  }
  let head = 0;
  for (let i = at; i < at + HEAD; i++) head = head * 256 + (i < key.length ? key.charCodeAt(i) : 0);
  return head;
}
