/**
 * `routingTrace`: what the router did with recent operations (trace.ts). Our
 * own command; a real mongos has none like it.
 *
 *     {routingTrace: 1, since?: 17, limit?: 100} → {entries: […], next: 42, dropped: 0}
 *
 * A reply carries about 8 MB of entries; the rest begins at `next`.
 */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { optionalCount } from "../context.js";

export const routingTrace: Command = {
  name: "routingTrace",
  adminOnly: true,
  fields: ["since", "limit"],
  run(context, request) {
    const { entries, next, dropped } = context.trace.read(
      optionalCount(request, "since"),
      optionalCount(request, "limit"),
    );
    return okReply(
      new DocumentWriter().arrayOf("entries", entries).int32("next", next).int32("dropped", dropped).finish(),
    );
  },
};
