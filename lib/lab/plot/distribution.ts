/**
 * Where the documents of a collection are: one bar a shard.
 *
 * The numbers are MongoDB's own (`$collStats`, one row a shard), so the figure is the
 * same on the embedded engine and on a real cluster. Documents that a migration has
 * left behind (orphans) are not counted: the bar shows what the shard *owns*.
 */
import type { MongoClient } from "mongodb";
import { baseAxis, baseLayout, count, counted, percent } from "./figure.js";
import type { Figure } from "./figure.js";
import { NEUTRAL, shardMarks } from "./palette.js";

/** What one shard holds of a collection. */
export interface ShardShare {
  shard: string;
  /** Owned documents. */
  documents: number;
  /** Chunks (ranges) it owns; absent for an unsharded collection. */
  chunks?: number;
}

/** What {@link readDistribution} found. */
export interface Distribution {
  /** `database.collection`. */
  ns: string;
  /** The shard key pattern; absent for an unsharded collection. */
  key?: Record<string, unknown>;
  /** Every shard of the cluster by name, also those that hold nothing. */
  shards: ShardShare[];
}

/** A distribution figure and the data it was made from. */
export interface DistributionFigure extends Figure, Distribution {
  /** Documents on all shards. */
  total: number;
}

/**
 * Reads how a collection is distributed, with commands that any sharded cluster answers.
 *
 * @param ns `database.collection`
 * @throws RangeError when `ns` has no dot; MongoServerError as `$collStats` and `config` reads do
 */
export async function readDistribution(client: MongoClient, ns: string): Promise<Distribution> {
  const [db, name] = splitNamespace(ns);
  const collection = client.db(db).collection(name);
  const [rows, catalog, names] = await Promise.all([
    ifThere(collection.aggregate<CollStatsRow>([{ $collStats: { storageStats: {} } }]).toArray(), []),
    readCatalog(client, ns),
    readShardNames(client),
  ]);
  const documents = new Map<string, number>();
  for (const { shard = "this server", storageStats: stats } of rows) {
    const owned = Number(stats?.count ?? 0) - Number(stats?.numOrphanDocs ?? 0);
    documents.set(shard, (documents.get(shard) ?? 0) + owned);
  }
  const all = [...new Set([...names, ...documents.keys()])].sort();
  const shards = all.map((shard): ShardShare => {
    const share: ShardShare = { shard, documents: documents.get(shard) ?? 0 };
    if (catalog) share.chunks = catalog.chunks.get(shard) ?? 0;
    return share;
  });
  return catalog ? { ns, key: catalog.key, shards } : { ns, shards };
}

/**
 * Database and collection of a namespace.
 * @throws RangeError for anything else, with an example of a namespace
 */
export function splitNamespace(ns: string): [db: string, collection: string] {
  const dot = typeof ns === "string" ? ns.indexOf(".") : -1; // a cell may have been told to ignore types
  if (dot < 1 || dot === ns.length - 1) {
    throw new RangeError(
      `${JSON.stringify(ns)} is no namespace; write database.collection, such as "library.events"`,
    );
  }
  return [ns.slice(0, dot), ns.slice(dot + 1)];
}

interface CollStatsRow {
  shard?: string;
  storageStats?: { count?: unknown; numOrphanDocs?: unknown };
}

interface CatalogEntry {
  _id: string;
  uuid: unknown;
  key: Record<string, unknown>;
  unsplittable?: boolean;
}

async function readCatalog(
  client: MongoClient,
  ns: string,
): Promise<{ key: Record<string, unknown>; chunks: Map<string, number> } | undefined> {
  const config = client.db("config");
  const entry = await ifThere(config.collection<CatalogEntry>("collections").findOne({ _id: ns }), null);
  if (!entry || entry.unsplittable === true) return undefined;
  const rows = await config
    .collection("chunks")
    .aggregate<{ _id: string; n: number }>([
      { $match: { uuid: entry.uuid } },
      { $group: { _id: "$shard", n: { $sum: 1 } } },
    ])
    .toArray();
  return { key: entry.key, chunks: new Map(rows.map((row) => [row._id, row.n])) };
}

async function readShardNames(client: MongoClient): Promise<string[]> {
  const shards = client.db("config").collection<{ _id: string }>("shards");
  return (await ifThere(shards.find({}, { projection: { _id: 1 } }).toArray(), [])).map((row) => row._id);
}

/**
 * A collection that isn't there has no rows (NamespaceNotFound, 26); a hosted cluster may
 * not let its users read `config` (Unauthorized 13, AtlasError 8000): the bars are then
 * drawn without what only `config` knows.
 */
async function ifThere<T>(work: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === 26 || code === 13 || code === 8000) return otherwise;
    throw error;
  }
}

/**
 * The figure for a distribution; a pure function.
 *
 * @param note one more sentence for the caption, such as the cluster's scaled chunk size
 */
export function distributionFigure(distribution: Distribution, note?: string): DistributionFigure {
  const { ns, key, shards } = distribution;
  const total = shards.reduce((sum, share) => sum + share.documents, 0);
  const marks = shardMarks(shards.map((share) => share.shard));
  const mark = (share: ShardShare) => marks.get(share.shard) ?? { letter: "?", colour: NEUTRAL, pattern: "" };
  const title = `Documents of ${ns} per shard`;
  const withChunks = shards.some((share) => share.chunks !== undefined);

  const bars = {
    type: "bar",
    x: shards.map((share) => share.shard),
    y: shards.map((share) => share.documents),
    text: shards.map(
      (s) => `<b>${mark(s).letter}</b> ${count(s.documents)} (${percent(s.documents, total)} %)`,
    ),
    textposition: "outside",
    cliponaxis: false,
    hovertemplate: "%{x}: %{y:,} documents<extra></extra>",
    marker: {
      color: shards.map((share) => mark(share).colour),
      pattern: { shape: shards.map((share) => mark(share).pattern), fgcolor: NEUTRAL, solidity: 0.3 },
      line: { color: NEUTRAL, width: 1.5 },
    },
  };
  const peak = Math.max(1, ...shards.map((share) => share.documents));
  const layout = {
    ...baseLayout(title, 380),
    xaxis: { ...baseAxis("shard"), type: "category", showgrid: false },
    yaxis: {
      ...baseAxis("documents"),
      rangemode: "tozero",
      range: [0, peak * 1.15],
      tickformat: ",d",
    },
  };
  return {
    ns,
    ...(key ? { key } : {}),
    shards,
    total,
    title,
    data: [bars],
    layout,
    summary: [summarise(distribution, total), note].filter((part) => part !== undefined).join(" "),
    table: {
      caption: title,
      columns: ["shard", "mark", "documents", "share in %", ...(withChunks ? ["chunks"] : [])],
      rows: shards.map((share) => [
        share.shard,
        mark(share).letter,
        share.documents,
        percent(share.documents, total),
        ...(withChunks ? [share.chunks ?? 0] : []),
      ]),
    },
  };
}

/** One sentence: who has how much, the fullest first. */
function summarise({ ns, key, shards }: Distribution, total: number): string {
  const how = key ? `, shard key ${keyText(key)}` : ", not sharded";
  const holders = shards.filter((s) => s.documents > 0).sort((a, b) => b.documents - a.documents);
  const [fullest] = holders;
  if (fullest === undefined) return `${ns}${how}: no documents on ${counted(shards.length, "shard")}.`;
  if (holders.length === 1) {
    const others =
      shards.length === 1 ? "the only one" : `the other ${counted(shards.length - 1, "shard")} hold none`;
    const tail = shards.length === 2 ? "the other holds none" : others;
    return `${ns}${how}: ${count(total)} of ${counted(total, "document")} are on one shard, ${fullest.shard}; ${tail}.`;
  }
  const listed = holders
    .slice(0, 4)
    .map((s) => `${s.shard} ${count(s.documents)} (${percent(s.documents, total)} %)`);
  const rest = holders.length > 4 ? `, and ${counted(holders.length - 4, "more shard")}` : "";
  const empty = shards.length - holders.length;
  const none = empty === 0 ? "" : `; ${counted(empty, "shard")} with none`;
  return `${ns}${how}: ${counted(total, "document")} on ${counted(holders.length, "shard")}: ${listed.join(", ")}${rest}${none}.`;
}

/** `{ deviceId: "hashed", ts: 1 }` as one would type it. */
export function keyText(key: Record<string, unknown>): string {
  const fields = Object.entries(key).map(([name, kind]) => {
    const field = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${field}: ${typeof kind === "string" ? JSON.stringify(kind) : String(kind)}`;
  });
  return `{ ${fields.join(", ")} }`;
}
