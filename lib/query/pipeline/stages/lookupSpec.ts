/** The arguments of `$lookup`. */
import {
  BsonType,
  asDocument,
  asString,
  describeValue,
  elements,
  fields,
  getField,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { compileExpression } from "../../expression/compile.js";
import type { Expression, ExpressionOptions, ExternalVariable } from "../../expression/context.js";
import { pathParts } from "../../expression/fieldPath.js";
import { checkVariableName } from "../../expression/variables.js";
import { typeName } from "../../values/types.js";
import type { NamedCollection } from "../stage.js";
import { stageList } from "./spec.js";

/** A `$lookup` as it was written. */
export interface LookupSpec {
  /** undefined: the pipeline begins with `$documents`. */
  readonly from: NamedCollection | undefined;
  readonly as: readonly string[];
  readonly fields: { readonly local: readonly string[]; readonly foreign: string } | undefined;
  readonly variables: readonly LookupVariable[];
  readonly pipeline: readonly Uint8Array[] | undefined;
}

/** A variable of `let`: what it is in a document, and where the pipeline reads it. */
export interface LookupVariable {
  readonly name: string;
  readonly expression: Expression;
  readonly cell: ExternalVariable;
}

function failed(message: string): CommandError {
  return new CommandError(ErrorCode.FailedToParse, message);
}

/**
 * Reads a `$lookup`.
 * @throws CommandError FailedToParse (9) for arguments that don't go together, TypeMismatch (14), InvalidNamespace (73)
 */
export function parseLookup(spec: RawValue, options: ExpressionOptions): LookupSpec {
  if (spec.type !== BsonType.object) {
    throw failed(`the $lookup stage specification must be an object, but found ${typeName(spec)}`);
  }
  const doc = asDocument(spec);
  const texts = new Map<string, string>();
  let from: NamedCollection | undefined;
  let pipeline: Uint8Array[] | undefined;
  let variables: LookupVariable[] = [];
  let hasLet = false;
  for (const [name, value] of fields(doc)) {
    switch (name) {
      case "from":
        from = parseFrom(value);
        break;
      case "pipeline":
        pipeline = parsePipelineArgument(value);
        break;
      case "let":
        hasLet = true;
        variables = parseVariables(value, options);
        break;
      case "as":
      case "localField":
      case "foreignField":
        if (value.type !== BsonType.string) {
          throw failed(
            `$lookup argument '${name}: ${describeValue(value)}' must be a string, is type ${typeName(value)}`,
          );
        }
        texts.set(name, asString(value));
        break;
      default:
        if (name.startsWith("_internal") || name.startsWith("$_internal")) continue;
        throw failed(`unknown argument to $lookup: ${name}`);
    }
  }
  const as = texts.get("as");
  const local = texts.get("localField");
  const foreign = texts.get("foreignField");
  if (as === undefined) throw failed("must specify 'as' field for a $lookup");
  if (from === undefined) checkDocumentsFirst(pipeline);
  if (pipeline) {
    if ((local === undefined) !== (foreign === undefined)) {
      throw failed("$lookup requires both or neither of 'localField' and 'foreignField' to be specified");
    }
  } else {
    if (local === undefined || foreign === undefined) {
      throw failed(
        "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
      );
    }
    if (hasLet) throw failed("$lookup with a 'let' argument must also specify 'pipeline'");
  }
  const joined =
    local !== undefined && foreign !== undefined
      ? { local: pathParts(local), foreign: pathParts(foreign).join(".") }
      : undefined;
  return { from, as: pathParts(as), fields: joined, variables, pipeline };
}

/**
 * The foreign collection. Another database can be named for the few system collections that MongoDB lets through.
 */
function parseFrom(value: RawValue): NamedCollection {
  if (value.type === BsonType.string) {
    const collection = asString(value);
    if (collection === "" || collection.startsWith(".") || collection.includes("\0")) {
      throw new CommandError(ErrorCode.InvalidNamespace, `invalid $lookup namespace: ${collection}`);
    }
    return { db: undefined, collection };
  }
  if (value.type !== BsonType.object) {
    throw failed(`$lookup 'from' field must be a string, but found ${typeName(value)}`);
  }
  const doc = asDocument(value);
  const db = getField(doc, "db");
  const coll = getField(doc, "coll");
  if (db?.type !== BsonType.string || coll?.type !== BsonType.string) {
    throw failed(`$lookup 'from' field must be a string, but found object`);
  }
  const named = { db: asString(db), collection: asString(coll) };
  const allowed =
    (named.db === "config" &&
      (named.collection.startsWith("cache.chunks.") || SHARED.has(named.collection))) ||
    (named.db === "local" && named.collection === "oplog.rs");
  if (!allowed) {
    throw failed(
      `$lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: ${named.db} and coll: ${named.collection}`,
    );
  }
  return named;
}

const SHARED: ReadonlySet<string> = new Set(["collections", "chunks"]);

function parsePipelineArgument(value: RawValue): Uint8Array[] {
  if (value.type !== BsonType.array) {
    throw new CommandError(ErrorCode.TypeMismatch, "'pipeline' option must be specified as an array");
  }
  return stageList(elements(asDocument(value)));
}

function parseVariables(value: RawValue, options: ExpressionOptions): LookupVariable[] {
  if (value.type !== BsonType.object) {
    throw failed(
      `$lookup argument 'let: ${describeValue(value)}' must be an object, is type ${typeName(value)}`,
    );
  }
  return fields(asDocument(value)).map(([name, expression]) => {
    checkVariableName(name);
    return { name, expression: compileExpression(expression, options), cell: { value: undefined } };
  });
}

function checkDocumentsFirst(pipeline: readonly Uint8Array[] | undefined): void {
  if (!pipeline) throw failed("must specify 'pipeline' when 'from' is empty");
  if (pipeline[0] && getField(pipeline[0], "$documents")) return;
  throw failed(
    "$lookup stage without explicit collection must have a pipeline with $documents as first stage",
  );
}
