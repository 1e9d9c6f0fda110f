/** `$unwind`: one document for each element of an array. */
import {
  BsonType,
  DocumentWriter,
  NULL,
  asDocument,
  asString,
  elements,
  fields,
  getPath,
  int64,
  isTruthy,
  type RawValue,
} from "../../bson/index.js";
import { CommandError } from "../../protocol/index.js";
import { pathParts } from "../expression/fieldPath.js";
import { withPath } from "../values/editor.js";
import { typeName } from "../values/types.js";
import { streaming, type Stage } from "./stage.js";

/** Reads an `$unwind`: a path, or `{ path, includeArrayIndex, preserveNullAndEmptyArrays }`. */
export function parseUnwind(spec: RawValue): () => Stage {
  let pathValue: RawValue | undefined = spec;
  let indexField: string | undefined;
  let preserve = false;
  if (spec.type === BsonType.object) {
    pathValue = undefined;
    for (const [name, value] of fields(asDocument(spec))) {
      if (name === "path") pathValue = value;
      else if (name === "includeArrayIndex") indexField = indexName(value);
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
  if (!text.startsWith("$")) {
    throw new CommandError(28818, `path option to $unwind stage should be prefixed with a '$': ${text}`);
  }
  const path = text.slice(1);
  const parts = pathParts(path);
  const indexParts = indexField === undefined ? undefined : pathParts(indexField);
  return () =>
    streaming("$unwind", (doc, emit) => {
      const value = getPath(doc, path);
      const withIndex = (result: Uint8Array, index: RawValue) =>
        indexParts === undefined ? result : withPath(result, indexParts, index);
      if (value?.type !== BsonType.array) {
        const absent =
          value === undefined || value.type === BsonType.null || value.type === BsonType.undefined;
        if (!absent || preserve) emit(withIndex(doc, NULL));
        return;
      }
      const list = elements(asDocument(value));
      if (list.length === 0 && preserve) emit(withIndex(withPath(doc, parts, undefined), NULL));
      list.forEach((element, i) => emit(withIndex(replaced(doc, path, parts, element), int64(i))));
    });
}

function indexName(value: RawValue): string {
  if (value.type !== BsonType.string) {
    throw new CommandError(
      28810,
      `expected a non-empty string for the includeArrayIndex option to $unwind stage, got ${typeName(value)}`,
    );
  }
  const name = asString(value);
  if (name === "")
    throw new CommandError(
      28810,
      "expected a non-empty string for the includeArrayIndex option to $unwind stage",
    );
  if (name.startsWith("$")) {
    throw new CommandError(
      28822,
      `includeArrayIndex option to $unwind stage should not be prefixed with a '$': ${name}`,
    );
  }
  return name;
}

/** The document with another value at the path; top-level paths, the common case, without opening it. */
function replaced(doc: Uint8Array, path: string, parts: readonly string[], value: RawValue): Uint8Array {
  if (parts.length > 1) return withPath(doc, parts, value);
  const writer = new DocumentWriter();
  for (const [name, old] of fields(doc)) writer.field(name, name === path ? value : old);
  return writer.finish();
}
