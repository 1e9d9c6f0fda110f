/**
 * Every command of the router, by name.
 *
 * Names that a mongos has and this router does not are listed too: they are
 * refused as not simulated (238), whereas a name that nobody knows is not found
 * (59).
 */
import type { Command } from "../context.js";
import { addShard } from "./addShard.js";
import { aggregate } from "./aggregate.js";
import { balancerStart } from "./balancerStart.js";
import { balancerStatus } from "./balancerStatus.js";
import { balancerStop } from "./balancerStop.js";
import { buildInfo } from "./buildInfo.js";
import { collStats } from "./collStats.js";
import { connectionStatus } from "./connectionStatus.js";
import { count } from "./count.js";
import { create } from "./create.js";
import { createIndexes } from "./createIndexes.js";
import { dbStats } from "./dbStats.js";
import { remove } from "./delete.js";
import { distinct } from "./distinct.js";
import { drop } from "./drop.js";
import { dropDatabase } from "./dropDatabase.js";
import { dropIndexes } from "./dropIndexes.js";
import { enableSharding } from "./enableSharding.js";
import { explainCommand } from "./explain.js";
import { find } from "./find.js";
import { findAndModify } from "./findAndModify.js";
import { flushRouterConfig } from "./flushRouterConfig.js";
import { getCmdLineOpts } from "./getCmdLineOpts.js";
import { getLog } from "./getLog.js";
import { getMore } from "./getMore.js";
import { getParameter } from "./getParameter.js";
import { hello, isMaster } from "./hello.js";
import { hostInfo } from "./hostInfo.js";
import { insert } from "./insert.js";
import { isdbgrid } from "./isdbgrid.js";
import { killCursors } from "./killCursors.js";
import { listCollections } from "./listCollections.js";
import { listCommands } from "./listCommands.js";
import { listDatabases } from "./listDatabases.js";
import { listIndexes } from "./listIndexes.js";
import { listShards } from "./listShards.js";
import { moveChunk } from "./moveChunk.js";
import { ping } from "./ping.js";
import { replSetGetStatus } from "./replSetGetStatus.js";
import { routingTrace } from "./routingTrace.js";
import { serverStatus } from "./serverStatus.js";
import {
  abortTransaction,
  commitTransaction,
  endSessions,
  killSessions,
  refreshSessions,
  startSession,
} from "./sessions.js";
import { shardCollection } from "./shardCollection.js";
import { split } from "./split.js";
import { update } from "./update.js";
import { whatsmyuri } from "./whatsmyuri.js";

/** All commands. */
export const COMMANDS: readonly Command[] = [
  abortTransaction,
  addShard,
  aggregate,
  balancerStart,
  balancerStatus,
  balancerStop,
  buildInfo,
  collStats,
  commitTransaction,
  connectionStatus,
  count,
  create,
  createIndexes,
  dbStats,
  distinct,
  drop,
  dropDatabase,
  dropIndexes,
  enableSharding,
  endSessions,
  explainCommand((name) => COMMANDS_BY_NAME.has(name) || NOT_SIMULATED.has(name)),
  find,
  findAndModify,
  flushRouterConfig,
  getCmdLineOpts,
  getLog,
  getMore,
  getParameter,
  hello,
  hostInfo,
  insert,
  isdbgrid,
  isMaster,
  killCursors,
  killSessions,
  listCollections,
  listCommands(() => COMMANDS),
  listDatabases,
  listIndexes,
  listShards,
  moveChunk,
  ping,
  refreshSessions,
  remove,
  replSetGetStatus,
  routingTrace,
  serverStatus,
  shardCollection,
  split,
  startSession,
  update,
  whatsmyuri,
];

/** Commands by every spelling. */
export const COMMANDS_BY_NAME: ReadonlyMap<string, Command> = new Map(
  COMMANDS.flatMap((command) =>
    [command.name, ...(command.aliases ?? [])].map((name) => [name, command] as const),
  ),
);

/** Commands that a mongos has and this router does not simulate. */
export const NOT_SIMULATED: ReadonlySet<string> = new Set([
  "abortMoveCollection",
  "abortReshardCollection",
  "abortUnshardCollection",
  "addShardToZone",
  "analyze",
  "analyzeShardKey",
  "appendOplogNote",
  "authenticate",
  "balancerCollectionStatus",
  "bulkWrite",
  "checkMetadataConsistency",
  "cleanupReshardCollection",
  "cleanupStructuredEncryptionData",
  "clearJumboFlag",
  "collMod",
  "commitReshardCollection",
  "compact",
  "compactStructuredEncryptionData",
  "configureCollectionBalancing",
  "configureQueryAnalyzer",
  "connPoolStats",
  "connPoolSync",
  "convertToCapped",
  "createRole",
  "createSearchIndexes",
  "createUser",
  "currentOp",
  "dataSize",
  "dropAllRolesFromDatabase",
  "dropAllUsersFromDatabase",
  "dropConnections",
  "dropRole",
  "dropSearchIndex",
  "dropUser",
  "fsync",
  "fsyncUnlock",
  "getAuditConfig",
  "getClusterParameter",
  "getDefaultRWConcern",
  "getDiagnosticData",
  "getShardMap",
  "getShardVersion",
  "grantPrivilegesToRole",
  "grantRolesToRole",
  "grantRolesToUser",
  "invalidateUserCache",
  "killAllSessions",
  "killAllSessionsByPattern",
  "killOp",
  "listSearchIndexes",
  "logout",
  "logRotate",
  "mapReduce",
  "mapreduce",
  "mergeAllChunksOnShard",
  "mergeChunks",
  "moveCollection",
  "movePrimary",
  "moveRange",
  "multicast",
  "netstat",
  "planCacheClear",
  "planCacheClearFilters",
  "planCacheListFilters",
  "planCacheSetFilter",
  "profile",
  "refineCollectionShardKey",
  "removeQuerySettings",
  "removeShard",
  "removeShardFromZone",
  "renameCollection",
  "repairShardedCollectionChunksHistory",
  "resetPlacementHistory",
  "reshardCollection",
  "revokePrivilegesFromRole",
  "revokeRolesFromRole",
  "revokeRolesFromUser",
  "rolesInfo",
  "rotateCertificates",
  "saslContinue",
  "saslStart",
  "setAllowMigrations",
  "setAuditConfig",
  "setClusterParameter",
  "setDefaultRWConcern",
  "setFeatureCompatibilityVersion",
  "setIndexCommitQuorum",
  "setParameter",
  "setQuerySettings",
  "setUserWriteBlockMode",
  "shutdown",
  "startRecordingTraffic",
  "stopRecordingTraffic",
  "top",
  "transitionFromDedicatedConfigServer",
  "transitionToDedicatedConfigServer",
  "unshardCollection",
  "updateRole",
  "updateSearchIndex",
  "updateUser",
  "updateZoneKeyRange",
  "usersInfo",
  "validate",
  "validateDBMetadata",
  "whatsmysni",
]);
