/** cloneCollectionAsCapped: copies the documents of a collection into a new capped one. */
import {
  checkNamespace,
  collectionNamespace,
  CommandError,
  ErrorCode,
  okReply,
} from "../../protocol/index.js";
import { cappedSize, checkOrdinary, copyCapped } from "../capping.js";
import type { Command } from "../command.js";

export const cloneCollectionAsCapped: Command = {
  name: "cloneCollectionAsCapped",
  fields: ["toCollection", "size"],
  refused: { temp: "temporary collections" },
  writes: true,
  help: "copy a collection to a new capped collection",
  run({ server, request, arguments: args }) {
    const { catalog } = server;
    const from = collectionNamespace(request);
    const name = args.string("toCollection") ?? args.missing("toCollection");
    checkNamespace(request.db, name);
    const to = `${request.db}.${name}`;
    const size = cappedSize(args);
    checkOrdinary(to);
    if (catalog.findView(from)) {
      throw new CommandError(
        ErrorCode.CommandNotSupportedOnView,
        `cloneCollectionAsCapped not supported for views: ${from}`,
      );
    }
    const source = catalog.find(from);
    if (!source) {
      throw new CommandError(ErrorCode.NamespaceNotFound, `source collection ${from} does not exist`);
    }
    if (catalog.find(to) ?? catalog.findView(to)) {
      throw new CommandError(
        ErrorCode.NamespaceExists,
        `cloneCollectionAsCapped failed - destination collection ${to} already exists. source collection: ${from}`,
      );
    }
    copyCapped(catalog, source, to, size);
    return okReply();
  },
};
