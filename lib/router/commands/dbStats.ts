/** `dbStats`: the statistics of a database's parts on all shards, added up. */
import { asNumber, DocumentWriter, forEachField, isNumeric } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command } from "../context.js";
import { isConfigDatabase } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { forwardedRequest } from "../support/forward.js";

/** Numbers that say something about one server and don't add up. */
const NOT_SUMMED: ReadonlySet<string> = new Set([
  "ok",
  "avgObjSize",
  "scaleFactor",
  "fsUsedSize",
  "fsTotalSize",
]);

export const dbStats: Command = {
  name: "dbStats",
  aliases: ["dbstats"],
  async run(context, request) {
    const shards = isConfigDatabase(request.db) ? [CONFIG_SHARD] : context.shards.ids;
    const command = forwardedRequest(request);
    const replies = await askShards(context, shards, () => command);
    const sums = new Map<string, number>();
    const raw = new DocumentWriter();
    let scaleFactor = 1;
    for (const { shard, reply } of replies) {
      raw.document(context.shards.get(shard).host, reply.body);
      forEachField(reply.body, (name, value) => {
        if (!isNumeric(value)) return;
        if (name === "scaleFactor") scaleFactor = asNumber(value);
        if (!NOT_SUMMED.has(name)) sums.set(name, (sums.get(name) ?? 0) + asNumber(value));
      });
    }
    const answer = new DocumentWriter().document("raw", raw.finish()).string("db", request.db);
    for (const [name, sum] of sums) answer.double(name, sum);
    const objects = sums.get("objects") ?? 0;
    answer.double("avgObjSize", objects > 0 ? ((sums.get("dataSize") ?? 0) * scaleFactor) / objects : 0);
    return okReply(answer.double("scaleFactor", scaleFactor).finish());
  },
};
