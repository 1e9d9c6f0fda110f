/** `listShards`: the documents of config.shards, or those of them that a `filter` takes. */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { optionalDocument } from "../context.js";

export const listShards: Command = {
  name: "listShards",
  aliases: ["listshards"],
  adminOnly: true,
  fields: ["filter"],
  async run(context, request) {
    const filter = optionalDocument(request, "filter") ?? {};
    const shards: Uint8Array[] = [];
    for await (const shard of context.catalog.config.find("shards", filter, { sort: { _id: 1 } }))
      shards.push(shard);
    return okReply(new DocumentWriter().arrayOf("shards", shards).finish());
  },
};
