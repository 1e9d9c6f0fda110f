/** listCollections: the collections and views of a database. */
import { DocumentWriter, EMPTY_DOCUMENT, uuid } from "../../bson/index.js";
import { compileFilter } from "../../query/index.js";
import type { Command } from "../command.js";
import { listReply } from "../listReply.js";
import type { View } from "../storage/catalog.js";
import { splitNamespace } from "../storage/catalog.js";
import type { Collection } from "../storage/collection.js";
import { describeIndex } from "../storage/indexSpec.js";

export const listCollections: Command = {
  name: "listCollections",
  fields: ["filter", "nameOnly", "cursor", "authorizedCollections"],
  help: "list collections for this db",
  run({ server, request, arguments: args }) {
    const { catalog, environment } = server;
    const nameOnly = args.boolean("nameOnly");
    args.boolean("authorizedCollections");
    const filter = compileFilter(args.document("filter") ?? EMPTY_DOCUMENT, environment);
    const documents: Uint8Array[] = [];
    const list = (document: Uint8Array): void => {
      if (filter.matches(document)) documents.push(document);
    };
    for (const collection of catalog.collectionsOf(request.db))
      list(describeCollection(collection, nameOnly));
    for (const view of catalog.viewsOf(request.db)) list(describeView(view, nameOnly));
    return listReply(server, args, `${request.db}.$cmd.listCollections`, documents);
  },
};

function start(namespace: string, type: "collection" | "view"): DocumentWriter {
  return new DocumentWriter().string("name", splitNamespace(namespace).collection).string("type", type);
}

function describeCollection(collection: Collection, nameOnly: boolean): Uint8Array {
  const writer = start(collection.namespace, "collection");
  if (nameOnly) return writer.finish();
  const info = new DocumentWriter().bool("readOnly", false).field("uuid", uuid(collection.uuid)).finish();
  return writer
    .document("options", collection.settings.raw)
    .document("info", info)
    .document("idIndex", describeIndex(collection.idIndex.spec))
    .finish();
}

function describeView(view: View, nameOnly: boolean): Uint8Array {
  const writer = start(view.namespace, "view");
  if (nameOnly) return writer.finish();
  const info = new DocumentWriter().bool("readOnly", true).finish();
  return writer.document("options", view.options.raw).document("info", info).finish();
}
