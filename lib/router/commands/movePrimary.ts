/** `movePrimary`: gives a database another primary shard, with all that is unsharded in it (facts-mongos.md §8.4). */
import { checkDatabaseName, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { isConfigDatabase } from "../context.js";
import { moveDatabase } from "../ddl/movePrimary.js";
import { stringArgument } from "../support/arguments.js";
import { checkDatabaseNotResharding } from "../resharding/guard.js";
import { withDatabaseAlone } from "../support/databases.js";

export const movePrimary: Command = {
  name: "movePrimary",
  aliases: ["moveprimary"],
  adminOnly: true,
  fields: ["to"],
  async run(context, request) {
    const db = stringArgument(request, request.command);
    const to = stringArgument(request, "to");
    checkDatabaseName(db);
    if (isConfigDatabase(db)) {
      throw new CommandError(ErrorCode.InvalidOptions, `Can't move primary for ${db} database`);
    }
    if (to === "") {
      throw new CommandError(ErrorCode.InvalidOptions, "you have to specify where you want to move it");
    }
    if (!context.shards.has(to)) {
      throw new CommandError(ErrorCode.ShardNotFound, `Requested primary shard ${to} does not exist`);
    }
    const moved = await withDatabaseAlone(context, db, async (database) => {
      checkDatabaseNotResharding(context, db);
      if (database.primary === to) return true;
      if (context.shards.get(to).draining) {
        throw new CommandError(ErrorCode.ShardNotFound, `Requested primary shard ${to} is draining`);
      }
      await moveDatabase(context, database, to);
      return true;
    });
    if (!moved) throw new CommandError(ErrorCode.NamespaceNotFound, `database ${db} not found`);
    return okReply();
  },
};
