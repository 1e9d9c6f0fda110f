/** createIndexes: builds indexes over what is stored, all of them or none. */
import { collectionNamespace, CommandError, documentsOf, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import type { IndexSpec } from "../storage/indexSpec.js";
import { alreadyExists, parseIndexSpec } from "../storage/indexSpec.js";
import { treeReply } from "../tree.js";

/** Most indexes of a collection. */
const MAX_INDEXES = 64;

export const createIndexes: Command = {
  name: "createIndexes",
  fields: ["indexes", "commitQuorum", "ignoreUnknownIndexOptions"],
  refused: { returnOnStart: "returnOnStart" },
  writes: true,
  run({ server, request }) {
    const namespace = collectionNamespace(request);
    const wanted = documentsOf(request, "indexes");
    if (wanted.length === 0)
      throw new CommandError(ErrorCode.BadValue, "Must specify at least one index to create");
    const specs = wanted.map(parseIndexSpec);
    const existing = server.catalog.find(namespace);
    const collection = existing ?? server.catalog.create(namespace);
    const before = collection.indexes.length;
    try {
      const fresh: IndexSpec[] = [];
      for (const spec of specs) {
        const known = [...collection.indexes.map((index) => index.spec), ...fresh];
        if (!alreadyExists(spec, known)) fresh.push(spec);
      }
      if (before + fresh.length > MAX_INDEXES) {
        throw new CommandError(
          ErrorCode.CannotCreateIndex,
          `add index fails, too many indexes for ${namespace} key:${fresh[0]?.name ?? ""}`,
        );
      }
      collection.createIndexes(fresh);
    } catch (error) {
      if (!existing) server.catalog.drop(namespace);
      throw error;
    }
    const after = collection.indexes.length;
    return treeReply({
      numIndexesBefore: before,
      numIndexesAfter: after,
      ...(!existing && { createdCollectionAutomatically: true }),
      ...(after === before && { note: "all indexes already exist" }),
    });
  },
};
