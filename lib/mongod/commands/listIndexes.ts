/** listIndexes: the specifications of a collection's indexes, `_id_` first. */
import { collectionNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { listReply } from "../listReply.js";
import { describeIndex } from "../storage/indexSpec.js";

export const listIndexes: Command = {
  name: "listIndexes",
  fields: ["cursor"],
  refused: { includeBuildUUIDs: "includeBuildUUIDs", includeIndexBuildInfo: "includeIndexBuildInfo" },
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    const collection = server.catalog.find(namespace);
    if (!collection) throw new CommandError(ErrorCode.NamespaceNotFound, `ns does not exist: ${namespace}`);
    const specs = collection.indexes.map((index) => describeIndex(index.spec));
    return listReply(server, args, namespace, specs);
  },
};
