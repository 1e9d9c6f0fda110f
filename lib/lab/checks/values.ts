/**
 * Answers as values: how they travel from the notebook to the checker and how they
 * are compared there.
 *
 * They travel as canonical extended JSON, so that a 64-bit hash or an ObjectId arrives
 * as what it was. Whatever can't travel (a function, a cursor, a promise somebody
 * forgot to await) is told to the student in a sentence on their side.
 */
import { Binary, EJSON, ObjectId } from "bson";

/** Longest answer accepted, in characters of extended JSON. */
export const MAX_ANSWER_LENGTH = 1_000_000;

/** Deepest nesting of an answer. */
const MAX_DEPTH = 50;

/** An answer that can't be sent; `message` says what to do. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
}

/**
 * The answer as extended JSON.
 *
 * @throws AnswerError when a part of it is no value (with its path and a remedy), or it is too big
 */
export function encodeAnswer(answer: unknown): string {
  if (answer === undefined) {
    throw new AnswerError("the answer is undefined; assign it a value before the check");
  }
  inspectPart(answer, "the answer", new Set());
  const text = EJSON.stringify({ answer }, undefined, 0, { relaxed: false });
  if (text.length > MAX_ANSWER_LENGTH) {
    throw new AnswerError(
      `the answer is ${text.length} characters long, ${MAX_ANSWER_LENGTH} are allowed; give the result, not the data`,
    );
  }
  return text;
}

/** Reads what {@link encodeAnswer} wrote; 64-bit integers become bigint. */
export function decodeAnswer(text: string): unknown {
  if (text.length > MAX_ANSWER_LENGTH) throw new AnswerError("the answer is too long");
  return (EJSON.parse(text, { relaxed: true, useBigInt64: true }) as { answer?: unknown }).answer;
}

function inspectPart(value: unknown, where: string, above: Set<object>): void {
  if (typeof value === "function") {
    throw new AnswerError(`${where} is a function; call it and give its result`);
  }
  if (typeof value === "symbol") throw new AnswerError(`${where} is a symbol; give a value`);
  if (typeof value === "bigint" && BigInt.asIntN(64, value) !== value) {
    throw new AnswerError(`${where} does not fit a signed 64-bit integer: ${value}`);
  }
  if (typeof value !== "object" || value === null) return;
  if (above.has(value)) throw new AnswerError(`${where} contains itself; give a value without cycles`);
  if (above.size >= MAX_DEPTH) throw new AnswerError(`${where} is nested more than ${MAX_DEPTH} levels deep`);
  const known = value as { then?: unknown; toArray?: unknown; _bsontype?: unknown };
  if (typeof known.then === "function") throw new AnswerError(`${where} is a promise; put await before it`);
  if (typeof known.toArray === "function")
    throw new AnswerError(`${where} is a cursor; use await ….toArray()`);
  if (value instanceof Set) throw new AnswerError(`${where} is a Set; make it an array: [...set]`);
  if (value instanceof Map)
    throw new AnswerError(`${where} is a Map; make it an object: Object.fromEntries(map)`);
  if (typeof known._bsontype === "string" || value instanceof Date || value instanceof RegExp) return;
  if (ArrayBuffer.isView(value)) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    const name = (value as { constructor?: { name?: string } }).constructor?.name ?? "class";
    throw new AnswerError(`${where} is an object of class ${name}; give plain values`);
  }
  above.add(value);
  for (const [key, part] of Object.entries(value)) {
    inspectPart(part, Array.isArray(value) ? `${where}[${key}]` : `${where}.${key}`, above);
  }
  above.delete(value);
}

/**
 * Equality of answers. Numbers are equal by value whatever their type (1, 1n, Long 1, 1.0);
 * arrays in order; objects by their fields in any order, `undefined` meaning absent;
 * other BSON values by type and content.
 */
export function sameValue(a: unknown, b: unknown): boolean {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== undefined || y !== undefined) {
    return x !== undefined && y !== undefined && sameNumber(x, y);
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((part, n) => sameValue(part, b[n]))
    );
  }
  if (!isPlain(a) || !isPlain(b)) return isPlain(a) === isPlain(b) && canonical(a) === canonical(b);
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].every((key) => sameValue(left[key], right[key]));
}

/** Exact: 2^53 + 1 as bigint is not the double next to it. */
function sameNumber(x: number | bigint, y: number | bigint): boolean {
  if (typeof x === "bigint") return typeof y === "bigint" ? x === y : Number.isInteger(y) && x === BigInt(y);
  if (typeof y === "bigint") return sameNumber(y, x);
  return x === y || (Number.isNaN(x) && Number.isNaN(y));
}

/** The value of anything numeric that an answer may hold, or undefined. */
export function numberOf(value: unknown): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  switch ((value as { _bsontype?: unknown } | null | undefined)?._bsontype) {
    case "Long":
      return (value as { toBigInt(): bigint }).toBigInt();
    case "Int32":
    case "Double":
      return Number(value);
    default:
      return undefined;
  }
}

function isPlain(value: object): boolean {
  return (
    !("_bsontype" in value) &&
    !(value instanceof Date) &&
    !(value instanceof RegExp) &&
    !ArrayBuffer.isView(value)
  );
}

function canonical(value: object): string {
  const part = value instanceof Uint8Array ? new Binary(value) : value;
  return EJSON.stringify({ part: part instanceof ObjectId ? part.toHexString() : part }, { relaxed: false });
}
