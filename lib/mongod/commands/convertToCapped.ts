/** convertToCapped: makes a collection a capped one. Its indexes but `_id_` are gone afterwards. */
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { cappedSize, checkOrdinary, copyCapped } from "../capping.js";
import type { Command } from "../command.js";

export const convertToCapped: Command = {
  name: "convertToCapped",
  fields: ["size"],
  refused: { temp: "temporary collections" },
  writes: true,
  help: "convert a collection to a capped collection",
  run({ server, request, arguments: args }) {
    const { catalog, cursors } = server;
    const namespace = collectionNamespace(request);
    const size = cappedSize(args);
    checkOrdinary(namespace);
    if (catalog.findView(namespace)) {
      throw new CommandError(
        ErrorCode.CommandNotSupportedOnView,
        `convertToCapped not supported on views: ${namespace}`,
      );
    }
    const source = catalog.find(namespace);
    if (!source) {
      throw new CommandError(ErrorCode.NamespaceNotFound, `source collection ${namespace} does not exist`);
    }
    const copy = copyCapped(
      catalog,
      source,
      `${request.db}.tmp.convertToCapped.${source.uuid.join("")}`,
      size,
    );
    catalog.drop(namespace);
    cursors.collectionDropped(namespace);
    catalog.rename(copy, namespace);
    return okReply();
  },
};
