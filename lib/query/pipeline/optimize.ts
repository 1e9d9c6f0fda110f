/**
 * Moves `$match` stages forward in a pipeline, so that an index can serve them
 * and later stages get fewer documents.
 *
 *     [{$sort: {n: 1}}, {$set: {x: …}}, {$match: {a: 5}}]   →   [{$match: {a: 5}}, {$sort: …}, {$set: …}]
 *
 * A `$match` may pass a stage that treats every document by itself, if the
 * stage leaves alone what the filter looks at. That is told by the first names
 * of paths only: setting "a.b" may make an object of what was none, and a
 * filter on "a.c" can see that.
 */
import type { FilterNode } from "../filter/node.js";
import type { ParsedStage, PathChanges } from "./stage.js";

/** The stages in an order that gives the same documents with less work. */
export function optimizePipeline(stages: readonly ParsedStage[]): readonly ParsedStage[] {
  if (!stages.some(({ filter }, i) => i > 0 && filter !== undefined)) return stages;
  const list = [...stages];
  for (let i = 1; i < list.length; i++) {
    const { filter } = list[i]!;
    const names = filter && firstNames(filter);
    if (names === undefined) continue;
    for (let at = i; at > 0 && mayPass(list[at - 1]!, names); at--) {
      [list[at - 1], list[at]] = [list[at]!, list[at - 1]!];
    }
  }
  return list;
}

function mayPass({ moves, filter }: ParsedStage, names: ReadonlySet<string>): boolean {
  // One $match behind the other is as good as it gets, in the order that they were written in.
  return moves !== undefined && filter === undefined && leavesAlone(moves, names);
}

function leavesAlone({ kind, paths }: PathChanges, names: ReadonlySet<string>): boolean {
  if (kind === "only") return !paths.some((path) => names.has(path.split(".")[0]!));
  return [...names].every((name) => paths.includes(name));
}

/** First names of all paths that a filter looks at; undefined where it cannot be told. */
function firstNames(node: FilterNode): Set<string> | undefined {
  const names = new Set<string>();
  return collect(node, names) ? names : undefined;
}

function collect(node: FilterNode, names: Set<string>): boolean {
  switch (node.op) {
    case "and":
    case "or":
    case "nor":
      return node.children.every((child) => collect(child, names));
    case "not":
      return collect(node.child, names);
    case "alwaysFalse":
      return true;
    default: {
      // What has a path looks at nothing else; what has none ($expr) may look at anything.
      const path = "path" in node ? node.path : undefined;
      if (typeof path !== "string" || path === "") return false;
      names.add(path.split(".")[0]!);
      return true;
    }
  }
}
