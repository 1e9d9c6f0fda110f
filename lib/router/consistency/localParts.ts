/**
 * What the shards have of a collection, held against what the catalog says of it: pure policy.
 *
 *     config.collections   library.loans, key {memberId: 1}, chunks on shardA and shardB
 *     shardA               library.loans  indexes _id_, memberId_1             fine
 *     shardB               library.loans  indexes _id_                         MissingShardKeyIndex
 *     shardC               library.notes, which the catalog does not know,
 *                          and which is not its primary shard                  MisplacedCollection
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  BsonType,
  compareDocuments,
  describeValue,
  DocumentWriter,
  EMPTY_DOCUMENT,
  fields,
  getField,
  isTruthy,
  string,
} from "../../bson/index.js";
import type { IndexSpec } from "../ddl/indexRules.js";
import { supportingIndexes } from "../ddl/indexRules.js";
import type { CatalogEntry } from "./catalogEntry.js";
import { inconsistency } from "./inconsistency.js";

/** A shard's part of a collection. */
export interface LocalPart {
  readonly shard: string;
  /** Whether the catalog says that it owns a chunk. */
  readonly owns: boolean;
  /** The options of the collection there; undefined when there is none. */
  readonly options: Uint8Array | undefined;
  readonly indexes: readonly IndexSpec[];
}

/**
 * Checks the parts of a collection.
 * @param parts of the shards that must have one
 */
export function checkParts(entry: CatalogEntry, parts: readonly LocalPart[]): Uint8Array[] {
  const { ns, uuid, key } = entry;
  const found: Uint8Array[] = [];
  for (const { shard, owns, options, indexes } of parts) {
    const details = (): DocumentWriter => new DocumentWriter().string("namespace", ns);
    if (!options) {
      const missing = details().field("uuid", uuid).string("shard", shard);
      found.push(inconsistency("MissingLocalCollection", missing));
      continue;
    }
    found.push(...differences(entry, shard, options));
    // Releases that have this command let the index of a hashed key go (§1.5).
    const needsIndex = owns && !entry.unsplittable && !key.isHashed;
    if (needsIndex && supportingIndexes(indexes, key).length === 0) {
      const missing = details().string("shard", shard).document("shardKey", key.document);
      found.push(inconsistency("MissingShardKeyIndex", missing));
    }
  }
  const kinds = groupOptions(parts);
  if (kinds.length > 1) found.push(optionsMismatch(ns, kinds));
  return found;
}

/** What a shard's collection is and the catalog does not say, or the other way round. */
function* differences(entry: CatalogEntry, shard: string, options: Uint8Array): Generator<Uint8Array> {
  const pair = (local: DocumentWriter, catalog: DocumentWriter): Uint8Array =>
    optionsMismatch(entry.ns, [
      { options: local.finish(), shards: [shard] },
      { options: catalog.finish(), shards: ["config"] },
    ]);
  const capped = getField(options, "capped");
  if (capped && isTruthy(capped) && !entry.unsplittable) {
    const catalog = new DocumentWriter().bool("capped", false).bool("unsplittable", false);
    yield pair(new DocumentWriter().bool("capped", true), catalog);
  }
  const collation = collationOf(options);
  if (compareDocuments(collation, entry.collation) !== 0) {
    yield pair(
      new DocumentWriter().document("defaultCollation", collation),
      new DocumentWriter().document("defaultCollation", entry.collation),
    );
  }
}

/** A collection's collation; empty for the simple one. */
function collationOf(options: Uint8Array): Uint8Array {
  const value = getField(options, "collation");
  if (value?.type !== BsonType.object) return EMPTY_DOCUMENT;
  const locale = getField(asDocument(value), "locale");
  return locale?.type === BsonType.string && asString(locale) === "simple"
    ? EMPTY_DOCUMENT
    : asDocument(value);
}

interface OptionsGroup {
  readonly options: Uint8Array;
  readonly shards: string[];
}

function groupOptions(parts: readonly LocalPart[]): OptionsGroup[] {
  const groups: OptionsGroup[] = [];
  for (const { shard, options } of parts) {
    if (!options) continue;
    const known = groups.find((group) => compareDocuments(group.options, options) === 0);
    if (known) known.shards.push(shard);
    else groups.push({ options, shards: [shard] });
  }
  return groups;
}

function optionsMismatch(ns: string, groups: readonly OptionsGroup[]): Uint8Array {
  const rows = groups.map(({ options, shards }) =>
    new DocumentWriter().document("options", options).values("shards", shards.map(string)).finish(),
  );
  const details = new DocumentWriter().string("namespace", ns).arrayOf("options", rows);
  return inconsistency("CollectionOptionsMismatch", details);
}

/** Compares the indexes of the shards that own chunks. */
export function checkIndexes(ns: string, parts: readonly LocalPart[]): Uint8Array[] {
  const owners = parts.filter(({ owns, options }) => owns && options);
  const byName = new Map<string, { index: IndexSpec; shard: string }[]>();
  for (const { shard, indexes } of owners) {
    for (const index of indexes) {
      const known = byName.get(index.name);
      if (known) known.push({ index, shard });
      else byName.set(index.name, [{ index, shard }]);
    }
  }
  const found: Uint8Array[] = [];
  for (const [name, copies] of [...byName].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const missing = owners
      .map(({ shard }) => shard)
      .filter((shard) => !copies.some((copy) => copy.shard === shard));
    const unlike = unlikeProperties(copies.map(({ index }) => index));
    if (missing.length === 0 && unlike.length === 0) continue;
    const info = new DocumentWriter()
      .values("missingFromShards", missing.map(string))
      .arrayOf("inconsistentProperties", unlike)
      .string("indexName", name)
      .finish();
    const details = new DocumentWriter().string("namespace", ns).document("info", info);
    found.push(inconsistency("InconsistentIndex", details));
  }
  return found;
}

/** Properties `{k, v}` that some descriptions of an index have and others have not. */
function unlikeProperties(copies: readonly IndexSpec[]): Uint8Array[] {
  const counts = new Map<string, { k: string; v: RawValue; count: number }>();
  for (const { raw } of copies) {
    for (const [k, v] of fields(raw)) {
      const text = `${k}: ${describeValue(v)}`;
      const known = counts.get(text);
      if (known) known.count++;
      else counts.set(text, { k, v, count: 1 });
    }
  }
  return [...counts.values()]
    .filter(({ count }) => count < copies.length)
    .map(({ k, v }) => new DocumentWriter().string("k", k).field("v", v).finish());
}
