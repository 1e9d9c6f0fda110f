/**
 * Stages that begin `{aggregate: 1}`: rows about the cluster that the router
 * makes itself. The stages after them run on the router.
 *
 * | stage | database | rows |
 * |---|---|---|
 * | `$documents` | any | those that the pipeline has written down |
 * | `$shardedDataDistribution` | admin | sharded collections, with what each shard has of them |
 * | `$listClusterCatalog` | any; admin: all | collections and views, with their shards |
 * | `$listSampledQueries` | admin | the queries that were sampled for analyzeShardKey |
 * | `$currentOp` | admin | operations of the shards, or with `localOps` of the router |
 */
import { asDocument, asNumber, BsonType, DocumentWriter, getField, isTruthy } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated, request } from "../../protocol/index.js";
import type { ParsedStage } from "../../query/index.js";
import { collectionless, createStages, runStages } from "../../query/index.js";
import { SAMPLED } from "../analyze/observe.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { currentOperations, localOperations } from "../server/currentOperations.js";
import { withCollection } from "../support/collections.js";
import { clusterCatalog } from "./clusterCatalog.js";
import { shardRows } from "./shardRows.js";

interface Source {
  readonly adminOnly?: boolean;
  /** Whether the release has it. */
  readonly exists?: (context: RouterContext) => boolean;
  readonly rows: (context: RouterContext, stage: ParsedStage, db: string) => Promise<Uint8Array[]>;
}

const SOURCES: ReadonlyMap<string, Source> = new Map<string, Source>([
  ["$documents", { rows: async (_context, stage) => runStages(createStages([stage]), []) }],
  [
    "$shardedDataDistribution",
    {
      adminOnly: true,
      exists: ({ rules }) => rules.shardedDataDistribution,
      rows: shardedDataDistribution,
    },
  ],
  [
    "$listClusterCatalog",
    {
      exists: ({ rules }) => rules.listClusterCatalog,
      rows: (context, { spec }, db) =>
        clusterCatalog(context, db === "admin" ? undefined : db, {
          shards: says(spec, "shards"),
          balancing: says(spec, "balancingConfiguration"),
        }),
    },
  ],
  ["$currentOp", { adminOnly: true, rows: operations }],
  ["$listSampledQueries", { adminOnly: true, rows: sampledQueries }],
]);

/**
 * The rows of a source stage. Call it while holding no lock: it takes those of what it looks at, one by one.
 * @param stage the first of its pipeline; undefined for an empty one
 * @throws CommandError InvalidNamespace (73) for a stage that needs a collection, or the admin database;
 * UnrecognizedStage (40324) for one that the release does not have, NotImplemented (238) for others
 */
export async function databaseSource(
  context: RouterContext,
  db: string,
  stage: ParsedStage | undefined,
): Promise<Uint8Array[]> {
  if (!stage) throw misplaced("{aggregate: 1} is not valid for an empty pipeline.");
  const { name } = stage;
  const source = SOURCES.get(name);
  if (source?.exists && !source.exists(context)) {
    throw new CommandError(ErrorCode.UnrecognizedStage, `Unrecognized pipeline stage name: '${name}'`);
  }
  if (collectionless(name) === undefined) {
    throw misplaced(`{aggregate: 1} is not valid for '${name}'; a collection is required.`);
  }
  if (!source) throw notSimulated(`{aggregate: 1} with ${name}`);
  if (source.adminOnly && db !== "admin") {
    throw misplaced(`${name} must be run against the 'admin' database with {aggregate: 1}`);
  }
  return source.rows(context, stage, db);
}

function misplaced(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidNamespace, message);
}

/** Whether a stage's option is given and true. */
function says(spec: ParsedStage["spec"], name: string): boolean {
  const value = spec.type === BsonType.object ? getField(asDocument(spec), name) : undefined;
  return value !== undefined && isTruthy(value);
}

async function operations(context: RouterContext, { spec }: ParsedStage): Promise<Uint8Array[]> {
  return says(spec, "localOps") ? localOperations(context) : currentOperations(context, asDocument(spec));
}

/** What configureQueryAnalyzer has had sampled, of one namespace or of all. */
async function sampledQueries(
  { catalog, waiting }: RouterContext,
  { spec }: ParsedStage,
): Promise<Uint8Array[]> {
  const namespace = getField(asDocument(spec), "namespace");
  const filter = new DocumentWriter();
  if (namespace) filter.field("ns", namespace);
  filter.document("expireAt", new DocumentWriter().date("$gt", waiting.now()).finish());
  const rows: Uint8Array[] = [];
  for await (const row of catalog.config.find(SAMPLED, filter.finish())) rows.push(row);
  return rows;
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
