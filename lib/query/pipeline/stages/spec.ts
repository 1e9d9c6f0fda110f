/** What the parsers of stages have in common: reading their argument. */
import { BsonType, asDocument, asString, firstField, type RawValue } from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";

/** The document of a stage that takes an object. */
export function objectSpec(spec: RawValue, code: number, message: string): Uint8Array {
  if (spec.type !== BsonType.object) throw new CommandError(code, message);
  return asDocument(spec);
}

/** `"$path"`, or an object that is an expression. */
export function isExpression(spec: RawValue): boolean {
  return (
    (spec.type === BsonType.string && asString(spec).startsWith("$")) ||
    (spec.type === BsonType.object && (firstField(asDocument(spec))?.[0].startsWith("$") ?? false))
  );
}

/** Raw stage documents of a pipeline inside a stage. */
export function stageList(values: readonly RawValue[]): Uint8Array[] {
  return values.map((value) => {
    if (value.type !== BsonType.object) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        "Each element of the 'pipeline' array must be an object",
      );
    }
    return asDocument(value);
  });
}
