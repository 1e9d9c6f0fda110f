/**
 * Field names that begin with `$`.
 *
 * Since MongoDB 5.0 they may be stored, but operators and replacements cannot
 * make them on the top level of a document, so that nobody's misspelt operator
 * becomes a field. What may stay is a DBRef: `$ref`, `$id`, `$db` in that order.
 */
import { BsonType, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { typeName } from "../values/types.js";

/** One field of a document's top level. */
export interface TopLevelField {
  readonly name: string;
  readonly value: RawValue;
}

/** @throws CommandError DollarPrefixedFieldName (52), InvalidDBRef (55) for the first bad field of a document */
export function checkTopLevelDollars(list: readonly TopLevelField[]): void {
  for (let i = 0; i < list.length; i++) if (list[i]!.name.startsWith("$")) checkDollarField(list, i);
}

/** @throws CommandError 52, 55 for the field at a place of its document, whose name begins with `$` */
export function checkDollarField(list: readonly TopLevelField[], place: number): void {
  const { name } = list[place]!;
  let at = place;
  if (list[at]!.name === "$db") {
    checkString("$db", list[at]!.value);
    if (list[--at]?.name !== "$id")
      throw invalidDbRef("Found $db field without a $id before it, which is invalid.");
  }
  if (list[at]!.name === "$id") {
    if (list[--at]?.name !== "$ref")
      throw invalidDbRef("Found $id field without a $ref before it, which is invalid.");
  }
  if (list[at]!.name === "$ref") {
    checkString("$ref", list[at]!.value);
    if (list[at + 1]?.name !== "$id")
      throw invalidDbRef("The DBRef $ref field must be followed by a $id field");
    return;
  }
  throw new CommandError(
    ErrorCode.DollarPrefixedFieldName,
    `The dollar ($) prefixed field '${name}' in '${name}' is not allowed in the context of an update's replacement ` +
      "document. Consider using an aggregation pipeline with $replaceWith.",
  );
}

function checkString(name: string, value: RawValue): void {
  if (value.type === BsonType.string) return;
  throw invalidDbRef(`The DBRef ${name} field must be a String, not a ${typeName(value)}`);
}

function invalidDbRef(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidDBRef, message);
}
