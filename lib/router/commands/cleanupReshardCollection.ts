/**
 * `cleanupReshardCollection`: removes what a failed resharding has left behind. Here a failed one leaves nothing that is
 * not brought to its end before the collection is used again, so there is only that to be done.
 */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { checkNotResharding } from "../resharding/guard.js";
import { namespaceArgument } from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

/** @since MongoDB 5.0 */
export const cleanupReshardCollection: Command = {
  name: "cleanupReshardCollection",
  adminOnly: true,
  fields: [],
  help: "remove what a failed resharding has left",
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    await withCollectionAlone(context, ns, () => {
      checkNotResharding(context, ns);
      return Promise.resolve();
    });
    return okReply();
  },
};
