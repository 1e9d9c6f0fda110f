/**
 * The router's server parameters: protocol/parameters.ts says how they work. MongoDB's defaults. But for those of
 * analyzeShardKey, none of them changes what this router does: they are kept for scripts that read and set them. What
 * would change an answer is refused.
 */
import { asString, isTruthy } from "../../bson/index.js";
import type { ParameterDefinition } from "../../protocol/index.js";
import { parameters } from "../../protocol/index.js";

const { ANYTIME, fixed, flag, int, long, STARTUP, text } = parameters;

/** By name. */
export const ROUTER_PARAMETERS: Readonly<Record<string, ParameterDefinition>> = {
  ShardingTaskExecutorPoolHostTimeoutMS: int(300_000, ANYTIME, 0),
  ShardingTaskExecutorPoolMaxConnecting: int(2, ANYTIME, 0),
  ShardingTaskExecutorPoolMinSize: int(1, ANYTIME, 0),
  ShardingTaskExecutorPoolRefreshRequirementMS: int(60_000, ANYTIME, 0),
  ShardingTaskExecutorPoolRefreshTimeoutMS: int(20_000, ANYTIME, 0),
  ShardingTaskExecutorPoolReplicaSetMatching: text("automatic"),
  allowDiskUseByDefault: flag(true),
  analyzeShardKeyCharacteristicsDefaultSampleSize: long(10_000_000, ANYTIME, 1),
  analyzeShardKeyNumMostCommonValues: int(5, ANYTIME, 1, 1000),
  analyzeShardKeyNumRanges: int(100, ANYTIME, 2, 10_000),
  authenticationMechanisms: { ...fixed([]), settable: STARTUP },
  connPoolMaxConnsPerHost: int(200, STARTUP),
  cursorTimeoutMillis: long(600_000, ANYTIME, 1),
  diagnosticDataCollectionEnabled: { ...flag(false), refuse: isTruthy },
  enableLocalhostAuthBypass: flag(true, STARTUP),
  enableTestCommands: flag(false, STARTUP),
  // A mongos has no such parameter; clients that ask for it get what its shards have.
  featureCompatibilityVersion: fixed({ version: "8.2" }),
  internalQueryMaxAddToSetBytes: int(104_857_600, ANYTIME, 1),
  internalQueryMaxPushBytes: int(104_857_600, ANYTIME, 1),
  loadRoutingTableOnStartup: flag(true, STARTUP),
  localLogicalSessionTimeoutMinutes: int(30, STARTUP, 1),
  logLevel: int(0, ANYTIME, 0, 5),
  logicalSessionRefreshMillis: int(300_000, STARTUP),
  maxBSONDepth: int(200, STARTUP, 20, 250),
  maxSessions: int(1_000_000, STARTUP),
  mongosShutdownTimeoutMillisForSignaledShutdown: int(15_000, ANYTIME, 0),
  quiet: flag(false),
  replMonitorMaxFailedChecks: int(30, ANYTIME),
  requireApiVersion: { ...flag(false), refuse: isTruthy },
  scramIterationCount: int(10_000, ANYTIME, 5000),
  scramSHA256IterationCount: int(15_000, ANYTIME, 5000),
  slowConnectionThresholdMillis: int(100),
  sslMode: { ...text("disabled"), refuse: (value) => asString(value) !== "disabled" },
  taskExecutorPoolSize: int(1, STARTUP),
  tlsMode: { ...text("disabled"), refuse: (value) => asString(value) !== "disabled" },
  traceExceptions: flag(false),
  userCacheInvalidationIntervalSecs: int(30, ANYTIME, 1),
  warmMinConnectionsInShardingTaskExecutorPoolOnStartup: flag(true, STARTUP),
};
