/**
 * Commands that a mongod has and this one has not.
 *
 * They are refused as "not simulated", so that nobody takes the refusal for
 * MongoDB's. Names that a mongod does not know either — made-up ones, those of
 * a mongos (`shardCollection`, `isdbgrid`), those that were removed — are
 * answered as MongoDB answers them: CommandNotFound.
 */
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";

const NOT_SIMULATED: ReadonlySet<string> = new Set([
  // users, roles, authentication
  "authenticate",
  "createRole",
  "createUser",
  "dropAllRolesFromDatabase",
  "dropAllUsersFromDatabase",
  "dropRole",
  "dropUser",
  "grantPrivilegesToRole",
  "grantRolesToRole",
  "grantRolesToUser",
  "invalidateUserCache",
  "revokePrivilegesFromRole",
  "revokeRolesFromRole",
  "revokeRolesFromUser",
  "rotateCertificates",
  "saslContinue",
  "saslStart",
  "updateRole",
  "updateUser",
  // transactions
  "abortTransaction",
  "commitTransaction",
  "coordinateCommitTransaction",
  "prepareTransaction",
  // replication beyond one member
  "appendOplogNote",
  "applyOps",
  "replSetAbortPrimaryCatchUp",
  "replSetHeartbeat",
  "replSetMaintenance",
  "replSetRequestVotes",
  "replSetResizeOplog",
  "replSetStepUp",
  "replSetSyncFrom",
  "replSetUpdatePosition",
  // sharding, on a mongod with a sharding role
  "checkShardingIndex",
  "cleanupOrphaned",
  "flushRouterConfig",
  "getShardMap",
  "getShardVersion",
  "mergeChunks",
  "setShardVersion",
  "splitChunk",
  // search
  "createSearchIndexes",
  "dropSearchIndex",
  "updateSearchIndex",
  // encryption, settings of queries, settings of clusters
  "cleanupStructuredEncryptionData",
  "compactStructuredEncryptionData",
  "getClusterParameter",
  "removeQuerySettings",
  "setClusterParameter",
  "setQuerySettings",
  "setUserWriteBlockMode",
  // storage and maintenance
  "analyze",
  "autoCompact",
  "compact",
  "dbCheck",
  "getDiagnosticData",
  "getAuditConfig",
  "logApplicationMessage",
  "oidcListKeys",
  "oidcRefreshKeys",
  "reIndex",
  "setAuditConfig",
  "setIndexCommitQuorum",
  "startTrafficRecording",
  "stopTrafficRecording",
  "validateDBMetadata",
  "voteCommitIndexBuild",
  // others
  "dropConnections",
  "filemd5",
  "mapReduce",
  "mapreduce",
  "planCacheClearFilters",
  "planCacheSetFilter",
  "reapLogicalSessionCacheNow",
  "refreshLogicalSessionCacheNow",
  "setChangeStreamState",
  "getChangeStreamState",
]);

/** Families of commands that the members of a cluster send each other. */
const INTERNAL =
  /^_(?:configsvr|shardsvr|migrate|recvChunk|transferMods|mergeAuthzCollections|killOperations|flush)/;

/** The failure of a command that is not in the table. */
export function unknownCommand(name: string): CommandError {
  if (NOT_SIMULATED.has(name) || INTERNAL.test(name)) return notSimulated(`the command ${name}`);
  return new CommandError(ErrorCode.CommandNotFound, `no such command: '${name}'`);
}
