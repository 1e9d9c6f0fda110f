/** listDatabases: the databases with their sizes. */
import { DocumentWriter, EMPTY_DOCUMENT, int64 } from "../../bson/index.js";
import { compileFilter } from "../../query/index.js";
import { sizeOnDisk } from "../collectionStats.js";
import type { Command, Server } from "../command.js";
import { treeReply } from "../tree.js";

export const listDatabases: Command = {
  name: "listDatabases",
  fields: ["filter", "nameOnly", "authorizedDatabases"],
  adminOnly: true,
  help: "list databases on this server",
  run({ server, arguments: args }) {
    const nameOnly = args.boolean("nameOnly");
    args.boolean("authorizedDatabases");
    const filter = compileFilter(args.document("filter") ?? EMPTY_DOCUMENT, server.environment);
    let total = 0;
    const databases: Uint8Array[] = [];
    for (const name of server.catalog.databaseNames()) {
      const size = sizeOf(server, name);
      const writer = new DocumentWriter().string("name", name);
      if (!nameOnly) {
        const empty = server.catalog.collectionsOf(name).length === 0;
        writer.field("sizeOnDisk", int64(size)).bool("empty", empty);
      }
      const document = writer.finish();
      if (!filter.matches(document)) continue;
      databases.push(document);
      total += size;
    }
    if (nameOnly) return treeReply({ databases });
    return treeReply({
      databases,
      totalSize: int64(total),
      totalSizeMb: int64(Math.floor(total / 1_048_576)),
    });
  },
};

/** Bytes of all collections and indexes of a database, as `collStats` adds them up. */
function sizeOf(server: Server, db: string): number {
  let size = 0;
  for (const collection of server.catalog.collectionsOf(db)) size += sizeOnDisk(collection);
  return size;
}
