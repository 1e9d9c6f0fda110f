/** `distinct`: the union of the shards' lists, each value once, in BSON order. */
import type { RawValue } from "../../bson/index.js";
import { asDocument, DocumentWriter, elements, getField, sortableValue } from "../../bson/index.js";
import { CommandError, MAX_BSON_OBJECT_BYTES, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { forwardedRequest } from "../support/forward.js";
import { answerTargeted } from "../support/reading.js";
import { traceTargeted } from "../trace.js";

export const distinct: Command = {
  name: "distinct",
  run: (context, request) =>
    answerTargeted(context, request, "query", async (collection, target) => {
      const command = forwardedRequest(request);
      const record = traceTargeted("distinct", collection, target, context.environment.now());
      record.merge = { kind: "group" };
      const replies = await askShards(context, target.shards, () => command, record);
      const lists = replies.map(({ reply }) => elements(asDocument(getField(reply.body, "values")!)));
      record.shards.forEach((work) => {
        const position = replies.findIndex(({ shard }) => shard === work.shard);
        work.returned = lists[position]?.length ?? 0;
      });
      context.trace.add(record);
      return okReply(new DocumentWriter().values("values", unionOf(lists)).finish());
    }),
};

/** Each value once, ascending. Of equal values (1 and 1.0) the first stays. */
function unionOf(lists: readonly (readonly RawValue[])[]): RawValue[] {
  const byKey = new Map<string, RawValue>();
  let bytes = 0;
  for (const value of lists.flat()) {
    const key = sortableValue(value);
    if (byKey.has(key)) continue;
    byKey.set(key, value);
    bytes += value.end - value.start;
    if (bytes > MAX_BSON_OBJECT_BYTES) throw new CommandError(17217, "distinct too big, 16mb cap");
  }
  return [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
