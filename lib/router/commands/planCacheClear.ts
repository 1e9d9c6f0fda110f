/** `planCacheClear`: forgets cached plans on every shard that has the collection. */
import type { Command } from "../context.js";
import { askEveryOwner } from "../support/everyOwner.js";

export const planCacheClear: Command = {
  name: "planCacheClear",
  fields: ["query", "sort", "projection", "collation"],
  help: "Drops one or all plan cache entries for a collection.",
  run: askEveryOwner,
};
