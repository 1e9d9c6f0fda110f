/** `$match`: lets through what a filter matches. */
import { compileFilter } from "../../filter/compile.js";
import { streaming, type StageParser } from "../stage.js";
import { objectSpec } from "./spec.js";

export const match: StageParser = (spec, options) => {
  const filter = compileFilter(
    objectSpec(spec, 15959, "the match filter must be an expression in an object"),
    options,
  );
  return {
    filter: filter.node,
    moves: { kind: "only", paths: [] },
    create: () =>
      streaming("$match", (doc, emit) => {
        if (filter.matches(doc)) emit(doc);
      }),
  };
};
