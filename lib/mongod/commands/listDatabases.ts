/** listDatabases: the databases with their sizes. */
import { DocumentWriter, double, EMPTY_DOCUMENT } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { compileFilter } from "../../query/index.js";
import type { Command, Server } from "../command.js";
import { treeReply } from "../tree.js";

export const listDatabases: Command = {
  name: "listDatabases",
  fields: ["filter", "nameOnly", "authorizedDatabases"],
  run({ server, request, arguments: args }) {
    if (request.db !== "admin")
      throw new CommandError(
        ErrorCode.Unauthorized,
        "listDatabases may only be run against the admin database.",
      );
    const nameOnly = args.boolean("nameOnly");
    const filter = compileFilter(args.document("filter") ?? EMPTY_DOCUMENT);
    let total = 0;
    const databases: Uint8Array[] = [];
    for (const name of server.catalog.databaseNames()) {
      const size = sizeOf(server, name);
      const writer = new DocumentWriter().string("name", name);
      if (!nameOnly) writer.field("sizeOnDisk", double(size)).bool("empty", false);
      const document = writer.finish();
      if (!filter.matches(document)) continue;
      databases.push(document);
      total += size;
    }
    if (nameOnly) return treeReply({ databases });
    return treeReply({
      databases,
      totalSize: double(total),
      totalSizeMb: double(Math.floor(total / 1048576)),
    });
  },
};

/** Bytes of all documents and index keys of a database. */
export function sizeOf(server: Server, db: string): number {
  let size = 0;
  for (const collection of server.catalog.collectionsOf(db))
    size += collection.records.dataSize + collection.indexSize;
  return size;
}
