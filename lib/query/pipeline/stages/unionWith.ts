/** `$unionWith`: after the documents of the pipeline those of another collection. */
import {
  BsonType,
  asDocument,
  asString,
  elements,
  fields,
  getField,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { typeName } from "../../values/types.js";
import { hostOf, sourceOf } from "../host.js";
import { createStages, runStages } from "../runner.js";
import type { Emit, NamedCollection, Stage, StageParser } from "../stage.js";
import { stageList } from "./spec.js";

interface UnionSpec {
  readonly from: NamedCollection | undefined;
  readonly pipeline: readonly Uint8Array[];
}

export const unionWith: StageParser = (spec, options, _, parse) => {
  const { from, pipeline } = parseUnion(spec);
  const inner = parse(pipeline, options, "$unionWith");
  const reads = [
    ...(from ? [from] : []),
    ...inner.flatMap((stage): readonly NamedCollection[] => stage.reads ?? []),
  ];
  const others = (): Iterable<Uint8Array> => {
    if (from === undefined) return runStages(createStages(inner), []);
    const host = hostOf(options, "$unionWith");
    return host.read(sourceOf(host, from), pipeline, options);
  };
  return {
    reads,
    needsHost: from !== undefined || inner.some(({ needsHost }) => needsHost),
    create(): Stage {
      if (from !== undefined) hostOf(options, "$unionWith");
      return {
        name: "$unionWith",
        satisfied: false,
        push: (doc: Uint8Array, emit: Emit) => void emit(doc),
        finish(emit: Emit) {
          for (const doc of others()) if (emit(doc) === false) return;
        },
      };
    },
  };
};

function parseUnion(spec: RawValue): UnionSpec {
  if (spec.type === BsonType.string) {
    return { from: { db: undefined, collection: checkedName(asString(spec)) }, pipeline: [] };
  }
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `the $unionWith stage specification must be an object or string, but found ${typeName(spec)}`,
    );
  }
  let from: NamedCollection | undefined;
  let pipeline: Uint8Array[] | undefined;
  for (const [name, value] of fields(asDocument(spec))) {
    if (name === "coll") {
      if (value.type !== BsonType.string) throw wrongType("coll", value, "string");
      from = { db: undefined, collection: checkedName(asString(value)) };
    } else if (name === "pipeline") {
      if (value.type !== BsonType.array) throw wrongType("pipeline", value, "array");
      pipeline = stageList(elements(asDocument(value)));
    } else {
      throw new CommandError(
        ErrorCode.IDLUnknownField,
        `BSON field '$unionWith.${name}' is an unknown field.`,
      );
    }
  }
  if (from === undefined && !(pipeline?.[0] && getField(pipeline[0], "$documents"))) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      "$unionWith stage without explicit collection must have a pipeline with $documents as first stage",
    );
  }
  return { from, pipeline: pipeline ?? [] };
}

function checkedName(collection: string): string {
  if (collection !== "" && !collection.startsWith(".") && !collection.includes("\0")) return collection;
  throw new CommandError(ErrorCode.InvalidNamespace, `Invalid $unionWith namespace: ${collection}`);
}

function wrongType(name: string, value: RawValue, expected: string): CommandError {
  return new CommandError(
    ErrorCode.TypeMismatch,
    `BSON field '$unionWith.${name}' is the wrong type '${typeName(value)}', expected type '${expected}'`,
  );
}
