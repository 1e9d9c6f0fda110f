/** The shard's server parameters: protocol/parameters.ts says how they work. */
import { asNumber, asString, double, isTruthy } from "../bson/index.js";
import type { ParameterDefinition } from "../protocol/index.js";
import { parameters, ParameterSet } from "../protocol/index.js";

const { ANYTIME, fixed, flag, int, long, STARTUP, text } = parameters;

/** The table, by name; MongoDB's defaults but where the engine truly is otherwise. */
const DEFINITIONS: Readonly<Record<string, ParameterDefinition>> = {
  allowDiskUseByDefault: flag(true),
  authenticationMechanisms: { ...fixed([]), settable: STARTUP },
  connPoolMaxConnsPerHost: int(200, STARTUP),
  cursorTimeoutMillis: long(600_000, ANYTIME, 1),
  diagnosticDataCollectionEnabled: { ...flag(false), refuse: isTruthy },
  enableLocalhostAuthBypass: flag(true, STARTUP),
  enableTestCommands: flag(false, STARTUP),
  featureCompatibilityVersion: fixed({ version: "8.2" }),
  honorSystemUmask: flag(false, STARTUP),
  internalDocumentSourceGroupMaxMemoryBytes: long(104_857_600, ANYTIME, 1),
  internalInsertMaxBatchSize: int(500, ANYTIME, 1),
  internalQueryExecMaxBlockingSortBytes: int(104_857_600, ANYTIME, 0),
  internalQueryExecYieldIterations: int(1000),
  internalQueryExecYieldPeriodMS: int(10, ANYTIME, 0),
  internalQueryFacetBufferSizeBytes: int(104_857_600, ANYTIME, 1),
  internalQueryFrameworkControl: {
    ...text("forceClassicEngine"),
    refuse: (value) => asString(value) !== "forceClassicEngine",
  },
  internalQueryMaxAddToSetBytes: int(104_857_600, ANYTIME, 1),
  internalQueryMaxBlockingSortMemoryUsageBytes: int(104_857_600, ANYTIME, 0),
  internalQueryMaxPushBytes: int(104_857_600, ANYTIME, 1),
  internalQueryPlanEvaluationMaxResults: int(101, ANYTIME, 0),
  internalQueryPlannerMaxIndexedSolutions: int(64, ANYTIME, 0),
  localLogicalSessionTimeoutMinutes: int(30, STARTUP, 1),
  logLevel: int(0, ANYTIME, 0, 5),
  logicalSessionRefreshMillis: int(300_000, STARTUP),
  maxBSONDepth: int(200, STARTUP, 20, 250),
  maxIndexBuildMemoryUsageMegabytes: int(200, ANYTIME, 50),
  maxNumActiveUserIndexBuilds: int(3, ANYTIME, 0),
  maxSessions: int(1_000_000, STARTUP),
  maxTransactionLockRequestTimeoutMillis: int(5),
  minSnapshotHistoryWindowInSeconds: int(300, ANYTIME, 0),
  notablescan: { ...flag(false), refuse: isTruthy },
  oplogInitialFindMaxSeconds: int(60, ANYTIME, 0),
  periodicNoopIntervalSecs: int(10, STARTUP, 0),
  planCacheSize: text("5%"),
  quiet: flag(false),
  replWriterThreadCount: int(16, STARTUP, 1, 256),
  requireApiVersion: { ...flag(false), refuse: isTruthy },
  scramIterationCount: int(10_000, ANYTIME, 5000),
  scramSHA256IterationCount: int(15_000, ANYTIME, 5000),
  shutdownTimeoutMillisForSignaledShutdown: int(15_000, ANYTIME, 0),
  slowConnectionThresholdMillis: int(100),
  sslMode: { ...text("disabled"), refuse: (value) => asString(value) !== "disabled" },
  syncdelay: { kind: "double", initial: double(60), settable: ANYTIME, min: 0, max: 9_000_000 },
  tlsMode: { ...text("disabled"), refuse: (value) => asString(value) !== "disabled" },
  traceExceptions: flag(false),
  transactionLifetimeLimitSeconds: int(60, ANYTIME, 1),
  ttlMonitorEnabled: flag(true),
  ttlMonitorSleepSecs: int(60, ANYTIME, 1),
  watchdogPeriodSeconds: { ...int(-1), refuse: (value) => asNumber(value) > 0 },
};

/** The parameters of one shard. */
export class ServerParameters extends ParameterSet {
  constructor() {
    super(DEFINITIONS);
  }
}
