/** fsync: nothing to write out here; with `lock: true`, writes wait until fsyncUnlock. */
import { int64 } from "../../bson/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const fsync: Command = {
  name: "fsync",
  fields: ["lock", "fsyncLockAcquisitionTimeoutMillis"],
  adminOnly: true,
  onSecondary: "always",
  help: "Flushes data to disk, and optionally locks the server against writes",
  run({ server, arguments: args }) {
    if (!args.boolean("lock")) return treeReply({ numFiles: 1 });
    server.fsyncLock.lock();
    return treeReply({
      info: "now locked against writes, use db.fsyncUnlock() to unlock",
      lockCount: int64(server.fsyncLock.count),
      seeAlso: "http://dochub.mongodb.org/core/fsynccommand",
    });
  },
};
