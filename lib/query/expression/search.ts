/**
 * Looking for a string in another, in time that grows with their lengths and no faster.
 *
 * JavaScript's own `indexOf` is quick for what people write, and takes the
 * product of both lengths for what they don't: half a million `a` behind one
 * `b`, sought in a million `a`. Long tokens are therefore sought by Knuth,
 * Morris and Pratt's method, which never goes back in the text.
 */

/** Where the token next begins, in UTF-16 units, at `from` or behind; -1 where it doesn't. */
export type Search = (text: string, from: number) => number;

/** Tokens up to this length cost so little for each position that the native search is best. */
const SHORT = 32;

export function searchFor(token: string): Search {
  if (token.length <= SHORT) return (text, from) => text.indexOf(token, from);
  const borders = bordersOf(token);
  return (text, from) => {
    let matched = 0;
    for (let at = from; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && token.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
      if (token.charCodeAt(matched) === unit) matched++;
      if (matched === token.length) return at - matched + 1;
    }
    return -1;
  };
}

/** For each beginning of the token: the length of its longest part that is both its beginning and its end. */
function bordersOf(token: string): Int32Array {
  const borders = new Int32Array(token.length);
  for (let at = 1, matched = 0; at < token.length; at++) {
    const unit = token.charCodeAt(at);
    while (matched > 0 && token.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (token.charCodeAt(matched) === unit) matched++;
    borders[at] = matched;
  }
  return borders;
}

/**
 * The parts of a text between the tokens in it.
 * @param token not empty
 * @param check called with the number of parts and may refuse them by throwing
 */
export function piecesOf(text: string, token: string, check: (pieces: number) => void): string[] {
  const search = searchFor(token);
  const pieces: string[] = [];
  let from = 0;
  for (let at = search(text, 0); at >= 0; at = search(text, from)) {
    pieces.push(text.slice(from, at));
    from = at + token.length;
    check(pieces.length + 1);
  }
  pieces.push(text.slice(from));
  return pieces;
}
