/** The table of commands, by every name a client may use. */
import type { Command } from "../command.js";
import { aggregate } from "./aggregate.js";
import { buildInfo } from "./buildInfo.js";
import { bulkWrite } from "./bulkWrite.js";
import { captureWrites } from "./captureWrites.js";
import { cloneCollectionAsCapped } from "./cloneCollectionAsCapped.js";
import { collMod } from "./collMod.js";
import { collStats } from "./collStats.js";
import { connectionStatus } from "./connectionStatus.js";
import { connPoolStats } from "./connPoolStats.js";
import { convertToCapped } from "./convertToCapped.js";
import { count } from "./count.js";
import { create } from "./create.js";
import { createIndexes } from "./createIndexes.js";
import { currentOp } from "./currentOp.js";
import { dataSize } from "./dataSize.js";
import { dbHash } from "./dbHash.js";
import { dbStats } from "./dbStats.js";
import { deleteCommand } from "./delete.js";
import { distinct } from "./distinct.js";
import { drop } from "./drop.js";
import { dropDatabase } from "./dropDatabase.js";
import { dropIndexes } from "./dropIndexes.js";
import { endSessions } from "./endSessions.js";
import { explainCommand } from "./explain.js";
import { features } from "./features.js";
import { find } from "./find.js";
import { findAndModify } from "./findAndModify.js";
import { fsync } from "./fsync.js";
import { fsyncUnlock } from "./fsyncUnlock.js";
import { getCmdLineOpts } from "./getCmdLineOpts.js";
import { getDefaultRWConcern } from "./getDefaultRWConcern.js";
import { getLog } from "./getLog.js";
import { getMore } from "./getMore.js";
import { getParameter } from "./getParameter.js";
import { hello } from "./hello.js";
import { hostInfo } from "./hostInfo.js";
import { insert } from "./insert.js";
import { isSelf } from "./isSelf.js";
import { killAllSessions } from "./killAllSessions.js";
import { killAllSessionsByPattern } from "./killAllSessionsByPattern.js";
import { killCursors } from "./killCursors.js";
import { killOp } from "./killOp.js";
import { killSessions } from "./killSessions.js";
import { listCollections } from "./listCollections.js";
import { listCommandsCommand } from "./listCommands.js";
import { listDatabases } from "./listDatabases.js";
import { listIndexes } from "./listIndexes.js";
import { lockInfo } from "./lockInfo.js";
import { logout } from "./logout.js";
import { logRotate } from "./logRotate.js";
import { ping } from "./ping.js";
import { planCacheClear } from "./planCacheClear.js";
import { planCacheListFilters } from "./planCacheListFilters.js";
import { profile } from "./profile.js";
import { refreshSessions } from "./refreshSessions.js";
import { renameCollection } from "./renameCollection.js";
import { replSetFreeze } from "./replSetFreeze.js";
import { replSetGetConfig } from "./replSetGetConfig.js";
import { replSetGetStatus } from "./replSetGetStatus.js";
import { replSetInitiate } from "./replSetInitiate.js";
import { replSetReconfig } from "./replSetReconfig.js";
import { replSetStepDown } from "./replSetStepDown.js";
import { rolesInfo } from "./rolesInfo.js";
import { serverStatus } from "./serverStatus.js";
import { setDefaultRWConcern } from "./setDefaultRWConcern.js";
import { setFeatureCompatibilityVersion } from "./setFeatureCompatibilityVersion.js";
import { setParameter } from "./setParameter.js";
import { shardingState } from "./shardingState.js";
import { shutdown } from "./shutdown.js";
import { splitVector } from "./splitVector.js";
import { startSession } from "./startSession.js";
import { top } from "./top.js";
import { update } from "./update.js";
import { usersInfo } from "./usersInfo.js";
import { validate } from "./validate.js";
import { whatsmyuri } from "./whatsmyuri.js";

const commands: readonly Command[] = [
  aggregate,
  buildInfo,
  bulkWrite,
  captureWrites,
  cloneCollectionAsCapped,
  collMod,
  collStats,
  connectionStatus,
  connPoolStats,
  convertToCapped,
  count,
  create,
  createIndexes,
  currentOp,
  dataSize,
  dbHash,
  dbStats,
  deleteCommand,
  distinct,
  drop,
  dropDatabase,
  dropIndexes,
  endSessions,
  explainCommand(findCommand),
  features,
  find,
  findAndModify,
  fsync,
  fsyncUnlock,
  getCmdLineOpts,
  getDefaultRWConcern,
  getLog,
  getMore,
  getParameter,
  hello,
  hostInfo,
  insert,
  isSelf,
  killAllSessions,
  killAllSessionsByPattern,
  killCursors,
  killOp,
  killSessions,
  listCollections,
  listCommandsCommand(() => commands),
  listDatabases,
  listIndexes,
  lockInfo,
  logout,
  logRotate,
  ping,
  planCacheClear,
  planCacheListFilters,
  profile,
  refreshSessions,
  renameCollection,
  replSetFreeze,
  replSetGetConfig,
  replSetGetStatus,
  replSetInitiate,
  replSetReconfig,
  replSetStepDown,
  rolesInfo,
  serverStatus,
  setDefaultRWConcern,
  setFeatureCompatibilityVersion,
  setParameter,
  shardingState,
  shutdown,
  splitVector,
  startSession,
  top,
  update,
  usersInfo,
  validate,
  whatsmyuri,
];

const table = new Map<string, Command>();
for (const command of commands)
  for (const name of [command.name, ...(command.aliases ?? [])]) table.set(name, command);

/** The command of that name or alias, or undefined. */
export function findCommand(name: string): Command | undefined {
  return table.get(name);
}

/** All commands, for tests that go through them. */
export function allCommands(): readonly Command[] {
  return commands;
}
