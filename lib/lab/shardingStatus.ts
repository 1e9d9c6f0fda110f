/**
 * `sh.status()`: the catalog, read with ordinary queries on `config` as mongosh
 * reads it, and shown in mongosh's sections.
 *
 *     shardingVersion · shards · active mongoses · autosplit · automerge ·
 *     balancer · shardedDataDistribution · databases
 */
import { inspect } from "node:util";
import type { Db, Document, MongoClient } from "mongodb";

/** Chunks are listed one by one below this number, unless asked for. */
const CHUNKS_SHOWN = 20;
const DAY_MS = 24 * 60 * 60 * 1000;

/** One sharded collection in {@link ShardingStatus.databases}. */
export interface CollectionStatus {
  shardKey: Document;
  unique: boolean;
  balancing: boolean;
  chunkMetadata: { shard: string; nChunks: number }[];
  chunks: ({ min: Document; max: Document; "on shard": string; "last modified": unknown } | string)[];
  tags: Document[];
}

/** What `sh.status()` returns; shown, it reads as in mongosh: sections without anything to say have their place too. */
export class ShardingStatus {
  shardingVersion: Document = {};
  shards: Document[] = [];
  "active mongoses": Document[] = [];
  autosplit: Document = {};
  automerge: Document | undefined = undefined;
  balancer: Document = {};
  shardedDataDistribution: Document[] | undefined = undefined;
  databases: { database: Document; collections: Record<string, CollectionStatus> }[] = [];

  /** The sections as text, one below the other. */
  toString(): string {
    return sectionsText(this);
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/**
 * Reads the state of the whole cluster.
 * @param client connected to the router
 * @param verbose list every chunk of every collection
 */
export async function readShardingStatus(client: MongoClient, verbose: boolean): Promise<ShardingStatus> {
  const config = client.db("config");
  const status = new ShardingStatus();
  status.shardingVersion = (await config.collection("version").findOne({})) ?? {};
  status.shards = await config.collection("shards").find().sort({ _id: 1 }).toArray();
  status["active mongoses"] = await activeRouters(config);
  status.autosplit = {
    "Currently enabled": yesNo((await setting(config, "autosplit"))?.["enabled"] !== false),
  };
  const automerge = await setting(config, "automerge");
  if (automerge) status.automerge = { "Currently enabled": yesNo(automerge["enabled"] === true) };
  status.balancer = await balancer(client, config);
  const distribution = await dataDistribution(client);
  if (distribution) status.shardedDataDistribution = distribution;
  status.databases = await databases(config, verbose);
  return status;
}

async function activeRouters(config: Db): Promise<Document[]> {
  const routers = config.collection("mongos");
  const latest = (await routers.find().sort({ ping: -1 }).limit(1).toArray())[0]?.["ping"];
  if (!(latest instanceof Date)) return [];
  const active = await routers.find({ ping: { $gte: new Date(latest.getTime() - 60_000) } }).toArray();
  const versions = new Map<string, number>();
  for (const { mongoVersion } of active)
    versions.set(String(mongoVersion), (versions.get(String(mongoVersion)) ?? 0) + 1);
  return [...versions].map(([version, count]) => ({ [version]: count }));
}

function setting(config: Db, id: string): Promise<Document | null> {
  return config.collection<Document & { _id: string }>("settings").findOne({ _id: id });
}

async function balancer(client: MongoClient, config: Db): Promise<Document> {
  const { inBalancerRound } = await client.db("admin").command({ balancerStatus: 1 });
  const rounds = await config
    .collection("actionlog")
    .find({ what: "balancer.round" })
    .sort({ time: -1 })
    .limit(5)
    .toArray();
  const failed = rounds.filter(
    (round) => (round["details"] as Document | undefined)?.["errorOccurred"] === true,
  );
  return {
    "Currently enabled": yesNo((await setting(config, "balancer"))?.["stopped"] !== true),
    "Currently running": yesNo(inBalancerRound === true),
    "Failed balancer rounds in last 5 attempts": failed.length,
    "Migration Results for the last 24 hours": await migrations(config),
  };
}

/** `{ "3": "Success" }`, and one entry for each way in which migrations failed. */
async function migrations(config: Db): Promise<Document | string> {
  const since = new Date(Date.now() - DAY_MS);
  const entries = await config
    .collection("changelog")
    .find({ what: "moveChunk.from", time: { $gt: since } })
    .toArray();
  const counts = new Map<string, number>();
  for (const { details } of entries as { details?: Document }[]) {
    const failure = details?.["errmsg"] ?? (details?.["note"] === "success" ? undefined : details?.["note"]);
    const result =
      failure === undefined
        ? "Success"
        : `Failed with error '${failure}', from ${details?.["from"]} to ${details?.["to"]}`;
    counts.set(result, (counts.get(result) ?? 0) + 1);
  }
  if (counts.size === 0) return "No recent migrations";
  return Object.fromEntries([...counts].map(([result, count]) => [String(count), result]));
}

/** Codes of a server that does not know the stage (it is of MongoDB 6.0.3), or does not let this user run it. */
const NOT_FOR_US: ReadonlySet<unknown> = new Set([40324, 13, 8000]);

/** Absent where the server does not offer it. */
async function dataDistribution(client: MongoClient): Promise<Document[] | undefined> {
  try {
    return await client
      .db("admin")
      .aggregate([{ $shardedDataDistribution: {} }])
      .toArray();
  } catch (error) {
    if (NOT_FOR_US.has((error as { code?: unknown }).code)) return undefined;
    throw error;
  }
}

async function databases(config: Db, verbose: boolean): Promise<ShardingStatus["databases"]> {
  const found = await config
    .collection<Document & { _id: string }>("databases")
    .find()
    .sort({ _id: 1 })
    .toArray();
  const collections = await config
    .collection<Document & { _id: string }>("collections")
    .find({ unsplittable: { $ne: true } })
    .sort({ _id: 1 })
    .toArray();
  const result: ShardingStatus["databases"] = [];
  for (const database of found) {
    const own: Record<string, CollectionStatus> = {};
    for (const collection of collections) {
      if (!collection._id.startsWith(`${database._id}.`)) continue;
      own[collection._id] = await collectionStatus(config, collection, verbose);
    }
    result.push({ database, collections: own });
  }
  return result;
}

async function collectionStatus(
  config: Db,
  collection: Document & { _id: string },
  verbose: boolean,
): Promise<CollectionStatus> {
  const chunks = await config
    .collection("chunks")
    .find({ uuid: collection["uuid"] }, { promoteLongs: false })
    .sort({ min: 1 })
    .toArray();
  const perShard = new Map<string, number>();
  for (const { shard } of chunks) perShard.set(String(shard), (perShard.get(String(shard)) ?? 0) + 1);
  const shown = chunks.length < CHUNKS_SHOWN || verbose;
  const tags = await config.collection("tags").find({ ns: collection._id }).sort({ min: 1 }).toArray();
  return {
    shardKey: collection["key"] as Document,
    unique: collection["unique"] === true,
    balancing: collection["noBalance"] !== true,
    chunkMetadata: [...perShard].sort().map(([shard, nChunks]) => ({ shard, nChunks })),
    chunks: shown
      ? chunks.map(({ min, max, shard, lastmod }) => ({
          min: min as Document,
          max: max as Document,
          "on shard": String(shard),
          "last modified": lastmod as unknown,
        }))
      : [`${chunks.length} chunks, too many to list; sh.status(true) lists them all`],
    tags: tags.map(({ tag, min, max }) => ({
      tag: tag as string,
      min: min as Document,
      max: max as Document,
    })),
  };
}

function yesNo(condition: boolean): "yes" | "no" {
  return condition ? "yes" : "no";
}

/** The fields of a result as mongosh prints it, each a section. */
export function sectionsText(result: object): string {
  return Object.entries(result)
    .filter(([, content]) => content !== undefined)
    .map(([section, content]) => `${section}\n${shellText(content)}`)
    .join("\n---\n");
}

/** As mongosh shows a value: every level, BSON types without `new`. */
function shellText(value: unknown): string {
  const text = inspect(value, { depth: Infinity, breakLength: 80, maxArrayLength: null });
  return text.replace(
    /\bnew (?=(?:ObjectId|Timestamp|UUID|Long|Int32|Double|Decimal128|MinKey|MaxKey|Binary)\()/g,
    "",
  );
}
