/** What runs, said honestly in one line. */
import { rulesFor } from "../router/index.js";
import type { ClusterInfo } from "./cluster.js";

const ENGINES: Readonly<Record<ClusterInfo["engine"], string>> = {
  embedded: "simulated router and shards in memory, no MongoDB server",
  process: "simulated router, simulated shards in processes of their own, no MongoDB server",
  mongod: "simulated router, real MongoDB shards",
  uri: "a real sharded cluster",
  runner: "a real sharded cluster on this machine",
};

/**
 * The start banner of a cluster: number of shards, engine, rules, seed, and the
 * chunk size where it is not MongoDB's.
 * @example
 * banner(info)
 * // Shardlab: 2 shards, engine embedded (simulated router and shards in memory, no MongoDB server), rules 8.0, seed 7
 */
export function banner(info: ClusterInfo): string {
  const shards = info.shards.length === 1 ? "1 shard" : `${info.shards.length} shards`;
  const parts = [
    shards,
    `engine ${info.engine} (${describeEngine(info)})`,
    `rules ${info.rules}`,
    `seed ${info.seed}`,
  ];
  if (info.chunkSizeBytes !== rulesFor(info.rules).chunkSizeMB * MB)
    parts.push(`chunk size scaled to ${size(info.chunkSizeBytes)}`);
  return `Shardlab: ${parts.join(", ")}`;
}

/** The engine `mongod` runs any program that it is pointed to; what that is, the program says itself. */
function describeEngine({ engine, shardProgram }: ClusterInfo): string {
  if (engine !== "mongod") return ENGINES[engine];
  const { version, simulated } = shardProgram;
  return simulated ? `${ENGINES.process}, although a mongod was asked for` : `${ENGINES.mongod} ${version}`;
}

const MB = 1024 * 1024;

function size(bytes: number): string {
  if (bytes % MB === 0) return `${bytes / MB} MB`;
  return bytes % 1024 === 0 ? `${bytes / 1024} KB` : `${bytes} bytes`;
}
