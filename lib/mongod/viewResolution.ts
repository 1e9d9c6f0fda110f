/**
 * From a view's name to what it stands for.
 *
 *     view latest   on events   [{$sort: {at: -1}}, {$limit: 10}]
 *     view devices  on latest   [{$project: {device: 1}}]
 *
 *     devices  →  events, [{$sort: {at: -1}}, {$limit: 10}, {$project: {device: 1}}]
 *
 * Reading a view is reading that collection with that pipeline in front.
 * Definitions are checked for circles when a view is made, so the limit of
 * depth here only ends what got past it.
 */
import type { Collation } from "../bson/index.js";
import { sameCollation } from "../bson/index.js";
import { CommandError, ErrorCode } from "../protocol/index.js";
import type { Server } from "./command.js";
import type { View } from "./storage/catalog.js";
import { MAX_VIEW_DEPTH, MAX_VIEW_PIPELINE_BYTES } from "./storage/viewGraph.js";

/** What a view reads. */
export interface ResolvedView {
  /** The collection underneath; it need not exist. */
  readonly namespace: string;
  /** Stages in front of whatever the reader adds. */
  readonly pipeline: Uint8Array[];
  /** The collation of all reads of the view. */
  readonly collation?: Collation;
}

/**
 * Resolves a view, through all views that it stands on.
 * @returns undefined for a name that is no view
 * @throws CommandError ViewDepthLimitExceeded (165), ViewPipelineMaxSizeExceeded (195)
 */
export function resolveView(server: Server, namespace: string): ResolvedView | undefined {
  const first = server.catalog.findView(namespace);
  if (!first) return undefined;
  const levels: View[] = [];
  let bytes = 0;
  for (let view: View | undefined = first; view; view = server.catalog.findView(view.on)) {
    if (levels.length === MAX_VIEW_DEPTH) {
      throw new CommandError(
        ErrorCode.ViewDepthLimitExceeded,
        `View depth too deep or view cycle detected; maximum depth is ${MAX_VIEW_DEPTH}`,
      );
    }
    levels.push(view);
    for (const stage of view.pipeline) bytes += stage.length;
    if (bytes > MAX_VIEW_PIPELINE_BYTES) {
      throw new CommandError(
        ErrorCode.ViewPipelineMaxSizeExceeded,
        `View pipeline exceeds maximum size; maximum size is ${MAX_VIEW_PIPELINE_BYTES}`,
      );
    }
  }
  const { collation } = first;
  return {
    namespace: levels.at(-1)!.on,
    pipeline: levels.reverse().flatMap((view) => [...view.pipeline]),
    ...(collation && { collation }),
  };
}

/**
 * Checks that a read of a view brings no collation but the view's.
 * @param wanted what the read asks for; undefined for the simple collation
 * @throws CommandError OptionNotSupportedOnView (167)
 */
export function checkViewCollation(
  namespace: string,
  view: ResolvedView,
  wanted: Collation | undefined,
): void {
  if (sameCollation(view.collation, wanted)) return;
  // MongoDB prints the name without a space in front of it.
  throw new CommandError(
    ErrorCode.OptionNotSupportedOnView,
    `Cannot override a view's default collation${namespace}`,
  );
}
