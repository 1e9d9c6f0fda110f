/** The table of commands, by every name a client may use. */
import type { Command } from "../command.js";
import { aggregate } from "./aggregate.js";
import { buildInfo } from "./buildInfo.js";
import { collStats } from "./collStats.js";
import { connectionStatus } from "./connectionStatus.js";
import { count } from "./count.js";
import { create } from "./create.js";
import { createIndexes } from "./createIndexes.js";
import { dbStats } from "./dbStats.js";
import { deleteCommand } from "./delete.js";
import { distinct } from "./distinct.js";
import { drop } from "./drop.js";
import { dropDatabase } from "./dropDatabase.js";
import { dropIndexes } from "./dropIndexes.js";
import { endSessions } from "./endSessions.js";
import { explainCommand } from "./explain.js";
import { find } from "./find.js";
import { findAndModify } from "./findAndModify.js";
import { getCmdLineOpts } from "./getCmdLineOpts.js";
import { getLog } from "./getLog.js";
import { getMore } from "./getMore.js";
import { getParameter } from "./getParameter.js";
import { hello } from "./hello.js";
import { hostInfo } from "./hostInfo.js";
import { insert } from "./insert.js";
import { killCursors } from "./killCursors.js";
import { killSessions } from "./killSessions.js";
import { listCollections } from "./listCollections.js";
import { listDatabases } from "./listDatabases.js";
import { listIndexes } from "./listIndexes.js";
import { ping } from "./ping.js";
import { refreshSessions } from "./refreshSessions.js";
import { replSetGetStatus } from "./replSetGetStatus.js";
import { serverStatus } from "./serverStatus.js";
import { startSession } from "./startSession.js";
import { update } from "./update.js";
import { validate } from "./validate.js";
import { whatsmyuri } from "./whatsmyuri.js";

const table = new Map<string, Command>();

for (const command of [
  aggregate,
  buildInfo,
  collStats,
  connectionStatus,
  count,
  create,
  createIndexes,
  dbStats,
  deleteCommand,
  distinct,
  drop,
  dropDatabase,
  dropIndexes,
  endSessions,
  explainCommand(findCommand),
  find,
  findAndModify,
  getCmdLineOpts,
  getLog,
  getMore,
  getParameter,
  hello,
  hostInfo,
  insert,
  killCursors,
  killSessions,
  listCollections,
  listDatabases,
  listIndexes,
  ping,
  refreshSessions,
  replSetGetStatus,
  serverStatus,
  startSession,
  update,
  validate,
  whatsmyuri,
]) {
  for (const name of [command.name, ...(command.aliases ?? [])]) table.set(name, command);
}

/** The command of that name or alias, or undefined. */
export function findCommand(name: string): Command | undefined {
  return table.get(name);
}
