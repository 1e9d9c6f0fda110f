export { collectionless, leadingMatch, parsePipeline } from "./parse.js";
export { neededPaths } from "./dependencies.js";
export { optimizePipeline } from "./optimize.js";
export { mergedFields, mergeKeyValue } from "./mergeDocuments.js";
export { projectionFlags } from "./stages/shaping.js";
export { STAGE_MEMORY_LIMIT, StageMemory } from "./stageMemory.js";
export { createStages, PipelineRunner, runStages, stagePairs, type StagePair } from "./runner.js";
export { splitGroup, type SplitGroup } from "./splitGroup.js";
export { sortByCountParts } from "./stages/counting.js";
export type {
  Emit,
  NamedCollection,
  ParsedStage,
  PathChanges,
  Stage,
  StageDefinition,
  StageParser,
  StageParts,
} from "./stage.js";
export { streaming } from "./stage.js";
