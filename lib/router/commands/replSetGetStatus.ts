/** `replSetGetStatus`: asked of a router, it says that a router is no member of a replica set. */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const replSetGetStatus: Command = {
  name: "replSetGetStatus",
  adminOnly: true,
  run() {
    const error = new CommandError(
      ErrorCode.UnknownError,
      "replSetGetStatus is not supported through mongos",
      // Shells show it in their prompt.
      { info: "mongos" },
    );
    error.remedy = "ask a shard";
    throw error;
  },
};
