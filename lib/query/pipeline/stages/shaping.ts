/**
 * Stages that give each document another shape: `$project`, `$addFields` (`$set`), `$unset`, `$replaceRoot`
 * (`$replaceWith`).
 */
import {
  BsonType,
  asDocument,
  asString,
  describeDocument,
  describeValue,
  elements,
  fields,
  firstField,
  getField,
  isEmptyDocument,
  isNumeric,
  isTruthy,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { compileExpression } from "../../expression/compile.js";
import { expressionContext, type ExpressionOptions } from "../../expression/context.js";
import { parseAddFields, parseProjection, parseUnset, type ProjectionTree } from "../../projection/index.js";
import { typeName } from "../../values/types.js";
import { streaming, type PathChanges, type StageParser, type StageParts } from "../stage.js";
import { objectSpec } from "./spec.js";

function projecting(name: string, tree: ProjectionTree, moves: PathChanges | undefined): StageParts {
  return {
    ...(moves && { moves }),
    create: () => streaming(name, (doc, emit) => void emit(tree.apply(doc))),
  };
}

export const project: StageParser = (spec, options, name) => {
  const doc = objectSpec(spec, 15969, "$project specification must be an object");
  if (isEmptyDocument(doc))
    throw new CommandError(
      51272,
      "Invalid $project :: caused by :: projection specification must have at least one field",
    );
  return projecting(name, parseProjection(doc, "$project", options), changesOfProject(doc));
};

export const addFields: StageParser = (spec, options, name) => {
  const doc = objectSpec(spec, 40272, `${name} specification stage must be an object, got ${typeName(spec)}`);
  if (isEmptyDocument(doc))
    throw new CommandError(
      40177,
      `Invalid ${name} :: caused by :: specification must have at least one field`,
    );
  return projecting(name, parseAddFields(doc, options), { kind: "only", paths: addedPaths(doc, "") });
};

export const unset: StageParser = (spec, _, name) => {
  if (spec.type !== BsonType.string && spec.type !== BsonType.array) {
    throw new CommandError(31002, "$unset specification must be a string or an array");
  }
  const tree = parseUnset(spec);
  const list = spec.type === BsonType.array ? elements(asDocument(spec)) : [spec];
  return projecting(name, tree, { kind: "only", paths: list.map(asString) });
};

/** Paths whose values an `$addFields` sets; those inside nested objects by their full names. */
function addedPaths(spec: Uint8Array, prefix: string): string[] {
  return fields(spec).flatMap(([name, value]) => {
    const nested = value.type === BsonType.object && !isOperator(value);
    return nested ? addedPaths(asDocument(value), `${prefix}${name}.`) : [prefix + name];
  });
}

function isOperator(value: RawValue): boolean {
  const first = firstField(asDocument(value));
  return first === undefined || first[0].startsWith("$");
}

/** What a `$project` leaves alone: of an inclusion what it lists, of an exclusion all else. */
function changesOfProject(spec: Uint8Array): PathChanges | undefined {
  const flags = projectionFlags(spec, "");
  if (flags === undefined) return undefined;
  const kept = flags.filter(({ keep }) => keep).map(({ path }) => path);
  const dropped = flags.filter(({ keep }) => !keep).map(({ path }) => path);
  const id = dropped.includes("_id");
  if (kept.length === 0) return { kind: "only", paths: dropped };
  if (!id && !kept.some((path) => path === "_id" || path.startsWith("_id."))) kept.push("_id");
  return { kind: "allBut", paths: kept };
}

interface ProjectionFlag {
  readonly path: string;
  readonly keep: boolean;
}

/** The flags of a projection that has nothing but flags; undefined for one that computes. */
export function projectionFlags(spec: Uint8Array, prefix: string): ProjectionFlag[] | undefined {
  const flags: ProjectionFlag[] = [];
  for (const [name, value] of fields(spec)) {
    if (value.type === BsonType.bool || isNumeric(value)) {
      flags.push({ path: prefix + name, keep: isTruthy(value) });
      continue;
    }
    if (value.type !== BsonType.object || isOperator(value)) return undefined;
    const inner = projectionFlags(asDocument(value), `${prefix}${name}.`);
    if (inner === undefined) return undefined;
    flags.push(...inner);
  }
  return flags;
}

function replacing(name: string, source: RawValue, options: ExpressionOptions): StageParts {
  const expression = compileExpression(source, options);
  const what = name === "$replaceRoot" ? "'newRoot' expression " : "'replacement document' ";
  return {
    create: () =>
      streaming(name, (doc, emit) => {
        const value = expression(expressionContext(doc));
        if (value?.type !== BsonType.object) {
          throw new CommandError(
            40228,
            `${what} must evaluate to an object, but resulting value was: ${value === undefined ? "MISSING" : describeValue(value)}. ` +
              `Type of resulting value: '${typeName(value)}'. Input document: ${describeDocument(doc)}`,
          );
        }
        emit(asDocument(value));
      }),
  };
}

export const replaceRoot: StageParser = (spec, options, name) => {
  const doc = objectSpec(
    spec,
    40229,
    `expected an object as specification for $replaceRoot stage, got ${typeName(spec)}`,
  );
  for (const [field] of fields(doc)) {
    if (field === "newRoot") continue;
    throw new CommandError(
      ErrorCode.IDLUnknownField,
      `BSON field '$replaceRoot.${field}' is an unknown field.`,
    );
  }
  const newRoot = getField(doc, "newRoot");
  if (newRoot === undefined) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      "BSON field '$replaceRoot.newRoot' is missing but a required field",
    );
  }
  return replacing(name, newRoot, options);
};

export const replaceWith: StageParser = (spec, options, name) => replacing(name, spec, options);
