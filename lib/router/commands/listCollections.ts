/**
 * `listCollections`: the primary shard's list. It holds every collection of its
 * database: the unsharded ones live there, and the sharded ones began there.
 */
import type { Command } from "../context.js";
import { answerUnsharded } from "../support/reading.js";

export const listCollections: Command = {
  name: "listCollections",
  run: (context, request) => answerUnsharded(context, request, `${request.db}.$cmd.listCollections`),
};
