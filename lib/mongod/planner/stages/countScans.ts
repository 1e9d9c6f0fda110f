/** Stages that count, and find the different values of a field, without looking at documents. */
import { componentEnd, DocumentWriter } from "../../../bson/index.js";
import type { BTreeScan } from "../../storage/bTree.js";
import type { Collection } from "../../storage/collection.js";
import type { ScanAccess } from "../access.js";
import { BoundsChecker } from "../bounds/boundsChecker.js";
import { ABOVE, describeBounds, type KeyInterval, type KeyRange } from "../bounds/keyIntervals.js";
import type { KeyDocuments } from "../covering.js";
import type { Interrupt } from "../interrupt.js";
import { ADVANCED, EOF, NEED_TIME, PlanStage, type Progress } from "../planStage.js";
import { describeIndexUse } from "./indexScan.js";

/** Counts the keys of one stretch of an index. The key that ends the scan is examined too, as in MongoDB. */
export class CountScan extends PlanStage {
  private readonly scan: BTreeScan;
  private seen: Set<number> | undefined;

  constructor(
    private readonly access: ScanAccess,
    range: KeyRange,
    private readonly interrupt: Interrupt,
  ) {
    super("COUNT_SCAN");
    this.scan = access.index.ordered.scan(range.from, range.to);
  }

  override describe(): Record<string, unknown> {
    return { ...describeIndexUse(this.access.index), indexBounds: this.describeRange() };
  }

  override describeWork(): Record<string, unknown> {
    return { keysExamined: this.keysExamined };
  }

  /** The ends of the stretch. */
  private describeRange(): Record<string, unknown> {
    const { index, bounds } = this.access;
    const start = new DocumentWriter();
    const end = new DocumentWriter();
    let startKeyInclusive = true;
    let endKeyInclusive = true;
    index.spec.fields.forEach(({ path }, i) => {
      const { lowValue, lowInclusive, highValue, highInclusive } = bounds[i]?.[0] as KeyInterval;
      start.field(path, lowValue);
      end.field(path, highValue);
      startKeyInclusive &&= lowInclusive;
      endKeyInclusive &&= highInclusive;
    });
    return {
      startKey: start.finish(),
      startKeyInclusive,
      endKey: end.finish(),
      endKeyInclusive,
    };
  }

  protected step(): Progress {
    this.interrupt.step();
    this.keysExamined++;
    if (!this.scan.next()) return EOF;
    const { id } = this.scan;
    if (this.access.index.multikey) {
      this.seen ??= new Set();
      if (this.seen.has(id)) return NEED_TIME;
      this.seen.add(id);
    }
    this.recordId = id;
    return ADVANCED;
  }
}

/** Counts what comes from below, or asks the collection. */
export class CountStage extends PlanStage {
  private counted = 0;
  private skipped = 0;

  /** @param input undefined: the collection knows its size */
  constructor(
    override readonly input: PlanStage | undefined,
    private readonly collection: Collection | undefined,
    private readonly skip: number,
    private readonly limit: number,
  ) {
    super(input ? "COUNT" : "RECORD_STORE_FAST_COUNT", input);
  }

  /** The count; runs the plan at its first call. */
  count(): number {
    while (this.next());
    return this.counted;
  }

  override describeWork(): Record<string, unknown> {
    return { nCounted: this.counted, nSkipped: this.skipped };
  }

  /** Counting gives no records: its steps need time, and then it is done. */
  protected step(): Progress {
    const { input, skip, limit } = this;
    if (!input) {
      const all = this.collection?.records.count ?? 0;
      this.skipped = Math.min(skip, all);
      this.counted = limit > 0 ? Math.min(all - this.skipped, limit) : all - this.skipped;
      return EOF;
    }
    if (limit > 0 && this.counted >= limit) return EOF;
    const progress = input.work();
    if (progress === EOF) return EOF;
    if (progress === ADVANCED) {
      if (this.skipped < skip) this.skipped++;
      else this.counted++;
    }
    return NEED_TIME;
  }
}

/** One record for each value of an index's field: after each it looks up what follows that value. */
export class DistinctScan extends PlanStage {
  private readonly checker: BoundsChecker;
  private readonly descending: readonly boolean[];
  private target: string;

  /**
   * @param field position of the field whose values are wanted
   * @param covered makes the documents
   */
  constructor(
    private readonly collection: Collection,
    private readonly access: ScanAccess,
    private readonly field: number,
    private readonly covered: KeyDocuments,
    private readonly interrupt: Interrupt,
  ) {
    super("DISTINCT_SCAN");
    const { index, bounds, backward } = access;
    this.checker = new BoundsChecker(bounds, index.spec.fields, backward);
    this.target = this.checker.target;
    this.descending = index.keys.descending;
  }

  override describe(): Record<string, unknown> {
    const { index, bounds, backward } = this.access;
    const { indexVersion, ...use } = describeIndexUse(index);
    return {
      ...use,
      // Since 8.2 it can fetch and drop orphans itself; on one server there is no need to.
      isShardFiltering: false,
      isFetching: false,
      indexVersion,
      direction: backward ? "backward" : "forward",
      ...describeBounds(bounds, index.spec.fields, backward),
    };
  }

  override describeWork(): Record<string, unknown> {
    return { keysExamined: this.keysExamined, docsExamined: 0, chunkSkips: 0, orphanChunkSkips: 0 };
  }

  protected step(): Progress {
    const { index, backward } = this.access;
    const scan = backward
      ? index.ordered.scan("", this.target, true)
      : index.ordered.scan(this.target, ABOVE);
    if (!scan.next()) return EOF;
    this.interrupt.step();
    this.keysExamined++;
    const { key, id } = scan;
    const state = this.checker.check(key);
    if (state === "done") return EOF;
    if (state === "seek") {
      this.target = this.checker.target;
      return NEED_TIME;
    }
    let end = 0;
    for (let i = 0; i <= this.field; i++) end = componentEnd(key, end, this.descending[i]);
    const prefix = key.slice(0, end);
    this.recordId = this.present(scan, prefix) ?? id;
    this.target = backward ? prefix : prefix + ABOVE;
    this.document = this.covered.nested(this.record(this.recordId));
    return ADVANCED;
  }

  /** The first record within the bounds that has the field: null and a missing field are one key. */
  private present(scan: BTreeScan, prefix: string): number | undefined {
    for (;;) {
      const { id } = scan;
      if (this.covered.has(this.field, this.record(id))) return id;
      do {
        if (!scan.next() || !scan.key.startsWith(prefix)) return undefined;
        this.interrupt.step();
        this.keysExamined++;
      } while (this.checker.check(scan.key) !== "valid");
    }
  }

  private record(id: number): Uint8Array {
    return this.collection.records.get(id) as Uint8Array;
  }
}
