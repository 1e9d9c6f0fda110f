/**
 * `create`: a collection or view on the database's primary shard, with all its options. Of a sharded collection the
 * primary shard knows the options too: asking for the same again is no error, for others it is (48).
 */
import { collectionNamespace } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { withCollectionAlone } from "../support/collections.js";
import { withDatabase } from "../support/databases.js";
import { answerUnsharded } from "../support/reading.js";

export const create: Command = {
  name: "create",
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollectionAlone(context, ns, () =>
      withDatabase(context, request.db, async () => {
        const reply = await answerUnsharded(context, request, ns);
        context.views.forget(request.db);
        return reply;
      }),
    );
  },
};
