/**
 * The tree a filter is parsed into.
 *
 * It is plain data: the matcher compiles it into functions, the planner and
 * the router read key bounds off it (bounds/), the upsert its equalities.
 * Parsing leaves few shapes: an implicit `$and` is written out, `$ne` and
 * `$nin` are a `not`, `$all` is an `and` of equalities, and an `$in` of one
 * value is an `eq`.
 *
 *     { device: "dev-42", n: { $gt: 5, $ne: 8 } }
 *       → and( eq device "dev-42", gt n 5, not( eq n 8 ) )
 */
import type { BsonType, Collation, RawValue } from "../../bson/index.js";
import type { Expression, ExpressionOptions } from "../expression/context.js";
import type { BitsOp } from "./bits.js";
import type { Schema } from "./jsonSchema.js";
import type { Pattern } from "./regex.js";

/** A predicate on one dotted path. Inside an `elemMatch` of kind "value" the path is "" and means the element. */
export type PathNode =
  | {
      readonly op: "eq" | "gt" | "gte" | "lt" | "lte";
      readonly path: string;
      readonly value: RawValue;
      /** The query's; only where the value is or may hold a string. */
      readonly collation?: Collation;
    }
  | {
      readonly op: "in";
      readonly path: string;
      /** No regexes among them; sorted, without duplicates. */
      readonly values: readonly RawValue[];
      readonly regexes: readonly Pattern[];
      /** The query's; only where a value is or may hold a string. */
      readonly collation?: Collation;
    }
  | { readonly op: "regex"; readonly path: string; readonly pattern: Pattern }
  | { readonly op: "exists"; readonly path: string }
  | { readonly op: "type"; readonly path: string; readonly types: readonly BsonType[] }
  | { readonly op: "mod"; readonly path: string; readonly divisor: bigint; readonly remainder: bigint }
  | { readonly op: "size"; readonly path: string; readonly size: number }
  | {
      readonly op: "bits";
      readonly path: string;
      readonly kind: BitsOp;
      /** The operand as it came, for explain. */
      readonly source: RawValue;
      readonly positions: Iterable<number>;
    }
  | {
      readonly op: "elemMatch";
      readonly path: string;
      /** "object": the child's paths start in the element; "value": the child's paths are "", the element itself. */
      readonly of: "object" | "value";
      readonly child: FilterNode;
    };

/** A condition on whole documents: one of {@link PathNode}, or a combination. `and` of nothing is always true. */
export type FilterNode =
  | PathNode
  | { readonly op: "and" | "or" | "nor"; readonly children: readonly FilterNode[] }
  | { readonly op: "not"; readonly child: FilterNode }
  | {
      readonly op: "expr";
      readonly source: RawValue;
      readonly expression: Expression;
      /** What it was compiled with. */
      readonly options?: ExpressionOptions;
      /** The query's, if it has one. */
      readonly collation?: Collation;
    }
  | { readonly op: "jsonSchema"; readonly source: RawValue; readonly schema: Schema }
  | { readonly op: "sampleRate"; readonly rate: number; readonly random: () => number }
  | { readonly op: "alwaysFalse" };

/** The filter `{}`. */
export const ALWAYS_TRUE: FilterNode = { op: "and", children: [] };
export const ALWAYS_FALSE: FilterNode = { op: "alwaysFalse" };

/** All of the conditions, flattened: nested `and`s dissolve, one condition stands for itself. */
export function allOf(nodes: readonly FilterNode[]): FilterNode {
  const children: FilterNode[] = [];
  for (const node of nodes) {
    if (node.op === "alwaysFalse") return ALWAYS_FALSE;
    if (node.op === "and") children.push(...node.children);
    else children.push(node);
  }
  return children.length === 1 ? children[0]! : { op: "and", children };
}

/** Any of the conditions. */
export function anyOf(nodes: readonly FilterNode[]): FilterNode {
  const children = nodes.filter((node) => node.op !== "alwaysFalse");
  if (children.length === 0) return ALWAYS_FALSE;
  return children.length === 1 ? children[0]! : { op: "or", children };
}
