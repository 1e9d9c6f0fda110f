/**
 * Every command of the router, by name.
 *
 * Names that a mongos has and this router does not are listed too: they are
 * refused as not simulated (238), whereas a name that nobody knows is not found
 * (59).
 */
import type { Command } from "../context.js";
import { abortMoveCollection } from "./abortMoveCollection.js";
import { abortReshardCollection } from "./abortReshardCollection.js";
import { abortUnshardCollection } from "./abortUnshardCollection.js";
import { addShard } from "./addShard.js";
import { addShardToZone } from "./addShardToZone.js";
import { aggregate } from "./aggregate.js";
import { analyzeShardKey } from "./analyzeShardKey.js";
import { balancerCollectionStatus } from "./balancerCollectionStatus.js";
import { balancerRound } from "./balancerRound.js";
import { balancerStart } from "./balancerStart.js";
import { balancerStatus } from "./balancerStatus.js";
import { balancerStop } from "./balancerStop.js";
import { buildInfo } from "./buildInfo.js";
import { bulkWrite } from "./bulkWrite.js";
import { cleanupReshardCollection } from "./cleanupReshardCollection.js";
import { checkMetadataConsistency } from "./checkMetadataConsistency.js";
import { clearJumboFlag } from "./clearJumboFlag.js";
import { collMod } from "./collMod.js";
import { collStats } from "./collStats.js";
import { commitReshardCollection } from "./commitReshardCollection.js";
import { commitShardRemoval } from "./commitShardRemoval.js";
import { configureCollectionBalancing } from "./configureCollectionBalancing.js";
import { configureQueryAnalyzer } from "./configureQueryAnalyzer.js";
import { connectionStatus } from "./connectionStatus.js";
import { connPoolStats } from "./connPoolStats.js";
import { convertToCapped } from "./convertToCapped.js";
import { count } from "./count.js";
import { create } from "./create.js";
import { createIndexes } from "./createIndexes.js";
import { currentOp } from "./currentOp.js";
import { dataSize } from "./dataSize.js";
import { dbStats } from "./dbStats.js";
import { remove } from "./delete.js";
import { distinct } from "./distinct.js";
import { drop } from "./drop.js";
import { dropDatabase } from "./dropDatabase.js";
import { dropIndexes } from "./dropIndexes.js";
import { enableSharding } from "./enableSharding.js";
import { explainCommand } from "./explain.js";
import { features } from "./features.js";
import { find } from "./find.js";
import { findAndModify } from "./findAndModify.js";
import { flushRouterConfig } from "./flushRouterConfig.js";
import { fsync } from "./fsync.js";
import { fsyncUnlock } from "./fsyncUnlock.js";
import { getCmdLineOpts } from "./getCmdLineOpts.js";
import { getDefaultRWConcern } from "./getDefaultRWConcern.js";
import { getLog } from "./getLog.js";
import { getMore } from "./getMore.js";
import { getParameter } from "./getParameter.js";
import { getShardMap } from "./getShardMap.js";
import { getShardVersion } from "./getShardVersion.js";
import { hello, isMaster } from "./hello.js";
import { hostInfo } from "./hostInfo.js";
import { insert } from "./insert.js";
import { isdbgrid } from "./isdbgrid.js";
import { killCursors } from "./killCursors.js";
import { killOp } from "./killOp.js";
import { listCollections } from "./listCollections.js";
import { listCommands } from "./listCommands.js";
import { listDatabases } from "./listDatabases.js";
import { listIndexes } from "./listIndexes.js";
import { listShards } from "./listShards.js";
import { logout } from "./logout.js";
import { logRotate } from "./logRotate.js";
import { mergeAllChunksOnShard } from "./mergeAllChunksOnShard.js";
import { mergeChunks } from "./mergeChunks.js";
import { moveChunk } from "./moveChunk.js";
import { moveCollection } from "./moveCollection.js";
import { movePrimary } from "./movePrimary.js";
import { moveRange } from "./moveRange.js";
import { ping } from "./ping.js";
import { planCacheClear } from "./planCacheClear.js";
import { planCacheListFilters } from "./planCacheListFilters.js";
import { profile } from "./profile.js";
import { refineCollectionShardKey } from "./refineCollectionShardKey.js";
import { removeShard } from "./removeShard.js";
import { removeShardFromZone } from "./removeShardFromZone.js";
import { renameCollection } from "./renameCollection.js";
import { replSetGetStatus } from "./replSetGetStatus.js";
import { reshardCollection } from "./reshardCollection.js";
import { rolesInfo } from "./rolesInfo.js";
import { routingTrace } from "./routingTrace.js";
import { serverStatus } from "./serverStatus.js";
import {
  abortTransaction,
  commitTransaction,
  endSessions,
  killAllSessions,
  killAllSessionsByPattern,
  killSessions,
  refreshSessions,
  startSession,
} from "./sessions.js";
import { setAllowMigrations } from "./setAllowMigrations.js";
import { setDefaultRWConcern } from "./setDefaultRWConcern.js";
import { setFeatureCompatibilityVersion } from "./setFeatureCompatibilityVersion.js";
import { setParameter } from "./setParameter.js";
import { shardCollection } from "./shardCollection.js";
import { shardDrainingStatus } from "./shardDrainingStatus.js";
import { shutdown } from "./shutdown.js";
import { split } from "./split.js";
import { splitVector } from "./splitVector.js";
import { startShardDraining } from "./startShardDraining.js";
import { stopShardDraining } from "./stopShardDraining.js";
import { unshardCollection } from "./unshardCollection.js";
import { update } from "./update.js";
import { updateZoneKeyRange } from "./updateZoneKeyRange.js";
import { usersInfo } from "./usersInfo.js";
import { validate } from "./validate.js";
import { whatsmyuri } from "./whatsmyuri.js";

/** All commands. */
export const COMMANDS: readonly Command[] = [
  abortMoveCollection,
  abortReshardCollection,
  abortTransaction,
  abortUnshardCollection,
  addShard,
  addShardToZone,
  aggregate,
  analyzeShardKey,
  balancerCollectionStatus,
  balancerRound,
  balancerStart,
  balancerStatus,
  balancerStop,
  buildInfo,
  bulkWrite,
  cleanupReshardCollection,
  checkMetadataConsistency,
  clearJumboFlag,
  collMod,
  collStats,
  commitReshardCollection,
  commitShardRemoval,
  commitTransaction,
  configureCollectionBalancing,
  configureQueryAnalyzer,
  connectionStatus,
  connPoolStats,
  convertToCapped,
  count,
  create,
  createIndexes,
  currentOp,
  dataSize,
  dbStats,
  distinct,
  drop,
  dropDatabase,
  dropIndexes,
  enableSharding,
  endSessions,
  explainCommand((name) => COMMANDS_BY_NAME.has(name) || NOT_SIMULATED.has(name)),
  features,
  find,
  findAndModify,
  flushRouterConfig,
  fsync,
  fsyncUnlock,
  getCmdLineOpts,
  getDefaultRWConcern,
  getLog,
  getMore,
  getParameter,
  getShardMap,
  getShardVersion,
  hello,
  hostInfo,
  insert,
  isdbgrid,
  isMaster,
  killAllSessions,
  killAllSessionsByPattern,
  killCursors,
  killOp,
  killSessions,
  listCollections,
  listCommands(() => COMMANDS),
  listDatabases,
  listIndexes,
  listShards,
  logout,
  logRotate,
  mergeAllChunksOnShard,
  mergeChunks,
  moveChunk,
  moveCollection,
  movePrimary,
  moveRange,
  ping,
  planCacheClear,
  planCacheListFilters,
  profile,
  refineCollectionShardKey,
  refreshSessions,
  remove,
  removeShard,
  removeShardFromZone,
  renameCollection,
  replSetGetStatus,
  reshardCollection,
  rolesInfo,
  routingTrace,
  serverStatus,
  setAllowMigrations,
  setDefaultRWConcern,
  setFeatureCompatibilityVersion,
  setParameter,
  shardCollection,
  shardDrainingStatus,
  shutdown,
  split,
  splitVector,
  startSession,
  startShardDraining,
  stopShardDraining,
  unshardCollection,
  update,
  updateZoneKeyRange,
  usersInfo,
  validate,
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
  "analyze",
  "appendOplogNote",
  "authenticate",
  "cleanupStructuredEncryptionData",
  "compact",
  "compactStructuredEncryptionData",
  "connPoolSync",
  "createRole",
  "createSearchIndexes",
  "createUser",
  "dropAllRolesFromDatabase",
  "dropAllUsersFromDatabase",
  "dropConnections",
  "dropRole",
  "dropSearchIndex",
  "dropUser",
  "getAuditConfig",
  "getClusterParameter",
  "getDiagnosticData",
  "grantPrivilegesToRole",
  "grantRolesToRole",
  "grantRolesToUser",
  "invalidateUserCache",
  "listSearchIndexes",
  "mapReduce",
  "mapreduce",
  "multicast",
  "netstat",
  "planCacheClearFilters",
  "planCacheSetFilter",
  "removeQuerySettings",
  "repairShardedCollectionChunksHistory",
  "resetPlacementHistory",
  "revokePrivilegesFromRole",
  "revokeRolesFromRole",
  "revokeRolesFromUser",
  "rotateCertificates",
  "saslContinue",
  "saslStart",
  "setAuditConfig",
  "setClusterParameter",
  "setIndexCommitQuorum",
  "setQuerySettings",
  "setUserWriteBlockMode",
  "startRecordingTraffic",
  "stopRecordingTraffic",
  "transitionFromDedicatedConfigServer",
  "transitionToDedicatedConfigServer",
  "updateRole",
  "updateSearchIndex",
  "updateUser",
  "validateDBMetadata",
  "whatsmysni",
]);
