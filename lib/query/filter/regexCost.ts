/**
 * How much work a pattern can make.
 *
 * JavaScript's RegExp backtracks: it is several times faster than a
 * linear-time engine where a pattern leaves it no choice, and takes forever
 * where it leaves many. Here the choices are counted, in the worst case, for a
 * text of `n` characters:
 *
 *     ways(node)  in how many ways the node can match from one place
 *     work(node)  steps that all these ways take together
 *
 *     a b        work(a) + ways(a)·work(b)       ways(a)·ways(b)
 *     [a-z]*     n                               n + 1
 *     (?:ab|c)   the sums of the branches
 *     (a|b)*     two ways each time round: not bounded
 *
 * An unanchored search starts at each of n + 1 places. From this follows the
 * longest text for which a pattern is harmless; longer texts go elsewhere.
 */
import type { RegexNode } from "./regexTree.js";

/** Steps that one search may take in the worst case, beyond a few for each character: well under a millisecond. */
const BUDGET = 20_000;
const BUDGET_PER_CHARACTER = 16;
const LONGEST_TEXT = 1 << 25;

interface Cost {
  readonly ways: number;
  readonly work: number;
}

/** The longest text, in UTF-16 units, on which a backtracking search is harmless; -1 where none is. */
export function harmlessLength(root: RegexNode): number {
  const harmless = (n: number) => {
    const starts = isAnchored(root) ? 1 : n + 1;
    return starts * costOf(root, n).work <= BUDGET + BUDGET_PER_CHARACTER * n;
  };
  if (harmless(LONGEST_TEXT)) return Infinity;
  if (!harmless(1)) return harmless(0) ? 0 : -1;
  let low = 1;
  let high = LONGEST_TEXT;
  while (high - low > Math.max(1, low >> 3)) {
    const middle = Math.floor(Math.sqrt(low * high)) || low + 1;
    const between = middle <= low ? low + 1 : middle >= high ? high - 1 : middle;
    if (harmless(between)) low = between;
    else high = between;
  }
  return low;
}

function costOf(node: RegexNode, n: number): Cost {
  switch (node.kind) {
    case "set":
    case "assert":
      return { ways: 1, work: 1 };
    case "seq": {
      let ways = 1;
      let work = 0;
      for (const item of node.items) {
        const cost = costOf(item, n);
        work += ways * cost.work;
        ways *= cost.ways;
      }
      return { ways, work };
    }
    case "alt": {
      const costs = node.branches.map((branch) => costOf(branch, n));
      return { ways: sum(costs.map((c) => c.ways)), work: sum(costs.map((c) => c.work)) + costs.length };
    }
    case "capture":
      return costOf(node.child, n);
    case "repeat": {
      const times = Math.min(node.max, n + 1);
      const { ways, work } = costOf(node.child, n);
      if (ways <= 1) return { ways: Math.max(1, times - node.min + 1), work: Math.max(1, times * work) };
      // Each time round multiplies the ways.
      const total = ways ** times;
      return { ways: total * (times + 1), work: total * work * (times + 1) };
    }
    case "look": {
      const { work } = costOf(node.child, n);
      return { ways: 1, work: work + 1 };
    }
    case "atomic": // no such thing in JavaScript
    case "backreference":
      return { ways: Infinity, work: Infinity };
  }
}

function sum(list: readonly number[]): number {
  return list.reduce((a, b) => a + b, 0);
}

/** True where a match can only begin at the very start of the text. */
function isAnchored(node: RegexNode): boolean {
  switch (node.kind) {
    case "assert":
      return node.what === "start";
    case "seq":
      return node.items.length > 0 && isAnchored(node.items[0]!);
    case "alt":
      return node.branches.every(isAnchored);
    case "capture":
    case "atomic":
      return isAnchored(node.child);
    case "repeat":
      return node.min > 0 && isAnchored(node.child);
    default:
      return false;
  }
}

/** What engines need to know of a pattern before they can run it. */
export interface Traits {
  /** Look-around, atomic groups, back references: no finite automaton has them. */
  readonly irregular: boolean;
  readonly lookaround: boolean;
  /** Something that looks at a place between characters; JavaScript also finds such places within a surrogate pair. */
  readonly betweenCharacters: boolean;
  /** `$`, `\Z` or a multi-line `^`: they treat a text's last character specially where that is a newline. */
  readonly finalNewline: boolean;
  /** A Unicode script, or a word boundary by Unicode's letters: names and notions that RE2 doesn't share. */
  readonly unicodeNames: boolean;
  /** What groups have captured, or where a match ends, hangs on how an engine repeats: a group or "" within a repeat. */
  readonly subtleRepeats: boolean;
  /** Instructions of the pattern with all counted repeats written out. */
  readonly size: number;
}

/** What a pattern has that decides which engine may run it. */
export function traitsOf(root: RegexNode): Traits {
  const traits = {
    irregular: false,
    lookaround: false,
    betweenCharacters: false,
    finalNewline: false,
    unicodeNames: false,
    subtleRepeats: false,
  };
  const visit = (node: RegexNode, repeated: boolean): number => {
    switch (node.kind) {
      case "set":
        if (node.set.members.some((member) => "name" in member && member.name.includes("="))) {
          traits.unicodeNames = true;
        }
        return 1;
      case "assert":
        if (node.what !== "start" && node.what !== "end") traits.betweenCharacters = true;
        if (node.what === "endOrNewline" || node.what === "lineStart") traits.finalNewline = true;
        if (node.what.includes("nicode")) traits.unicodeNames = true;
        return 1;
      case "seq":
        return sum(node.items.map((item) => visit(item, repeated)));
      case "alt":
        return sum(node.branches.map((branch) => visit(branch, repeated) + 2));
      case "capture":
        if (repeated) traits.subtleRepeats = true;
        return visit(node.child, repeated) + 2;
      case "repeat": {
        if (node.child.kind === "set") {
          visit(node.child, true);
          return 3;
        }
        if (canBeEmpty(node.child)) traits.subtleRepeats = true;
        const copies = node.max === Infinity ? node.min + 1 : Math.max(1, node.max);
        return copies * (visit(node.child, repeated || node.max > 1) + 3);
      }
      case "look":
        traits.irregular = true;
        traits.lookaround = true;
        traits.betweenCharacters = true;
        return visit(node.child, repeated) + 1;
      case "atomic":
        traits.irregular = true;
        return visit(node.child, repeated) + 1;
      case "backreference":
        traits.irregular = true;
        return 1;
    }
  };
  const size = visit(root, false);
  return { ...traits, size };
}

/** True where a node can match without consuming anything. */
export function canBeEmpty(node: RegexNode): boolean {
  switch (node.kind) {
    case "set":
      return false;
    case "seq":
      return node.items.every(canBeEmpty);
    case "alt":
      return node.branches.some(canBeEmpty);
    case "capture":
    case "atomic":
      return canBeEmpty(node.child);
    case "repeat":
      return node.min === 0 || canBeEmpty(node.child);
    default:
      return true;
  }
}
