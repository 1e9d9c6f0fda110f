/** dbStats: the sizes of a database. */
import { double, int64 } from "../../bson/index.js";
import { diskSizes, scaleOf } from "../collectionStats.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const dbStats: Command = {
  name: "dbStats",
  aliases: ["dbstats"],
  fields: ["scale", "freeStorage"],
  help: "Get stats on a database",
  run({ server, request, arguments: args }) {
    const scale = scaleOf(args.get("scale"));
    const freeStorage = (args.number("freeStorage") ?? 0) !== 0;
    const collections = server.catalog.collectionsOf(request.db);
    let objects = 0;
    let dataSize = 0;
    let storageSize = 0;
    let indexes = 0;
    let indexSize = 0;
    for (const collection of collections) {
      objects += collection.records.count;
      dataSize += collection.records.dataSize;
      indexes += collection.indexes.length;
      const sizes = diskSizes(collection);
      storageSize += sizes.data;
      indexSize += sizes.indexes;
    }
    const scaled = (bytes: number): unknown => double(bytes / scale);
    // Nothing is on a disk, so nothing of a disk is free or used.
    const free = (name: string): Record<string, unknown> => (freeStorage ? { [name]: double(0) } : {});
    return treeReply({
      db: request.db,
      collections: int64(collections.length),
      views: int64(server.catalog.viewsOf(request.db).length),
      objects: int64(objects),
      avgObjSize: double(objects > 0 ? dataSize / objects : 0),
      dataSize: scaled(dataSize),
      storageSize: scaled(storageSize),
      ...free("freeStorageSize"),
      indexes: int64(indexes),
      indexSize: scaled(indexSize),
      ...free("indexFreeStorageSize"),
      totalSize: scaled(storageSize + indexSize),
      ...free("totalFreeStorageSize"),
      scaleFactor: int64(scale),
      fsUsedSize: double(0),
      fsTotalSize: double(0),
    });
  },
};
