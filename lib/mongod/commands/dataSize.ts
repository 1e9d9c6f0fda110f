/** dataSize: bytes of a collection's documents. */
import { int64 } from "../../bson/index.js";
import { checkNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { splitNamespace } from "../storage/catalog.js";
import { treeReply } from "../tree.js";

export const dataSize: Command = {
  name: "dataSize",
  aliases: ["datasize"],
  fields: ["estimate"],
  refused: {
    keyPattern: "dataSize of a range",
    min: "dataSize of a range",
    max: "dataSize of a range",
    maxSize: "dataSize with a limit",
    maxObjects: "dataSize with a limit",
  },
  help: "determine data size for a set of data in a certain range",
  run({ server, arguments: args }) {
    const namespace = args.string("dataSize") ?? args.string("datasize") ?? "";
    const { db, collection: name } = splitNamespace(namespace);
    if (!namespace.includes(".")) {
      throw new CommandError(ErrorCode.InvalidNamespace, `Invalid namespace specified '${namespace}'`);
    }
    checkNamespace(db, name);
    const records = server.catalog.findCollection(namespace)?.records;
    return treeReply({
      estimate: args.boolean("estimate"),
      size: int64(records?.dataSize ?? 0),
      numObjects: int64(records?.count ?? 0),
      millis: int64(0),
    });
  },
};
