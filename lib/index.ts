/**
 * Shardlab: a small sharded MongoDB cluster in memory, and what a lesson needs around it.
 *
 * ```ts
 * import { startLab, plot, check, data } from "shardlab";
 * const lab = await startLab({ shards: 2, seed: 7 });
 * await lab.sh.shardCollection("library.events", { deviceId: "hashed" });
 * await lab.db("library").collection("events").insertMany(data.events(100_000), { ordered: false });
 * await plot.distribution("library.events");
 * ```
 */
export { currentLab, Lab, LabServer, Sh, startLab } from "./lab/index.js";
export { check, data, display, markdown, plot, table } from "./lab/index.js";
export type {
  BalancerMigration,
  BalancerRound,
  Check,
  CheckOutcome,
  ClusterInfo,
  ClusterOptions,
  DataSet,
  DisplayOptions,
  DisplayTarget,
  Distribution,
  DistributionFigure,
  EngineName,
  EventOptions,
  Figure,
  HintOutcome,
  InsertsFigure,
  MimeBundle,
  RoutingTraceEntry,
  RulesVersion,
  SensorEvent,
  ShardLocation,
  TableOptions,
} from "./lab/index.js";
