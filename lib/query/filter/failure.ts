/**
 * Why a document does not match a filter: the `errInfo.details` of a failed
 * validation.
 *
 * The filter is walked as its author wrote it, not as the tree that it was
 * simplified to: the report quotes `$ne` and `$nin` by their names and counts
 * the clauses of an `$and` as they stand. Below a negation everything turns
 * round: what is reported is what *did* match.
 *
 *     { qty: { $gt: 0, $ne: 7 } } on { qty: 7 }
 *       → { operatorName: "$and", clausesNotSatisfied: [ { index: 1, details:
 *           { operatorName: "$ne", specifiedAs: { qty: { $ne: 7 } }, reason: "comparison succeeded",
 *             consideredValue: 7 } } ] }
 *
 * @since MongoDB 5.0
 */
import {
  BsonType,
  DocumentWriter,
  asDocument,
  document,
  elements,
  fields,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { compileExpression } from "../expression/compile.js";
import { expressionContext, type ExpressionOptions } from "../expression/context.js";
import { NUMBER_TYPES, typeName } from "../values/types.js";
import { annotations, consideredTypes, Failures, specification, typeNames } from "./failureDocument.js";
import { parseSchema, schemaFailures } from "./jsonSchema.js";
import { documentTest } from "./match.js";
import type { FilterNode } from "./node.js";
import { isOperatorObject, parseOperators } from "./operators.js";
import { parseFilter, parsePath, type ParseContext } from "./parse.js";
import { valuesAt } from "./paths.js";

/** A report must fit into a reply beside the document it is about. */
const MAX_REPORT = 8 * 1024 * 1024;

/**
 * Says why `doc` does not match `filter`.
 * @param filter a filter that compiles, e.g. a collection's validator
 * @param doc a document that it does not match
 * @returns a document in the shape of MongoDB's `errInfo.details`
 */
export function explainFailure(
  filter: Uint8Array,
  doc: Uint8Array,
  options: ExpressionOptions = {},
): RawValue {
  const report = (brief: boolean) => {
    const how: Explanation = { doc, context: options, failures: new Failures(brief) };
    return combination(clausesOf(filter, options), how, false) ?? new DocumentWriter().finish();
  };
  const full = report(false);
  return document(full.length <= MAX_REPORT ? full : report(true));
}

interface Explanation {
  readonly doc: Uint8Array;
  readonly context: ParseContext;
  readonly failures: Failures;
}

/** One condition as it was written. */
interface Clause {
  readonly node: FilterNode;
  /** @param inverted the clause matched, and should not have */
  explain(how: Explanation, inverted: boolean): Uint8Array | undefined;
}

/** The conditions of a filter document, which hold together. */
function clausesOf(filter: Uint8Array, context: ParseContext): Clause[] {
  return fields(filter).flatMap(([name, value]): Clause[] => {
    if (name === "$comment") return [];
    if (name.startsWith("$")) return [topLevelClause(name, value, context)];
    if (value.type === BsonType.object && isOperatorObject(asDocument(value))) {
      return operatorClauses(name, asDocument(value), context);
    }
    const operator = value.type === BsonType.regex ? "$regex" : "$eq";
    return [pathClause(name, operator, specification(name, value), parsePath(name, value, context))];
  });
}

/** The clause itself where it is the only one, an `$and` of several. */
function combination(
  clauses: readonly Clause[],
  how: Explanation,
  inverted: boolean,
): Uint8Array | undefined {
  if (clauses.length === 1) return clauses[0]!.explain(how, inverted);
  return list("$and", clauses, how, inverted, inverted);
}

/**
 * An operator on several clauses, with those of them that have to do with the
 * failure.
 * @param inverted which outcome of the clauses is reported: that they failed, or (inverted) that they matched
 * @param named whether the list is named after what is satisfied
 */
function list(
  operator: string,
  clauses: readonly Clause[],
  how: Explanation,
  inverted: boolean,
  named: boolean,
): Uint8Array {
  const details = clauses.flatMap((clause, index) => {
    if (documentTest(clause.node)(how.doc) !== inverted) return [];
    const found = clause.explain(how, inverted);
    return found === undefined
      ? []
      : new DocumentWriter().int32("index", index).document("details", found).finish();
  });
  return how.failures
    .start(operator)
    .arrayOf(named ? "clausesSatisfied" : "clausesNotSatisfied", details)
    .finish();
}

function topLevelClause(name: string, value: RawValue, context: ParseContext): Clause {
  const node = parseFilter(specification(name, value), context);
  switch (name) {
    case "$and":
    case "$or":
    case "$nor":
      return branches(name, value, node, context);
    case "$expr":
      return { node, explain: (how, inverted) => explainExpression(value, how, inverted) };
    case "$jsonSchema":
      return { node, explain: (how, inverted) => explainSchema(value, how, inverted) };
    default:
      return {
        node,
        explain: ({ failures }, inverted) =>
          failures
            .start(name, specification(name, value))
            .string("reason", `expression always evaluates to ${String(inverted)}`)
            .finish(),
      };
  }
}

function branches(name: string, value: RawValue, node: FilterNode, context: ParseContext): Clause {
  const clauses = elements(asDocument(value)).map((branch): Clause => {
    const inner = asDocument(branch);
    return {
      node: parseFilter(inner, context),
      explain: (how, inverted) => combination(clausesOf(inner, context), how, inverted),
    };
  });
  return {
    node,
    explain(how, inverted) {
      const turned = name === "$nor" ? !inverted : inverted;
      return list(name, clauses, how, turned, turned);
    },
  };
}

function explainExpression(
  value: RawValue,
  { doc, context, failures }: Explanation,
  inverted: boolean,
): Uint8Array {
  const writer = failures.start("$expr", specification("$expr", value));
  try {
    const result = compileExpression(value, context)(expressionContext(doc));
    writer.string("reason", inverted ? "expression did match" : "expression did not match");
    if (result !== undefined) writer.field("expressionResult", result);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const { code, codeName, message } = error;
    writer.string("reason", "failed to evaluate aggregation expression");
    writer.document(
      "details",
      new DocumentWriter()
        .int32("code", code)
        .string("codeName", codeName)
        .string("errmsg", message)
        .finish(),
    );
  }
  return writer.finish();
}

function explainSchema(value: RawValue, { doc, failures }: Explanation, inverted: boolean): Uint8Array {
  const schema = parseSchema(asDocument(value), true);
  if (schema.matchesNothing) {
    return failures
      .start("$jsonSchema", specification("$jsonSchema", value))
      .string("reason", "expression always evaluates to false")
      .finish();
  }
  const writer = failures.start("$jsonSchema");
  if (inverted) return writer.string("reason", "schema matched").finish();
  return annotations(writer, schema)
    .arrayOf("schemaRulesNotSatisfied", schemaFailures(schema, document(doc), failures))
    .finish();
}

/** The operators at one path, each a clause of its own. */
function operatorClauses(path: string, operators: Uint8Array, context: ParseContext): Clause[] {
  return fields(operators).flatMap(([name, value]): Clause[] => {
    if (name === "$options") return []; // part of the $regex beside it
    if (name === "$not") return [notClause(path, value, context)];
    // A regular expression is specified by all that stands at the path.
    const own = name === "$regex" ? operators : specification(name, value);
    const node = parseOperators(path, own, context);
    const specifiedAs = new DocumentWriter().document(path, own).finish();
    const negated = name === "$ne" || name === "$nin" || (name === "$exists" && !isTruthy(value));
    return [pathClause(path, name, specifiedAs, node, negated)];
  });
}

function notClause(path: string, value: RawValue, context: ParseContext): Clause {
  const node = parseOperators(path, specification("$not", value), context);
  const inner =
    value.type === BsonType.regex
      ? clausesOf(specification(path, value), context)
      : operatorClauses(path, asDocument(value), context);
  return {
    node,
    explain(how, inverted) {
      const details = combination(inner, how, !inverted);
      const writer = how.failures.start("$not");
      return details === undefined ? writer.finish() : writer.document("details", details).finish();
    },
  };
}

/** What is said of a failure and of its opposite. */
const REASONS: Readonly<Record<string, readonly [failed: string, matched: string]>> = {
  $exists: ["path does not exist", "path does exist"],
  $in: ["no matching value found in array", "matching value found in array"],
  $nin: ["no matching value found in array", "matching value found in array"],
  $type: ["type did not match", "type did match"],
  $regex: ["regular expression did not match", "regular expression did match"],
  $mod: ["$mod did not evaluate to expected remainder", "$mod did evaluate to expected remainder"],
  $size: ["array length was not equal to given size", "array length was equal to given size"],
  $all: ["array did not contain all specified values", "array did contain all specified values"],
  $elemMatch: ["array did not satisfy the child predicate", "array did satisfy the child predicate"],
};
const COMPARISON = ["comparison failed", "comparison succeeded"] as const;
const BITS = ["bitwise operator failed to match", "bitwise operator matched successfully"] as const;

/** Types that an operator can match at all; undefined for all. */
function expectedTypes(operator: string): readonly BsonType[] | undefined {
  if (operator === "$mod") return NUMBER_TYPES;
  if (operator === "$regex") return [BsonType.string, BsonType.symbol, BsonType.regex];
  if (operator === "$size" || operator === "$elemMatch") return [BsonType.array];
  return operator.startsWith("$bits") ? [...NUMBER_TYPES, BsonType.binary] : undefined;
}

/**
 * A condition at a path.
 * @param negated the operator is a negation by itself, as `$ne` is
 */
function pathClause(
  path: string,
  operator: string,
  specifiedAs: Uint8Array,
  node: FilterNode,
  negated = false,
): Clause {
  const reasons = REASONS[operator] ?? (operator.startsWith("$bits") ? BITS : COMPARISON);
  return {
    node,
    explain({ doc, failures }, inverted) {
      const writer = failures.start(operator, specifiedAs);
      if (operator === "$all" && node.op === "alwaysFalse") {
        return writer.string("reason", "expression always evaluates to false").finish();
      }
      const reason = reasons[inverted !== negated ? 1 : 0];
      if (operator === "$exists") return writer.string("reason", reason).finish();
      const wholeArrays = operator === "$size" || operator === "$elemMatch" || operator === "$all";
      const values = valuesAt(doc, path.split("."), !wholeArrays);
      if (values === undefined) return writer.string("reason", "field was missing").finish();
      const expected = expectedTypes(operator);
      if (expected !== undefined && !values.some(({ type }) => expected.includes(type))) {
        consideredTypes(writer.string("reason", "type did not match"), values);
        typeNames(
          writer,
          "expectedType",
          expected.map((type) => typeName({ type, bytes: doc, start: 0, end: 0 })),
        );
        return failures.considered(writer, values).finish();
      }
      failures.considered(writer.string("reason", reason), values);
      return (operator === "$type" ? consideredTypes(writer, values) : writer).finish();
    },
  };
}
