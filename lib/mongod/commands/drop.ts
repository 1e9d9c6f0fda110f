/** drop: removes a collection with its indexes. Dropping what does not exist succeeds (since MongoDB 7.0). */
import { collectionNamespace, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const drop: Command = {
  name: "drop",
  fields: [],
  refused: { collectionUUID: "collectionUUID", dropPendingNss: "dropPendingNss" },
  writes: true,
  run({ server, request }) {
    const namespace = collectionNamespace(request);
    const collection = server.catalog.drop(namespace);
    if (!collection) return okReply();
    server.cursors.collectionDropped(namespace);
    return treeReply({ nIndexesWas: collection.indexes.length, ns: namespace });
  },
};
