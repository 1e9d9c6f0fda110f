/**
 * `distinct`: the union of the shards' lists, each value once, in BSON order.
 *
 * A mongos puts whatever comes back into an ordered set, also where one shard
 * has it all: through a router the values are always sorted (facts-mongos.md
 * §6), though a shard gives them in the order in which it met them. Under a
 * collation equal strings are one value; of them the first shard's stays.
 */
import type { Collation, RawValue } from "../../bson/index.js";
import { asDocument, BsonType, DocumentWriter, elements, getField, sortableValue } from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import {
  collectionNamespace,
  CommandError,
  isOk,
  MAX_BSON_OBJECT_BYTES,
  okReply,
} from "../../protocol/index.js";
import type { Command } from "../context.js";
import { optionalDocument } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { effectiveCollation } from "../support/collations.js";
import { forwardedRequest } from "../support/forward.js";
import { answerTargeted } from "../support/reading.js";
import { traceTargeted } from "../trace.js";
import { readView } from "../views/index.js";

export const distinct: Command = {
  name: "distinct",
  async run(context, request) {
    const ns = collectionNamespace(request);
    /** One shard's own reply. */
    const sorted = (reply: Reply): Reply => {
      if (!isOk(reply)) return reply;
      const collection = context.catalog.collection(ns);
      const collation = effectiveCollation(collection, optionalDocument(request, "collation"));
      return replyOf(unionOf([valuesOf(reply)], collation));
    };
    const viewed = await readView(context, request, sorted);
    if (viewed) return viewed;
    let merged = false;
    const reply = await answerTargeted(context, request, "query", async ({ collection, target, options }) => {
      const command = forwardedRequest(request);
      const record = traceTargeted("distinct", collection, target, context.environment.now());
      record.merge = { kind: "group" };
      const replies = await askShards(context, target.shards, () => command, record);
      const lists = replies.map((answer) => valuesOf(answer.reply));
      record.shards.forEach((work) => {
        const position = replies.findIndex(({ shard }) => shard === work.shard);
        work.returned = lists[position]?.length ?? 0;
      });
      context.trace.add(record);
      merged = true;
      return replyOf(unionOf(lists, options.collation));
    });
    return merged ? reply : sorted(reply);
  },
};

function valuesOf(reply: Reply): RawValue[] {
  const values = getField(reply.body, "values");
  return values?.type === BsonType.array ? elements(asDocument(values)) : [];
}

function replyOf(values: readonly RawValue[]): Reply {
  return okReply(new DocumentWriter().values("values", values).finish());
}

/** Each value once, ascending. Of equal values (1 and 1.0) the first stays. */
function unionOf(lists: readonly (readonly RawValue[])[], collation: Collation | undefined): RawValue[] {
  const byKey = new Map<string, RawValue>();
  let bytes = 0;
  for (const list of lists) {
    for (const value of list) {
      const key = sortableValue(value, collation);
      if (byKey.has(key)) continue;
      byKey.set(key, value);
      bytes += value.end - value.start;
      if (bytes > MAX_BSON_OBJECT_BYTES) throw new CommandError(17217, "distinct too big, 16mb cap");
    }
  }
  return [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
