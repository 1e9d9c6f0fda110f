/** collStats: the sizes of a collection (clients now prefer the stage `$collStats`). */
import { collectionNamespace } from "../../protocol/index.js";
import { scaleOf, storageStats } from "../collectionStats.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const collStats: Command = {
  name: "collStats",
  aliases: ["collstats"],
  fields: ["scale", "verbose", "waitForLock", "numericOnly"],
  help: "returns statistics about a collection",
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    const scale = scaleOf(args.get("scale"));
    const collection = server.catalog.findCollection(namespace);
    if (collection) return treeReply({ ns: namespace, ...storageStats(collection, scale) });
    return treeReply({
      ns: namespace,
      size: 0,
      count: 0,
      numOrphanDocs: 0,
      storageSize: 0,
      totalSize: 0,
      nindexes: 0,
      totalIndexSize: 0,
      indexDetails: {},
      indexSizes: {},
      scaleFactor: scale,
    });
  },
};
