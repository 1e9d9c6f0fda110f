/**
 * Merging neighbours on one shard: which chunks, and doing it (facts-mongos.md §3.2).
 *
 *     A [0, 5)   A [5, 10)   B [10, 20)   A [20, 30)   A [30, 40) jumbo
 *     └── one run of A ──┘
 */
import { compareDocuments, describeDocument, documentSortableKey, DocumentWriter } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { boundsOf, writeMerge } from "../catalog/mergeWrites.js";
import type { RouterContext } from "../context.js";

/** Indexes of the first and the last chunk of a run. */
export type Run = readonly [first: number, last: number];

/**
 * The chunks that exactly fill a range, all on one shard.
 * @throws CommandError IllegalOperation (20)
 */
export function chunksFilling({ ns, key, chunks }: ShardedCollection, min: Uint8Array, max: Uint8Array): Run {
  const range = `collection ${ns} range starting at ${describeDocument(min)} and ending at ${describeDocument(max)}`;
  if (!key.isBound(min) || !key.isBound(max) || compareDocuments(min, max) >= 0) {
    throw refuse(`could not merge chunks, ${range} is not valid for shard key pattern ${key.text}`);
  }
  const low = documentSortableKey(min);
  const first = chunks.find(low);
  if (chunks.beginOf(first) !== low) {
    throw refuse(
      `could not merge chunks, collection ${ns} does not contain a chunk starting at ${describeDocument(min)}`,
    );
  }
  const isEnd = compareDocuments(max, key.maximum) === 0;
  const high = documentSortableKey(max);
  const after = isEnd ? chunks.size : chunks.find(high);
  if (compareDocuments(max, key.maximum) > 0 || (!isEnd && chunks.beginOf(after) !== high)) {
    throw refuse(
      `could not merge chunks, collection ${ns} does not contain a chunk ending at ${describeDocument(max)}`,
    );
  }
  const shard = chunks.ownerOf(first);
  for (let index = first; index < after; index++) {
    if (chunks.ownerOf(index) === shard) continue;
    throw refuse(`could not merge chunks, ${range} does not belong to shard ${shard}`);
  }
  if (after - first < 2) {
    throw refuse(
      `could not merge chunks, collection ${ns} already contains chunk for [${describeDocument(min)}, ${describeDocument(max)})`,
    );
  }
  return [first, after - 1];
}

/**
 * The runs of neighbours on a shard that can become one chunk each, from the last to the first: so the indexes of the
 * rest stay as they are when one is merged.
 * @param isMergeable whether a chunk may be merged
 * @param most chunks in one run
 * @param isCut whether the border before a chunk has to stay
 */
export function mergeableRuns(
  { chunks }: Pick<ShardedCollection, "chunks">,
  shard: string,
  isMergeable: (index: number) => boolean,
  most = Infinity,
  isCut: (index: number) => boolean = () => false,
): Run[] {
  const runs: Run[] = [];
  let first = -1;
  for (let index = 0; index <= chunks.size; index++) {
    const belongs = index < chunks.size && chunks.ownerOf(index) === shard && isMergeable(index);
    if (first >= 0 && (!belongs || index - first >= most || isCut(index))) {
      if (index - first > 1) runs.push([first, index - 1]);
      first = -1;
    }
    if (belongs && first < 0) first = index;
  }
  return runs.reverse();
}

/** Merges the chunks of a run. The caller holds the collection alone. */
export async function mergeRun(
  { catalog }: RouterContext,
  collection: ShardedCollection,
  [first, last]: Run,
): Promise<void> {
  const merged: Uint8Array[] = [];
  for (let index = first; index <= last; index++) merged.push(boundsOf(collection.chunks.chunk(index)));
  const shard = collection.chunks.ownerOf(first);
  await catalog.changeCollection(collection, (writer) => writeMerge(writer, collection, first, last));
  const details = new DocumentWriter().arrayOf("merged", merged).string("owningShard", shard).finish();
  await catalog.log("merge", collection.ns, details, shard);
}

function refuse(message: string): CommandError {
  return new CommandError(ErrorCode.IllegalOperation, message);
}
