/** planCacheClear: forgets cached plans. No plan is ever cached. */
import { collectionNamespace, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";

export const planCacheClear: Command = {
  name: "planCacheClear",
  fields: ["query", "sort", "projection", "collation"],
  help: "Drops one or all plan cache entries in a collection.",
  run({ server, request, arguments: args }) {
    for (const name of ["query", "sort", "projection"]) args.document(name);
    server.catalog.findCollection(collectionNamespace(request));
    return okReply();
  },
};
