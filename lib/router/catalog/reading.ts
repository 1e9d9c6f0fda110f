/**
 * From documents of the `config` database to the router's entries.
 */
import {
  asBoolean,
  asDocument,
  asNumber,
  asString,
  DocumentWriter,
  getField,
  isTruthy,
} from "../../bson/index.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { detached } from "../support/values.js";
import { ChunkMapBuilder } from "./chunkMap.js";
import type { ConfigServer } from "./configServer.js";
import { FIRST_VERSION, isLater, versionOf } from "./documents.js";
import type { Database, Settings, ShardedCollection } from "./entries.js";

/** config.shards */
export async function readShards(config: ConfigServer): Promise<{ id: string; host: string }[]> {
  const shards: { id: string; host: string }[] = [];
  for await (const document of config.find("shards")) {
    shards.push({ id: text(document, "_id"), host: text(document, "host") });
  }
  return shards;
}

/** config.databases */
export async function readDatabases(config: ConfigServer): Promise<Map<string, Database>> {
  const databases = new Map<string, Database>();
  for await (const document of config.find("databases")) {
    const name = text(document, "_id");
    databases.set(name, { name, primary: text(document, "primary") });
  }
  return databases;
}

/** config.collections with their config.chunks. One without chunks counts as unsharded. */
export async function readCollections(config: ConfigServer): Promise<Map<string, ShardedCollection>> {
  const collections = new Map<string, ShardedCollection>();
  for await (const document of config.find("collections")) {
    const collection = await readCollection(config, document);
    if (collection) collections.set(collection.ns, collection);
  }
  return collections;
}

async function readCollection(
  config: ConfigServer,
  document: Uint8Array,
): Promise<ShardedCollection | undefined> {
  if (isTruthy(getField(document, "unsplittable"))) return undefined;
  const ns = text(document, "_id");
  const uuid = getField(document, "uuid");
  const keyField = getField(document, "key");
  if (!uuid || !keyField) return undefined;
  const key = ShardKeyPattern.parse(asDocument(keyField));
  const builder = new ChunkMapBuilder(key.maximum);
  let version = FIRST_VERSION;
  const ofCollection = new DocumentWriter().field("uuid", uuid).finish();
  for await (const chunk of config.find("chunks", ofCollection, { sort: { min: 1 } })) {
    const min = getField(chunk, "min");
    if (!min) continue;
    builder.add(asDocument(min), text(chunk, "shard"));
    const lastmod = getField(chunk, "lastmod");
    if (lastmod && isLater(versionOf(lastmod), version)) version = versionOf(lastmod);
  }
  if (builder.size === 0) return undefined;
  const dot = ns.indexOf(".");
  const unique = getField(document, "unique");
  return {
    ns,
    db: ns.slice(0, dot),
    name: ns.slice(dot + 1),
    uuid: detached(uuid),
    key,
    unique: unique !== undefined && asBoolean(unique),
    chunks: builder.finish(),
    version,
    pendingDeletions: [],
  };
}

/** config.settings; today only the balancer's switch and the chunk size matter. */
export async function readSettings(config: ConfigServer, defaultChunkSize: number): Promise<Settings> {
  const balancer = await config.findOne("settings", { _id: "balancer" });
  const chunkSize = await config.findOne("settings", { _id: "chunksize" });
  const megabytes = chunkSize && getField(chunkSize, "value");
  return {
    balancerStopped:
      balancer !== undefined && (isTruthy(getField(balancer, "stopped")) || text(balancer, "mode") === "off"),
    chunkSizeBytes: megabytes ? asNumber(megabytes) * 1024 * 1024 : defaultChunkSize,
  };
}

function text(document: Uint8Array, name: string): string {
  const value = getField(document, name);
  return value ? asString(value) : "";
}
