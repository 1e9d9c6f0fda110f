/**
 * A pattern as a little program for the matcher (regexMatcher.ts).
 *
 * Counted repeats of groups are written out, repeats of a single set are one
 * instruction; the size was checked before (traitsOf).
 *
 *     (ab|c)*d        0 split 1 11      (greedy: first once more, then on)
 *                     1 save 2
 *                     2 split 3 6
 *                     3 set a   4 set b   5 jump 7
 *                     6 set c
 *                     7 save 3  8 jump 0 …
 */
import { UNICODE_WORD } from "./regexClass.js";
import { canBeEmpty } from "./regexCost.js";
import { fixedLength } from "./regexParse.js";
import { classText, isProperty, type Assertion, type CharacterSet, type RegexNode } from "./regexTree.js";

export const Op = {
  match: 0,
  /** a: index of a character test */
  set: 1,
  /** to a, later to b */
  split: 2,
  jump: 3,
  /** a: the slot */
  save: 4,
  /** a: index in assertions */
  assert: 5,
  /** a: index in looks */
  look: 6,
  /** the body follows and ends in a match, then goes on at a */
  atomic: 7,
  /** a: group, b: 1 to ignore case */
  backreference: 8,
  /** to b where the position is still the one in slot a */
  leaveIfEmpty: 9,
  /** a: index in ranges */
  range: 10,
} as const;

export type CharacterTest = (code: number) => boolean;

export interface Look {
  readonly ahead: boolean;
  readonly negative: boolean;
  /** Starts of the bodies; for a look behind, how many characters each is long. */
  readonly bodies: ReadonlyArray<{ readonly start: number; readonly length: number }>;
  readonly next: number;
}

/** A repeat of one set of characters. */
export interface Range {
  readonly test: CharacterTest;
  readonly min: number;
  readonly max: number;
  readonly greedy: boolean;
}

export interface Program {
  readonly ops: number[];
  readonly a: number[];
  readonly b: number[];
  readonly tests: CharacterTest[];
  readonly assertions: Assertion[];
  readonly looks: Look[];
  readonly ranges: Range[];
  /** Where the program can be at one place in two ways: these are remembered. Their number, and the number of each. */
  readonly splits: number;
  readonly splitNumber: number[];
  /** Slots 2i and 2i + 1 hold the ends of group i; loops use those above. */
  readonly slots: number;
  readonly hasBackreferences: boolean;
  readonly unicodeWord: CharacterTest;
}

/** Compiles a tree of `captures` groups. */
export function compileProgram(root: RegexNode, captures: number): Program {
  const ops: number[] = [];
  const a: number[] = [];
  const b: number[] = [];
  const tests: CharacterTest[] = [];
  const assertions: Assertion[] = [];
  const looks: Look[] = [];
  const ranges: Range[] = [];
  const known = new Map<CharacterSet, number>();
  let slots = 2 * (captures + 1);
  let hasBackreferences = false;

  const emit = (op: number, x = 0, y = 0): number => {
    ops.push(op);
    a.push(x);
    b.push(y);
    return ops.length - 1;
  };
  const testOf = (set: CharacterSet): number => {
    let index = known.get(set);
    if (index === undefined) {
      index = tests.push(characterTest(set)) - 1;
      known.set(set, index);
    }
    return index;
  };

  const compile = (node: RegexNode): void => {
    switch (node.kind) {
      case "set":
        emit(Op.set, testOf(node.set));
        return;
      case "seq":
        node.items.forEach(compile);
        return;
      case "alt":
        return compileBranches(node.branches);
      case "capture":
        emit(Op.save, 2 * node.index);
        compile(node.child);
        emit(Op.save, 2 * node.index + 1);
        return;
      case "assert":
        emit(Op.assert, assertions.push(node.what) - 1);
        return;
      case "repeat":
        if (node.child.kind === "set" && node.max !== 1 && node.max !== Infinity) {
          const { min, max, greedy } = node;
          emit(Op.range, ranges.push({ test: tests[testOf(node.child.set)]!, min, max, greedy }) - 1);
          return;
        }
        return compileRepeat(node.child, node.min, node.max, node.greedy);
      case "atomic": {
        const at = emit(Op.atomic);
        compile(node.child);
        emit(Op.match);
        a[at] = ops.length;
        return;
      }
      case "look": {
        const at = emit(Op.look);
        const branches = !node.ahead && node.child.kind === "alt" ? node.child.branches : [node.child];
        const bodies = branches.map((branch) => {
          const start = ops.length;
          compile(branch);
          emit(Op.match);
          return { start, length: node.ahead ? 0 : fixedLength(branch)! };
        });
        a[at] = looks.push({ ahead: node.ahead, negative: node.negative, bodies, next: ops.length }) - 1;
        return;
      }
      case "backreference":
        hasBackreferences = true;
        emit(Op.backreference, node.index, node.ignoreCase ? 1 : 0);
        return;
    }
  };

  const compileBranches = (branches: readonly RegexNode[]): void => {
    const exits: number[] = [];
    branches.forEach((branch, i) => {
      const last = i === branches.length - 1;
      const split = last ? -1 : emit(Op.split, ops.length + 1);
      compile(branch);
      if (last) return;
      exits.push(emit(Op.jump));
      b[split] = ops.length;
    });
    for (const exit of exits) a[exit] = ops.length;
  };

  const branch = (greedy: boolean): number =>
    emit(Op.split, greedy ? ops.length + 1 : 0, greedy ? 0 : ops.length + 1);
  const leaveAt = (split: number, greedy: boolean, to: number): void => {
    if (greedy) b[split] = to;
    else a[split] = to;
  };

  const compileRepeat = (child: RegexNode, min: number, max: number, greedy: boolean): void => {
    for (let i = 0; i < min; i++) compile(child);
    if (max === Infinity) {
      const head = branch(greedy);
      // A time round that consumes nothing is the last one.
      const slot = canBeEmpty(child) ? slots++ : -1;
      if (slot >= 0) emit(Op.save, slot);
      compile(child);
      const check = slot >= 0 ? emit(Op.leaveIfEmpty, slot) : -1;
      emit(Op.jump, head);
      leaveAt(head, greedy, ops.length);
      if (check >= 0) b[check] = ops.length;
      return;
    }
    const splits: number[] = [];
    for (let i = min; i < max; i++) {
      splits.push(branch(greedy));
      compile(child);
    }
    for (const split of splits) leaveAt(split, greedy, ops.length);
  };

  compile(root);
  emit(Op.match);
  const splitNumber = ops.map(() => 0);
  let splits = 0;
  ops.forEach((op, pc) => {
    if (op === Op.split) splitNumber[pc] = splits++;
  });
  return {
    ops,
    a,
    b,
    tests,
    assertions,
    looks,
    ranges,
    splits,
    splitNumber,
    slots,
    hasBackreferences,
    unicodeWord: characterTest({ members: UNICODE_WORD, negated: false }),
  };
}

/** The test of one character: a table for ASCII, ranges and JavaScript's knowledge of Unicode beyond. */
function characterTest(set: CharacterSet): CharacterTest {
  const ranges = set.members.filter((member): member is readonly [number, number] => !isProperty(member));
  const properties = set.members.filter(isProperty);
  const known =
    properties.length > 0 ? new RegExp(classText({ members: properties, negated: false }), "u") : undefined;
  const slow = (code: number): boolean => {
    for (const [from, to] of ranges) if (code >= from && code <= to) return !set.negated;
    return (known !== undefined && known.test(String.fromCodePoint(code))) !== set.negated;
  };
  const table = new Uint8Array(128);
  for (let code = 0; code < 128; code++) table[code] = slow(code) ? 1 : 0;
  return (code) => (code < 128 ? table[code] === 1 : slow(code));
}
