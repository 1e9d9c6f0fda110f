/**
 * The routing trace: what the router did with each operation, as plain data.
 *
 *     find library.events {deviceId: "dev-42"}
 *       targeting  shardKey  { deviceId: "hashed" }  { deviceId: 7632986869154119240 }
 *       ranges     { deviceId: 0 } → { deviceId: MaxKey } on shardA
 *       shards     shardA returned 20
 *       merge      none
 *
 *     insert library.events            3 documents
 *       samples    { deviceId: "dev-0" } is at { deviceId: 2254643809256703712 }, …
 *       ranges     …, each with how many of the documents went there
 *
 * Plots, lessons and golden tests are views of it. Clients read it with the
 * admin command `{routingTrace: 1, since?, limit?}`.
 *
 * Recording must cost an insert next to nothing: a record keeps references to
 * the (immutable) chunk map and numbers of chunks; bounds and texts are made
 * when somebody asks. The log is a ring: old entries fall out, `dropped` says
 * how many a reader has missed.
 */
import type { RawValue } from "../bson/index.js";
import { array, describeDocument, DocumentWriter, NULL, string, toDocument } from "../bson/index.js";
import { CommandError } from "../protocol/index.js";
import type { ChunkMap } from "./catalog/chunkMap.js";
import type { ShardedCollection } from "./catalog/entries.js";
import type { ShardKeyPattern } from "./keys/shardKeyPattern.js";
import type { ChunkRun, Targeting } from "./targeting/target.js";
import { describeIntervals } from "./targeting/target.js";

/** One routed operation, as clients see it. */
export interface RoutingTraceEntry {
  /** Running number, from 1. */
  n: number;
  at: Date;
  /** Command name, e.g. `insert`. */
  op: string;
  ns: string;
  targeting: {
    kind: "shardKey" | "bounds" | "allShards" | "unsharded" | "none";
    /** The shard key pattern as text, e.g. `{ deviceId: "hashed" }`. */
    key?: string;
    /** Bounds in chunk space as text. */
    bounds?: string;
    /**
     * Of inserts: the first few documents' extracted keys, and where a hashed one lies in chunk space:
     * `{ deviceId: "dev-42" } is at { deviceId: 7632986869154119240 }`. A missing field is shown as null.
     */
    samples?: string[];
  };
  /** Chunks that the operation met; at most {@link MAX_RANGES}. */
  ranges: {
    min: object;
    max: object;
    shard: string;
    /** Documents of a write that went to this range. */
    documents?: number;
  }[];
  /** How many further ranges are not listed; absent when none. */
  rangesOmitted?: number;
  /**
   * Work per shard, ascending by id. A write that finds its document before it writes has one element for each
   * step instead, in order: `search` on the targeted shards, then `write` on the document's shard, or `insert`
   * on its new and `delete` on its old shard.
   */
  shards: { shard: string; step?: WriteStep; sent?: number; returned?: number; ms?: number }[];
  merge: {
    kind: "none" | "concatenate" | "sort" | "group" | "count" | "errors";
    skip?: number;
    limit?: number;
  };
  /** Of a range that went to another shard: moveChunk, moveRange, a round of the balancer. */
  migration?: {
    min: object;
    max: object;
    from: string;
    to: string;
    documents: number;
    bytes: number;
    reason?: string;
  };
  /** Of reshardCollection, moveCollection, unshardCollection. */
  resharding?: ReshardingRecord;
}

/** A resharding that is over. */
export interface ReshardingRecord {
  /** The new shard key as text. */
  readonly key: string;
  /** Number of the new chunks. */
  readonly chunks: number;
  /** The coordinator's states in their order, each with how long it took, milliseconds. */
  readonly phases: readonly { readonly state: string; readonly ms: number }[];
  readonly documents: number;
  readonly bytes: number;
  /** Documents that were written meanwhile, and copied again. */
  readonly writesApplied: number;
  /** Why it was taken back. */
  readonly error?: string;
}

/** Documents of an insert whose keys are told. */
const MAX_SAMPLES = 3;

/** Ranges that one entry lists at most. */
const MAX_RANGES = 256;

/** Bytes of entries at which one reply is full. */
const MAX_REPLY_BYTES = 8 * 1024 * 1024;

/**
 * A step of a careful write: find one document, write it by `_id`, or insert it here and delete it there. A migration
 * copies on one shard, inserts on another and deletes on the first.
 */
export type WriteStep = "search" | "write" | "insert" | "delete" | "copy";

/** Work that one shard did for an operation. */
export interface ShardWork {
  readonly shard: string;
  /** Of a write that finds its document first (7.1+, key changes): what was asked. Such work is listed in order. */
  readonly step?: WriteStep | undefined;
  /** Documents or statements sent. */
  sent?: number;
  /** Documents that came back in the first answer. */
  returned?: number;
  /** Milliseconds of the router's clock. */
  ms?: number;
}

/** An operation while it is recorded. */
export interface TraceRecord {
  readonly at: number;
  readonly op: string;
  readonly ns: string;
  targeting: RoutingTraceEntry["targeting"]["kind"];
  key?: ShardKeyPattern | undefined;
  chunks?: ChunkMap | undefined;
  /** Set for a targeted filter. */
  target?: Targeting | undefined;
  /** Set for documents: how many went to which chunk. */
  documents?: ReadonlyMap<number, number> | undefined;
  /** Keys of the first documents, as {@link sampleKeys} gives them. */
  samples?: readonly (readonly RawValue[])[] | undefined;
  shards: ShardWork[];
  merge: RoutingTraceEntry["merge"];
  /** Set for a range that has moved. */
  migration?: MigrationRecord | undefined;
  /** Set for a resharding. */
  resharding?: ReshardingRecord | undefined;
}

/** A range that has moved. */
export interface MigrationRecord {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  readonly from: string;
  readonly to: string;
  readonly documents: number;
  readonly bytes: number;
  /** Why the balancer moved it. */
  readonly reason?: string | undefined;
}

/** A record of an operation that a filter routed. */
export function traceTargeted(
  op: string,
  collection: ShardedCollection,
  target: Targeting,
  at: number,
): TraceRecord {
  return {
    at,
    op,
    ns: collection.ns,
    targeting: target.kind,
    key: collection.key,
    chunks: collection.chunks,
    target,
    shards: [],
    merge: { kind: "none" },
  };
}

/** A record of an operation on an unsharded collection. */
export function traceUnsharded(op: string, ns: string, shard: string, at: number): TraceRecord {
  return { at, op, ns, targeting: "unsharded", shards: [{ shard }], merge: { kind: "none" } };
}

/**
 * The shard keys of the first few documents, copied: a slice would keep the whole message alive.
 * @returns the key's values of each, not hashed; documents with an array in their key are left out
 */
export function sampleKeys(key: ShardKeyPattern, documents: readonly Uint8Array[]): RawValue[][] {
  const samples: RawValue[][] = [];
  const most = Math.min(documents.length, MAX_SAMPLES);
  for (let i = 0; i < most; i++) {
    try {
      samples.push(key.originalsOf(documents[i]!).map(copied));
    } catch (error) {
      // Such a document is refused, and the reply says why.
      if (!(error instanceof CommandError)) throw error;
    }
  }
  return samples;
}

function copied(value: RawValue | undefined): RawValue {
  if (!value) return NULL;
  const { type, bytes, start, end } = value;
  return { type, bytes: bytes.slice(start, end), start: 0, end: end - start };
}

/** The bounded log of records. */
export class TraceLog {
  readonly #capacity: number;
  readonly #onAdd: ((record: TraceRecord) => void) | undefined;
  readonly #ring: TraceRecord[] = [];
  #next = 1;

  /**
   * @param capacity entries kept
   * @param onAdd told of every record
   */
  constructor(capacity = 10_000, onAdd?: (record: TraceRecord) => void) {
    this.#capacity = capacity;
    this.#onAdd = onAdd;
  }

  /** Adds a finished record. */
  add(record: TraceRecord): void {
    this.#ring[(this.#next - 1) % this.#capacity] = record;
    this.#next += 1;
    this.#onAdd?.(record);
  }

  /** The number that the next entry will get. */
  get next(): number {
    return this.#next;
  }

  /**
   * Entries from number `since` on, as many as one reply may carry: a reader goes
   * on from `next` until it gets none.
   * @param since first number wanted; 1 when absent
   * @param limit at most so many entries
   * @returns raw entries, the number to go on with, and how many of the wanted ones the ring has lost
   */
  read(since = 1, limit = this.#capacity): { entries: Uint8Array[]; next: number; dropped: number } {
    const oldest = Math.max(1, this.#next - this.#capacity);
    const from = Math.max(since, oldest);
    const to = Math.min(this.#next, from + limit);
    const entries: Uint8Array[] = [];
    let n = from;
    for (let bytes = 0; n < to && bytes < MAX_REPLY_BYTES; n++) {
      const entry = entryDocument(n, this.#ring[(n - 1) % this.#capacity]!);
      entries.push(entry);
      bytes += entry.length;
    }
    return { entries, next: n, dropped: Math.max(0, oldest - Math.max(1, since)) };
  }
}

function entryDocument(n: number, record: TraceRecord): Uint8Array {
  const targeting = new DocumentWriter().string("kind", record.targeting);
  if (record.key) targeting.string("key", record.key.text);
  if (record.key && record.target && record.target.intervals.length > 0) {
    targeting.string("bounds", describeIntervals(record.target.intervals, record.key));
  }
  if (record.key && record.samples && record.samples.length > 0) {
    targeting.field("samples", array(record.samples.map(describeSample(record.key))));
  }
  const { ranges, omitted } = rangesOf(record);
  const entry = new DocumentWriter()
    .int32("n", n)
    .date("at", record.at)
    .string("op", record.op)
    .string("ns", record.ns)
    .document("targeting", targeting.finish())
    .arrayOf("ranges", ranges);
  if (omitted > 0) entry.int32("rangesOmitted", omitted);
  const inSteps = record.shards.some(({ step }) => step !== undefined);
  const shards = inSteps ? record.shards : [...record.shards].sort((a, b) => (a.shard < b.shard ? -1 : 1));
  entry.arrayOf("shards", shards.map(toDocument)).document("merge", toDocument(record.merge));
  if (record.migration) entry.document("migration", migrationDocument(record.migration));
  if (record.resharding) entry.document("resharding", toDocument(record.resharding));
  return entry.finish();
}

function migrationDocument({ min, max, from, to, documents, bytes, reason }: MigrationRecord): Uint8Array {
  const writer = new DocumentWriter().document("min", min).document("max", max);
  writer.string("from", from).string("to", to);
  writer.int64("documents", BigInt(documents)).int64("bytes", BigInt(bytes));
  return (reason === undefined ? writer : writer.string("reason", reason)).finish();
}

function describeSample(key: ShardKeyPattern): (sample: readonly RawValue[]) => RawValue {
  return (sample) => {
    const text = describeDocument(key.boundOf(sample));
    if (key.hashedField < 0) return string(text);
    return string(`${text} is at ${describeDocument(key.boundOf(key.pointOf(sample)))}`);
  };
}

function rangesOf(record: TraceRecord): { ranges: Uint8Array[]; omitted: number } {
  const { chunks } = record;
  if (!chunks) return { ranges: [], omitted: 0 };
  const indexes = record.documents
    ? [...record.documents.keys()].sort((a, b) => a - b)
    : firstOf(record.target?.chunks ?? [], MAX_RANGES);
  const total = record.documents ? indexes.length : countOf(record.target?.chunks ?? []);
  const ranges = indexes.slice(0, MAX_RANGES).map((index) => {
    const { min, max, shard } = chunks.chunk(index);
    const range = new DocumentWriter().document("min", min).document("max", max).string("shard", shard);
    const documents = record.documents?.get(index);
    if (documents !== undefined) range.int32("documents", documents);
    return range.finish();
  });
  return { ranges, omitted: total - ranges.length };
}

function firstOf(runs: readonly ChunkRun[], most: number): number[] {
  const indexes: number[] = [];
  for (const [first, last] of runs) {
    for (let index = first; index <= last && indexes.length < most; index++) indexes.push(index);
  }
  return indexes;
}

function countOf(runs: readonly ChunkRun[]): number {
  return runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}
