/**
 * The chunk map: a sorted list of key ranges, each owned by one shard.
 *
 * This is all a router knows about where documents are (the lesson's "lookup
 * table in front of the data"). Chunks are half-open, contiguous, and cover the
 * whole line from MinKey to MaxKey, so the map stores only where each begins:
 *
 *     begins   MinKey      0          5000                 (MaxKey)
 *              ├───────────┼──────────┼────────────────────┤
 *     owner     shardB       shardA     shardB
 *     index     0            1          2
 *
 * Invariants: `begins` is strictly ascending, its first entry is MinKey of every
 * field, and every key has exactly one chunk: the last one that begins at or
 * before it. Finding it is a binary search over strings, of many chunks one over
 * numbers made from them (keyLine.ts).
 *
 * A map never changes. A split or a move makes a new map that shares what it
 * can, so an operation that took the map at its start sees one consistent
 * picture, and a trace can name the ranges of long ago.
 *
 * Memory: a collection may have a million chunks. One chunk costs its sortable
 * key (a one-byte string), its bound's BSON in one shared buffer, four bytes of
 * offset, two of owner and, once keys were looked up, eight of its head.
 */
import type { SortableKey } from "../../bson/index.js";
import { documentSortableKey } from "../../bson/index.js";
import { HashLine } from "./hashLine.js";
import { KeyLine } from "./keyLine.js";

/** One chunk, as {@link ChunkMap.chunk} reports it. */
export interface Chunk {
  readonly index: number;
  /** Inclusive lower bound, e.g. `{x: 0}`. */
  readonly min: Uint8Array;
  /** Exclusive upper bound. */
  readonly max: Uint8Array;
  readonly shard: string;
}

/** A chunk to build a map from: its lower bound and its owner. */
export interface ChunkStart {
  readonly min: Uint8Array;
  readonly shard: string;
}

/** A map's content, one entry per chunk in each array. */
interface ChunkArrays {
  /** Lower bounds as sortable keys, ascending. */
  readonly begins: readonly SortableKey[];
  /** Lower bounds as BSON, one after the other. */
  readonly bounds: Uint8Array;
  /** Where each bound begins in `bounds`, and where the last one ends. */
  readonly offsets: Uint32Array;
  /** Numbers of owners, as in `shards`. */
  readonly owners: Uint16Array;
  readonly shards: readonly string[];
  readonly maximum: Uint8Array;
}

/** Up to so many chunks are searched as strings: the numbers would not be worth making. */
const FEW_CHUNKS = 64;

/** An immutable, ordered map from shard key to shard. */
export class ChunkMap {
  readonly #begins: readonly SortableKey[];
  readonly #bounds: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #owners: Uint16Array;
  readonly #shards: readonly string[];
  readonly #maximum: Uint8Array;
  #owning: readonly string[] | undefined;
  /** Made when a key is first looked up among more than a few chunks. */
  #keyLine: KeyLine | undefined;
  /** Made when first asked for; null where there can be none. */
  #hashLine: HashLine | null | undefined;

  /** Takes the arrays over; use {@link ChunkMap.build} or {@link ChunkMapBuilder}. */
  constructor({ begins, bounds, offsets, owners, shards, maximum }: ChunkArrays) {
    this.#begins = begins;
    this.#bounds = bounds;
    this.#offsets = offsets;
    this.#owners = owners;
    this.#shards = shards;
    this.#maximum = maximum;
  }

  /**
   * Builds a map.
   * @param starts in ascending order of their bounds, the first at MinKey
   * @param maximum the upper end of the line, every field MaxKey
   */
  static build(starts: Iterable<ChunkStart>, maximum: Uint8Array): ChunkMap {
    const builder = new ChunkMapBuilder(maximum);
    for (const { min, shard } of starts) builder.add(min, shard);
    return builder.finish();
  }

  /** Number of chunks. */
  get size(): number {
    return this.#begins.length;
  }

  /** The index of the chunk that a key belongs to. */
  find(key: SortableKey): number {
    const begins = this.#begins;
    if (begins.length > FEW_CHUNKS) return (this.#keyLine ??= new KeyLine(begins)).find(key);
    let low = 0;
    let high = begins.length;
    // Invariant: begins[low] <= key < begins[high].
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (begins[middle]! <= key) low = middle;
      else high = middle;
    }
    return low;
  }

  /** For a map over one hashed field: its bounds as numbers; undefined where a bound is no int64. */
  hashLine(): HashLine | undefined {
    if (this.#hashLine === undefined)
      this.#hashLine = HashLine.of(this.size, (index) => this.#bound(index)) ?? null;
    return this.#hashLine ?? undefined;
  }

  /** The shard that owns a chunk. */
  ownerOf(index: number): string {
    return this.#shards[this.#owners[index]!]!;
  }

  /** A chunk's lower bound as a sortable key. */
  beginOf(index: number): SortableKey {
    return this.#begins[index]!;
  }

  /** A chunk with its bounds. */
  chunk(index: number): Chunk {
    return { index, min: this.#bound(index), max: this.#bound(index + 1), shard: this.ownerOf(index) };
  }

  /** All chunks in order. */
  *chunks(): Generator<Chunk> {
    for (let index = 0; index < this.size; index++) yield this.chunk(index);
  }

  /**
   * The indexes `[first, last]` of the chunks that meet a closed interval.
   *
   * Both ends are inclusive, as in MongoDB: `{x: {$lt: 5}}` also meets the chunk
   * that begins at 5, although no document there can match.
   */
  meeting(low: SortableKey, high: SortableKey): [first: number, last: number] {
    return [this.find(low), this.find(high)];
  }

  /** Shards that own at least one chunk, in ascending order. */
  owningShards(): readonly string[] {
    if (!this.#owning) {
      const used = new Set<number>();
      for (const owner of this.#owners) used.add(owner);
      this.#owning = [...used].map((owner) => this.#shards[owner]!).sort();
    }
    return this.#owning;
  }

  /** The map after one chunk went to another shard. */
  withOwner(index: number, shard: string): ChunkMap {
    let shards = this.#shards;
    let owner = shards.indexOf(shard);
    if (owner < 0) {
      owner = shards.length;
      shards = [...shards, shard];
    }
    const owners = this.#owners.slice();
    owners[index] = owner;
    const moved = new ChunkMap({
      begins: this.#begins,
      bounds: this.#bounds,
      offsets: this.#offsets,
      owners,
      shards,
      maximum: this.#maximum,
    });
    moved.#keyLine = this.#keyLine;
    moved.#hashLine = this.#hashLine;
    return moved;
  }

  /**
   * The map after one chunk was cut.
   * @param index the chunk
   * @param points bounds strictly inside it, ascending
   */
  withSplit(index: number, points: readonly Uint8Array[]): ChunkMap {
    const builder = new ChunkMapBuilder(this.#maximum);
    for (let i = 0; i < this.size; i++) {
      const shard = this.ownerOf(i);
      builder.addKnown(this.#begins[i]!, this.#bound(i), shard);
      if (i === index) for (const point of points) builder.add(point, shard);
    }
    return builder.finish();
  }

  /** The map after the chunks from `first` to `last` became one, on the first one's shard. */
  withMerge(first: number, last: number): ChunkMap {
    const builder = new ChunkMapBuilder(this.#maximum);
    for (let i = 0; i < this.size; i++) {
      if (i <= first || i > last) builder.addKnown(this.#begins[i]!, this.#bound(i), this.ownerOf(i));
    }
    return builder.finish();
  }

  #bound(index: number): Uint8Array {
    if (index === this.size) return this.#maximum;
    return this.#bounds.subarray(this.#offsets[index], this.#offsets[index + 1]);
  }
}

/** Collects chunks in ascending order into compact arrays. */
export class ChunkMapBuilder {
  readonly #begins: SortableKey[] = [];
  readonly #maximum: Uint8Array;
  readonly #shards: string[] = [];
  readonly #shardNumbers = new Map<string, number>();
  #bounds = new Uint8Array(1024);
  #used = 0;
  #offsets = new Uint32Array(65);
  #owners = new Uint16Array(64);

  constructor(maximum: Uint8Array) {
    this.#maximum = maximum;
  }

  /** Chunks so far. */
  get size(): number {
    return this.#begins.length;
  }

  /** Adds the chunk that begins at `min`. */
  add(min: Uint8Array, shard: string): void {
    this.addKnown(documentSortableKey(min), min, shard);
  }

  /** The same where the sortable key is already there. */
  addKnown(begin: SortableKey, min: Uint8Array, shard: string): void {
    const index = this.#begins.length;
    if (index > 0 && begin <= this.#begins[index - 1]!)
      throw new Error("chunks must begin in ascending order");
    this.#begins.push(begin);
    this.#grow(index, min.length);
    this.#bounds.set(min, this.#used);
    this.#used += min.length;
    this.#offsets[index + 1] = this.#used;
    let owner = this.#shardNumbers.get(shard);
    if (owner === undefined) {
      owner = this.#shards.length;
      this.#shardNumbers.set(shard, owner);
      this.#shards.push(shard);
    }
    this.#owners[index] = owner;
  }

  /** The finished map; the builder must not be used afterwards. */
  finish(): ChunkMap {
    const { size } = this;
    return new ChunkMap({
      begins: this.#begins,
      bounds: this.#bounds.slice(0, this.#used),
      offsets: this.#offsets.slice(0, size + 1),
      owners: this.#owners.slice(0, size),
      shards: this.#shards,
      maximum: this.#maximum,
    });
  }

  #grow(index: number, more: number): void {
    if (this.#used + more > this.#bounds.length) {
      const larger = new Uint8Array(Math.max(this.#bounds.length * 2, this.#used + more));
      larger.set(this.#bounds);
      this.#bounds = larger;
    }
    if (index >= this.#owners.length) {
      const offsets = new Uint32Array(this.#owners.length * 2 + 1);
      offsets.set(this.#offsets);
      this.#offsets = offsets;
      const owners = new Uint16Array(this.#owners.length * 2);
      owners.set(this.#owners);
      this.#owners = owners;
    }
  }
}
