/**
 * From a view's name to what it stands for.
 *
 *     view latest   on events   [{$sort: {at: -1}}, {$limit: 10}]
 *     view devices  on latest   [{$project: {device: 1}}]
 *
 *     devices  →  events, [{$sort: {at: -1}}, {$limit: 10}, {$project: {device: 1}}]
 *
 * A view over nothing but unsharded collections of its own shard needs no
 * resolving here: that shard reads it by itself, from first to last, as a
 * mongos lets it.
 */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import { homeOf } from "../context.js";
import type { Reach } from "./reach.js";
import { isAllOn, reachOf } from "./reach.js";

/** Views on top of each other at most, and bytes of all their stages. */
const MAX_DEPTH = 20;
const MAX_PIPELINE_BYTES = 16 * 1024 * 1024;

/** What a view reads. */
export interface ResolvedView {
  /** The collection underneath; it need not exist. */
  readonly ns: string;
  /** Stages in front of whatever the reader adds. */
  readonly pipeline: readonly Uint8Array[];
  /** The collation of all reads of the view; absent for the simple one. */
  readonly collation?: Uint8Array;
}

/** Whether a name is that of a view, wherever its documents are. */
export async function isView(context: RouterContext, ns: string): Promise<boolean> {
  return (await definitionOf(context, ns)) !== undefined;
}

/**
 * Resolves a view that the router has to read itself.
 *
 * Call it while holding no lock: what it returns is read under other names than this one.
 *
 * @returns undefined for what is no view, and for a view that its primary shard can answer alone: such a command is
 *   passed on like one on an unsharded collection
 * @throws CommandError ViewDepthLimitExceeded (165), ViewPipelineMaxSizeExceeded (195)
 */
export async function resolveView(context: RouterContext, ns: string): Promise<ResolvedView | undefined> {
  // Most names are no view, and the answer is here.
  const first = definitionOf(context, ns);
  if (first === undefined || (await first) === undefined) return undefined;
  const view = (await wholeView(context, ns))!;
  const db = databaseOf(ns);
  const reach = await reachOf(context, db, [nameOf(ns)], []);
  return isAllOn(context, homeOf(context, db).shard, reach) ? undefined : view;
}

/**
 * What is behind a view: to be held while a shard reads the view by itself.
 * @returns undefined for what is no view
 */
export async function behindView(context: RouterContext, ns: string): Promise<Reach | undefined> {
  // Most names are no view, and the answer is here.
  const definition = definitionOf(context, ns);
  if (definition === undefined || (await definition) === undefined) return undefined;
  return reachOf(context, databaseOf(ns), [nameOf(ns)], []);
}

/** {@link resolveView} for every view, wherever it can be answered. */
export async function wholeView(context: RouterContext, ns: string): Promise<ResolvedView | undefined> {
  const db = databaseOf(ns);
  const first = await definitionOf(context, ns);
  if (!first) return undefined;
  const levels = [first];
  let bytes = 0;
  let reads: string;
  for (let view = first; ; levels.push(view)) {
    if (levels.length > MAX_DEPTH) {
      throw new CommandError(
        ErrorCode.ViewDepthLimitExceeded,
        `View depth too deep or view cycle detected; maximum depth is ${MAX_DEPTH}`,
      );
    }
    for (const stage of view.pipeline) bytes += stage.length;
    if (bytes > MAX_PIPELINE_BYTES) {
      throw new CommandError(
        ErrorCode.ViewPipelineMaxSizeExceeded,
        `View pipeline exceeds maximum size; maximum size is ${MAX_PIPELINE_BYTES}`,
      );
    }
    reads = view.on;
    const below = await definitionOf(context, `${db}.${reads}`);
    if (!below) break;
    view = below;
  }
  return {
    ns: `${db}.${reads}`,
    pipeline: levels.reverse().flatMap(({ pipeline }) => [...pipeline]),
    ...(first.collation && { collation: first.collation }),
  };
}

/** The error of a read that brings another collation than the view's. */
export function wrongViewCollation(ns: string): CommandError {
  // MongoDB prints the name without a space in front of it.
  return new CommandError(
    ErrorCode.OptionNotSupportedOnView,
    `Cannot override a view's default collation${ns}`,
  );
}

/** The error of a command that needs a collection where there is a view. */
export function notACollection(ns: string): CommandError {
  return new CommandError(ErrorCode.CommandNotSupportedOnView, `Namespace ${ns} is a view, not a collection`);
}

function definitionOf(context: RouterContext, ns: string): ReturnType<RouterContext["views"]["find"]> {
  return context.views.find(databaseOf(ns), nameOf(ns));
}

function databaseOf(ns: string): string {
  return ns.slice(0, ns.indexOf("."));
}

function nameOf(ns: string): string {
  return ns.slice(ns.indexOf(".") + 1);
}
