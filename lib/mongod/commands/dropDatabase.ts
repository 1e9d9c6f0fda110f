/** dropDatabase: removes a database with all its collections and views. */
import { asNumber, isNumeric } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

/** Databases that hold the server's own data. */
const KEPT: ReadonlySet<string> = new Set(["admin", "config", "local"]);

export const dropDatabase: Command = {
  name: "dropDatabase",
  fields: [],
  writes: true,
  help: "drop (delete) this database",
  run({ server, request, arguments: args }) {
    if (!isNumeric(args.main) || asNumber(args.main) !== 1) {
      throw new CommandError(5255100, "Have to pass 1 as 'dropDatabase' parameter");
    }
    if (KEPT.has(request.db) && isProtected(request.db, server.replication !== undefined)) {
      throw new CommandError(
        ErrorCode.IllegalOperation,
        `Dropping the '${request.db}' database is prohibited.`,
      );
    }
    const namespaces = server.catalog.collectionsOf(request.db).map((collection) => collection.namespace);
    if (!server.catalog.dropDatabase(request.db)) return okReply();
    for (const namespace of namespaces) server.cursors.collectionDropped(namespace);
    return treeReply({ dropped: request.db });
  },
};

/** MongoDB protects `admin` always, `config` and `local` where they hold what a set or cluster needs. */
function isProtected(db: string, inSet: boolean): boolean {
  return db === "admin" || inSet;
}
