/** The parser of `$group`. */
import type { StageParser } from "../stage.js";
import { GroupStage, parseGroup } from "../group.js";

export const group: StageParser = (spec, options) => {
  const parsed = parseGroup(spec, options);
  return { create: () => new GroupStage(parsed) };
};
