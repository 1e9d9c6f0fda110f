/** Several inputs as one. */
import type { Sort } from "../../../query/index.js";
import type { Collection } from "../../storage/collection.js";
import { ADVANCED, EOF, NEED_TIME, PlanStage, UNFETCHED, type Progress } from "../planStage.js";

/** One input after the other, each record once. */
export class OrStage extends PlanStage {
  private at = 0;
  private readonly seen = new Set<number>();
  private dupsTested = 0;
  private dupsDropped = 0;

  constructor(private readonly branches: readonly PlanStage[]) {
    super("OR");
  }

  override get inputs(): readonly PlanStage[] {
    return this.branches;
  }

  override describeWork(): Record<string, unknown> {
    return { dupsTested: this.dupsTested, dupsDropped: this.dupsDropped };
  }

  protected step(): Progress {
    const branch = this.branches[this.at];
    if (!branch) return EOF;
    const progress = branch.work();
    if (progress === ADVANCED) {
      this.dupsTested++;
      if (this.seen.has(branch.recordId)) {
        this.dupsDropped++;
        return NEED_TIME;
      }
      this.seen.add(branch.recordId);
      return this.take(branch);
    }
    if (progress === NEED_TIME) return NEED_TIME;
    this.at++;
    return this.at < this.branches.length ? NEED_TIME : EOF;
  }
}

interface Head {
  readonly key: string;
  readonly branch: PlanStage;
}

/** Inputs that are in one order each, merged in that order; each record once. */
export class SortMergeStage extends PlanStage {
  /** Inputs whose next record is not known yet. */
  private readonly waiting: PlanStage[];
  /** The next record of all others, the first in order last. */
  private readonly heads: Head[] = [];
  private readonly seen = new Set<number>();
  private dupsTested = 0;
  private dupsDropped = 0;

  constructor(
    private readonly branches: readonly PlanStage[],
    private readonly sort: Sort,
    private readonly pattern: Uint8Array,
    private readonly collection: Collection,
    /** Whether a record can come from several inputs: else explain counts no duplicates looked for. */
    private readonly dedup: boolean,
  ) {
    super("SORT_MERGE");
    this.waiting = [...branches];
  }

  override get inputs(): readonly PlanStage[] {
    return this.branches;
  }

  override describe(): Record<string, unknown> {
    return { sortPattern: this.pattern };
  }

  override describeWork(): Record<string, unknown> {
    return { dupsTested: this.dupsTested, dupsDropped: this.dupsDropped };
  }

  protected step(): Progress {
    const { waiting, heads } = this;
    const next = waiting[0];
    if (next) return this.advance(next);
    const head = heads.pop();
    if (!head) return EOF;
    waiting.push(head.branch);
    return this.take(head.branch);
  }

  private advance(branch: PlanStage): Progress {
    const { waiting, seen } = this;
    const progress = branch.work();
    if (progress === NEED_TIME) return NEED_TIME;
    if (progress === EOF) {
      waiting.shift();
      return NEED_TIME;
    }
    if (this.dedup) this.dupsTested++;
    // An update can move a record from one input to another while the plan rests.
    if (seen.has(branch.recordId)) {
      this.dupsDropped++;
      return NEED_TIME;
    }
    seen.add(branch.recordId);
    waiting.shift();
    const document =
      branch.document === UNFETCHED ? this.collection.records.get(branch.recordId) : branch.document;
    if (document) this.insert({ key: this.sort.key(document), branch });
    else waiting.unshift(branch);
    return NEED_TIME;
  }

  /** Equal keys come in the order in which they were met. */
  private insert(head: Head): void {
    const { heads } = this;
    let low = 0;
    let high = heads.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((heads[middle] as Head).key > head.key) low = middle + 1;
      else high = middle;
    }
    heads.splice(low, 0, head);
  }
}
