/** The parser of `$sort`. */
import { isEmptyDocument } from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { compileSort } from "../../sort/index.js";
import { SortStage } from "../sort.js";
import type { StageParser } from "../stage.js";
import { StageMemory } from "../stageMemory.js";
import { objectSpec } from "./spec.js";

export const sort: StageParser = (spec, options) => {
  const doc = objectSpec(spec, 15973, "the $sort key specification must be an object");
  if (isEmptyDocument(doc)) throw new CommandError(15976, "$sort stage must have at least one sort key");
  const compiled = compileSort(doc, options);
  if (compiled.natural !== undefined)
    throw new CommandError(
      ErrorCode.BadValue,
      "$natural sort cannot be set to a value other than -1 or 1 in $sort",
    );
  return {
    moves: { kind: "only", paths: [] },
    create: () => new SortStage(compiled, StageMemory.of("$sort", options)),
  };
};
