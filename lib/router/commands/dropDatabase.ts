/** `dropDatabase`: all collections of a database go, then the database, with its zone ranges. */
import { DocumentWriter } from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { forgetAnalyzers } from "../analyze/sampler.js";
import type { Command } from "../context.js";
import { isConfigDatabase } from "../context.js";
import { dropWhole } from "../ddl/dropRecovery.js";
import { checkDatabaseNotResharding } from "../resharding/guard.js";
import { withDatabaseAlone } from "../support/databases.js";
import { allThere, dropSharded } from "./drop.js";

export const dropDatabase: Command = {
  name: "dropDatabase",
  fields: [],
  async run(context, request) {
    const { db } = request;
    if (isConfigDatabase(db)) {
      throw new CommandError(ErrorCode.IllegalOperation, `Cannot drop '${db}' database in sharded cluster`);
    }
    const { catalog, shards } = context;
    const dropped = await withDatabaseAlone(context, db, async () => {
      checkDatabaseNotResharding(context, db);
      await allThere(context);
      await catalog.log("dropDatabase.start", db);
      for (const collection of catalog.collections) {
        if (collection.db === db) await dropSharded(context, collection);
      }
      for (const tracked of catalog.trackedIn(db)) await dropWhole(context, tracked);
      for (const shard of shards.ids) await shards.must(shard, db, { dropDatabase: 1 });
      await forgetAnalyzers(context, db);
      await catalog.dropDatabase(db);
      catalog.shardingEnabled.delete(db);
      await catalog.log("dropDatabase", db);
      return true;
    });
    if (!dropped) return okReply({ info: "database does not exist" });
    return okReply(new DocumentWriter().string("dropped", db).finish());
  },
};
