/**
 * `listDatabases`: every database once, with the sizes of its parts added up and, under `shards`, each of them.
 * The databases of the cluster itself (`admin`, `config`) count on the config
 * server only; those of that name on a shard are the shard's own business.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  DocumentWriter,
  elements,
  getField,
  isTruthy,
} from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import { compileFilter } from "../../query/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command } from "../context.js";
import { flag, isConfigDatabase, optionalDocument } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { forwardedRequest } from "../support/forward.js";

export const listDatabases: Command = {
  name: "listDatabases",
  aliases: ["listdatabases"],
  adminOnly: true,
  fields: ["filter", "nameOnly", "authorizedDatabases"],
  async run(context, request) {
    // Names and sizes are filtered after they were added up.
    const command = forwardedRequest(request, { filter: undefined, nameOnly: undefined });
    const replies = await askShards(context, [CONFIG_SHARD, ...context.shards.ids], () => command);
    const databasesFound = new Map<string, Map<string, number>>();
    for (const { shard, reply } of replies) {
      for (const entry of databasesIn(getField(reply.body, "databases"))) {
        const name = asString(getField(entry, "name")!);
        if (isConfigDatabase(name) !== (shard === CONFIG_SHARD) || name === "local") continue;
        const size = getField(entry, "sizeOnDisk");
        const parts = databasesFound.get(name) ?? new Map<string, number>();
        databasesFound.set(name, parts.set(shard, size ? asNumber(size) : 0));
      }
    }
    const filter = optionalDocument(request, "filter");
    const matches = filter && compileFilter(filter);
    const nameOnly = flag(request, "nameOnly");
    let total = 0;
    const databases: Uint8Array[] = [];
    for (const [name, parts] of [...databasesFound].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const size = [...parts.values()].reduce((sum, part) => sum + part, 0);
      const entry = new DocumentWriter()
        .string("name", name)
        .int64("sizeOnDisk", BigInt(Math.trunc(size)))
        .bool("empty", size === 0)
        .document("shards", sizesByShard(parts))
        .finish();
      if (matches && !matches.matches(entry)) continue;
      total += size;
      databases.push(nameOnly ? new DocumentWriter().string("name", name).finish() : entry);
    }
    const reply = new DocumentWriter().arrayOf("databases", databases);
    if (!nameOnly) {
      reply
        .int64("totalSize", BigInt(Math.trunc(total)))
        .int64("totalSizeMb", BigInt(Math.trunc(total / 1048576)));
    }
    return okReply(reply.finish());
  },
};

function sizesByShard(parts: ReadonlyMap<string, number>): Uint8Array {
  const writer = new DocumentWriter();
  for (const [shard, size] of parts) writer.int64(shard, BigInt(Math.trunc(size)));
  return writer.finish();
}

function databasesIn(list: RawValue | undefined): Uint8Array[] {
  return list && isTruthy(list) ? elements(asDocument(list)).map(asDocument) : [];
}
