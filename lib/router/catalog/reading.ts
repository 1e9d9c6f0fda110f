/**
 * From documents of the `config` database to the router's entries.
 */
import {
  asBoolean,
  asDocument,
  asNumber,
  asString,
  documentSortableKey,
  DocumentWriter,
  elements,
  getField,
  isNumeric,
  isTruthy,
} from "../../bson/index.js";
import type { SortableKey } from "../../bson/index.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { detached } from "../support/values.js";
import { ChunkMapBuilder } from "./chunkMap.js";
import type { ConfigServer } from "./configServer.js";
import { FIRST_VERSION, isLater, versionOf } from "./documents.js";
import type { Database, Settings, ShardedCollection, ZoneRange } from "./entries.js";
import type { ShardEntry } from "./shards.js";
import { checkCatalogDocument, unreadable } from "./validation.js";

/** Documents of `config`, each one checked. */
async function* documents(
  config: ConfigServer,
  collection: string,
  filter?: Uint8Array,
  sort?: object,
): AsyncGenerator<Uint8Array> {
  for await (const document of config.find(collection, filter, sort && { sort })) {
    checkCatalogDocument(collection, document);
    yield document;
  }
}

/** config.shards */
export async function readShards(config: ConfigServer): Promise<ShardEntry[]> {
  const shards: ShardEntry[] = [];
  for await (const document of documents(config, "shards")) {
    const tags = getField(document, "tags");
    shards.push({
      id: text(document, "_id"),
      host: text(document, "host"),
      draining: isTruthy(getField(document, "draining")),
      zones: tags ? elements(asDocument(tags)).map(asString) : [],
    });
  }
  return shards;
}

/** config.databases */
export async function readDatabases(config: ConfigServer): Promise<Map<string, Database>> {
  const databases = new Map<string, Database>();
  for await (const document of documents(config, "databases")) {
    const name = text(document, "_id");
    databases.set(name, { name, primary: text(document, "primary") });
  }
  return databases;
}

/** config.collections with their config.chunks. One without chunks counts as unsharded. */
export async function readCollections(config: ConfigServer): Promise<Map<string, ShardedCollection>> {
  const collections = new Map<string, ShardedCollection>();
  for await (const document of documents(config, "collections")) {
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
  const uuid = getField(document, "uuid")!;
  const key = ShardKeyPattern.parse(asDocument(getField(document, "key")!));
  const builder = new ChunkMapBuilder(key.maximum);
  let version = FIRST_VERSION;
  const ofCollection = new DocumentWriter().field("uuid", uuid).finish();
  let last: SortableKey | undefined;
  const jumbo = new Set<SortableKey>();
  for await (const chunk of documents(config, "chunks", ofCollection, { min: 1 })) {
    const min = asDocument(getField(chunk, "min")!);
    if (!key.valuesOfBound(min)) {
      throw unreadable("chunks", chunk, `field 'min' must have the fields of the shard key ${key.text}`);
    }
    const begin = documentSortableKey(min);
    if (last !== undefined && begin <= last) {
      throw unreadable("chunks", chunk, "field 'min' must be above that of the chunk before");
    }
    last = begin;
    builder.addKnown(begin, min, text(chunk, "shard"));
    if (isTruthy(getField(chunk, "jumbo"))) jumbo.add(begin);
    const lastmod = getField(chunk, "lastmod");
    if (lastmod && isLater(versionOf(lastmod), version)) version = versionOf(lastmod);
  }
  if (builder.size === 0) return undefined;
  const dot = ns.indexOf(".");
  const unique = getField(document, "unique");
  const collation = getField(document, "defaultCollation");
  const allowMigrations = getField(document, "allowMigrations");
  const maxChunkSize = getField(document, "maxChunkSizeBytes");
  const autoMerge = getField(document, "enableAutoMerge");
  return {
    ns,
    db: ns.slice(0, dot),
    name: ns.slice(dot + 1),
    uuid: detached(uuid),
    key,
    unique: unique !== undefined && asBoolean(unique),
    ...(collation && { defaultCollation: asDocument(collation).slice() }),
    chunks: builder.finish(),
    version,
    noBalance: isTruthy(getField(document, "noBalance")),
    allowMigrations: !allowMigrations || isTruthy(allowMigrations),
    ...(maxChunkSize && isNumeric(maxChunkSize) && { maxChunkSizeBytes: asNumber(maxChunkSize) }),
    ...(autoMerge && { enableAutoMerge: isTruthy(autoMerge) }),
    jumbo,
  };
}

/** config.tags of a namespace, sharded or not, in order of their lower bounds. */
export async function readZones(config: ConfigServer, ns: string): Promise<ZoneRange[]> {
  const zones: ZoneRange[] = [];
  for await (const document of documents(config, "tags", new DocumentWriter().string("ns", ns).finish(), {
    min: 1,
  })) {
    zones.push({
      min: asDocument(getField(document, "min")!),
      max: asDocument(getField(document, "max")!),
      zone: text(document, "tag"),
    });
  }
  return zones;
}

/** config.settings: the balancer's switch and hours, the auto-merger's switch, the chunk size. */
export async function readSettings(config: ConfigServer, defaultChunkSize: number): Promise<Settings> {
  const balancer = await config.findOne("settings", { _id: "balancer" });
  const autoMerge = await config.findOne("settings", { _id: "automerge" });
  const chunkSize = await config.findOne("settings", { _id: "chunksize" });
  for (const document of [balancer, autoMerge, chunkSize]) {
    if (document) checkCatalogDocument("settings", document);
  }
  const megabytes = chunkSize && getField(chunkSize, "value");
  const window = balancer && getField(balancer, "activeWindow");
  const enabled = autoMerge && getField(autoMerge, "enabled");
  return {
    balancerMode: balancerMode(balancer),
    activeWindow: window && {
      start: text(asDocument(window), "start"),
      stop: text(asDocument(window), "stop"),
    },
    autoMerge: !enabled || isTruthy(enabled),
    chunkSizeBytes: megabytes ? asNumber(megabytes) * 1024 * 1024 : defaultChunkSize,
  };
}

function balancerMode(balancer: Uint8Array | undefined): Settings["balancerMode"] {
  if (!balancer) return "full";
  const mode = text(balancer, "mode");
  if (isTruthy(getField(balancer, "stopped")) || mode === "off") return "off";
  return mode === "autoSplitOnly" ? mode : "full";
}

function text(document: Uint8Array, name: string): string {
  const value = getField(document, name);
  return value ? asString(value) : "";
}
