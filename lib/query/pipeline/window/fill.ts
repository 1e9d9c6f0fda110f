/**
 * `$fill`: values in place of null and missing ones — the last one before
 * (`locf`), one on the line between the neighbours (`linear`), or an
 * expression's.
 *
 * It is two other stages: a `$setWindowFields` with `$locf` and `$linearFill`
 * for the methods, an `$addFields` with `$ifNull` for the values.
 */
import {
  BsonType,
  DocumentWriter,
  array,
  asDocument,
  asString,
  document,
  elements,
  fields,
  isEmptyDocument,
  string,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { typeName } from "../../values/types.js";
import { addFields } from "../stages/shaping.js";
import type { Emit, Stage, StageParser, StageParts } from "../stage.js";
import { checkStageFields, setWindowFields, wrongType } from "./setWindowFields.js";

function operator(name: string, argument: RawValue): RawValue {
  return document(new DocumentWriter().field(name, argument).finish());
}

/** What the fields of `output` ask for. */
interface Fills {
  readonly methods: DocumentWriter;
  readonly values: DocumentWriter;
  hasMethods: boolean;
  hasValues: boolean;
}

function readOutput(output: Uint8Array): Fills {
  if (isEmptyDocument(output)) {
    throw new CommandError(
      6050203,
      "The output field in '$fill' must contain an object with at least one element",
    );
  }
  const fills: Fills = {
    methods: new DocumentWriter(),
    values: new DocumentWriter(),
    hasMethods: false,
    hasValues: false,
  };
  for (const [field, spec] of fields(output)) {
    if (spec.type !== BsonType.object) {
      throw new CommandError(
        6050200,
        "Each fill output specification must be an object with exactly one field",
      );
    }
    const named = checkStageFields(asDocument(spec), "$fill", ["method", "value"], []);
    const method = named.get("method");
    const value = named.get("value");
    const path = string(`$${field}`);
    if (method !== undefined) {
      if (method.type !== BsonType.string) throw wrongType("$fill.method", method, "string");
      if (value !== undefined) {
        throw new CommandError(
          6050201,
          "Each fill output specification must have exactly one of 'method' or 'value' fields, not both",
        );
      }
      const name = asString(method);
      if (name !== "locf" && name !== "linear") {
        throw new CommandError(6050202, "Method must be either locf or linear");
      }
      fills.methods.field(field, operator(name === "locf" ? "$locf" : "$linearFill", path));
      fills.hasMethods = true;
    } else if (value !== undefined) {
      fills.values.field(field, operator("$ifNull", array([path, value])));
      fills.hasValues = true;
    }
  }
  return fills;
}

/** `partitionBy`, or an object of `partitionByFields`. */
function readPartition(named: ReadonlyMap<string, RawValue>): RawValue | undefined {
  const by = named.get("partitionBy");
  const byFields = named.get("partitionByFields");
  if (by !== undefined) {
    if (by.type !== BsonType.object && by.type !== BsonType.string) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        `BSON field '$fill.partitionBy' is the wrong type '${typeName(by)}', expected types '[string, object]'`,
      );
    }
    if (byFields !== undefined) {
      throw new CommandError(
        6050204,
        "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'",
      );
    }
    return by;
  }
  if (byFields === undefined) return undefined;
  if (byFields.type !== BsonType.array) throw wrongType("$fill.partitionByFields", byFields, "array");
  const writer = new DocumentWriter();
  elements(asDocument(byFields)).forEach((field, i) => {
    if (field.type !== BsonType.string) throw wrongType(`$fill.partitionByFields.${i}`, field, "string");
    writer.field(asString(field), string(`$${asString(field)}`));
  });
  return document(writer.finish());
}

/** One stage behind the other. */
function chain(stages: readonly Stage[]): Stage {
  const pushTo = (i: number, emit: Emit): Emit => {
    const stage = stages[i];
    return stage === undefined
      ? emit
      : (doc) => {
          stage.push(doc, pushTo(i + 1, emit));
          return !stage.satisfied;
        };
  };
  return {
    name: "$fill",
    satisfied: false,
    push: (doc, emit) => void pushTo(0, emit)(doc),
    finish(emit) {
      stages.forEach((stage, i) => stage.finish(pushTo(i + 1, emit)));
    },
  };
}

/**
 * `$fill`.
 * @throws CommandError 9 for no object, 6050200–6050204 for a malformed one, and the codes of `$setWindowFields`
 * @since MongoDB 5.3
 */
export const fill: StageParser = (spec, options, _, parse) => {
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `The $fill stage specification must be an object, found ${typeName(spec)}`,
    );
  }
  const allowed = ["partitionBy", "partitionByFields", "sortBy", "output"];
  const named = checkStageFields(asDocument(spec), "$fill", allowed, ["output"]);
  const output = named.get("output")!;
  if (output.type !== BsonType.object) throw wrongType("$fill.output", output, "object");
  const sortBy = named.get("sortBy");
  if (sortBy !== undefined && sortBy.type !== BsonType.object)
    throw wrongType("$fill.sortBy", sortBy, "object");
  const fills = readOutput(asDocument(output));
  const partitionBy = readPartition(named);
  const parts: StageParts[] = [];
  if (fills.hasMethods) {
    const windows = new DocumentWriter();
    windows.document("output", fills.methods.finish());
    if (sortBy !== undefined) windows.field("sortBy", sortBy);
    if (partitionBy !== undefined) windows.field("partitionBy", partitionBy);
    parts.push(setWindowFields(document(windows.finish()), options, "$setWindowFields", parse));
  }
  if (fills.hasValues) parts.push(addFields(document(fills.values.finish()), options, "$addFields", parse));
  return { create: () => chain(parts.map((part) => part.create())) };
};
