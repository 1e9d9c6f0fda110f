/** `killCursors`: closes cursors before they have ended. */
import type { RawValue } from "../../bson/index.js";
import { asBigInt, asDocument, BsonType, DocumentWriter, elements } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { requiredField, wrongType } from "../context.js";

export const killCursors: Command = {
  name: "killCursors",
  async run(context, request) {
    const list = requiredField(request, "cursors");
    if (list.type !== BsonType.array) throw wrongType(request, "cursors", "array");
    const killed: RawValue[] = [];
    const notFound: RawValue[] = [];
    const ids = elements(asDocument(list));
    const wrong = ids.findIndex(({ type }) => type !== BsonType.int64);
    if (wrong >= 0) throw wrongType(request, `cursors.${wrong}`, "long");
    for (const value of ids) {
      const found = await context.cursors.kill(asBigInt(value));
      (found ? killed : notFound).push(value);
    }
    return okReply(
      new DocumentWriter()
        .values("cursorsKilled", killed)
        .values("cursorsNotFound", notFound)
        .values("cursorsAlive", [])
        .values("cursorsUnknown", [])
        .finish(),
    );
  },
};
