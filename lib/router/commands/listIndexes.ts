/** `listIndexes`: as the shard of the first chunk has them; all owning shards have the same. */
import { collectionNamespace } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { passThrough } from "../merging/passThrough.js";
import { withCollection } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";

export const listIndexes: Command = {
  name: "listIndexes",
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollection(context, ns, (collection) =>
      collection
        ? passThrough(context, collection.chunks.ownerOf(0), forwardedRequest(request))
        : answerUnsharded(context, request, ns),
    );
  },
};
