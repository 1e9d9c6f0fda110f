import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Server } from "../command.js";
import type { ReplicaSet } from "./replicaSet.js";

/**
 * The replica set that a command is about.
 * @throws CommandError NoReplicationEnabled (76) on a standalone server
 */
export function memberOf(server: Server): ReplicaSet {
  if (server.replication) return server.replication;
  throw new CommandError(ErrorCode.NoReplicationEnabled, "not running with --replSet");
}
