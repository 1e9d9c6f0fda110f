/**
 * `fsyncUnlock`: takes back one `fsync: {lock: true}` on every shard and on the config server.
 * @since MongoDB 7.1 (7.0.2, 6.0.11, 5.0.22)
 */
import { treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { askEveryServer } from "../support/everyServer.js";
import { forwardedRequest } from "../support/forward.js";

export const fsyncUnlock: Command = {
  name: "fsyncUnlock",
  adminOnly: true,
  fields: [],
  help: "invoke fsync unlock on all shards belonging to the cluster",
  async run(context, request) {
    const { replies, failure } = await askEveryServer(context, forwardedRequest(request));
    if (failure) throw failure;
    return treeReply(Object.fromEntries([...replies].map(([id, { body }]) => [id, body])));
  },
};
