/**
 * checkMetadataConsistency: asks the config server and the shards, and has the answers checked.
 *
 *     config.collections ── config.chunks   the whole line of keys, once, owned by shards    routingTable.ts
 *                        ── config.tags     zones that don't overlap                         routingTable.ts
 *                        ── shards          the collection, its options and indexes          localParts.ts
 *     config.databases   ── shards          unsharded collections on the primary shard only
 *
 * Each namespace is looked at while it is held, shared with reads and writes: a migration or a drop is not seen half
 * done. What is looked at is what is stored, never the router's cache.
 */
import type { RawValue } from "../../bson/index.js";
import { asNumber, asString, BsonType, DocumentWriter, getField } from "../../bson/index.js";
import type { RouterContext } from "../context.js";
import { describeOn, indexesOn } from "../ddl/shardCollections.js";
import { withCollection } from "../support/collections.js";
import { collectionsOn } from "../support/databases.js";
import { detached, uuidText } from "../support/values.js";
import type { CatalogEntry } from "./catalogEntry.js";
import { readEntries, readEntry } from "./catalogEntry.js";
import { inconsistency } from "./inconsistency.js";
import type { LocalPart } from "./localParts.js";
import { checkIndexes, checkParts } from "./localParts.js";
import { checkChunks, checkTrackedKey, checkZones } from "./routingTable.js";

/** What is looked at: everything, one database, or one collection of it. */
export interface Scope {
  readonly db?: string;
  /** Name within the database. */
  readonly name?: string;
  /** Compare the indexes of the shards as well. */
  readonly checkIndexes: boolean;
}

/**
 * Looks for contradictions. The caller holds nothing.
 * @returns one document `{type, description, details}` for each
 * @throws CommandError when a server doesn't answer
 */
export async function findInconsistencies(context: RouterContext, scope: Scope): Promise<Uint8Array[]> {
  const { catalog } = context;
  const found: Uint8Array[] = [];
  const entries = await readEntries(context, filterOf(scope));
  const isWhole = scope.db === undefined;
  if (isWhole) {
    found.push(...(await checkHidden(context, entries)));
    found.push(...(await checkDeadChunks(context)));
  }
  for (const { ns } of entries) {
    found.push(
      ...(await withCollection(context, ns, () => checkCollection(context, ns, scope.checkIndexes))),
    );
  }
  const databases = isWhole ? catalog.databases : [catalog.database(scope.db)].filter((each) => !!each);
  for (const { name } of databases) found.push(...(await checkUnsharded(context, name, scope.name)));
  return found;
}

function filterOf({ db, name }: Scope): object {
  if (db === undefined) return {};
  return { _id: name === undefined ? { $gte: `${db}.`, $lt: `${db}/` } : `${db}.${name}` };
}

/** Collections of databases that are gone: nobody finds them. */
async function checkHidden(
  { catalog }: RouterContext,
  entries: readonly CatalogEntry[],
): Promise<Uint8Array[]> {
  const names = new Set<string>(["config"]);
  for await (const database of catalog.config.find("databases")) {
    const id = getField(database, "_id");
    if (id?.type === BsonType.string) names.add(asString(id));
  }
  return entries
    .filter(({ db }) => !names.has(db))
    .map(({ ns, stored }) => {
      const details = new DocumentWriter().string("namespace", ns).document("collection", stored);
      return inconsistency("HiddenShardedCollection", details);
    });
}

/**
 * Chunks that no collection owns, one finding for each uuid. Those of a resharding that goes on will have one.
 */
async function checkDeadChunks(context: RouterContext): Promise<Uint8Array[]> {
  const { config } = context.catalog;
  const found: Uint8Array[] = [];
  for (const [text, { uuid, numChunks }] of await countByUuid(context)) {
    // Asked one after the other: a collection that was created or dropped meanwhile has both or neither by now.
    const filter = new DocumentWriter().field("uuid", uuid).finish();
    if (await config.findOne("collections", filter)) continue;
    if (context.resharding.all.some(({ plan }) => uuidText(plan.uuid) === text)) continue;
    if (!(await config.findOne("chunks", filter))) continue;
    const details = new DocumentWriter().field("collectionUUID", uuid).int32("numChunks", numChunks);
    found.push(inconsistency("ChunksWithoutCollection", details));
  }
  return found;
}

/** How many chunks each uuid has. */
async function countByUuid({
  catalog,
}: RouterContext): Promise<Map<string, { uuid: RawValue; numChunks: number }>> {
  const counts = new Map<string, { uuid: RawValue; numChunks: number }>();
  for await (const chunk of catalog.config.find("chunks")) {
    const uuid = getField(chunk, "uuid");
    if (uuid?.type !== BsonType.binary) continue;
    const text = uuidText(uuid);
    const known = counts.get(text);
    if (known) known.numChunks++;
    else counts.set(text, { uuid: detached(uuid), numChunks: 1 });
  }
  return counts;
}

/** Everything about one collection of the catalog. The caller holds it. */
async function checkCollection(
  context: RouterContext,
  ns: string,
  withIndexes: boolean,
): Promise<Uint8Array[]> {
  const { catalog, shards } = context;
  const entry = await readEntry(context, ns);
  // Dropped while this waited.
  if (!entry) return [];
  const ofUuid = new DocumentWriter().field("uuid", entry.uuid).finish();
  const byMin = { sort: { min: 1 } };
  const { found, owners } = await checkChunks(entry, catalog.config.find("chunks", ofUuid, byMin), (id) =>
    shards.has(id),
  );
  const ofNamespace = new DocumentWriter().string("ns", ns).finish();
  const zones = await checkZones(entry, catalog.config.find("tags", ofNamespace, byMin));
  const parts = await partsOf(context, entry, owners);
  return [
    ...checkTrackedKey(entry),
    ...found,
    ...zones,
    ...checkParts(entry, parts),
    ...(withIndexes && !entry.unsplittable ? checkIndexes(ns, parts) : []),
  ];
}

/** The parts that must be there: the owners', and of a sharded collection the primary shard's. */
async function partsOf(
  context: RouterContext,
  entry: CatalogEntry,
  owners: ReadonlySet<string>,
): Promise<LocalPart[]> {
  const primary = entry.unsplittable ? undefined : context.catalog.database(entry.db)?.primary;
  const wanted = new Set([...owners, ...(primary === undefined ? [] : [primary])]);
  const parts: LocalPart[] = [];
  for (const shard of [...wanted].sort()) {
    // An owner that is no shard has been found already.
    if (!context.shards.has(shard)) continue;
    const description = await describeOn(context, shard, entry);
    const indexes = description ? await indexesOn(context, shard, entry) : [];
    parts.push({ shard, owns: owners.has(shard), options: description?.options, indexes });
  }
  return parts;
}

/** Collections of a database that the catalog does not know, on shards where they should not be. */
async function checkUnsharded(
  context: RouterContext,
  db: string,
  only: string | undefined,
): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for (const shard of context.shards.ids) {
    if (shard === context.catalog.database(db)?.primary) continue;
    for (const description of await collectionsOn(context, shard, db)) {
      const name = textOf(description, "name");
      if (only !== undefined && name !== only) continue;
      // What is being created, moved or dropped is asked about again while it is held.
      if (isSystem(name) || textOf(description, "type") === "view") continue;
      const ns = `${db}.${name}`;
      const misplaced = await withCollection(context, ns, () => misplacedPart(context, { db, name, shard }));
      if (misplaced) found.push(misplaced);
    }
  }
  return found;
}

/** Profiles, views and the temporary collections of a resharding are each shard's own. */
function isSystem(name: string): boolean {
  return name.startsWith("system.");
}

async function misplacedPart(
  context: RouterContext,
  { db, name, shard }: { readonly db: string; readonly name: string; readonly shard: string },
): Promise<Uint8Array | undefined> {
  const ns = `${db}.${name}`;
  if (shard === context.catalog.database(db)?.primary) return undefined;
  if (await readEntry(context, ns)) return undefined;
  const description = await describeOn(context, shard, { db, name });
  if (!description || description.type === "view") return undefined;
  const details = new DocumentWriter().string("namespace", ns).string("shard", shard);
  if (description.uuid) details.field("localUUID", description.uuid);
  const count = getField(await context.shards.must(shard, db, { count: name }), "n");
  details.int64("numDocs", BigInt(count ? asNumber(count) : 0));
  return inconsistency("MisplacedCollection", details);
}

function textOf(document: Uint8Array, name: string): string {
  const value = getField(document, name);
  return value?.type === BsonType.string ? asString(value) : "";
}
