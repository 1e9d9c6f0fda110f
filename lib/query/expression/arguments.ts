/** How operators take their arguments: by position, a fixed or a variable number of them. */
import { BsonType, asDocument, elements, type RawValue } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { compile } from "./compile.js";
import type { Expression, Scope } from "./context.js";

/** Compiles one operator from its raw argument. `name` is the operator's, for messages. */
export type OperatorCompiler = (argument: RawValue, scope: Scope, name: string) => Expression;

/** A value of an argument; undefined means missing. */
export type Argument = RawValue | undefined;

/** Null, missing or the deprecated undefined: what most operators answer with null. */
export function isNullish(v: Argument): v is undefined | (RawValue & { readonly type: 6 | 10 }) {
  return v === undefined || v.type === BsonType.null || v.type === BsonType.undefined;
}

/** Compiles positional arguments: an array is the list of them, anything else a single one. */
export function compileArguments(
  argument: RawValue,
  scope: Scope,
  name: string,
  min: number,
  max = min,
): Expression[] {
  const list = argument.type === BsonType.array ? elements(asDocument(argument)) : [argument];
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
