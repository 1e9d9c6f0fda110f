/**
 * The engine for what the fast ones cannot do: look-around, atomic groups,
 * back references, and captures exactly as PCRE makes them.
 *
 * It backtracks, on a stack of its own, and keeps two promises. A state —
 * place in the program, place in the text — that has failed once is never
 * tried again, so that a pattern without back references takes time in
 * proportion to text × pattern. And all steps are counted: a search ends after
 * {@link STEP_LIMIT} of them, as MongoDB's ends at PCRE's match limit. What
 * can't be remembered (the bodies of look-around and atomic groups, back
 * references) is bounded by that limit alone.
 */
import { sameIgnoringCase } from "./regexCase.js";
import { Op, type Look, type Program, type Range } from "./regexProgram.js";

/** Steps that one search may take, and some more for each character: about half a second. PCRE's own limit is of this size. */
const STEP_LIMIT = 10_000_000;
const STEPS_PER_CHARACTER = 8;
/** Bits to remember failed states with; beyond, only steps are counted. */
const MEMORY_LIMIT = 1 << 28;
const STACK_LIMIT = 1 << 24;

/** A search used up its steps. */
export class MatchLimitError extends Error {}

// Entries of the stack, four numbers each: kind and operands.
const BRANCH = 0; // pc, position
const RESTORE = 1; // slot, value
const GIVE_BACK = 2; // pc, lowest position, position
const TAKE_MORE = 3; // pc, position, times left

export class RegexMatcher {
  readonly #program: Program;
  readonly #slots: Int32Array;
  #stack = new Int32Array(256);
  #top = 0;
  #steps = 0;
  #text = "";
  /** Failed states, one bit each; empty where they aren't remembered. */
  #failed = new Uint32Array(0);

  constructor(program: Program) {
    this.#program = program;
    this.#slots = new Int32Array(program.slots);
  }

  /**
   * The first match at or behind `from`: ends of the groups, pairs of
   * positions in UTF-16 units, -1 for groups that took no part.
   * @throws MatchLimitError
   */
  search(text: string, from: number): Int32Array | undefined {
    const program = this.#program;
    this.#text = text;
    this.#steps = -STEPS_PER_CHARACTER * text.length;
    const bits = program.splits * (text.length + 1);
    const remember = !program.hasBackreferences && bits <= MEMORY_LIMIT;
    this.#failed = new Uint32Array(remember ? (bits + 31) >>> 5 : 0);
    try {
      for (let start = from; start <= text.length; start++) {
        if (isLowSurrogate(text, start)) continue;
        this.#slots.fill(-1);
        this.#top = 0;
        const end = this.#run(0, start, remember);
        if (end < 0) continue;
        this.#slots[0] = start;
        this.#slots[1] = end;
        return this.#slots;
      }
      return undefined;
    } finally {
      this.#text = "";
      this.#failed = new Uint32Array(0);
      if (this.#stack.length > 1 << 16) this.#stack = new Int32Array(256);
    }
  }

  #push(kind: number, x: number, y: number, z = 0): void {
    if (this.#top + 4 > this.#stack.length) {
      if (this.#stack.length >= STACK_LIMIT) throw new MatchLimitError();
      const grown = new Int32Array(this.#stack.length * 2);
      grown.set(this.#stack);
      this.#stack = grown;
    }
    const stack = this.#stack;
    stack[this.#top++] = kind;
    stack[this.#top++] = x;
    stack[this.#top++] = y;
    stack[this.#top++] = z;
  }

  #save(slot: number, position: number): void {
    this.#push(RESTORE, slot, this.#slots[slot]!);
    this.#slots[slot] = position;
  }

  /** True the first time a state is met. */
  #isNew(pc: number, position: number): boolean {
    const bit = this.#program.splitNumber[pc]! * (this.#text.length + 1) + position;
    const mask = 1 << (bit & 31);
    if ((this.#failed[bit >>> 5]! & mask) !== 0) return false;
    this.#failed[bit >>> 5]! |= mask;
    return true;
  }

  /**
   * Runs from `pc` at `position` to the next `match`. On success, everything
   * that could be undone stays on the stack above the height it started with.
   * @returns where the match ends, or -1
   */
  #run(pc: number, position: number, remember: boolean): number {
    const { ops, a, b } = this.#program;
    const base = this.#top;
    const text = this.#text;
    for (;;) {
      if (++this.#steps > STEP_LIMIT) throw new MatchLimitError();
      let ok = true;
      switch (ops[pc]) {
        case Op.match:
          return position;
        case Op.set: {
          const code = text.codePointAt(position);
          ok = code !== undefined && this.#program.tests[a[pc]!]!(code);
          if (ok) position += code! > 0xffff ? 2 : 1;
          pc++;
          break;
        }
        case Op.split:
          ok = !remember || this.#isNew(pc, position);
          if (ok) this.#push(BRANCH, b[pc]!, position);
          pc = a[pc]!;
          break;
        case Op.jump:
          pc = a[pc]!;
          break;
        case Op.save:
          this.#save(a[pc]!, position);
          pc++;
          break;
        case Op.leaveIfEmpty:
          pc = this.#slots[a[pc]!] === position ? b[pc]! : pc + 1;
          break;
        case Op.assert:
          ok = this.#holds(a[pc]!, position);
          pc++;
          break;
        case Op.look: {
          const look = this.#program.looks[a[pc]!]!;
          ok = this.#lookFrom(look, position);
          pc = look.next;
          break;
        }
        case Op.atomic: {
          const end = this.#enclosed(pc + 1, position);
          ok = end >= 0;
          position = end;
          pc = a[pc]!;
          break;
        }
        case Op.backreference: {
          const end = this.#repeatGroup(a[pc]!, position, b[pc] === 1);
          ok = end >= 0;
          position = end;
          pc++;
          break;
        }
        default:
          position = this.#range(this.#program.ranges[a[pc]!]!, pc, position);
          ok = position >= 0;
          pc++;
      }
      if (ok) continue;
      // Back to the last choice.
      for (;;) {
        if (this.#top === base) return -1;
        this.#top -= 4;
        const stack = this.#stack;
        const x = stack[this.#top + 1]!;
        const y = stack[this.#top + 2]!;
        const z = stack[this.#top + 3]!;
        const kind = stack[this.#top]!;
        if (kind === RESTORE) {
          this.#slots[x] = y;
          continue;
        }
        pc = x;
        position = y;
        if (kind === BRANCH) break;
        if (kind === GIVE_BACK) {
          position = isLowSurrogate(text, z - 1) ? z - 2 : z - 1;
          if (position > y) this.#push(GIVE_BACK, x, y, position);
          pc++;
          break;
        }
        position = this.#takeMore(this.#program.ranges[a[pc]!]!, pc, position, z);
        if (position < 0) continue;
        pc++;
        break;
      }
    }
  }

  /** A counted repeat of a set: all at once, with the other counts to come back to. */
  #range(range: Range, pc: number, from: number): number {
    let position = from;
    let times = 0;
    for (; times < range.min; times++) {
      position = this.#one(range, position);
      if (position < 0) return -1;
    }
    if (!range.greedy) {
      if (range.max > range.min) this.#push(TAKE_MORE, pc, position, range.max - range.min);
      return position;
    }
    const low = position;
    for (let next; times < range.max && (next = this.#one(range, position)) >= 0; times++) position = next;
    if (position > low) this.#push(GIVE_BACK, pc, low, position);
    return position;
  }

  #takeMore(range: Range, pc: number, position: number, left: number): number {
    const next = this.#one(range, position);
    if (next >= 0 && left > 1) this.#push(TAKE_MORE, pc, next, left - 1);
    return next;
  }

  #one(range: Range, position: number): number {
    if (++this.#steps > STEP_LIMIT) throw new MatchLimitError();
    const code = this.#text.codePointAt(position);
    if (code === undefined || !range.test(code)) return -1;
    return position + (code > 0xffff ? 2 : 1);
  }

  /** A body whose choices are dropped once it has matched; what it captured stays, and can be undone. */
  #enclosed(pc: number, position: number): number {
    const base = this.#top;
    const end = this.#run(pc, position, false);
    if (end < 0) return -1;
    const stack = this.#stack;
    let kept = base;
    for (let at = base; at < this.#top; at += 4) {
      if (stack[at] !== RESTORE) continue;
      stack.copyWithin(kept, at, at + 4);
      kept += 4;
    }
    this.#top = kept;
    return end;
  }

  #lookFrom(look: Look, position: number): boolean {
    const base = this.#top;
    for (const { start, length } of look.bodies) {
      const from = look.ahead ? position : this.#back(position, length);
      if (from < 0) continue;
      const end = this.#enclosed(start, from);
      if (end < 0 || (!look.ahead && end !== position)) continue;
      if (!look.negative) return true;
      for (; this.#top > base; this.#top -= 4)
        this.#slots[this.#stack[this.#top - 3]!] = this.#stack[this.#top - 2]!;
      return false;
    }
    return look.negative;
  }

  #back(position: number, characters: number): number {
    let at = position;
    for (let i = 0; i < characters; i++) {
      at -= isLowSurrogate(this.#text, at - 1) ? 2 : 1;
      if (at < 0) return -1;
    }
    return at;
  }

  /** The text of a group once more; a group that took no part has none. */
  #repeatGroup(group: number, position: number, ignoreCase: boolean): number {
    const from = this.#slots[2 * group]!;
    const to = this.#slots[2 * group + 1]!;
    if (from < 0 || to < 0) return -1;
    const text = this.#text;
    this.#steps += to - from;
    if (!ignoreCase) return text.startsWith(text.slice(from, to), position) ? position + (to - from) : -1;
    let at = position;
    for (let i = from; i < to;) {
      const wanted = text.codePointAt(i)!;
      const code = text.codePointAt(at);
      if (code === undefined || !sameIgnoringCase(code, wanted)) return -1;
      i += wanted > 0xffff ? 2 : 1;
      at += code > 0xffff ? 2 : 1;
    }
    return at;
  }

  #holds(assertion: number, position: number): boolean {
    const text = this.#text;
    const { length } = text;
    switch (this.#program.assertions[assertion]!) {
      case "start":
        return position === 0;
      case "end":
        return position === length;
      case "endOrNewline":
        return position === length || (position === length - 1 && text[position] === "\n");
      case "lineStart":
        return position === 0 || (text[position - 1] === "\n" && position < length);
      case "lineEnd":
        return position === length || text[position] === "\n";
      case "wordBoundary":
        return isWord(text, position - 1) !== isWord(text, position);
      case "notWordBoundary":
        return isWord(text, position - 1) === isWord(text, position);
      case "unicodeWordBoundary":
        return this.#isUnicodeWord(this.#back(position, 1)) !== this.#isUnicodeWord(position);
      case "notUnicodeWordBoundary":
        return this.#isUnicodeWord(this.#back(position, 1)) === this.#isUnicodeWord(position);
    }
  }

  #isUnicodeWord(position: number): boolean {
    const code = position < 0 ? undefined : this.#text.codePointAt(position);
    return code !== undefined && this.#program.unicodeWord(code);
  }
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at); // NaN outside
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function isWord(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (
    (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || (unit >= 48 && unit <= 57) || unit === 95
  );
}
