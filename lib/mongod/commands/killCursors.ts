/** killCursors: closes cursors before they are exhausted. */
import type { RawValue } from "../../bson/index.js";
import { asBigInt, asDocument, BsonType, elements, int64 } from "../../bson/index.js";
import { collectionNamespace } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const killCursors: Command = {
  name: "killCursors",
  fields: ["cursors"],
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    const list = args.get("cursors") ?? args.missing("cursors");
    if (list.type !== BsonType.array) throw args.wrongType("cursors", list, "array");
    const ids = elements(asDocument(list));
    const wrong = ids.findIndex(({ type }) => type !== BsonType.int64);
    if (wrong >= 0) throw args.wrongType(`cursors.${wrong}`, ids[wrong]!, "long");
    const killed: RawValue[] = [];
    const notFound: RawValue[] = [];
    for (const id of ids.map(asBigInt))
      (server.cursors.close(id, namespace) ? killed : notFound).push(int64(id));
    return treeReply({
      cursorsKilled: killed,
      cursorsNotFound: notFound,
      cursorsAlive: [],
      cursorsUnknown: [],
    });
  },
};
