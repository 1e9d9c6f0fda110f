/** `$sort`, and `$sort` with a limit behind it. */
import { int64 } from "../../bson/index.js";
import { setMeta } from "../meta.js";
import type { Sort } from "../sort/index.js";
import type { Emit, Stage } from "./stage.js";
import type { StageMemory } from "./stageMemory.js";

interface Entry {
  readonly key: string;
  /** Place in the input: equal keys keep their order. */
  readonly order: number;
  readonly doc: Uint8Array;
}

function compareEntries(a: Entry, b: Entry): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : a.order - b.order;
}

export class SortStage implements Stage {
  readonly name = "$sort";
  readonly satisfied = false;
  #entries: Entry[] = [];
  #limit = Infinity;
  #bytes = 0;
  #seen = 0;
  /** With a limit: an entry at or behind this one can be dropped at once. */
  #cut: Entry | undefined;

  /**
   * @param memory where the disk is forbidden
   * @param keepsKeys each document gets its sort key as metadata
   */
  constructor(
    readonly sort: Sort,
    readonly memory: StageMemory | undefined = undefined,
    public keepsKeys = false,
  ) {}

  /** Only the first `n` documents are wanted. */
  keepFirst(n: number): void {
    this.#limit = Math.min(this.#limit, n);
  }

  describe(): Record<string, unknown> {
    return { totalDataSizeSortedBytesEstimate: int64(this.#bytes), usedDisk: false, spills: int64(0) };
  }

  push(doc: Uint8Array): void {
    this.#bytes += doc.length;
    const entry = { key: this.sort.key(doc), order: this.#seen++, doc };
    if (this.#cut !== undefined && compareEntries(entry, this.#cut) >= 0) return;
    // Of the kept entries perhaps not all are needed.
    if (this.memory?.lacks(doc.length) === true && this.#limit < Infinity) this.#cutBack();
    this.#entries.push(entry);
    this.memory?.hold(doc.length);
    // Cutting back when the list has doubled costs a constant number of comparisons per document.
    if (this.#entries.length >= 2 * this.#limit + 16) this.#cutBack();
  }

  #cutBack(): void {
    this.#entries.sort(compareEntries);
    for (let i = this.#limit; i < this.#entries.length; i++) this.memory?.hold(-this.#entries[i]!.doc.length);
    this.#entries.length = Math.min(this.#limit, this.#entries.length);
    this.#cut = this.#entries.at(-1);
  }

  finish(emit: Emit): void {
    this.#cutBack();
    const entries = this.#entries;
    this.#entries = [];
    for (const { doc } of entries) {
      if (this.keepsKeys) setMeta(doc, { sortKey: this.sort.values(doc) });
      if (emit(doc) === false) return;
    }
  }
}
