/** Decisions: `$and $or $not $in $cond $ifNull $switch`. A branch that isn't taken is not evaluated. */
import { BsonType, FALSE, TRUE, asDocument, elements, isTruthy, type RawValue } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { typeName } from "../values/types.js";
import {
  binary,
  compileArguments,
  isNullish,
  unary,
  type Argument,
  type OperatorCompiler,
} from "./arguments.js";
import { compareArguments } from "./comparison.js";
import { compile } from "./compile.js";
import type { Expression } from "./context.js";
import { namedArguments } from "./fieldPath.js";

/** Evaluates until one decides. */
function shortCircuit(decisive: boolean): OperatorCompiler {
  return (argument, scope, name) => {
    const operands = compileArguments(argument, scope, name, 0, Infinity);
    return (context) => {
      for (const operand of operands)
        if (isTruthy(operand(context)) === decisive) return decisive ? TRUE : FALSE;
      return decisive ? FALSE : TRUE;
    };
  };
}

function membership(v: Argument, list: Argument): Argument {
  if (list?.type !== BsonType.array) {
    throw new CommandError(40081, `$in requires an array as a second argument, found: ${typeName(list)}`);
  }
  return elements(asDocument(list)).some((element) => compareArguments(v, element) === 0) ? TRUE : FALSE;
}

/** `{ $cond: [if, then, else] }` or with names; only the branch taken is evaluated. */
const cond: OperatorCompiler = (argument, scope, name) => {
  let parts: Expression[];
  if (argument.type === BsonType.object) {
    const named = namedArguments(name, argument, ["if", "then", "else"], 17083);
    const codes = { if: 17080, then: 17081, else: 17082 };
    parts = (["if", "then", "else"] as const).map((part) => {
      const value = named.get(part);
      if (value === undefined) throw new CommandError(codes[part], `Missing '${part}' parameter to $cond`);
      return compile(value, scope);
    });
  } else {
    parts = compileArguments(argument, scope, name, 3);
  }
  const [condition, then, otherwise] = parts as [Expression, Expression, Expression];
  return (context) => (isTruthy(condition(context)) ? then(context) : otherwise(context));
};

/** The first argument that is neither null nor missing; else the last one as it is. */
const ifNull: OperatorCompiler = (argument, scope, name) => {
  const list = argument.type === BsonType.array ? elements(asDocument(argument)) : [argument];
  if (list.length < 2) {
    throw new CommandError(1257300, `$ifNull needs at least two arguments, had: ${list.length}`);
  }
  const operands = compileArguments(argument, scope, name, 2, Infinity);
  return (context) => {
    let value: RawValue | undefined;
    for (const operand of operands) {
      value = operand(context);
      if (!isNullish(value)) return value;
    }
    return value;
  };
};

const switchCase: OperatorCompiler = (argument, scope, name) => {
  if (argument.type !== BsonType.object) {
    throw new CommandError(40060, `$switch requires an object as an argument, found: ${typeName(argument)}`);
  }
  const named = namedArguments(name, argument, ["branches", "default"], 40067);
  const list = named.get("branches");
  if (list !== undefined && list.type !== BsonType.array) {
    throw new CommandError(40061, `$switch expected an array for 'branches', found: ${typeName(list)}`);
  }
  const branches = (list === undefined ? [] : elements(asDocument(list))).map((branch) => {
    const parts = namedArguments("$switch branch", branch, ["case", "then"], 40063);
    const when = parts.get("case");
    const then = parts.get("then");
    if (when === undefined)
      throw new CommandError(40064, "$switch requires each branch have a 'case' expression");
    if (then === undefined)
      throw new CommandError(40065, "$switch requires each branch have a 'then' expression.");
    return { when: compile(when, scope), then: compile(then, scope) };
  });
  if (branches.length === 0) throw new CommandError(40068, "$switch requires at least one branch.");
  const fallback = named.get("default");
  const otherwise = fallback === undefined ? undefined : compile(fallback, scope);
  return (context) => {
    for (const { when, then } of branches) if (isTruthy(when(context))) return then(context);
    if (otherwise !== undefined) return otherwise(context);
    throw new CommandError(
      40066,
      "$switch could not find a matching branch for an input, and no default was specified.",
    );
  };
};

export const LOGIC: Readonly<Record<string, OperatorCompiler>> = {
  $and: shortCircuit(false),
  $or: shortCircuit(true),
  $not: unary((v) => (isTruthy(v) ? FALSE : TRUE)),
  $in: binary(membership),
  $cond: cond,
  $ifNull: ifNull,
  $switch: switchCase,
};
