/** Switching the balancer on and off: config.settings `{_id: "balancer"}` (facts-mongos.md §3.4). */
import { DocumentWriter } from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import { okReply } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";

/** Writes the balancer's mode where clients and tools look for it. */
export async function setBalancerStopped(context: RouterContext, stopped: boolean): Promise<Reply> {
  const fields = new DocumentWriter()
    .string("mode", stopped ? "off" : "full")
    .bool("stopped", stopped)
    .finish();
  const set = new DocumentWriter().document("$set", fields).finish();
  await context.catalog.config.update("settings", { _id: "balancer" }, set, { upsert: true });
  // While chunks split by themselves, that stops and starts with the balancer (4.2 to 6.0.2, balancerStop's manual page).
  if (context.rules.autoSplit) {
    const enabled = new DocumentWriter().bool("enabled", !stopped).finish();
    const change = new DocumentWriter().document("$set", enabled).finish();
    await context.catalog.config.update("settings", { _id: "autosplit" }, change, { upsert: true });
  }
  context.catalog.settings.balancerMode = stopped ? "off" : "full";
  return okReply();
}
