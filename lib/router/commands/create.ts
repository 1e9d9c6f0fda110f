/** `create`: an unsharded collection on the database's primary shard. */
import {
  bodyField,
  collectionNamespace,
  CommandError,
  ErrorCode,
  notSimulated,
} from "../../protocol/index.js";
import type { Command } from "../context.js";
import { withCollectionAlone } from "../support/collections.js";
import { withDatabase } from "../support/databases.js";
import { answerUnsharded } from "../support/reading.js";

export const create: Command = {
  name: "create",
  run(context, request) {
    const ns = collectionNamespace(request);
    // The primary would resolve a view by its own documents, also where the collection behind it is sharded.
    if (bodyField(request, "viewOn")) throw notSimulated("views on a cluster");
    return withCollectionAlone(context, ns, (collection) => {
      if (collection) {
        throw new CommandError(ErrorCode.NamespaceExists, `namespace ${ns} already exists, sharded`);
      }
      return withDatabase(context, request.db, () => answerUnsharded(context, request, ns));
    });
  },
};
