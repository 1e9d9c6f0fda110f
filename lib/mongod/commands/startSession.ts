/** startSession: a new logical session. Drivers make their own ids; this is for those that don't. */
import { uuid } from "../../bson/index.js";
import type { Command } from "../command.js";
import { randomUuid } from "../storage/catalog.js";
import { treeReply } from "../tree.js";

export const startSession: Command = {
  name: "startSession",
  fields: [],
  onSecondary: "always",
  help: "start a logical session",
  run: ({ server }) =>
    treeReply({
      id: { id: uuid(randomUuid(server.environment)) },
      timeoutMinutes: server.parameters.number("localLogicalSessionTimeoutMinutes"),
    }),
};
