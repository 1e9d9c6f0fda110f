/** `planCacheListFilters`: the index filters of a collection on every shard that has it. */
import type { Command } from "../context.js";
import { askEveryOwner } from "../support/everyOwner.js";

export const planCacheListFilters: Command = {
  name: "planCacheListFilters",
  fields: [],
  help: "Displays index filters for all query shapes in a collection.",
  run: askEveryOwner,
};
