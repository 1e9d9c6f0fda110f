/** `$unwind`: one document for each element of an array. */
import {
  BsonType,
  FieldPath,
  NULL,
  asDocument,
  asString,
  elements,
  fields,
  int64,
  isTruthy,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { pathParts } from "../../expression/fieldPath.js";
import { typeName } from "../../values/types.js";
import { streaming, type Emit, type StageParser, type UnwindSpec } from "../stage.js";
import { withField } from "./paths.js";

export const unwind: StageParser = (spec) => {
  const parsed = parseUnwind(spec);
  const paths = [parsed.path, ...(parsed.index ? [parsed.index.join(".")] : [])];
  return {
    unwind: parsed,
    moves: { kind: "only", paths },
    create: () => streaming("$unwind", unwinding(parsed)),
  };
};

function unwinding({ path, index, preserve }: UnwindSpec): (doc: Uint8Array, emit: Emit) => void {
  const fieldPath = new FieldPath(path);
  const { parts } = fieldPath;
  const withIndex = (result: Uint8Array, place: RawValue): Uint8Array =>
    index === undefined ? result : withField(result, index, place);
  return (doc, emit) => {
    const value = fieldPath.get(doc);
    if (value?.type !== BsonType.array) {
      const absent = value === undefined || value.type === BsonType.null || value.type === BsonType.undefined;
      if (!absent || preserve) emit(withIndex(doc, NULL));
      return;
    }
    const list = elements(asDocument(value));
    if (list.length === 0 && preserve) emit(withIndex(withField(doc, parts, undefined), NULL));
    for (let i = 0; i < list.length; i++) {
      if (emit(withIndex(withField(doc, parts, list[i]!), int64(i))) === false) return;
    }
  };
}

/** Reads an `$unwind`: a path, or `{ path, includeArrayIndex, preserveNullAndEmptyArrays }`. */
function parseUnwind(spec: RawValue): UnwindSpec {
  let pathValue: RawValue | undefined = spec;
  let index: string | undefined;
  let preserve = false;
  if (spec.type === BsonType.object) {
    pathValue = undefined;
    for (const [name, value] of fields(asDocument(spec))) {
      if (name === "path") pathValue = value;
      else if (name === "includeArrayIndex") index = indexName(value);
      else if (name === "preserveNullAndEmptyArrays") {
        if (value.type !== BsonType.bool) {
          throw new CommandError(
            28809,
            `expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got ${typeName(value)}`,
          );
        }
        preserve = isTruthy(value);
      } else throw new CommandError(28811, `unrecognized option to $unwind stage: ${name}`);
    }
    if (pathValue === undefined) throw new CommandError(28812, "no path specified to $unwind stage");
  } else if (spec.type !== BsonType.string) {
    throw new CommandError(
      15981,
      `expected either a string or an object as specification for $unwind stage, got ${typeName(spec)}`,
    );
  }
  if (pathValue.type !== BsonType.string) {
    throw new CommandError(
      28808,
      `expected a string as the path for $unwind stage, got ${typeName(pathValue)}`,
    );
  }
  const text = asString(pathValue);
  if (text === "") throw new CommandError(28812, "no path specified to $unwind stage");
  if (!text.startsWith("$")) {
    throw new CommandError(28818, `path option to $unwind stage should be prefixed with a '$': ${text}`);
  }
  return {
    path: pathParts(text.slice(1)).join("."),
    index: index === undefined ? undefined : pathParts(index),
    preserve,
  };
}

function indexName(value: RawValue): string {
  const name = value.type === BsonType.string ? asString(value) : "";
  if (name === "") {
    throw new CommandError(
      28810,
      `expected a non-empty string for the includeArrayIndex option to $unwind stage, got ${typeName(value)}`,
    );
  }
  if (name.startsWith("$")) {
    throw new CommandError(
      28822,
      `includeArrayIndex option to $unwind stage should not be prefixed with a '$': ${name}`,
    );
  }
  return name;
}
