/** `dropDatabase`: all collections of a database go, then the database. */
import { asString, DocumentWriter, getField } from "../../bson/index.js";
import {
  CommandError,
  ErrorCode,
  okReply,
  readCursorReply,
  request as makeRequest,
} from "../../protocol/index.js";
import type { Command, RouterContext } from "../context.js";
import { isConfigDatabase } from "../context.js";
import { dropSharded } from "./drop.js";

export const dropDatabase: Command = {
  name: "dropDatabase",
  async run(context, request) {
    const { db } = request;
    if (isConfigDatabase(db)) {
      throw new CommandError(ErrorCode.IllegalOperation, `Cannot drop '${db}' database in sharded cluster`);
    }
    const { catalog, locks, shards } = context;
    const database = catalog.database(db);
    if (!database) return okReply();
    for (;;) {
      const namespaces = await namespacesOf(context, db, database.primary);
      // Namespaces before the database: the order in which everybody takes them.
      const dropped = await locks.whileAllExclusive(namespaces, () =>
        locks.whileExclusive(db, async () => {
          const sharded = catalog.collections.filter((collection) => collection.db === db);
          // One was sharded while this waited: it has to be held too.
          if (sharded.some(({ ns }) => !namespaces.includes(ns))) return false;
          for (const collection of sharded) await dropSharded(context, collection);
          for (const shard of shards.ids) await shards.must(shard, db, { dropDatabase: 1 });
          await catalog.dropDatabase(db);
          catalog.shardingEnabled.delete(db);
          await catalog.log("dropDatabase", db);
          return true;
        }),
      );
      if (dropped) break;
    }
    return okReply(new DocumentWriter().string("dropped", db).finish());
  },
};

async function namespacesOf(context: RouterContext, db: string, primary: string): Promise<string[]> {
  const sharded = context.catalog.collections
    .filter((collection) => collection.db === db)
    .map(({ ns }) => ns);
  const command = makeRequest(db, { listCollections: 1, nameOnly: true, cursor: { batchSize: 100_000 } });
  const { batch } = readCursorReply(await context.shards.run(primary, command));
  return [...sharded, ...batch.map((entry) => `${db}.${asString(getField(entry, "name")!)}`)];
}
