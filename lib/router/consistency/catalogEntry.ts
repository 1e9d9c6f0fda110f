/**
 * A collection as config.collections has it now. The checks read what is stored, not the router's cache: the cache has
 * been made from the same documents and would agree with them.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  BsonType,
  DocumentWriter,
  EMPTY_DOCUMENT,
  getField,
  isTruthy,
} from "../../bson/index.js";
import type { DocumentLike } from "../catalog/configServer.js";
import type { RouterContext } from "../context.js";
import { ShardKeyPattern } from "../keys/shardKeyPattern.js";
import { detached } from "../support/values.js";

/** One document of config.collections, taken apart. */
export interface CatalogEntry {
  readonly ns: string;
  readonly db: string;
  /** Name within the database. */
  readonly name: string;
  readonly uuid: RawValue;
  readonly key: ShardKeyPattern;
  /** Unsharded, but known to the catalog all the same: moveCollection, unshardCollection. @since MongoDB 8.0 */
  readonly unsplittable: boolean;
  /** Empty for the simple one. */
  readonly collation: Uint8Array;
  /** The document itself. */
  readonly stored: Uint8Array;
}

/** The entries that match, in order of their names. @throws CommandError BadValue (2) for a key that is none */
export async function readEntries({ catalog }: RouterContext, filter: DocumentLike): Promise<CatalogEntry[]> {
  const entries: CatalogEntry[] = [];
  for await (const document of catalog.config.find("collections", filter, { sort: { _id: 1 } })) {
    const stored = document.slice();
    const id = getField(stored, "_id");
    const uuid = getField(stored, "uuid");
    const key = getField(stored, "key");
    if (id?.type !== BsonType.string || !uuid || key?.type !== BsonType.object) continue;
    const ns = asString(id);
    const dot = ns.indexOf(".");
    const collation = getField(stored, "defaultCollation");
    const unsplittable = getField(stored, "unsplittable");
    entries.push({
      ns,
      db: ns.slice(0, dot),
      name: ns.slice(dot + 1),
      uuid: detached(uuid),
      key: ShardKeyPattern.parse(asDocument(key)),
      unsplittable: unsplittable !== undefined && isTruthy(unsplittable),
      collation: collation?.type === BsonType.object ? asDocument(collation) : EMPTY_DOCUMENT,
      stored,
    });
  }
  return entries;
}

/** The entry of one namespace. */
export async function readEntry(context: RouterContext, ns: string): Promise<CatalogEntry | undefined> {
  const [entry] = await readEntries(context, new DocumentWriter().string("_id", ns).finish());
  return entry;
}

/** How most details begin. */
export function detailsOf({ ns, uuid }: CatalogEntry): DocumentWriter {
  return new DocumentWriter().string("namespace", ns).field("collectionUUID", uuid);
}
