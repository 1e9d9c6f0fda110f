/**
 * `validate`: every shard that has a part checks it; sound only if all are.
 *
 *     {raw: {shardA: {ns, nrecords, …, valid: true}, shardB: {…}}, valid: true, ok: 1}
 */
import { DocumentWriter, getField, isTruthy } from "../../bson/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { homeOf } from "../context.js";
import { fanOut, withoutTimes } from "../ddl/fanOut.js";
import { shardsWithParts } from "../ddl/shardCollections.js";
import { withCollection } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";

export const validate: Command = {
  name: "validate",
  run(context, request) {
    const ns = collectionNamespace(request);
    return withCollection(context, ns, async (collection) => {
      const home = homeOf(context, request.db, ns);
      const shards = collection ? shardsWithParts(context, collection) : [home.shard];
      const command = forwardedRequest(request);
      const outcomes = await fanOut(context, shards, () => command);
      const raw = new DocumentWriter();
      for (const { shard, body, error } of outcomes) {
        if (error) throw home.exists ? error : missing(ns);
        raw.document(shard, withoutTimes(body));
      }
      const valid = outcomes.every(({ body }) => isTruthy(getField(body, "valid")));
      return okReply(new DocumentWriter().document("raw", raw.finish()).bool("valid", valid).finish());
    });
  },
};

function missing(ns: string): CommandError {
  return new CommandError(ErrorCode.NamespaceNotFound, `Collection '${ns}' does not exist to validate.`);
}
