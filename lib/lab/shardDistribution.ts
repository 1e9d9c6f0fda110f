/**
 * `getShardDistribution()`: a sharded collection's documents, bytes and chunks on each shard, read with the queries
 * and shown in the words of mongosh.
 *
 *     Shard shardA at shardA/127.0.0.1:27018
 *     { data: '48KiB', docs: 510, chunks: 1, 'estimated data per chunk': '48KiB', 'estimated docs per chunk': 510 }
 *     ---
 *     Totals
 *     { data: '95KiB', docs: 1000, chunks: 2, 'Shard shardA': [ '51 % data', '51 % docs in cluster', … ], … }
 *
 * `data` leaves orphaned documents out, `docs` counts them.
 */
import { inspect } from "node:util";
import type { Document, MongoClient } from "mongodb";
import { sectionsText } from "./shardingStatus.js";

/** One shard's part. */
export interface ShardPart {
  data: string;
  docs: number;
  chunks: number;
  "estimated data per chunk": string;
  "estimated docs per chunk": number;
}

/** All of it; beside these three, `Shard <id>` has that shard's shares as text. */
export interface DistributionTotals {
  data: string;
  docs: number;
  chunks: number;
  [shard: string]: string | number | string[];
}

/** What `getShardDistribution()` returns: an entry `Shard <id> at <host>` a shard, and the totals. */
export class ShardDistribution {
  declare Totals: DistributionTotals;
  [shard: `Shard ${string}`]: ShardPart;

  /** The entries as text, one below the other. */
  toString(): string {
    return sectionsText(this);
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

interface StoredOnShard {
  readonly shard: string;
  readonly storageStats: { size: number; count: number; avgObjSize?: number; numOrphanDocs?: number };
}

/**
 * Reads how a collection is spread.
 * @param client connected to the router
 * @throws Error for a collection that is not sharded
 */
export async function readShardDistribution(client: MongoClient, ns: string): Promise<ShardDistribution> {
  const config = client.db("config");
  const dot = ns.indexOf(".");
  const entry = await config
    .collection<Document & { _id: string }>("collections")
    .findOne({ _id: ns, unsplittable: { $ne: true } });
  if (!entry) throw new Error(`Collection ${ns.slice(dot + 1)} is not sharded`);
  const stored = await client
    .db(ns.slice(0, dot))
    .collection(ns.slice(dot + 1))
    .aggregate<StoredOnShard>([{ $collStats: { storageStats: {} } }])
    .toArray();
  const parts = await Promise.all(
    stored.map(async ({ shard, storageStats: { size, count, avgObjSize = 0, numOrphanDocs = 0 } }) => {
      const document = await config
        .collection<{ _id: string; host: string }>("shards")
        .findOne({ _id: shard });
      const chunks = await config
        .collection("chunks")
        .countDocuments({ uuid: entry["uuid"] as unknown, shard });
      const owned = size - numOrphanDocs * avgObjSize;
      return { shard, host: document?.host ?? null, bytes: owned, count, chunks, avgObjSize };
    }),
  );
  const sum = (of: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((total, part) => total + of(part), 0);
  const [bytes, docs, chunks] = [
    sum((part) => part.bytes),
    sum(({ count }) => count),
    sum((part) => part.chunks),
  ];
  const distribution = new ShardDistribution();
  const totals: DistributionTotals = { data: sizeText(bytes), docs, chunks };
  for (const part of parts) {
    distribution[`Shard ${part.shard} at ${String(part.host)}`] = {
      data: sizeText(part.bytes),
      docs: part.count,
      chunks: part.chunks,
      "estimated data per chunk": sizeText(part.chunks === 0 ? 0 : part.bytes / part.chunks),
      "estimated docs per chunk": part.chunks === 0 ? 0 : Math.floor(part.count / part.chunks),
    };
    totals[`Shard ${part.shard}`] = [
      `${percent(part.bytes, bytes)} % data`,
      `${percent(part.count, docs)} % docs in cluster`,
      `${sizeText(part.avgObjSize)} avg obj size on shard`,
    ];
  }
  distribution.Totals = totals;
  return distribution;
}

/** Percents, cut off after two decimals. */
function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.floor((part / whole) * 10_000) / 100;
}

/** Bytes as mongosh writes them: whole KiB, MiB and GiB cut off after two decimals. */
function sizeText(bytes: number): string {
  const cut = (size: number): number => Math.floor((Math.floor(size) / 1024) * 100) / 100;
  if (bytes < 1024) return `${Math.floor(bytes)}B`;
  if (bytes < 1024 ** 2) return `${Math.floor(bytes / 1024)}KiB`;
  if (bytes < 1024 ** 3) return `${cut(bytes / 1024)}MiB`;
  return `${cut(bytes / 1024 ** 2)}GiB`;
}
