/** dropIndexes: removes indexes by name, by key, by a list of names, or all but `_id_` (`"*"`). */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asString, BsonType, describeDocument, elements } from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { Command } from "../command.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { describeInCatalog } from "../storage/indexSpec.js";
import { samePattern } from "../storage/keyPattern.js";
import { treeReply } from "../tree.js";

export const dropIndexes: Command = {
  name: "dropIndexes",
  aliases: ["deleteIndexes"],
  fields: ["index", "collectionUUID"],
  refused: { isTimeseriesNamespace: "time series collections" },
  writes: true,
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    const collection = server.catalog.findCollection(namespace);
    checkCollectionUuid(server.catalog, namespace, args);
    if (!collection) throw new CommandError(ErrorCode.NamespaceNotFound, `ns not found ${namespace}`);
    const wanted = args.get("index") ?? args.missing("index");
    const nIndexesWas = collection.indexes.length;
    if (asksForAll(wanted)) {
      for (const index of collection.indexes.slice(1)) collection.dropIndex(index);
      return treeReply({ nIndexesWas, msg: "non-_id indexes dropped for collection" });
    }
    const indexes = chosen(collection, wanted, () => args.wrongType("index", wanted, "string"));
    if (indexes.includes(collection.idIndex))
      throw new CommandError(ErrorCode.InvalidOptions, "cannot drop _id index");
    for (const index of indexes) collection.dropIndex(index);
    return treeReply({ nIndexesWas });
  },
};

/** `"*"`, or a list that begins with it. */
function asksForAll(wanted: RawValue): boolean {
  const first = wanted.type === BsonType.array ? elements(asDocument(wanted))[0] : wanted;
  return first?.type === BsonType.string && asString(first) === "*";
}

function chosen(collection: Collection, wanted: RawValue, wrongType: () => CommandError): CollectionIndex[] {
  switch (wanted.type) {
    case BsonType.string:
      return [byName(collection, asString(wanted))];
    case BsonType.array:
      return elements(asDocument(wanted)).map((name) => {
        if (name.type !== BsonType.string) throw wrongType();
        return byName(collection, asString(name));
      });
    case BsonType.object:
      return [byKey(collection, asDocument(wanted))];
    default:
      throw wrongType();
  }
}

function byName(collection: Collection, name: string): CollectionIndex {
  const index = collection.indexes.find((one) => one.spec.name === name);
  if (!index) throw new CommandError(ErrorCode.IndexNotFound, `index not found with name [${name}]`);
  return index;
}

function byKey(collection: Collection, keyPattern: Uint8Array): CollectionIndex {
  const found = collection.indexes.filter((one) => samePattern(one.spec.keyPattern, keyPattern));
  const [index, second] = found;
  if (!index) {
    throw new CommandError(
      ErrorCode.IndexNotFound,
      `can't find index with key: ${describeDocument(keyPattern)}`,
    );
  }
  if (second) {
    const [a, b] = [index, second].map(({ spec }) => describeDocument(describeInCatalog(spec)));
    throw new CommandError(
      ErrorCode.AmbiguousIndexKeyPattern,
      `${found.length} indexes found for key: ${describeDocument(keyPattern)}, identify by name instead. Conflicting indexes: ${a}, ${b}`,
    );
  }
  return index;
}
