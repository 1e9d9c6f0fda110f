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
import type { KnownHashes } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

/** Writes that one shard gets in one command. */
export interface ShardBatch {
  readonly shard: string;
  /** Documents or statements, raw. */
  readonly documents: readonly Uint8Array[];
  /** For each of them its position in the client's batch. */
  readonly indexes: ArrayLike<number>;
  /** Of an insert under a hashed key: what was computed to find the chunks. */
  readonly hashes?: KnownHashes | undefined;
}

/** Numbers the batches that a list of writes falls apart into: pure policy of the above. */
class BatchNumbers {
  /** The shard of each batch. */
  readonly shards: string[] = [];
  readonly #ordered: boolean;
  readonly #byShard = new Map<string, number>();

  constructor(ordered: boolean) {
    this.#ordered = ordered;
  }

  /** The batch that the next write for a shard belongs to; of an unordered list there is one for each shard. */
  batchFor(shard: string): number {
    const { shards } = this;
    const last = shards.length - 1;
    if (last >= 0 && shards[last] === shard) return last;
    const known = this.#ordered ? undefined : this.#byShard.get(shard);
    if (known !== undefined) return known;
    this.#byShard.set(shard, last + 1);
    shards.push(shard);
    return last + 1;
  }
}

/** Collects routed writes, in the client's order, into batches. */
export class BatchBuilder {
  readonly batches: (ShardBatch & { readonly documents: Uint8Array[]; readonly indexes: number[] })[] = [];
  readonly #numbers: BatchNumbers;

  constructor(ordered: boolean) {
    this.#numbers = new BatchNumbers(ordered);
  }

  /** Adds one write for one shard. */
  add(index: number, document: Uint8Array, shard: string): void {
    const batch = (this.batches[this.#numbers.batchFor(shard)] ??= { shard, documents: [], indexes: [] });
    batch.documents.push(document);
    batch.indexes.push(index);
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

/** A chunk that documents of the list belong to. */
interface Group {
  readonly shard: string;
  /** The number of its shard's batch, in an unordered list. */
  readonly batch: number;
  documents: number;
}

/** What {@link routeInserts} notes of each document, in place of what it would otherwise have to allocate. */
let batchOf = new Int32Array(1024);
let wordsOf = new Int32Array(2048);

/**
 * Routes documents by their shard keys: first each gets the number of its batch, and then the batches are made, as
 * large as they will be.
 * @param ordered stop at the first document that cannot be routed
 */
export function routeInserts(
  documents: readonly Uint8Array[],
  table: RoutingTable,
  rules: Pick<Rules, "missingKeyFieldsAllowed">,
  ordered: boolean,
): InsertRoute {
  const count = documents.length;
  if (batchOf.length < count) {
    batchOf = new Int32Array(count);
    wordsOf = new Int32Array(2 * count);
  }
  const numbers = new BatchNumbers(ordered);
  const errors: { index: number; error: CommandError }[] = [];
  const groups = new Map<number, Group>();
  let routed = count;
  for (let index = 0; index < count; index++) {
    batchOf[index] = -1;
    try {
      const chunk = routeInsert(documents[index]!, table, rules, wordsOf, 2 * index);
      let group = groups.get(chunk);
      if (!group) {
        const shard = table.chunks.ownerOf(chunk);
        group = { shard, batch: numbers.batchFor(shard), documents: 0 };
        groups.set(chunk, group);
      }
      group.documents += 1;
      // In an ordered list the chunk's shard may have a new batch by now.
      batchOf[index] = ordered ? numbers.batchFor(group.shard) : group.batch;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      errors.push({ index, error });
      if (ordered) {
        routed = index;
        break;
      }
    }
  }
  const batches = cut(documents, routed, numbers.shards, table.key.onlyHashed);
  const perChunk = new Map<number, number>();
  for (const [chunk, group] of groups) perChunk.set(chunk, group.documents);
  return { batches, errors, perChunk };
}

/**
 * Makes the batches of the first documents by the numbers in {@link batchOf}.
 * @param shards the shard of each batch
 * @param hashedPath the path whose hashes are in {@link wordsOf}
 */
function cut(
  documents: readonly Uint8Array[],
  routed: number,
  shards: readonly string[],
  hashedPath: string | undefined,
): ShardBatch[] {
  const sizes = new Int32Array(shards.length);
  for (let index = 0; index < routed; index++) if (batchOf[index]! >= 0) sizes[batchOf[index]!]! += 1;
  const batches = shards.map((shard, number) => {
    const size = sizes[number]!;
    const hashes =
      hashedPath === undefined ? undefined : { path: hashedPath, words: new Int32Array(2 * size) };
    return { shard, documents: new Array<Uint8Array>(size), indexes: new Int32Array(size), hashes };
  });
  sizes.fill(0);
  for (let index = 0; index < routed; index++) {
    const number = batchOf[index]!;
    if (number < 0) continue;
    const at = sizes[number]!++;
    const batch = batches[number]!;
    batch.documents[at] = documents[index]!;
    batch.indexes[at] = index;
    if (!batch.hashes) continue;
    batch.hashes.words[2 * at] = wordsOf[2 * index]!;
    batch.hashes.words[2 * at + 1] = wordsOf[2 * index + 1]!;
  }
  return batches;
}

/**
 * Routes one document.
 * @param hash see {@link ShardKeyPattern.chunkOf}
 * @returns the chunk that it belongs to
 * @throws CommandError ShardKeyNotFound (61) for an array on the key's path, and before 4.4 for a missing key field
 */
export function routeInsert(
  document: Uint8Array,
  { key, chunks }: RoutingTable,
  rules: Pick<Rules, "missingKeyFieldsAllowed">,
  hash?: Int32Array,
  at?: number,
): number {
  if (!rules.missingKeyFieldsAllowed) refuseMissing(key.missingFrom(document));
  return key.chunkOf(document, chunks, hash, at);
}

/** Before 4.4 a document had to have every key field (§4.2). */
function refuseMissing(paths: readonly string[]): void {
  if (paths.length === 0) return;
  throw new CommandError(
    ErrorCode.ShardKeyNotFound,
    `document does not contain shard key: missing ${paths.join(", ")}`,
  );
}
