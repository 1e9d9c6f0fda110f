/** `create`: an unsharded collection (or view) on the database's primary shard. */
import { collectionNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { withCollectionAlone } from "../support/collections.js";
import { withDatabase } from "../support/databases.js";
import { answerUnsharded } from "../support/reading.js";

export const create: Command = {
  name: "create",
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollectionAlone(context, ns, (collection) => {
      if (collection) {
        throw new CommandError(ErrorCode.NamespaceExists, `namespace ${ns} already exists, sharded`);
      }
      return withDatabase(context, request.db, () => answerUnsharded(context, request, ns));
    });
  },
};
