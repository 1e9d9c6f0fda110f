/**
 * Who reads whom among views, and what of it is not allowed.
 *
 *     summary ──▶ daily ──▶ events          summary reads daily, daily reads events
 *        └──────▶ rates                     (by $lookup)
 *
 * A view must not reach itself (GraphContainsCycle), no chain may be longer
 * than 20 views, and views on each other must have the same collation. Only a
 * new or changed definition can break a rule, so only what lies below and above
 * it is looked at.
 */
import type { Collation } from "../../bson/index.js";
import { sameCollation } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

/** Most views on top of each other. */
export const MAX_VIEW_DEPTH = 20;
/** Most bytes of the stages of all views on top of each other. */
export const MAX_VIEW_PIPELINE_BYTES = 16 * 1024 * 1024;

/** What the graph needs to know of a view. */
export interface ViewNode {
  readonly namespace: string;
  /** Collections and views that it reads: what it is on, and those that its stages name. */
  readonly reads: readonly string[];
  readonly pipeline: readonly Uint8Array[];
  readonly collation?: Collation;
}

/** Height of a chain in views, and bytes of its pipelines. */
interface Extent {
  readonly height: number;
  readonly bytes: number;
}

const NOTHING: Extent = { height: 0, bytes: 0 };

/** The views of a server and their references. */
export class ViewGraph {
  private readonly nodes = new Map<string, ViewNode>();
  /** Namespace → views that read it. */
  private readonly readers = new Map<string, Set<string>>();

  /**
   * Adds a view, or replaces the one of that name.
   * @throws CommandError GraphContainsCycle (5), ViewDepthLimitExceeded (165), OptionNotSupportedOnView (167),
   * ViewPipelineMaxSizeExceeded (195); nothing is changed then
   */
  put(node: ViewNode): void {
    const old = this.nodes.get(node.namespace);
    if (old) this.unlink(old);
    this.link(node);
    try {
      this.check(node);
    } catch (error) {
      this.unlink(node);
      if (old) this.link(old);
      throw error;
    }
  }

  /** Forgets a view. */
  delete(namespace: string): void {
    const node = this.nodes.get(namespace);
    if (node) this.unlink(node);
  }

  private link(node: ViewNode): void {
    this.nodes.set(node.namespace, node);
    for (const target of node.reads) {
      let readers = this.readers.get(target);
      if (!readers) this.readers.set(target, (readers = new Set()));
      readers.add(node.namespace);
    }
  }

  private unlink(node: ViewNode): void {
    this.nodes.delete(node.namespace);
    for (const target of node.reads) {
      const readers = this.readers.get(target);
      readers?.delete(node.namespace);
      if (readers?.size === 0) this.readers.delete(target);
    }
  }

  private check(node: ViewNode): void {
    const below = this.below(node, node, [], new Map());
    const above = this.above(node, 0, new Map());
    if (below.height + above.height - 1 > MAX_VIEW_DEPTH) throw tooDeep();
    if (below.bytes + above.bytes - sizeOf(node) > MAX_VIEW_PIPELINE_BYTES) throw tooLong();
  }

  private below(
    start: ViewNode,
    node: ViewNode,
    path: readonly string[],
    known: Map<string, Extent>,
  ): Extent {
    const here = [...path, node.namespace];
    if (here.length > MAX_VIEW_DEPTH + 1) throw tooDeep();
    let most = NOTHING;
    for (const target of node.reads) {
      if (target === start.namespace) throw cycle([...here, target]);
      const child = this.nodes.get(target);
      if (!child) continue;
      checkCollations(node, child);
      let extent = known.get(target);
      if (!extent) known.set(target, (extent = this.below(start, child, here, known)));
      most = larger(most, extent);
    }
    return { height: most.height + 1, bytes: most.bytes + sizeOf(node) };
  }

  private above(node: ViewNode, depth: number, known: Map<string, Extent>): Extent {
    if (depth > MAX_VIEW_DEPTH) throw tooDeep();
    let most = NOTHING;
    for (const name of this.readers.get(node.namespace) ?? []) {
      const reader = this.nodes.get(name) as ViewNode;
      checkCollations(node, reader);
      let extent = known.get(name);
      if (!extent) known.set(name, (extent = this.above(reader, depth + 1, known)));
      most = larger(most, extent);
    }
    return { height: most.height + 1, bytes: most.bytes + sizeOf(node) };
  }
}

function sizeOf(node: ViewNode): number {
  let bytes = 0;
  for (const stage of node.pipeline) bytes += stage.length;
  return bytes;
}

function larger(a: Extent, b: Extent): Extent {
  return { height: Math.max(a.height, b.height), bytes: Math.max(a.bytes, b.bytes) };
}

function checkCollations(a: ViewNode, b: ViewNode): void {
  if (sameCollation(a.collation, b.collation)) return;
  throw new CommandError(
    ErrorCode.OptionNotSupportedOnView,
    `View ${a.namespace} has a collation that does not match the collation of view ${b.namespace}`,
  );
}

/** As MongoDB prints it: backwards, and the view in question once more in front. */
function cycle(path: readonly string[]): CommandError {
  const names = [path.at(-1), ...[...path].reverse()];
  return new CommandError(ErrorCode.GraphContainsCycle, `View cycle detected: ${names.join(" => ")}`);
}

function tooDeep(): CommandError {
  return new CommandError(
    ErrorCode.ViewDepthLimitExceeded,
    `View depth limit exceeded; maximum depth is ${MAX_VIEW_DEPTH}`,
  );
}

function tooLong(): CommandError {
  return new CommandError(
    ErrorCode.ViewPipelineMaxSizeExceeded,
    `Operation would result in a resolved view pipeline that exceeds the maximum size of ${MAX_VIEW_PIPELINE_BYTES} bytes`,
  );
}
