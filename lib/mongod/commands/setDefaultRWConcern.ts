/** setDefaultRWConcern: the concerns of operations that name none. Those a single member satisfies change nothing. */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { checkDefaultReadConcern, checkDefaultWriteConcern, requireReplicaSet } from "../defaultConcerns.js";
import { treeReply } from "../tree.js";
import { describeDefaults } from "./getDefaultRWConcern.js";

export const setDefaultRWConcern: Command = {
  name: "setDefaultRWConcern",
  fields: ["defaultReadConcern", "defaultWriteConcern"],
  adminOnly: true,
  writes: true,
  help: "set the current read/write concern defaults (cluster-wide)",
  run({ server, arguments: args }) {
    requireReplicaSet(server, "setDefaultRWConcern");
    const read = args.document("defaultReadConcern");
    const write = args.document("defaultWriteConcern");
    if (!read && !write) {
      throw new CommandError(
        ErrorCode.BadValue,
        'At least one of the "defaultReadConcern" or "defaultWriteConcern" fields must be present',
      );
    }
    const newRead = read && checkDefaultReadConcern(read);
    const newWrite = write && checkDefaultWriteConcern(write);
    const { settings, environment } = server;
    if (read) settings.defaultReadConcern = newRead;
    if (newWrite) settings.defaultWriteConcern = newWrite;
    settings.defaultsSetAt = environment.now();
    return treeReply(describeDefaults(server));
  },
};
