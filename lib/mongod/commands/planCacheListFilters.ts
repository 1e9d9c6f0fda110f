/** planCacheListFilters: the index filters of a collection. None can be set. */
import { collectionNamespace } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const planCacheListFilters: Command = {
  name: "planCacheListFilters",
  fields: [],
  help: "Displays index filters for all query shapes in a collection.",
  run({ server, request }) {
    server.catalog.findCollection(collectionNamespace(request));
    return treeReply({ filters: [] });
  },
};
