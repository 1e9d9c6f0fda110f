/**
 * `splitVector`: where the index of an unsharded collection could be cut. Its shard answers; of a sharded one a mongos does
 * not ask, since each shard knows its own part only (facts-mongos.md §3.2).
 */
import { CommandError, ErrorCode, request as makeRequest } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { namespaceArgument } from "../support/arguments.js";
import { withCollection } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";
import { answerUnsharded } from "../support/reading.js";

export const splitVector: Command = {
  name: "splitVector",
  run(context, request) {
    const { ns, db } = namespaceArgument(request);
    return withCollection(context, ns, async (collection) => {
      if (collection) {
        throw new CommandError(
          ErrorCode.IllegalOperation,
          "can't do command: splitVector on sharded collection",
        );
      }
      return answerUnsharded(context, makeRequest(db, forwardedRequest(request).body), ns);
    });
  },
};
