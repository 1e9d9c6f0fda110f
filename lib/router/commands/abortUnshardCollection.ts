/** `abortUnshardCollection`: an unshardCollection is taken back, unless it is committing already (facts-mongos.md §8.3). */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { abortRunning } from "../resharding/control.js";
import { namespaceArgument } from "../support/arguments.js";

/** @since MongoDB 8.0 */
export const abortUnshardCollection: Command = {
  name: "abortUnshardCollection",
  adminOnly: true,
  fields: [],
  help: "take an unshardCollection back",
  async run(context, request) {
    await abortRunning(context, namespaceArgument(request).ns, "unshardCollection");
    return okReply();
  },
};
