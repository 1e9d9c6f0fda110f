/** `commitReshardCollection`: a resharding ends as soon as it has copied everything, not after its five minutes (§8.2). */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { runningOf } from "../resharding/control.js";
import { namespaceArgument } from "../support/arguments.js";

/** @since MongoDB 5.0 */
export const commitReshardCollection: Command = {
  name: "commitReshardCollection",
  adminOnly: true,
  fields: [],
  help: "end a resharding as soon as everything is copied",
  async run(context, request) {
    const running = runningOf(context, namespaceArgument(request).ns, "reshardCollection");
    running.ask("commit");
    const { error } = await running.over;
    if (error !== undefined) throw error;
    return okReply();
  },
};
