/**
 * The random source of a cluster: sfc32, seeded by a number and a name.
 *
 * One seed makes a whole cluster repeat itself. Every part draws from a stream
 * of its own (`seededRandom(7, "shardA")`), because the order in which parts
 * take their turns may change while what each of them draws must not.
 *
 * sfc32 (Doty-Humphrey's small fast counter, three words and a counter) passes
 * the big statistical batteries and has a period of at least 2^32; it is not for
 * secrets. Seed and name are hashed with 32-bit FNV-1a, and the first rounds are
 * thrown away so that neighbouring seeds have nothing in common.
 */

/** Draws uniform numbers in [0, 1) with 32 random bits each. */
export type RandomSource = () => number;

/**
 * A stream that repeats itself.
 * @param seed any number or text
 * @param stream name of the part that draws
 * @example
 * const random = seededRandom(7, "router");
 * random(); // the same number in every run
 */
export function seededRandom(seed: number | string, stream = ""): RandomSource {
  const text = `${typeof seed}:${seed}/${stream}`;
  let a = fnv1a(text, 0x811c9dc5);
  let b = fnv1a(text, a);
  let c = fnv1a(text, b);
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 0x1_0000_0000;
  };
  for (let round = 0; round < 15; round++) next();
  return next;
}

function fnv1a(text: string, start: number): number {
  let hash = start | 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
