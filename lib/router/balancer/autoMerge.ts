/**
 * The auto-merger: once an hour, when there is nothing to move, neighbours on one shard become one chunk (7.0+;
 * facts-mongos.md §3.2). Which ones is ddl/autoMerge.ts: not jumbo, on their shard for five minutes, no zone's bound
 * between them. `{_id: "automerge", enabled: false}` in config.settings switches it off, `enableAutoMerge: false` for one
 * collection.
 */
import { CommandError } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import { runsToMerge } from "../ddl/autoMerge.js";
import { mergeRun } from "../ddl/mergeChunks.js";
import { withCollectionAlone } from "../support/collections.js";
import { isBalanced } from "./round.js";

/** Milliseconds from one time to the next: `autoMergerIntervalSecs`. */
const INTERVAL_MS = 3_600_000;

/** When chunks were last merged. */
export class AutoMerger {
  #last: number | undefined;

  /** Merges what can be merged in all collections, if it is time. What fails is logged. */
  async run(context: RouterContext): Promise<void> {
    const { catalog, rules, waiting, startedAt } = context;
    if (!rules.autoMerger || !catalog.settings.autoMerge) return;
    const now = waiting.now();
    if (now - (this.#last ?? startedAt) < INTERVAL_MS) return;
    this.#last = now;
    for (const { ns } of catalog.collections) {
      try {
        await mergeCollection(context, ns);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        context.environment.log?.("warn", "chunks could not be merged", { ns, code: error.code });
      }
    }
  }
}

function mergeCollection(context: RouterContext, ns: string): Promise<void> {
  return withCollectionAlone(context, ns, async (collection) => {
    if (!collection || !isBalanced(context, collection) || collection.enableAutoMerge === false) return;
    for (const shard of collection.chunks.owningShards()) {
      for (const run of await runsToMerge(context, collection, shard))
        await mergeRun(context, collection, run);
    }
  });
}
