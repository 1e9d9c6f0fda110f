/** fsyncUnlock: takes back one `fsync: {lock: true}`; at the last one writes go on. */
import { int64 } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const fsyncUnlock: Command = {
  name: "fsyncUnlock",
  fields: [],
  adminOnly: true,
  onSecondary: "always",
  help: "unlocks the server for writes",
  run({ server }) {
    const { fsyncLock } = server;
    if (fsyncLock.count === 0)
      throw new CommandError(ErrorCode.IllegalOperation, "fsyncUnlock called when not locked");
    const lockCount = fsyncLock.count - 1;
    fsyncLock.unlock();
    return treeReply({ info: "fsyncUnlock completed", lockCount: int64(lockCount) });
  },
};
