/** `dataSize`: bytes and documents of a collection, added up over the shards that own its chunks. */
import { asNumber, DocumentWriter, getField, isNumeric, isTruthy } from "../../bson/index.js";
import { bodyField, notSimulated, okReply, request as makeRequest } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { askShards } from "../merging/scatter.js";
import { namespaceArgument } from "../support/arguments.js";
import { withCollection } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";

/** Numbers that add up over shards. */
const SUMMED = ["size", "numObjects", "millis"];

export const dataSize: Command = {
  name: "dataSize",
  aliases: ["datasize"],
  run(context, request) {
    const { ns, db } = namespaceArgument(request);
    return withCollection(context, ns, async (collection) => {
      // Its namespace is an argument: the database it is sent to says nothing about its home.
      const command = makeRequest(db, forwardedRequest(request).body);
      if (!collection) return answerUnsharded(context, command, ns);
      const limit = ["keyPattern", "min", "max", "maxSize", "maxObjects"].find((name) =>
        bodyField(request, name),
      );
      if (limit) throw notSimulated(`dataSize with ${limit}`);
      const replies = await askShards(context, collection.chunks.owningShards(), () => command);
      const answer = new DocumentWriter().bool("estimate", isTruthy(bodyField(request, "estimate")));
      for (const name of SUMMED) {
        const sum = replies.reduce((total, { reply }) => total + numberIn(reply.body, name), 0);
        answer.int64(name, BigInt(Math.trunc(sum)));
      }
      return okReply(answer.finish());
    });
  },
};

function numberIn(body: Uint8Array, name: string): number {
  const value = getField(body, name);
  return value && isNumeric(value) ? asNumber(value) : 0;
}
