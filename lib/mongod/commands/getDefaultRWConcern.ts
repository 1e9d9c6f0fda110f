/** getDefaultRWConcern: the concerns of operations that name none. */
import { date, toDocument } from "../../bson/index.js";
import type { Command, Server } from "../command.js";
import { requireReplicaSet } from "../defaultConcerns.js";
import { treeReply } from "../tree.js";

export const getDefaultRWConcern: Command = {
  name: "getDefaultRWConcern",
  fields: ["inMemory"],
  adminOnly: true,
  help: "get the current read/write concern defaults (cluster-wide)",
  run({ server }) {
    requireReplicaSet(server, "getDefaultRWConcern");
    return treeReply(describeDefaults(server));
  },
};

/** The defaults as getDefaultRWConcern, setDefaultRWConcern and serverStatus show them. */
export function describeDefaults({ settings, environment }: Server): Record<string, unknown> {
  const { defaultReadConcern: read, defaultWriteConcern: write, defaultsSetAt } = settings;
  return {
    defaultReadConcern: read ?? toDocument({ level: "local" }),
    defaultWriteConcern: write ?? toDocument({ w: "majority", wtimeout: 0 }),
    ...(defaultsSetAt !== undefined && { updateWallClockTime: date(defaultsSetAt) }),
    defaultWriteConcernSource: write ? "global" : "implicit",
    defaultReadConcernSource: read ? "global" : "implicit",
    localUpdateWallClockTime: date(defaultsSetAt ?? environment.now()),
  };
}
