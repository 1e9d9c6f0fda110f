/** What lessons call: the lab, its figures, checks and data sets. */
export { currentLab, startLab } from "./startLab.js";
export { Lab, LabServer } from "./lab.js";
export { Sh } from "./sh.js";
export { InvalidInputError } from "./shHelpers.js";
export type { ShardDistribution } from "./shardDistribution.js";
export type { ClusterInfo, ClusterOptions, EngineName } from "../cluster/index.js";
export type { RoutingTraceEntry, RulesVersion } from "../router/index.js";
export { check, outcomeBundle } from "./check.js";
export type { Check } from "./check.js";
export type { CheckOutcome, HintOutcome } from "./checks/host.js";
export * as data from "./data/index.js";
export type { DataSet, EventOptions, SensorEvent } from "./data/index.js";
export { display, markdown, table } from "./display.js";
export type { DisplayOptions, DisplayTarget, MimeBundle, TableOptions } from "./display.js";
export { plot } from "./plot/index.js";
export type { Distribution, DistributionFigure, Figure, InsertsFigure } from "./plot/index.js";
