/**
 * `queryShapeHash`: one number for all queries that differ only in their values (8.0+).
 *
 *     {find: "loans", filter: {member: 7, due: {$lt: ISODate(…)}}, sort: {due: 1}}
 *     find test.loans | filter {member: ?number, due: {$lt: ?date}} | sort {due: 1}      → 64 hex digits
 *
 * Commands of one shape have one hash, and commands of different shapes have different ones, as on a real
 * cluster; the digits themselves are our own, since MongoDB's text of a shape is not documented.
 *
 * Values become the name of their type. Names of fields and operators stay, and so do sort, projection, hint
 * and collation, whose values are part of the question. A list is as long as it likes: `$in` of two and of two
 * hundred numbers are one shape.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  BsonType,
  describeValue,
  elements,
  fields,
  hash64,
  nameOfType,
  string,
} from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";

/** Fields of each command that belong to its shape: `values` with their values hidden, `whole` as they are. */
const SHAPES: ReadonlyMap<string, { values: readonly string[]; whole: readonly string[] }> = new Map([
  [
    "find",
    {
      values: ["filter", "let", "min", "max", "skip", "limit"],
      whole: ["sort", "projection", "hint", "collation", "returnKey", "showRecordId"],
    },
  ],
  ["distinct", { values: ["query"], whole: ["key", "hint", "collation"] }],
  ["aggregate", { values: ["pipeline", "let"], whole: ["hint", "collation"] }],
]);

/**
 * The hash of a command's shape, or undefined for commands that have none (counts and writes).
 * @returns 64 upper-case hex digits
 */
export function queryShapeHash({ command, db, body }: Request): string | undefined {
  const shape = SHAPES.get(command);
  if (!shape) return undefined;
  const parts: string[] = [];
  for (const [name, value] of fields(body)) {
    if (name === command) parts.push(`${command} ${db}.${describeValue(value)}`);
    else if (shape.values.includes(name)) parts.push(`${name} ${shapeOf(value)}`);
    else if (shape.whole.includes(name)) parts.push(`${name} ${describeValue(value)}`);
  }
  const text = parts.sort().join("\n");
  return [0, 1, 2, 3].map((salt) => hexOf(hash64(string(`${salt}${text}`)))).join("");
}

function shapeOf(value: RawValue): string {
  if (value.type === BsonType.object) {
    const parts = fields(asDocument(value)).map(([name, inner]) => `${name}: ${shapeOf(inner)}`);
    return `{${parts.join(", ")}}`;
  }
  if (value.type === BsonType.array) {
    const kinds = elements(asDocument(value)).map(shapeOf);
    // Branches of $or and stages of a pipeline have an order; mere values have not.
    const scalars = kinds.every((kind) => kind.startsWith("?"));
    return `[${(scalars ? [...new Set(kinds)].sort() : kinds).join(", ")}]`;
  }
  // A path of an expression is a name, not a value.
  if (value.type === BsonType.string && asString(value).startsWith("$")) return asString(value);
  return `?${isNumber(value.type) ? "number" : nameOfType(value.type)}`;
}

function isNumber(type: BsonType): boolean {
  return (
    type === BsonType.int32 ||
    type === BsonType.int64 ||
    type === BsonType.double ||
    type === BsonType.decimal128
  );
}

function hexOf(hash: bigint): string {
  return BigInt.asUintN(64, hash).toString(16).toUpperCase().padStart(16, "0");
}
