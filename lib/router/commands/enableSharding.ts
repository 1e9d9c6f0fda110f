/**
 * `enableSharding`: creates a database, if it is not there, and names its primary
 * shard. Before 6.0 it also had to come before the first shardCollection
 * (facts-mongos.md §1.1).
 */
import { asString, BsonType } from "../../bson/index.js";
import { bodyField, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { isConfigDatabase, wrongType } from "../context.js";
import { checkShard, stringArgument } from "../support/arguments.js";
import { checkDatabaseName, withDatabase } from "../support/databases.js";

export const enableSharding: Command = {
  name: "enableSharding",
  aliases: ["enablesharding"],
  adminOnly: true,
  fields: ["primaryShard"],
  async run(context, request) {
    const db = stringArgument(request, request.command);
    if (db === "config") return okReply();
    if (isConfigDatabase(db)) {
      throw new CommandError(ErrorCode.InvalidOptions, `can't shard ${db} database`);
    }
    checkDatabaseName(context, db);
    const primary = bodyField(request, "primaryShard");
    if (primary && primary.type !== BsonType.string) throw wrongType(request, "primaryShard", "string");
    const wanted = primary && asString(primary);
    if (wanted === "") throw new CommandError(ErrorCode.BadValue, "invalid shard id ''");
    if (wanted !== undefined) checkShard(context, wanted);
    await withDatabase(
      context,
      db,
      async (database) => {
        if (wanted === undefined || database.primary === wanted) return;
        throw new CommandError(
          ErrorCode.NamespaceExists,
          `Database ${db} was already created on a primary different from ${wanted}`,
        );
      },
      wanted,
    );
    context.catalog.shardingEnabled.add(db);
    return okReply();
  },
};
