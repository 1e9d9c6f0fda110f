/**
 * Sees when a pipeline of `$lookup` begins by comparing a field with a variable.
 *
 *     {$match: {$expr: {$eq: ["$a", "$$x"]}}}                        → a, $$x
 *     {$match: {$expr: {$and: [{$eq: ["$a", "$$x"]}, …]}, b: 1}}     → a, $$x
 *
 * Only documents whose `a` equals `x` can pass such a stage, so they alone are
 * looked at; the stage itself still runs on them and decides the rest.
 */
import {
  BsonType,
  asDocument,
  asString,
  elements,
  getField,
  firstField,
  type RawValue,
} from "../../../bson/index.js";
import type { ExternalVariable } from "../../expression/context.js";

export interface JoinPredicate {
  /** Path of the foreign field. */
  readonly path: string;
  /** What it is compared with: `"$$x"` or `"$$x.y"`. */
  readonly variable: RawValue;
}

/**
 * @param stage the first stage of the pipeline
 * @param variables those that are set for each document
 * @returns undefined where the stage compares no field with a variable
 */
export function joinPredicate(
  stage: Uint8Array | undefined,
  variables: ReadonlyMap<string, ExternalVariable>,
): JoinPredicate | undefined {
  const match = stage && getField(stage, "$match");
  if (match?.type !== BsonType.object) return undefined;
  const expr = getField(asDocument(match), "$expr");
  return expr && predicateOf(expr, variables);
}

function predicateOf(
  expr: RawValue,
  variables: ReadonlyMap<string, ExternalVariable>,
): JoinPredicate | undefined {
  if (expr.type !== BsonType.object) return undefined;
  const [operator, argument] = firstField(asDocument(expr)) ?? [];
  if (argument?.type !== BsonType.array) return undefined;
  const list = elements(asDocument(argument));
  if (operator === "$and") {
    for (const each of list) {
      const found = predicateOf(each, variables);
      if (found) return found;
    }
    return undefined;
  }
  if (operator !== "$eq" || list.length !== 2) return undefined;
  const [left, right] = list as [RawValue, RawValue];
  return pair(left, right, variables) ?? pair(right, left, variables);
}

function pair(
  field: RawValue,
  variable: RawValue,
  variables: ReadonlyMap<string, ExternalVariable>,
): JoinPredicate | undefined {
  if (field.type !== BsonType.string || variable.type !== BsonType.string) return undefined;
  const path = asString(field);
  const name = asString(variable);
  if (!path.startsWith("$") || path.startsWith("$$") || !name.startsWith("$$")) return undefined;
  if (!variables.has(name.slice(2).split(".")[0]!)) return undefined;
  return { path: path.slice(1), variable };
}
