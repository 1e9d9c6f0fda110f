/** Decisions: `$and $or $not $cond $ifNull $switch`. A branch that isn't taken is not evaluated. */
import { BsonType, FALSE, TRUE, asDocument, elements, isTruthy, type RawValue } from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { typeName } from "../values/types.js";
import {
  argumentList,
  compileArguments,
  isNullish,
  namedArguments,
  unary,
  type OperatorCompiler,
} from "./arguments.js";
import { compile } from "./compile.js";
import type { Expression } from "./context.js";

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

/** `{ $cond: [if, then, else] }` or with names; only the branch taken is evaluated. */
const cond: OperatorCompiler = (argument, scope, name) => {
  let parts: Expression[];
  if (argument.type === BsonType.object) {
    const named = namedArguments(argument, ["if", "then", "else"], {
      object: [17083, ""],
      unknown: [17083, "Unrecognized parameter to $cond: "],
      required: {
        if: [17080, "Missing 'if' parameter to $cond"],
        then: [17081, "Missing 'then' parameter to $cond"],
        else: [17082, "Missing 'else' parameter to $cond"],
      },
    });
    parts = ["if", "then", "else"].map((part) => compile(named.get(part)!, scope));
  } else {
    parts = compileArguments(argument, scope, name, 3);
  }
  const [condition, then, otherwise] = parts as [Expression, Expression, Expression];
  return (context) => (isTruthy(condition(context)) ? then(context) : otherwise(context));
};

/** The first argument that is neither null nor missing; else the last one as it is. */
const ifNull: OperatorCompiler = (argument, scope, name) => {
  const count = argumentList(argument).length;
  if (count < 2) throw new CommandError(1257300, `$ifNull needs at least two arguments, had: ${count}`);
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

const switchCase: OperatorCompiler = (argument, scope) => {
  const named = namedArguments(argument, ["branches", "default"], {
    object: [40060, "$switch requires an object as an argument, found: {type}"],
    unknown: [40067, "$switch found an unknown argument: "],
  });
  const list = named.get("branches");
  if (list !== undefined && list.type !== BsonType.array) {
    throw new CommandError(40061, `$switch expected an array for 'branches', found: ${typeName(list)}`);
  }
  const branches = (list === undefined ? [] : elements(asDocument(list))).map((branch) => {
    const parts = namedArguments(branch, ["case", "then"], {
      object: [40062, "$switch expected each branch to be an object, found: {type}"],
      unknown: [40063, "$switch found an unknown argument to a branch: "],
      required: {
        case: [40064, "$switch requires each branch have a 'case' expression"],
        then: [40065, "$switch requires each branch have a 'then' expression."],
      },
    });
    return { when: compile(parts.get("case")!, scope), then: compile(parts.get("then")!, scope) };
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
  $cond: cond,
  $ifNull: ifNull,
  $switch: switchCase,
};
