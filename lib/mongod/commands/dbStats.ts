/** dbStats: the sizes of a database. */
import { double, int64 } from "../../bson/index.js";
import { scaleOf } from "../collectionStats.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const dbStats: Command = {
  name: "dbStats",
  aliases: ["dbstats"],
  fields: ["scale", "freeStorage"],
  run({ server, request, arguments: args }) {
    const scale = scaleOf(args.get("scale"));
    const collections = server.catalog.collectionsOf(request.db);
    let objects = 0;
    let dataSize = 0;
    let indexes = 0;
    let indexSize = 0;
    for (const collection of collections) {
      objects += collection.records.count;
      dataSize += collection.records.dataSize;
      indexes += collection.indexes.length;
      indexSize += collection.indexSize;
    }
    const scaled = (bytes: number): unknown => double(bytes / scale);
    return treeReply({
      db: request.db,
      collections: int64(collections.length),
      views: int64(0),
      objects: int64(objects),
      avgObjSize: double(objects > 0 ? dataSize / objects : 0),
      dataSize: scaled(dataSize),
      storageSize: scaled(dataSize),
      indexes: int64(indexes),
      indexSize: scaled(indexSize),
      totalSize: scaled(dataSize + indexSize),
      scaleFactor: int64(scale),
      fsUsedSize: double(0),
      fsTotalSize: double(0),
    });
  },
};
