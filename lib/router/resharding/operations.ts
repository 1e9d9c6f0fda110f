/**
 * What has to outlast the router of a resharding: its document in `config.reshardingOperations`, and its new chunks in
 * `config.chunks`, which belong to no collection before the commit.
 *
 *     {_id: <new uuid>, provenance, ns, tempNs, sourceUuid, key, state, donorShards, recipientShards, …}
 *
 * `state: "committing"` is the decision: from then on it goes forward whatever happens, before that back.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asString,
  date,
  DocumentWriter,
  elements,
  getField,
  isTruthy,
  string,
} from "../../bson/index.js";
import { ofCollection, set } from "../catalog/chunkWrites.js";
import type { ZoneRange } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { detached } from "../support/values.js";

const COLLECTION = "reshardingOperations";

/** A resharding as config.reshardingOperations has it. */
export interface ReshardingOperation {
  /** The collection's new UUID, and the operation's own. */
  readonly uuid: RawValue;
  readonly provenance: string;
  readonly ns: string;
  readonly db: string;
  /** Name within the database. */
  readonly name: string;
  /** Name of the collection that is filled, within the database. */
  readonly temporary: string;
  readonly sourceUuid: RawValue;
  /** The new shard key. */
  readonly key: Uint8Array;
  readonly unsplittable: boolean;
  readonly defaultCollation?: Uint8Array | undefined;
  /** Shards that have documents. */
  readonly donors: readonly string[];
  /** Shards that have the collection afterwards. */
  readonly recipients: readonly string[];
  /** What replaces the zone ranges; absent: they stay. */
  readonly zones?: readonly ZoneRange[] | undefined;
  readonly isDecided: boolean;
}

/** @throws CommandError when the config server can't be written; nothing may happen then */
export async function noteOperation(context: RouterContext, operation: ReshardingOperation): Promise<void> {
  const { ns, db, temporary, donors, recipients, zones } = operation;
  const document = new DocumentWriter()
    .field("_id", operation.uuid)
    .string("provenance", operation.provenance)
    .string("ns", ns)
    .string("tempNs", `${db}.${temporary}`)
    .field("sourceUuid", operation.sourceUuid)
    .document("key", operation.key)
    .bool("unsplittable", operation.unsplittable)
    .string("state", "preparing-to-donate")
    .field("startTime", date(context.waiting.now()))
    .values("donorShards", donors.map(string))
    .values("recipientShards", recipients.map(string));
  if (operation.defaultCollation) document.document("defaultCollation", operation.defaultCollation);
  if (zones) document.arrayOf("zones", zones.map(zoneDocument));
  await context.catalog.config.insert(COLLECTION, [document.finish()]);
}

/** The decision. @throws CommandError after which it has to be looked up whether it was taken */
export async function decideOperation({ catalog }: RouterContext, uuid: RawValue): Promise<void> {
  const state = new DocumentWriter().string("state", "committing").finish();
  await catalog.config.update(COLLECTION, byId(uuid), set(state));
}

/** Removes the document: all is done, or undone. */
export async function forgetOperation({ catalog }: RouterContext, uuid: RawValue): Promise<void> {
  await catalog.config.remove(COLLECTION, byId(uuid));
}

/** The operation as it is written; undefined when it is over. */
export async function findOperation(
  { catalog }: RouterContext,
  uuid: RawValue,
): Promise<ReshardingOperation | undefined> {
  const document = await catalog.config.findOne(COLLECTION, byId(uuid));
  return document && readOperation(document);
}

/** All that are written. */
export async function allOperations({ catalog }: RouterContext): Promise<ReshardingOperation[]> {
  const found: ReshardingOperation[] = [];
  for await (const document of catalog.config.find(COLLECTION)) found.push(readOperation(document));
  return found;
}

/** Removes the new chunks of an operation that is taken back. */
export async function removeChunks({ catalog }: RouterContext, uuid: RawValue): Promise<void> {
  await catalog.config.remove("chunks", ofCollection(uuid).finish());
}

function readOperation(document: Uint8Array): ReshardingOperation {
  const field = (name: string): RawValue => detached(getField(document, name)!);
  const texts = (name: string): string[] => elements(asDocument(field(name))).map(asString);
  const ns = asString(field("ns"));
  const dot = ns.indexOf(".");
  const temporary = asString(field("tempNs")).slice(dot + 1);
  const collation = getField(document, "defaultCollation");
  const zones = getField(document, "zones");
  return {
    uuid: field("_id"),
    provenance: asString(field("provenance")),
    ns,
    db: ns.slice(0, dot),
    name: ns.slice(dot + 1),
    temporary,
    sourceUuid: field("sourceUuid"),
    key: asDocument(field("key")),
    unsplittable: isTruthy(field("unsplittable")),
    ...(collation && { defaultCollation: asDocument(detached(collation)) }),
    donors: texts("donorShards"),
    recipients: texts("recipientShards"),
    ...(zones && { zones: elements(asDocument(detached(zones))).map((zone) => readZone(asDocument(zone))) }),
    isDecided: asString(field("state")) === "committing",
  };
}

function zoneDocument({ min, max, zone }: ZoneRange): Uint8Array {
  return new DocumentWriter().document("min", min).document("max", max).string("zone", zone).finish();
}

function readZone(document: Uint8Array): ZoneRange {
  return {
    min: asDocument(getField(document, "min")!),
    max: asDocument(getField(document, "max")!),
    zone: asString(getField(document, "zone")!),
  };
}

function byId(uuid: RawValue): Uint8Array {
  return new DocumentWriter().field("_id", uuid).finish();
}
