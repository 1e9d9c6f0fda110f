/**
 * Which characters are the same but for their case.
 *
 * PCRE folds one character to one character ("simple case folding"): k, K and
 * the Kelvin sign are one, ß and SS are not. JavaScript knows the same folding
 * but has no way to ask for it, so it is collected from its case mappings:
 * characters that map to each other, in one character, are an *orbit*. ASCII
 * is known by heart; the whole of Unicode is walked once, when the first
 * pattern asks for it.
 */
import type { Member } from "./regexTree.js";
import { isProperty } from "./regexTree.js";

const KELVIN = 0x212a;
const LONG_S = 0x17f;
/** Dotted I and dotless i fold to nothing in PCRE (they do in Turkish only). */
const TURKISH = new Set([0x130, 0x131]);
/** Nothing has a case from here on. */
const CASELESS_FROM = 0x1e944;

let orbits: ReadonlyMap<number, readonly number[]> | undefined;

function orbitTable(): ReadonlyMap<number, readonly number[]> {
  if (orbits !== undefined) return orbits;
  const table = new Map<number, number[]>();
  for (let code = 0x80; code < CASELESS_FROM; code++) {
    if (TURKISH.has(code) || (code >= 0xd800 && code <= 0xdfff)) continue;
    const char = String.fromCodePoint(code);
    for (const other of [char.toLowerCase(), char.toUpperCase()]) {
      const partner = other.codePointAt(0)!;
      if (partner === code || String.fromCodePoint(partner) !== other) continue;
      const orbit = new Set([...(table.get(code) ?? [code]), ...(table.get(partner) ?? [partner])]);
      for (const member of orbit) table.set(member, [...orbit]);
    }
  }
  orbits = table;
  return table;
}

/** The characters that equal `code` when case is ignored, itself left out. */
function casePartners(code: number): readonly number[] {
  if (code < 0x80) {
    const letter = code | 0x20;
    if (letter < 97 || letter > 122) return [];
    const other = code ^ 0x20;
    return letter === 107 ? [other, KELVIN] : letter === 115 ? [other, LONG_S] : [other];
  }
  return (orbitTable().get(code) ?? []).filter((member) => member !== code);
}

/** The members with the other cases of all their characters. Properties stay as they are, as in PCRE. */
export function ignoringCase(members: readonly Member[]): Member[] {
  const result: Member[] = [...members];
  for (const member of members) {
    if (isProperty(member)) continue;
    const [from, to] = member;
    if (from === 0 && to >= CASELESS_FROM) continue;
    for (let code = from; code <= Math.min(to, 0x7f); code++) add(code);
    if (to < 0x80) continue;
    if (to - from < 200) {
      for (let code = Math.max(from, 0x80); code <= to; code++) add(code);
    } else {
      for (const code of orbitTable().keys()) if (code >= 0x80 && code >= from && code <= to) add(code);
    }
  }
  return result;

  function add(code: number): void {
    for (const partner of casePartners(code)) {
      if (!result.some((member) => !isProperty(member) && partner >= member[0] && partner <= member[1])) {
        result.push([partner, partner]);
      }
    }
  }
}

/** True where two characters differ in case only. */
export function sameIgnoringCase(a: number, b: number): boolean {
  return a === b || casePartners(a).includes(b);
}
