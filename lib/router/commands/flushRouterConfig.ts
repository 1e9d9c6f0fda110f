/** `flushRouterConfig`: reads the catalog from the config server again. */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const flushRouterConfig: Command = {
  name: "flushRouterConfig",
  adminOnly: true,
  fields: [],
  async run(context) {
    await context.catalog.load();
    return okReply(new DocumentWriter().bool("flushed", true).finish());
  },
};
