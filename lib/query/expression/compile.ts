/**
 * Compiles aggregation expressions.
 *
 *     "$a.b"                 field path          "$$ROOT", "$$x.y"      variable
 *     5, "text", true        itself              [e1, e2]               array of results
 *     { $add: [e1, e2] }     operator            { x: e1, y: e2 }       object of results
 *
 * Operators live in one table (operators.ts), each compiled from its raw
 * argument, so that those with named arguments (`$filter`, `$cond`) and those
 * with positional ones are entries alike.
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  array,
  asDocument,
  asString,
  describeDocument,
  document,
  elements,
  fields,
  isEmptyDocument,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { Expression, ExpressionOptions, Scope } from "./context.js";
import { checkFieldName, fieldPath, pathParts, valueAtPath } from "./fieldPath.js";
import { boundedArray, checkSize } from "./limits.js";
import { NOT_BUILT, operators } from "./operators.js";
import { boundVariable, checkDocument, compileVariable } from "./variables.js";

const MAX_DEPTH = 200;

/**
 * Compiles an expression.
 * @param v its BSON form, e.g. the string `"$a.b"` or the object `{ $add: ["$x", 1] }`
 * @returns a function from context ({@link expressionContext}) to value; undefined means missing
 * @throws CommandError 168 for an unknown operator, 238 for one that isn't simulated, and MongoDB's codes for
 *   wrong arguments
 */
export function compileExpression(v: RawValue, options: ExpressionOptions = {}): Expression {
  return compile(v, { options, binding: undefined, depth: 0 });
}

/** Compiles within a scope of variables: for operators whose arguments are expressions. */
export function compile(v: RawValue, scope: Scope): Expression {
  switch (v.type) {
    case BsonType.string: {
      const text = asString(v);
      if (text.startsWith("$$")) return compileVariable(text.slice(2), scope);
      return text.startsWith("$") ? compilePath(text.slice(1), scope) : constant(v);
    }
    case BsonType.array:
      return compileArray(elements(asDocument(v)), scope);
    case BsonType.object:
      return compileObject(asDocument(v), scope);
    default:
      return constant(v);
  }
}

/** A path begins at `$$CURRENT`, which is the document unless a `$let` says otherwise. */
function compilePath(path: string, scope: Scope): Expression {
  const current = boundVariable("CURRENT", scope);
  if (current !== undefined && path !== "") {
    const parts = pathParts(path);
    return (context) => valueAtPath(current(context), parts, 0);
  }
  checkDocument(scope);
  return fieldPath(path);
}

const CONSTANTS = new WeakMap<Expression, RawValue>();

/** An expression that always gives `v`; {@link constantOf} recognises it. */
export function constant(v: RawValue): Expression {
  const expression: Expression = () => v;
  CONSTANTS.set(expression, v);
  return expression;
}

/** The value of an expression that does not depend on the document, where that is plain to see. */
export function constantOf(expression: Expression): RawValue | undefined {
  return CONSTANTS.get(expression);
}

function deeper(scope: Scope): Scope {
  if (scope.depth >= MAX_DEPTH) {
    throw new CommandError(ErrorCode.Overflow, `expression exceeds the maximum depth of ${MAX_DEPTH}`);
  }
  return { ...scope, depth: scope.depth + 1 };
}

/** A missing member of an array literal is null. */
function compileArray(list: readonly RawValue[], scope: Scope): Expression {
  const inner = deeper(scope);
  const items = list.map((item) => compile(item, inner));
  const values = items.map(constantOf);
  if (values.every((value) => value !== undefined)) return constant(array(values as RawValue[]));
  return (context) =>
    boundedArray(
      items.map((item) => item(context) ?? NULL),
      "$array",
    );
}

function compileObject(doc: Uint8Array, scope: Scope): Expression {
  if (isEmptyDocument(doc)) return constant(document(doc));
  const list = fields(doc);
  const [first, argument] = list[0]!;
  if (first.startsWith("$")) {
    if (list.length > 1) {
      throw new CommandError(
        15983,
        `An object representing an expression must have exactly one field: ${describeDocument(doc)}`,
      );
    }
    return compileOperator(first, argument, scope);
  }
  const inner = deeper(scope);
  const names = new Set<string>();
  const members = list.map(([name, value]) => {
    checkFieldName(name);
    if (names.has(name)) {
      throw new CommandError(
        16406,
        `duplicate field name specified in object literal: ${describeDocument(doc)}`,
      );
    }
    names.add(name);
    return { name, expression: compile(value, inner) };
  });
  const evaluate = (valueOf: (expression: Expression) => RawValue | undefined): RawValue => {
    const writer = new DocumentWriter();
    let bytes = 0;
    for (const { name, expression } of members) {
      const value = valueOf(expression);
      if (value === undefined) continue;
      bytes += value.end - value.start;
      checkSize(bytes, "$object");
      writer.field(name, value);
    }
    return document(writer.finish());
  };
  if (members.every(({ expression }) => constantOf(expression) !== undefined)) {
    return constant(evaluate(constantOf));
  }
  return (context) => evaluate((expression) => expression(context));
}

function compileOperator(name: string, argument: RawValue, scope: Scope): Expression {
  const operator = operators().get(name);
  if (operator !== undefined) return operator(argument, deeper(scope), name);
  if (NOT_BUILT.has(name)) throw notSimulated(`expression ${name}`);
  throw new CommandError(ErrorCode.InvalidPipelineOperator, `Unrecognized expression '${name}'`);
}
