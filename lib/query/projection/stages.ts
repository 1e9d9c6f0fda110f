/** Projections of stages: `$project`, `$addFields` and its other name `$set`, `$unset`. */
import {
  BsonType,
  asDocument,
  asString,
  elements,
  fields,
  firstField,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { compileExpression, constant } from "../expression/compile.js";
import type { ExpressionOptions } from "../expression/context.js";
import { fieldPathParts, insert } from "./fieldPaths.js";
import { parse, type ProjectionDialect } from "./parse.js";
import { ProjectionTree } from "./tree.js";

/**
 * Parses the projection of a stage.
 * @throws CommandError 31253 and 31254 where inclusion and exclusion are mixed, 31249 and 31250 on path collisions
 */
export function parseProjection(
  spec: Uint8Array,
  dialect: Exclude<ProjectionDialect, "find">,
  options: ExpressionOptions = {},
): ProjectionTree {
  return parse(spec, dialect, options).tree;
}

/** `$addFields` and `$set`: everything is kept, every value is an expression, objects are paths written otherwise. */
export function parseAddFields(spec: Uint8Array, options: ExpressionOptions): ProjectionTree {
  const tree = new ProjectionTree("keep");
  const add = (doc: Uint8Array, prefix: string): void => {
    for (const [name, value] of fields(doc)) {
      const path = prefix + name;
      fieldPathParts(path);
      if (value.type === BsonType.object) {
        const inner = asDocument(value);
        const first = firstField(inner);
        if (first !== undefined && !first[0].startsWith("$")) {
          add(inner, `${path}.`);
          continue;
        }
        if (first === undefined) {
          insert(tree, path, { kind: "compute", expression: constant(value), place: "here" });
          continue;
        }
      }
      insert(tree, path, { kind: "compute", expression: compileExpression(value, options), place: "here" });
    }
  };
  add(spec, "");
  tree.noteComputed();
  return tree;
}

/** `$unset: "a"` or `$unset: ["a", "b.c"]`. @throws CommandError 31119, 31120, and those of bad paths */
export function parseUnset(spec: RawValue): ProjectionTree {
  const list = spec.type === BsonType.array ? elements(asDocument(spec)) : [spec];
  const tree = new ProjectionTree("keep");
  if (list.length === 0) {
    throw new CommandError(
      31119,
      "$unset specification must be a string or an array with at least one field",
    );
  }
  for (const item of list) {
    if (item.type !== BsonType.string) {
      throw new CommandError(
        31120,
        "$unset specification must be a string or an array containing only string values",
      );
    }
    insert(tree, asString(item), { kind: "drop" });
  }
  return tree;
}
