/**
 * `fsync`: every shard and the config server write out what they have; with `lock: true` their writes wait until
 * `fsyncUnlock`. Where one can't be locked, those that were are unlocked again.
 * @since MongoDB 7.1 (7.0.2, 6.0.11, 5.0.22) with `lock`
 */
import { request as commandTo, treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { flag } from "../context.js";
import { askEveryServer } from "../support/everyServer.js";
import { forwardedRequest } from "../support/forward.js";

export const fsync: Command = {
  name: "fsync",
  adminOnly: true,
  fields: ["lock", "fsyncLockAcquisitionTimeoutMillis"],
  help: "invoke fsync on all shards belonging to the cluster",
  async run(context, request) {
    const { replies, failure } = await askEveryServer(context, forwardedRequest(request));
    if (failure) {
      if (flag(request, "lock")) await askEveryServer(context, commandTo("admin", { fsyncUnlock: 1 }));
      throw failure;
    }
    const all = Object.fromEntries([...replies].map(([id, { body }]) => [id, body]));
    return treeReply({ numFiles: 1, all });
  },
};
