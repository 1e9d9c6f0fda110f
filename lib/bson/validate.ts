/**
 * Checks that bytes are one well-formed BSON document.
 *
 * This runs once on every inserted document, on the way in; behind it, no
 * reader can run out of the buffer. Two things make it fast. Every document
 * ends in a NUL, which is checked first, so the search for the end of a name
 * needs no limit: it stops at that NUL at the latest, and stopping there means
 * the name was not closed. And embedded documents are kept on a stack of end
 * positions, not in recursive calls, so that depth costs nothing and a hostile
 * document cannot exhaust the call stack.
 *
 * Checked: lengths, terminators, known types, booleans 0 or 1, depth. Not
 * checked: that text is UTF-8 (readers replace what is not), names of array
 * elements, duplicate names.
 */
import { readInt32 } from "./bytes.js";
import { BsonError } from "./error.js";
import { BsonType } from "./value.js";

const DEFAULT_DEPTH = 200;
/** End positions (of the closing NUL) of the documents around the one being read. */
let limits = new Int32Array(DEFAULT_DEPTH + 1);

function invalid(what: string, at: number): BsonError {
  return new BsonError(`invalid BSON: ${what} at byte ${at}`);
}

function tooDeep(): BsonError {
  return new BsonError("BSONObj exceeds maximum nested object depth", 15);
}

/** Checks length and terminator of the document at `at`; returns the position of its closing NUL. */
function enter(bytes: Uint8Array, at: number, limit: number): number {
  if (at + 5 > limit) throw invalid("document cut short", at);
  const length = readInt32(bytes, at);
  if (length < 5 || length > limit - at) throw invalid(`document length ${length} does not fit`, at);
  const end = at + length - 1;
  if (bytes[end] !== 0) throw invalid("document without terminator", end);
  return end;
}

/** Position behind the string (int32 length with NUL, bytes, NUL) at `at`. */
function passString(bytes: Uint8Array, at: number, limit: number): number {
  if (at + 5 > limit) throw invalid("string cut short", at);
  const length = readInt32(bytes, at);
  const end = at + 4 + length;
  if (length < 1 || end > limit) throw invalid(`string length ${length} does not fit`, at);
  if (bytes[end - 1] !== 0) throw invalid("string without terminator", end - 1);
  return end;
}

/**
 * Checks one raw document, which must fill `bytes` exactly.
 * @param options.maxDepth how many documents may lie in one another, the outermost counting as 1; 200 by default.
 * @throws BsonError (code 22) naming what is wrong and where; code 15 (Overflow) for more levels than that.
 */
export function validateDocument(bytes: Uint8Array, options?: { maxDepth?: number }): void {
  const maxDepth = options === undefined ? DEFAULT_DEPTH : (options.maxDepth ?? DEFAULT_DEPTH);
  if (maxDepth > limits.length) limits = new Int32Array(maxDepth + 1);
  let limit = enter(bytes, 0, bytes.length);
  if (limit !== bytes.length - 1) throw invalid("bytes behind the document", limit + 1);
  let depth = 1;
  let at = 4;
  for (;;) {
    if (at === limit) {
      if (--depth === 0) return;
      at = limit + 1;
      limit = limits[depth]!;
      continue;
    }
    const typeAt = at;
    const type = bytes[at++]!;
    while (bytes[at] !== 0) at++;
    if (at++ >= limit) throw invalid("field name without terminator", typeAt);
    switch (type) {
      case BsonType.int32:
        at += 4;
        break;
      case BsonType.double:
      case BsonType.date:
      case BsonType.int64:
      case BsonType.timestamp:
        at += 8;
        break;
      case BsonType.string:
      case BsonType.symbol:
      case BsonType.code:
        at = passString(bytes, at, limit);
        break;
      case BsonType.objectId:
        at += 12;
        break;
      case BsonType.bool:
        if (bytes[at]! > 1) throw invalid("boolean that is neither 0 nor 1", at);
        at += 1;
        break;
      case BsonType.null:
      case BsonType.undefined:
      case BsonType.minKey:
      case BsonType.maxKey:
        break;
      case BsonType.decimal128:
        at += 16;
        break;
      case BsonType.codeWithScope: {
        // int32 total, string, document: the document must end where the total says
        if (at + 14 > limit) throw invalid("code with scope cut short", at);
        const end = at + readInt32(bytes, at);
        if (end <= at || end > limit) throw invalid("length of code with scope does not fit", at);
        at = passString(bytes, at + 4, end);
        if (at + 5 > end || readInt32(bytes, at) !== end - at) throw invalid("scope does not fit", at);
        if (depth >= maxDepth) throw tooDeep();
        limits[depth++] = limit;
        limit = enter(bytes, at, end);
        at += 4;
        continue;
      }
      case BsonType.object:
      case BsonType.array:
        if (depth >= maxDepth) throw tooDeep();
        limits[depth++] = limit;
        limit = enter(bytes, at, limit);
        at += 4;
        continue;
      case BsonType.binary: {
        if (at + 5 > limit) throw invalid("binary cut short", at);
        const length = readInt32(bytes, at);
        if (length < 0 || length > limit - at - 5) throw invalid(`binary length ${length} does not fit`, at);
        at += 5 + length;
        break;
      }
      case BsonType.regex:
        while (bytes[at] !== 0) at++;
        if (at >= limit) throw invalid("regular expression without terminator", typeAt);
        at++;
        while (bytes[at] !== 0) at++;
        at++;
        break;
      case BsonType.dbPointer:
        at = passString(bytes, at, limit) + 12;
        break;
      default:
        throw invalid(`unknown type ${type}`, typeAt);
    }
    if (at > limit) throw invalid("value reaches beyond its document", typeAt);
  }
}
