/** listIndexes: the specifications of a collection's indexes, `_id_` first. */
import { DocumentWriter } from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { Command } from "../command.js";
import { listReply } from "../listReply.js";
import { describeIndex } from "../storage/indexSpec.js";

export const listIndexes: Command = {
  name: "listIndexes",
  fields: ["cursor", "includeBuildUUIDs", "includeIndexBuildInfo", "collectionUUID"],
  refused: { isTimeseriesNamespace: "time series collections" },
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    const collection = server.catalog.findCollection(namespace);
    checkCollectionUuid(server.catalog, namespace, args);
    // No build is ever seen under way: with its information there is only one more level.
    const withInfo = args.boolean("includeIndexBuildInfo");
    if (withInfo && args.boolean("includeBuildUUIDs")) {
      throw new CommandError(
        ErrorCode.InvalidOptions,
        "The includeBuildUUIDs and includeBuildIndexInfo flags cannot both be set to true.",
      );
    }
    if (!collection) throw new CommandError(ErrorCode.NamespaceNotFound, `ns does not exist: ${namespace}`);
    const specs = collection.indexes.map(({ spec }) => describeIndex(spec));
    const items = withInfo
      ? specs.map((spec) => new DocumentWriter().document("spec", spec).finish())
      : specs;
    return listReply(server, args, namespace, items);
  },
};
