/** `setAllowMigrations`: whether a collection's chunks may move at all, by hand or by the balancer (facts-mongos.md §3.2). */
import { DocumentWriter } from "../../bson/index.js";
import { bodyField, okReply } from "../../protocol/index.js";
import { set, unset } from "../catalog/chunkWrites.js";
import type { Command } from "../context.js";
import { flag, missingField } from "../context.js";
import { mustBeSharded, namespaceArgument } from "../support/arguments.js";
import { withCollectionAlone } from "../support/collections.js";

/** @since MongoDB 4.2 */
export const setAllowMigrations: Command = {
  name: "setAllowMigrations",
  adminOnly: true,
  fields: ["allowMigrations"],
  async run(context, request) {
    const { ns } = namespaceArgument(request);
    if (!bodyField(request, "allowMigrations")) throw missingField(request, "allowMigrations");
    const allowMigrations = flag(request, "allowMigrations");
    await withCollectionAlone(context, ns, async (found) => {
      const collection = mustBeSharded(found, ns);
      await context.catalog.changeCollection(collection, async ({ config }) => {
        // As in a real catalog the field is there only while it says no.
        const no = new DocumentWriter().bool("allowMigrations", false).finish();
        await config.update("collections", { _id: ns }, allowMigrations ? unset("allowMigrations") : set(no));
        return { allowMigrations };
      });
    });
    return okReply();
  },
};
