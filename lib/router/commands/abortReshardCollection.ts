/** `abortReshardCollection`: a resharding is taken back, unless it is committing already (§8.2). */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { abortRunning } from "../resharding/control.js";
import { namespaceArgument } from "../support/arguments.js";

/** @since MongoDB 5.0 */
export const abortReshardCollection: Command = {
  name: "abortReshardCollection",
  adminOnly: true,
  fields: [],
  help: "take a resharding back",
  async run(context, request) {
    await abortRunning(context, namespaceArgument(request).ns, "reshardCollection");
    return okReply();
  },
};
