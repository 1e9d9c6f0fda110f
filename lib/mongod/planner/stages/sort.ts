import type { Sort, StageMemory } from "../../../query/index.js";
import { STAGE_MEMORY_LIMIT } from "../../../query/index.js";
import type { Collection } from "../../storage/collection.js";
import { ADVANCED, EOF, NEED_TIME, PlanStage, type Progress } from "../planStage.js";

interface Entry {
  readonly document: Uint8Array;
  readonly recordId: number;
  readonly indexKey: Uint8Array | undefined;
}

interface KeyedEntry extends Entry {
  readonly key: string;
}

/** All input, sorted in memory; with a limit only the first so many are kept. */
export class SortStage extends PlanStage {
  private collected: KeyedEntry[] = [];
  private sorted: readonly Entry[] | undefined;
  private at = 0;
  private bytes = 0;
  private readonly most: number;

  /**
   * @param limit 0: none
   * @param unfetched the records below are known by their index keys only
   * @param memory where the disk is forbidden
   */
  constructor(
    override readonly input: PlanStage,
    private readonly sort: Sort,
    private readonly pattern: Uint8Array,
    private readonly limit: number,
    private readonly unfetched: Collection | undefined,
    private readonly memory: StageMemory | undefined,
  ) {
    super("SORT", input);
    this.most = limit > 0 ? Math.max(2 * limit, 1024) : Infinity;
  }

  override describe(): Record<string, unknown> {
    return {
      sortPattern: this.pattern,
      memLimit: STAGE_MEMORY_LIMIT,
      ...(this.limit > 0 && { limitAmount: this.limit }),
      type: this.unfetched ? "default" : "simple",
    };
  }

  override describeWork(): Record<string, unknown> {
    return { totalDataSizeSorted: this.bytes, usedDisk: false, spills: 0, spilledDataStorageSize: 0 };
  }

  protected step(): Progress {
    const { sorted } = this;
    if (!sorted) return this.collect();
    const entry = sorted[this.at];
    if (!entry) return EOF;
    this.at++;
    this.document = entry.document;
    this.recordId = entry.recordId;
    this.indexKey = entry.indexKey;
    return ADVANCED;
  }

  /** Takes one more record in; sorts at the end of them. */
  private collect(): Progress {
    const { input, sort, unfetched, collected } = this;
    const progress = input.work();
    if (progress === ADVANCED) {
      const { document, recordId, indexKey } = input;
      const values = unfetched ? (unfetched.records.get(recordId) ?? document) : document;
      this.bytes += unfetched ? 0 : document.length;
      collected.push({ key: sort.key(values), document, recordId, indexKey });
      // Of the kept entries perhaps not all are needed.
      if (this.memory?.lacks(document.length) === true && this.limit > 0) this.keepFirst();
      this.memory?.hold(document.length);
      if (collected.length >= this.most) this.keepFirst();
    } else if (progress !== NEED_TIME) {
      this.keepFirst();
      // A cursor may rest here for minutes; the keys have done their work.
      this.sorted = collected.map(({ document, recordId, indexKey }) => ({ document, recordId, indexKey }));
      this.collected = [];
    }
    return NEED_TIME;
  }

  private keepFirst(): void {
    const { collected, limit } = this;
    collected.sort(byKey);
    if (limit === 0 || collected.length <= limit) return;
    for (const { document } of this.memory ? collected.slice(limit) : []) this.memory!.hold(-document.length);
    collected.length = limit;
  }
}

/** Equal keys keep the order in which they came: the sort is stable. */
function byKey(a: { key: string }, b: { key: string }): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Adds nothing to the record: in an index's own order the sort key is read off where it is asked for. */
export class SortKeyGenerator extends PlanStage {
  constructor(override readonly input: PlanStage) {
    super("SORT_KEY_GENERATOR", input);
  }

  protected step(): Progress {
    const progress = this.input.work();
    return progress === ADVANCED ? this.take(this.input) : progress;
  }
}
