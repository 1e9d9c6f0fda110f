/**
 * Collections come into the catalog, change their names and go: each time in one command, of which a config server that
 * is killed has all or nothing.
 */
import type { RawValue } from "../../bson/index.js";
import { DocumentWriter, string } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { forwardedBody } from "../support/forward.js";
import { ofCollection } from "./chunkWrites.js";
import type { BulkWrite, ConfigServer } from "./configServer.js";
import type { ShardedCollection } from "./entries.js";
import type { TrackedCollection } from "./tracked.js";

/** More than this is not for one command. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DOCUMENTS = 50_000;

/** A sharded collection that comes into being. */
export interface NewCollection {
  readonly uuid: RawValue;
  /** Its document for config.collections. */
  readonly document: Uint8Array;
  readonly chunks: readonly Uint8Array[];
  /** What it was before, where the catalog knows it. */
  readonly tracked: TrackedCollection | undefined;
}

/** @throws CommandError what the config server says; without a reply nobody knows whether it has happened */
export async function writeCollection(
  config: ConfigServer,
  { uuid, document, chunks, tracked }: NewCollection,
): Promise<void> {
  // Chunks of no collection are what an earlier attempt has left: this one has the same uuid.
  const writes: BulkWrite[] = [{ remove: "chunks", filter: ofCollection(uuid).finish() }];
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (bytes > MAX_BYTES || chunks.length > MAX_DOCUMENTS) {
    await config.bulk(writes.splice(0));
    await config.insert("chunks", chunks);
  } else {
    writes.push(...chunks.map((chunk): BulkWrite => ({ insert: "chunks", document: chunk })));
  }
  if (tracked) {
    writes.push({ remove: "collections", filter: named(tracked.ns) });
    writes.push({ remove: "chunks", filter: ofCollection(tracked.uuid).finish() });
  }
  await config.bulk([...writes, { insert: "collections", document }]);
}

/** Forgets a sharded collection, with its chunks and zone ranges. */
export async function writeDrop(config: ConfigServer, { ns, uuid }: ShardedCollection): Promise<void> {
  await config.bulk([
    { remove: "collections", filter: named(ns) },
    { remove: "chunks", filter: ofCollection(uuid).finish() },
    { remove: "tags", filter: new DocumentWriter().string("ns", ns).finish() },
  ]);
}

/** A collection that gets another name. */
export interface CatalogRenaming {
  readonly from: string;
  readonly to: string;
  /** Whether there is an entry that gets the new name. */
  readonly hasEntry: boolean;
  /** `uuid` of the entry that has the new name now, if there is one. */
  readonly replaced: RawValue | undefined;
  readonly epoch: RawValue;
  readonly timestamp: RawValue;
}

/**
 * A sharded collection's chunks go on, they name it by uuid; epoch and timestamp of its entry are new, because for
 * routers it is another collection. Its zone ranges go with it.
 * @throws CommandError NamespaceNotFound (26) where the entry is not there; what the config server says
 */
export async function writeRenaming(config: ConfigServer, renaming: CatalogRenaming): Promise<void> {
  const { from, to, hasEntry, replaced, epoch, timestamp } = renaming;
  const writes: BulkWrite[] = [];
  if (replaced) {
    writes.push({ remove: "collections", filter: named(to) });
    writes.push({ remove: "chunks", filter: ofCollection(replaced).finish() });
  }
  if (hasEntry) {
    const stored = await config.findOne("collections", { _id: from });
    if (!stored) {
      throw new CommandError(ErrorCode.NamespaceNotFound, `${from} is no longer in config.collections`);
    }
    const document = forwardedBody(stored, { _id: string(to), lastmodEpoch: epoch, timestamp });
    writes.push({ remove: "collections", filter: named(from) }, { insert: "collections", document });
    const newName = new DocumentWriter().document("$set", new DocumentWriter().string("ns", to).finish());
    const filter = new DocumentWriter().string("ns", from).finish();
    writes.push({ update: "tags", filter, pipeline: [newName.finish()] });
  }
  await config.bulk(writes);
}

function named(ns: string): Uint8Array {
  return new DocumentWriter().string("_id", ns).finish();
}
