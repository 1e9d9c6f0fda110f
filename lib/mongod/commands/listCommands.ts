/** listCommands: what this server understands. */
import { onSecondary } from "../availability.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

/** Commands of the versioned API, version 1. */
const API_1: ReadonlySet<string> = new Set([
  "aggregate",
  "bulkWrite",
  "collMod",
  "count",
  "create",
  "createIndexes",
  "delete",
  "drop",
  "dropDatabase",
  "dropIndexes",
  "endSessions",
  "explain",
  "find",
  "findAndModify",
  "getMore",
  "hello",
  "insert",
  "killCursors",
  "listCollections",
  "listDatabases",
  "listIndexes",
  "ping",
  "refreshSessions",
  "update",
]);

/** Commands for which nobody needs to log in. */
const OPEN: ReadonlySet<string> = new Set([
  "buildInfo",
  "connectionStatus",
  "endSessions",
  "hello",
  "listCommands",
  "logout",
  "ping",
  "whatsmyuri",
]);

/** Makes the command; it needs to see the table. */
export function listCommandsCommand(table: () => readonly Command[]): Command {
  return {
    name: "listCommands",
    fields: [],
    onSecondary: "always",
    help: "get a list of all db commands",
    run() {
      const commands: Record<string, unknown> = {};
      for (const command of [...table()].sort((a, b) => (a.name < b.name ? -1 : 1)))
        commands[command.name] = describe(command);
      return treeReply({ commands });
    },
  };
}

function describe(command: Command): Record<string, unknown> {
  const secondary = onSecondary(command);
  return {
    help: command.help ?? "",
    requiresAuth: !OPEN.has(command.name),
    secondaryOk: secondary !== "never",
    adminOnly: command.adminOnly ?? false,
    ...(secondary === "optIn" && { secondaryOverrideOk: true }),
    apiVersions: API_1.has(command.name) ? ["1"] : [],
    deprecatedApiVersions: [],
  };
}
