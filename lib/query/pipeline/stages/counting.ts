/** `$count` and `$sortByCount`: a `$group` and a little more. */
import { BsonType, DocumentWriter, asString, document, int32, type RawValue } from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { compileSort } from "../../sort/index.js";
import { GroupStage, parseGroup } from "../group.js";
import { SortStage } from "../sort.js";
import type { Emit, StageParser } from "../stage.js";
import { StageMemory } from "../stageMemory.js";
import { isExpression } from "./spec.js";

export const count: StageParser = (spec) => {
  if (spec.type !== BsonType.string)
    throw new CommandError(40156, "the count field must be a non-empty string");
  const field = asString(spec);
  if (field === "") throw new CommandError(40157, "the count field must be a non-empty string");
  if (field.startsWith("$")) throw new CommandError(40158, "the count field cannot be a $-prefixed path");
  if (field.includes("\0")) throw new CommandError(40159, "the count field cannot contain a null byte");
  if (field.includes(".")) throw new CommandError(40160, "the count field cannot contain '.'");
  if (field === "_id") throw new CommandError(9039800, "the count field cannot be '_id'");
  return {
    explain: () => [
      new DocumentWriter()
        .document(
          "$group",
          new DocumentWriter()
            .null("_id")
            .document(field, sumOf(int32(1)))
            .finish(),
        )
        .finish(),
      new DocumentWriter()
        .document("$project", new DocumentWriter().bool(field, true).bool("_id", false).finish())
        .finish(),
    ],
    create: () => {
      let n = 0;
      return {
        name: "$count",
        satisfied: false,
        push: () => void n++,
        finish(emit: Emit) {
          if (n > 0) emit(new DocumentWriter().int32(field, n).finish());
        },
      };
    },
  };
};

function sumOf(value: RawValue): Uint8Array {
  return new DocumentWriter().field("$sum", value).finish();
}

/** `$group` by the expression, counting, the greatest group first. */
export const sortByCount: StageParser = (spec, options) => {
  if (!isExpression(spec)) {
    if (spec.type === BsonType.object) {
      throw new CommandError(
        40147,
        "the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
      );
    }
    throw spec.type === BsonType.string
      ? new CommandError(
          40148,
          "the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
        )
      : new CommandError(40149, "the sortByCount field must be specified as a string or as an object");
  }
  const [grouping, ordering] = sortByCountParts(spec);
  const parsed = parseGroup(document(grouping), options);
  const byCount = compileSort(ordering);
  return {
    explain: () => [
      new DocumentWriter().document("$group", grouping).finish(),
      new DocumentWriter()
        .document("$sort", new DocumentWriter().document("sortKey", ordering).finish())
        .finish(),
    ],
    create: () => {
      const groups = new GroupStage(parsed);
      const sorted = new SortStage(byCount, StageMemory.of("$sort", options));
      return {
        name: "$sortByCount",
        satisfied: false,
        push: (doc: Uint8Array) => groups.push(doc),
        finish(emit: Emit) {
          groups.finish((doc) => sorted.push(doc));
          sorted.finish(emit);
        },
      };
    },
  };
};

/** The `$group` and `$sort` specifications that a `$sortByCount` stands for. */
export function sortByCountParts(spec: RawValue): [group: Uint8Array, sort: Uint8Array] {
  return [
    new DocumentWriter()
      .field("_id", spec)
      .document("count", sumOf(int32(1)))
      .finish(),
    new DocumentWriter().int32("count", -1).finish(),
  ];
}
