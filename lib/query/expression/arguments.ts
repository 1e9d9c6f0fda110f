/**
 * How operators take their arguments: by position, a fixed or a variable
 * number of them, or by name in an object.
 *
 * MongoDB has three sentences for a wrong number of positional arguments and a
 * few dozen for wrong names: the former are here, the latter come with each
 * operator ({@link namedArguments}).
 */
import { BsonType, asDocument, elements, fields, type RawValue } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { isNullish, typeName } from "../values/types.js";
import { compile } from "./compile.js";
import type { Expression, Scope } from "./context.js";

export { isNullish };

/** Compiles one operator from its raw argument. `name` is the operator's, for messages. */
export type OperatorCompiler = (argument: RawValue, scope: Scope, name: string) => Expression;

/** A value of an argument; undefined means missing. */
export type Argument = RawValue | undefined;

/** Positional arguments as written: an array is the list of them, anything else a single one. */
export function argumentList(argument: RawValue): RawValue[] {
  return argument.type === BsonType.array ? elements(asDocument(argument)) : [argument];
}

/** Compiles positional arguments. Throws 16020 or 28667 for too few or too many. */
export function compileArguments(
  argument: RawValue,
  scope: Scope,
  name: string,
  min: number,
  max = min,
): Expression[] {
  const list = argumentList(argument);
  if (list.length < min || list.length > max) {
    if (min === max) {
      throw new CommandError(
        16020,
        `Expression ${name} takes exactly ${min} arguments. ${list.length} were passed in.`,
      );
    }
    throw new CommandError(
      28667,
      `Expression ${name} takes at least ${min} arguments, and at most ${max}, but ${list.length} were passed in.`,
    );
  }
  return list.map((item) => compile(item, scope));
}

/** An operator of one argument. */
export function unary(apply: (v: Argument, name: string) => Argument): OperatorCompiler {
  return (argument, scope, name) => {
    const [operand] = compileArguments(argument, scope, name, 1) as [Expression];
    return (context) => apply(operand(context), name);
  };
}

/** An operator of two arguments. */
export function binary(apply: (a: Argument, b: Argument, name: string) => Argument): OperatorCompiler {
  return (argument, scope, name) => {
    const [left, right] = compileArguments(argument, scope, name, 2) as [Expression, Expression];
    return (context) => apply(left(context), right(context), name);
  };
}

/** An operator of `min` to `max` arguments. */
export function variadic(
  apply: (values: readonly Argument[], name: string) => Argument,
  min = 0,
  max = Infinity,
): OperatorCompiler {
  return (argument, scope, name) => {
    const operands = compileArguments(argument, scope, name, min, max);
    return (context) =>
      apply(
        operands.map((operand) => operand(context)),
        name,
      );
  };
}

/** What an operator with named arguments says about a wrong one. */
export interface NamedErrors {
  /** The argument is no object. */
  readonly object: readonly [code: number, message: string];
  /** A name that it doesn't know: in place of `{name}` in the message, else behind it. */
  readonly unknown: readonly [code: number, message: string];
  /** Required names, in the order in which they are asked for. */
  readonly required?: Readonly<Record<string, readonly [code: number, message: string]>>;
}

/** Values of named arguments as written. `{type}` in the message for a non-object stands for its type. */
export function namedArguments(
  argument: RawValue,
  allowed: readonly string[],
  errors: NamedErrors,
): ReadonlyMap<string, RawValue> {
  if (argument.type !== BsonType.object) {
    throw new CommandError(errors.object[0], errors.object[1].replace("{type}", typeName(argument)));
  }
  const map = new Map(fields(asDocument(argument)));
  for (const name of map.keys()) {
    if (allowed.includes(name)) continue;
    const [code, message] = errors.unknown;
    throw new CommandError(
      code,
      message.includes("{name}") ? message.replace("{name}", () => name) : message + name,
    );
  }
  for (const [name, [code, message]] of Object.entries(errors.required ?? {})) {
    if (!map.has(name)) throw new CommandError(code, message);
  }
  return map;
}

/** An optional argument, compiled. */
export function compileOptional(
  named: ReadonlyMap<string, RawValue>,
  name: string,
  scope: Scope,
): Expression | undefined {
  const value = named.get(name);
  return value === undefined ? undefined : compile(value, scope);
}
