/** `listShards`: the documents of config.shards. */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const listShards: Command = {
  name: "listShards",
  aliases: ["listshards"],
  adminOnly: true,
  fields: [],
  async run(context) {
    const shards: Uint8Array[] = [];
    for await (const shard of context.catalog.config.find("shards", {}, { sort: { _id: 1 } }))
      shards.push(shard);
    return okReply(new DocumentWriter().arrayOf("shards", shards).finish());
  },
};
