/** dropDatabase: removes a database with all its collections. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const dropDatabase: Command = {
  name: "dropDatabase",
  fields: [],
  writes: true,
  run({ server, request }) {
    const namespaces = server.catalog.collectionsOf(request.db).map((collection) => collection.namespace);
    if (!server.catalog.dropDatabase(request.db)) return okReply();
    for (const namespace of namespaces) server.cursors.collectionDropped(namespace);
    return treeReply({ dropped: request.db });
  },
};
