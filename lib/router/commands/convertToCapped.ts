/** `convertToCapped`: on the primary shard; a sharded collection can't be capped. */
import { collectionNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { checkNotResharding } from "../resharding/guard.js";
import { withCollectionAlone } from "../support/collections.js";
import { answerUnsharded } from "../support/reading.js";

export const convertToCapped: Command = {
  name: "convertToCapped",
  fields: ["size"],
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollectionAlone(context, ns, (collection) => {
      checkNotResharding(context, ns);
      if (!collection) return answerUnsharded(context, request, ns);
      throw new CommandError(ErrorCode.IllegalOperation, "You can't convertToCapped a sharded collection");
    });
  },
};
