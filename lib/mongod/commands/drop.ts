/** drop: removes a collection with its indexes, or a view. Dropping what does not exist succeeds (since MongoDB 7.0). */
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { isOfSystem } from "../collectionRules.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

/** System collections that may be dropped; others belong to the server. */
const DROPPABLE: ReadonlySet<string> = new Set(["system.js", "system.profile", "system.views"]);

export const drop: Command = {
  name: "drop",
  fields: ["collectionUUID"],
  refused: { dropPendingNss: "dropPendingNss" },
  writes: true,
  help: "drop a collection",
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    const name = namespace.slice(request.db.length + 1);
    const { catalog } = server;
    checkCollectionUuid(catalog, namespace, args);
    if (isOfSystem(name) && !DROPPABLE.has(name) && catalog.find(namespace)) {
      throw new CommandError(ErrorCode.IllegalOperation, `can't drop system collection ${namespace}`);
    }
    if (catalog.dropView(namespace)) return treeReply({ ns: namespace });
    const collection = catalog.drop(namespace);
    if (!collection) return okReply();
    server.cursors.collectionDropped(namespace);
    return treeReply({ nIndexesWas: collection.indexes.length, ns: namespace });
  },
};
