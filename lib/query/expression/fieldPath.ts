/**
 * Field paths: `"$a.b"`.
 *
 * On an array a path goes to every object in it and gathers what it finds,
 * leaving out what is missing; arrays within the array are not entered, and a
 * number in a path is a name like any other.
 *
 *     "$a.b" on { a: [{ b: 1 }, { c: 2 }, 5, [{ b: 3 }]] }  →  [1]
 */
import { BsonType, array, asDocument, elements, getField, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Expression } from "./context.js";

/** Names in a path. */
const MAX_PARTS = 200;
/** Names of a DBRef, which a path may have all the same. */
const REFERENCE = new Set(["$id", "$ref", "$db"]);
const HINT = "Consider using $getField or $setField.";

/** Checks one name of a path. Throws 15998, 16410, 16411 or 16412. */
export function checkFieldName(name: string): void {
  if (name === "") throw new CommandError(15998, "FieldPath field names may not be empty strings.");
  if (name.startsWith("$") && !REFERENCE.has(name)) {
    throw new CommandError(16410, `FieldPath field names may not start with '$'. ${HINT}`);
  }
  if (name.includes("\0")) {
    throw new CommandError(16411, `FieldPath field names may not contain '\\0'. ${HINT}`);
  }
  if (name.includes(".")) {
    throw new CommandError(16412, `FieldPath field names may not contain '.'. ${HINT}`);
  }
}

/** Components of a path, checked. Throws 40352, 40353, 15998, 16410 or 15 as MongoDB does. */
export function pathParts(path: string): string[] {
  if (path === "") throw new CommandError(40352, "FieldPath cannot be constructed with empty string");
  if (path.endsWith(".")) throw new CommandError(40353, "FieldPath must not end with a '.'.");
  const parts = path.split(".");
  parts.forEach(checkFieldName);
  if (parts.length > MAX_PARTS) throw new CommandError(ErrorCode.Overflow, "FieldPath is too long");
  return parts;
}

/** The value(s) at parts[from…] of a value; undefined when missing. */
export function valueAtPath(
  value: RawValue | undefined,
  parts: readonly string[],
  from: number,
): RawValue | undefined {
  let current = value;
  for (let i = from; i < parts.length; i++) {
    if (current === undefined) return undefined;
    if (current.type === BsonType.array) return gather(current, parts, i);
    if (current.type !== BsonType.object) return undefined;
    current = getField(asDocument(current), parts[i]!);
  }
  return current;
}

function gather(list: RawValue, parts: readonly string[], from: number): RawValue {
  const found: RawValue[] = [];
  for (const element of elements(asDocument(list))) {
    if (element.type !== BsonType.object) continue;
    const value = valueAtPath(element, parts, from);
    if (value !== undefined) found.push(value);
  }
  return array(found);
}

/** The expression `"$path"`. */
export function fieldPath(path: string): Expression {
  if (path === "") throw new CommandError(16872, "'$' by itself is not a valid FieldPath");
  const parts = pathParts(path);
  const first = parts[0]!;
  if (parts.length === 1) return ({ root }) => getField(root, first);
  return ({ root }) => valueAtPath(getField(root, first), parts, 1);
}
