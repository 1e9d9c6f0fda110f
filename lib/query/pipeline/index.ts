export { leadingMatch, parsePipeline, sortByCountParts } from "./parse.js";
export { createStages, PipelineRunner, runStages } from "./runner.js";
export { splitGroup, type SplitGroup } from "./splitGroup.js";
export type { Emit, ParsedStage, Stage } from "./stage.js";
