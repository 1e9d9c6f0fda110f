/**
 * Bounds of `$expr`.
 *
 * MongoDB rewrites what it can of an expression into predicates that an index
 * serves, and keeps the expression beside them for the last word:
 *
 *     { $expr: { $eq: ["$a", 5] } }                     a in [5, 5]
 *     { $expr: { $gt: [10, "$a"] } }                    a in [MinKey, 10)       across types, missing included
 *     { $expr: { $in: ["$a", [1, 2]] } }                a in [1, 1], [2, 2]
 *     { $expr: { $and: [ …, … ] } }                     what any of them allows, intersected
 *     { $expr: { $or: [ …, … ] } }                      united, if every one of them says something
 *
 * The other operand must be a constant: a value, a `$literal`, a variable of
 * the command's `let`, or an expression of such.
 *
 * Expressions compare across types and take a missing value as less than null.
 * Its key is null, so a bound that ends below null has to include it.
 */
import type { Collation, RawValue } from "../../bson/index.js";
import {
  BsonType,
  NULL,
  asDocument,
  asString,
  elements,
  fields,
  forEachField,
  sameCollation,
} from "../../bson/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { constantValue } from "../expression/variables.js";
import { mayHoldString } from "../filter/operators.js";
import { FULL_RANGE, intersect, point, unite, type FieldBounds } from "./intervals.js";
import type { KeyField } from "./keyBounds.js";
import { hashedPoints, type Bounds, type IndexTraits } from "./predicates.js";

/** What the filter's node knows of its expression. */
interface ExpressionNode {
  readonly options?: ExpressionOptions;
  readonly collation?: Collation;
}

const MIRRORED: Readonly<Record<string, string>> = {
  $eq: "$eq",
  $gt: "$lt",
  $gte: "$lte",
  $lt: "$gt",
  $lte: "$gte",
};

/** Bounds of an expression on one field of a key that has one value for each document. */
export function expressionBounds(
  node: ExpressionNode,
  source: RawValue,
  field: KeyField,
  index: IndexTraits,
): Bounds {
  return { intervals: intervalsOf(node, source, field, index), exact: false };
}

function intervalsOf(
  node: ExpressionNode,
  source: RawValue,
  field: KeyField,
  index: IndexTraits,
): FieldBounds {
  if (source.type !== BsonType.object) return FULL_RANGE;
  const [operation, ...rest] = fields(asDocument(source));
  if (operation === undefined || rest.length > 0 || operation[1].type !== BsonType.array) return FULL_RANGE;
  const [name, argument] = operation;
  const operands = elements(asDocument(argument));
  if (name === "$and") {
    return operands
      .map((operand) => intervalsOf(node, operand, field, index))
      .reduce((sum, intervals) => intersect(sum, intervals, index.collation), FULL_RANGE);
  }
  if (name === "$or") {
    const parts = operands.map((operand) => intervalsOf(node, operand, field, index));
    return parts.length === 0 ? FULL_RANGE : unite(parts.flat(), index.collation);
  }
  if (operands.length !== 2) return FULL_RANGE;
  const isPath = (v: RawValue): boolean => v.type === BsonType.string && asString(v) === `$${field.path}`;
  const at = operands.findIndex(isPath);
  if (at === -1) return FULL_RANGE;
  const value = constantOperand(operands[1 - at]!, node.options);
  if (value === undefined) return FULL_RANGE;
  if (name === "$in") return at === 0 ? membership(node, value, field, index) : FULL_RANGE;
  const operator = at === 0 && name in MIRRORED ? name : MIRRORED[name];
  if (operator === undefined || !isComparable(node, value, index)) return FULL_RANGE;
  if (operator === "$eq") return pointsOf([value], field, index);
  return field.kind === "hashed" ? FULL_RANGE : range(operator, value);
}

/** Missing values have the key null: both ends are included, so that none of them is lost. */
function range(operator: string, value: RawValue): FieldBounds {
  const [full] = FULL_RANGE;
  return operator.startsWith("$gt")
    ? unite([{ ...full!, low: value, lowInclusive: true }])
    : unite([{ ...full!, high: value, highInclusive: true }]);
}

/** `$in` of a constant list. Null would be compared in another way than a filter's `$in` does. */
function membership(node: ExpressionNode, list: RawValue, field: KeyField, index: IndexTraits): FieldBounds {
  if (list.type !== BsonType.array) return FULL_RANGE;
  const values = elements(asDocument(list));
  const usable = values.every(
    (value) => value.type !== NULL.type && value.type !== BsonType.regex && isComparable(node, value, index),
  );
  return usable ? pointsOf(values, field, index) : FULL_RANGE;
}

function pointsOf(values: readonly RawValue[], field: KeyField, { collation }: IndexTraits): FieldBounds {
  if (field.kind === "hashed") return hashedPoints(values);
  return unite(
    values.map((value) => point(value)),
    collation,
  );
}

function isComparable({ collation }: ExpressionNode, value: RawValue, index: IndexTraits): boolean {
  if (value.type === BsonType.array || value.type === BsonType.undefined) return false;
  return !mayHoldString(value) || sameCollation(collation, index.collation);
}

/** The value of an operand that is the same for all documents. */
function constantOperand(operand: RawValue, options: ExpressionOptions | undefined): RawValue | undefined {
  return isRandom(operand) ? undefined : constantValue(operand, options);
}

function isRandom(v: RawValue): boolean {
  if (v.type !== BsonType.object && v.type !== BsonType.array) return false;
  let found = false;
  forEachField(asDocument(v), (name, value) => {
    found ||= name === "$rand" || isRandom(value);
    return !found;
  });
  return found;
}
