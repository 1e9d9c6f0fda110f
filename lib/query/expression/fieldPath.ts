/**
 * Field paths and variables: `"$a.b"`, `"$$ROOT"`, `"$$item.qty"`.
 *
 * On an array a path goes to every object in it and gathers what it finds,
 * leaving out what is missing; a number in a path is a name like any other.
 *
 *     "$a.b" on { a: [{ b: 1 }, { c: 2 }, 5, [{ b: 3 }]] }  →  [1, [3]]
 */
import {
  BsonType,
  array,
  asDocument,
  date,
  document,
  elements,
  fields,
  getField,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { compile, constant } from "./compile.js";
import { expressionContext, type Expression, type Scope } from "./context.js";

/** Components of a path, checked. Throws 40353, 15998 or 16410 as MongoDB does. */
export function pathParts(path: string): string[] {
  if (path === "") throw new CommandError(16872, "'$' by itself is not a valid FieldPath");
  if (path.endsWith(".")) throw new CommandError(40353, "FieldPath must not end with a '.'.");
  const parts = path.split(".");
  for (const part of parts) {
    if (part === "") throw new CommandError(15998, "FieldPath field names may not be empty strings.");
    if (part.startsWith("$")) {
      throw new CommandError(
        16410,
        `FieldPath field names may not start with '$'. Consider using $getField or $setField.`,
      );
    }
    if (part.includes("\0")) throw new CommandError(16411, "FieldPath field names may not contain '\\0'.");
  }
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
    if (element.type !== BsonType.object && element.type !== BsonType.array) continue;
    const value = valueAtPath(element, parts, from);
    if (value !== undefined) found.push(value);
  }
  return array(found);
}

/** The expression `"$path"`. */
export function fieldPath(path: string): Expression {
  const parts = pathParts(path);
  const first = parts[0]!;
  if (parts.length === 1) return ({ root }) => getField(root, first);
  return ({ root }) => valueAtPath(getField(root, first), parts, 1);
}

/** The expression `"$$name.path"`. */
export function compileVariable(reference: string, scope: Scope): Expression {
  if (reference === "") throw new CommandError(16867, "empty variable names are not allowed");
  const dot = reference.indexOf(".");
  const name = dot === -1 ? reference : reference.slice(0, dot);
  const parts = dot === -1 ? [] : pathParts(reference.slice(dot + 1));
  const base = variable(name, scope);
  if (parts.length === 0) return base;
  return (context) => valueAtPath(base(context), parts, 0);
}

function variable(name: string, scope: Scope): Expression {
  for (let binding = scope.binding; binding !== undefined; binding = binding.outer) {
    if (binding.name !== name) continue;
    const { slot } = binding;
    return (context) => context.slots[slot];
  }
  switch (name) {
    case "ROOT":
    case "CURRENT":
      return ({ root }) => document(root);
    case "REMOVE":
      return () => undefined;
    case "NOW": {
      const { now } = scope.options;
      if (now === undefined) throw notSimulated("$$NOW here");
      return () => date(Math.trunc(now()));
    }
    case "CLUSTER_TIME":
    case "JS_SCOPE":
    case "IS_MR":
    case "SEARCH_META":
    case "USER_ROLES":
      throw notSimulated(`$$${name}`);
  }
  const values = scope.options.let;
  const given = values === undefined ? undefined : getField(values, name);
  if (given === undefined) throw new CommandError(17276, `Use of undefined variable: ${name}`);
  return constant(letValue(given, scope));
}

/** A value of the command's `let` may be an expression, but of constants only. */
function letValue(v: RawValue, scope: Scope): RawValue {
  const value = compile(v, { options: { now: scope.options.now }, binding: undefined, depth: 0 })(
    expressionContext(EMPTY),
  );
  if (value === undefined) throw new CommandError(ErrorCode.BadValue, "a let variable has no value");
  return value;
}

const EMPTY = Uint8Array.of(5, 0, 0, 0, 0);

/** Checks the name of a variable that a user binds. */
export function checkVariableName(name: string): void {
  if (!/^[a-z\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*$/.test(name)) {
    if (name === "CURRENT") return;
    throw new CommandError(
      ErrorCode.FailedToParse,
      `'${name}' starts with an invalid character for a user variable name`,
    );
  }
}

/** Names and values of an object argument. */
export function namedArguments(
  operator: string,
  argument: RawValue,
  allowed: readonly string[],
  code: number,
): Map<string, RawValue> {
  if (argument.type !== BsonType.object) {
    throw new CommandError(code, `${operator} only supports an object as its argument`);
  }
  const map = new Map(fields(asDocument(argument)));
  for (const name of map.keys()) {
    if (!allowed.includes(name))
      throw new CommandError(code, `Unrecognized parameter to ${operator}: ${name}`);
  }
  return map;
}
