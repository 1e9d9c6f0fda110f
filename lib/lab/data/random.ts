/**
 * A random number for each (seed, index, channel), instead of a generator with
 * a state. The document with index 7 is therefore the same whether it is made
 * alone, in a batch of ten or after a million others: data sets can be streamed,
 * split and repeated without remembering anything.
 */

/** One round of an integer mixer: every input bit changes about half of the output bits. */
function mix(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return (h ^ (h >>> 15)) >>> 0;
}

/**
 * @param seed any integer; a data set has one
 * @param index number of the document, 0 or more, up to 2^53
 * @param channel tells the independent draws of one document apart
 * @returns uniform in [0, 1), with 32 bits
 */
export function randomAt(seed: number, index: number, channel = 0): number {
  const low = index >>> 0;
  const high = Math.floor(index / 0x1_0000_0000) >>> 0;
  let h = mix((seed ^ 0x9e3779b9) >>> 0);
  h = mix((h + low) >>> 0);
  h = mix((h ^ Math.imul(high, 0x85ebca6b) ^ Math.imul(channel + 1, 0xc2b2ae35)) >>> 0);
  return h / 0x1_0000_0000;
}
