/** listCollections: the collections of a database. */
import { DocumentWriter, EMPTY_DOCUMENT, uuid } from "../../bson/index.js";
import { compileFilter } from "../../query/index.js";
import type { Command } from "../command.js";
import { listReply } from "../listReply.js";
import { splitNamespace } from "../storage/catalog.js";
import type { Collection } from "../storage/collection.js";
import { describeIndex } from "../storage/indexSpec.js";

export const listCollections: Command = {
  name: "listCollections",
  fields: ["filter", "nameOnly", "cursor", "authorizedCollections"],
  run({ server, request, arguments: args }) {
    const nameOnly = args.boolean("nameOnly");
    const filter = compileFilter(args.document("filter") ?? EMPTY_DOCUMENT);
    const documents = server.catalog
      .collectionsOf(request.db)
      .map((collection) => (nameOnly ? nameAndType(collection).finish() : describe(collection)))
      .filter((document) => filter.matches(document));
    return listReply(server, args, `${request.db}.$cmd.listCollections`, documents);
  },
};

function nameAndType(collection: Collection): DocumentWriter {
  return new DocumentWriter()
    .string("name", splitNamespace(collection.namespace).collection)
    .string("type", "collection");
}

function describe(collection: Collection): Uint8Array {
  const info = new DocumentWriter().bool("readOnly", false).field("uuid", uuid(collection.uuid)).finish();
  return nameAndType(collection)
    .document("options", collection.options)
    .document("info", info)
    .document("idIndex", describeIndex(collection.idIndex.spec))
    .finish();
}
