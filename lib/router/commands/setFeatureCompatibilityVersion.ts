/** `setFeatureCompatibilityVersion`: on the config server, which checks it, and then on every shard. */
import { failureOf, isOk } from "../../protocol/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { forwardedRequest } from "../support/forward.js";

export const setFeatureCompatibilityVersion: Command = {
  name: "setFeatureCompatibilityVersion",
  adminOnly: true,
  fields: ["confirm", "downgradeOnDiskChanges", "fromConfigServer", "phase", "dryRun"],
  help: "Set the featureCompatibilityVersion used by this cluster",
  async run(context, request) {
    const command = forwardedRequest(request);
    const reply = await context.shards.run(CONFIG_SHARD, command);
    if (!isOk(reply)) throw failureOf(reply);
    await askShards(context, context.shards.ids, () => command);
    return reply;
  },
};
