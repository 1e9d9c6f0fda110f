/** `listCommands`: what this router understands, in the shape of a mongos. */
import { treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

/** Commands of the versioned API, version 1. */
const API_1: ReadonlySet<string> = new Set(
  (
    "abortTransaction aggregate bulkWrite collMod commitTransaction count create createIndexes delete drop " +
    "dropDatabase dropIndexes endSessions explain find findAndModify getMore hello insert killCursors " +
    "killSessions listCollections listDatabases listIndexes ping refreshSessions update"
  ).split(" "),
);
/** Commands for which nobody needs to log in. */
const OPEN: ReadonlySet<string> = new Set(
  "buildInfo connectionStatus endSessions hello isMaster isdbgrid listCommands logout ping whatsmyuri".split(
    " ",
  ),
);

/** Makes the command; it lists the others. */
export function listCommands(all: () => readonly Command[]): Command {
  return {
    name: "listCommands",
    fields: [],
    help: "get a list of all db commands",
    run({ rules }) {
      const commands: Record<string, unknown> = {};
      for (const command of [...all()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (!rules.absentCommands.has(command.name)) commands[command.name] = describe(command);
      }
      return treeReply({ commands });
    },
  };
}

function describe({ name, adminOnly = false, help = "" }: Command): Record<string, unknown> {
  return {
    help,
    requiresAuth: !OPEN.has(name),
    // A router is never a secondary, so it runs what it has.
    secondaryOk: true,
    adminOnly,
    apiVersions: API_1.has(name) ? ["1"] : [],
    deprecatedApiVersions: [],
  };
}
