/**
 * Cutting a client's batch of writes into batches for shards: pure policy.
 *
 * A client sends one list of writes, in an order that may matter:
 *
 *     #0 → A   #1 → A   #2 → B   #3 → A   #4 → B
 *
 * **Unordered**: the client does not care. Every shard gets all of its writes at
 * once, all shards at the same time:
 *
 *     A: #0 #1 #3      B: #2 #4
 *
 * **Ordered**: after the first failure nothing more may be written, so a write
 * may not be sent before all earlier ones are known to have worked. The longest
 * runs of neighbours for the same shard go out one after the other:
 *
 *     A: #0 #1   then   B: #2   then   A: #3   then   B: #4
 *
 * With a hashed key neighbours rarely share a shard and an ordered batch falls
 * apart into tiny ones: the reason why loading data unordered is faster on a
 * real cluster too.
 */
import type { RoutingTable } from "../targeting/target.js";
import type { Rules } from "../rules.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

/** Writes that one shard gets in one command. */
export interface ShardBatch {
  readonly shard: string;
  /** Documents or statements, raw. */
  readonly documents: Uint8Array[];
  /** For each of them its position in the client's batch. */
  readonly indexes: number[];
}

/** Collects routed writes, in the client's order, into batches. */
export class BatchBuilder {
  readonly batches: ShardBatch[] = [];
  readonly #ordered: boolean;
  readonly #byShard = new Map<string, ShardBatch>();
  /** The batch that got the last write. */
  #last: ShardBatch | undefined;

  constructor(ordered: boolean) {
    this.#ordered = ordered;
  }

  /** Adds one write for one shard. */
  add(index: number, document: Uint8Array, shard: string): void {
    const batch = this.batchFor(shard);
    batch.documents.push(document);
    batch.indexes.push(index);
  }

  /** The batch that the next write for a shard belongs to; of an unordered list there is one for each shard. */
  batchFor(shard: string): ShardBatch {
    let batch = this.#last;
    if (batch?.shard === shard) return batch;
    batch = this.#ordered ? undefined : this.#byShard.get(shard);
    if (!batch) {
      batch = { shard, documents: [], indexes: [] };
      this.batches.push(batch);
      this.#byShard.set(shard, batch);
    }
    this.#last = batch;
    return batch;
  }
}

/** Where the documents of an insert go. */
export interface InsertRoute {
  readonly batches: readonly ShardBatch[];
  /** Documents that no shard can take, by position. */
  readonly errors: readonly { readonly index: number; readonly error: CommandError }[];
  /** How many documents go to which chunk. */
  readonly perChunk: ReadonlyMap<number, number>;
}

/**
 * Routes documents by their shard keys.
 * @param ordered stop at the first document that cannot be routed
 */
export function routeInserts(
  documents: readonly Uint8Array[],
  table: RoutingTable,
  rules: Pick<Rules, "missingKeyFieldsAllowed">,
  ordered: boolean,
): InsertRoute {
  const builder = new BatchBuilder(ordered);
  const errors: { index: number; error: CommandError }[] = [];
  const met = new Map<number, { readonly batch: ShardBatch; documents: number }>();
  for (let index = 0; index < documents.length; index++) {
    const document = documents[index]!;
    try {
      const chunk = routeInsert(document, table, rules);
      let group = met.get(chunk);
      if (!group)
        met.set(chunk, (group = { batch: builder.batchFor(table.chunks.ownerOf(chunk)), documents: 0 }));
      group.documents += 1;
      // In an ordered list the chunk's shard may have a new batch by now.
      const batch = ordered ? builder.batchFor(group.batch.shard) : group.batch;
      batch.documents.push(document);
      batch.indexes.push(index);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      errors.push({ index, error });
      if (ordered) break;
    }
  }
  const perChunk = new Map([...met].map(([chunk, group]) => [chunk, group.documents]));
  return { batches: builder.batches, errors, perChunk };
}

/**
 * Routes one document.
 * @returns the chunk that it belongs to
 * @throws CommandError ShardKeyNotFound (61) for an array on the key's path, and before 4.4 for a missing key field
 */
export function routeInsert(
  document: Uint8Array,
  { key, chunks }: RoutingTable,
  rules: Pick<Rules, "missingKeyFieldsAllowed">,
): number {
  if (!rules.missingKeyFieldsAllowed) refuseMissing(key.missingFrom(document));
  return key.chunkOf(document, chunks);
}

/** Before 4.4 a document had to have every key field (§4.2). */
function refuseMissing(paths: readonly string[]): void {
  if (paths.length === 0) return;
  throw new CommandError(
    ErrorCode.ShardKeyNotFound,
    `document does not contain shard key: missing ${paths.join(", ")}`,
  );
}
