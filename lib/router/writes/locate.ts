/** Phase 1 of a careful write: finding the one document that it is about. */
import type { RawValue } from "../../bson/index.js";
import { DocumentWriter } from "../../bson/index.js";
import { readCursorReply, request } from "../../protocol/index.js";
import type { ExpressionOptions, FilterNode } from "../../query/index.js";
import { compileSort } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { askShards } from "../merging/scatter.js";
import type { Targeting } from "../targeting/target.js";
import type { ShardWork } from "../trace.js";

/** A document and the shard that has it. */
export interface Located {
  readonly shard: string;
  readonly document: Uint8Array;
}

/** How to find the document. */
export interface Search {
  readonly filter: Uint8Array;
  readonly node: FilterNode;
  readonly target: Targeting;
  readonly sort?: Uint8Array | undefined;
  readonly hint?: RawValue | undefined;
  /** The command's `let`. */
  readonly variables?: Uint8Array | undefined;
  /** As the client sent it; the shards know the collection's own. */
  readonly collation?: Uint8Array | undefined;
  /** What the sort compares with, where several shards have a match. */
  readonly expressions?: ExpressionOptions | undefined;
}

/** The `find` that the shards get. @param single ask for the first match only */
export function findCommand(name: string, search: Search, single: boolean): Uint8Array {
  const { filter, sort, hint, variables, collation } = search;
  const find = new DocumentWriter().string("find", name).document("filter", filter);
  if (sort) find.document("sort", sort);
  if (hint) find.field("hint", hint);
  if (variables) find.document("let", variables);
  if (collation) find.document("collation", collation);
  if (single) find.int32("limit", 1).bool("singleBatch", true);
  return find.finish();
}

/**
 * One match: the first by the sort, else that of the first shard that has one.
 * @param work receives what each shard did, for the trace
 */
export async function locateOne(
  context: RouterContext,
  collection: ShardedCollection,
  search: Search,
  work?: ShardWork[],
): Promise<Located | undefined> {
  const command = request(collection.db, findCommand(collection.name, search, true));
  const replies = await askShards(context, search.target.shards, () => command);
  const found = replies.flatMap(({ shard, reply }) => {
    const [first] = readCursorReply(reply).batch;
    work?.push({ shard, step: "search", returned: first ? 1 : 0 });
    return first ? [{ shard, document: first }] : [];
  });
  if (!search.sort || found.length < 2) return found[0];
  const { key } = compileSort(search.sort, search.expressions);
  return found.reduce((best, other) => (key(other.document) < key(best.document) ? other : best));
}
