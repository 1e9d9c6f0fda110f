/**
 * Stages that begin `{aggregate: 1}`: rows about the cluster that the router
 * makes itself. The stages after them run on the router.
 */
import { asDocument, asNumber, DocumentWriter, getField } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated, request } from "../../protocol/index.js";
import { parsePipeline } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { withCollection } from "../support/collections.js";
import { stageOf } from "./pipelineSplit.js";
import { shardRows } from "./shardRows.js";

type Source = (context: RouterContext) => Promise<Uint8Array[]>;

const SOURCES: ReadonlyMap<string, { adminOnly: boolean; rows: Source }> = new Map([
  ["$shardedDataDistribution", { adminOnly: true, rows: shardedDataDistribution }],
]);

/**
 * The rows of a source stage.
 * @throws CommandError InvalidNamespace (73) outside the admin database where it belongs there,
 * UnrecognizedStage (40324) for a stage that does not exist, NotImplemented (238) for others
 */
export async function databaseSource(
  context: RouterContext,
  db: string,
  stage: Uint8Array,
): Promise<Uint8Array[]> {
  const { name } = stageOf(stage);
  const source = SOURCES.get(name);
  if (!source) {
    parsePipeline([stage]);
    throw notSimulated(`{aggregate: 1} with ${name}`);
  }
  if (source.adminOnly && db !== "admin") {
    throw new CommandError(
      ErrorCode.InvalidNamespace,
      `${name} must be run against the 'admin' database with {aggregate: 1}`,
    );
  }
  return source.rows(context);
}

/** One row per sharded collection with documents and bytes of every owning shard (§6). */
async function shardedDataDistribution(context: RouterContext): Promise<Uint8Array[]> {
  const rows: Uint8Array[] = [];
  for (const { ns } of context.catalog.collections) {
    const row = await withCollection(
      context,
      ns,
      async (collection) => collection && distribution(context, collection),
    );
    if (row) rows.push(row);
  }
  return rows;
}

async function distribution(context: RouterContext, collection: ShardedCollection): Promise<Uint8Array> {
  const storageStats = new DocumentWriter().document("storageStats", new DocumentWriter().finish()).finish();
  const stage = new DocumentWriter().document("$collStats", storageStats).finish();
  const command = request(collection.db, { aggregate: collection.name, pipeline: [], cursor: {} });
  const shards = collection.chunks.owningShards();
  const stats = await shardRows(context, command, stage, shards);
  const entries = stats.map((row, i) => {
    const storage = getField(row, "storageStats");
    const number = (name: string): bigint => {
      const value = storage && getField(asDocument(storage), name);
      return BigInt(value ? Math.trunc(asNumber(value)) : 0);
    };
    return new DocumentWriter()
      .string("shardName", shards[i]!)
      .int64("numOrphanedDocs", 0n)
      .int64("numOwnedDocuments", number("count"))
      .int64("ownedSizeBytes", number("size"))
      .int64("orphanedSizeBytes", 0n)
      .finish();
  });
  return new DocumentWriter().string("ns", collection.ns).arrayOf("shards", entries).finish();
}
