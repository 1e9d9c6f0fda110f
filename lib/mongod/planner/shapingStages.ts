/** The stages above the scans: they fetch, order, count off and shape. */
import type { Filter, Sort } from "../../query/index.js";
import { filterDocument } from "../../query/index.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { PlanStage } from "./planStage.js";

/** From record ids to documents, keeping those that match. */
export class Fetch extends PlanStage {
  constructor(
    override readonly input: PlanStage,
    private readonly collection: Collection,
    private readonly filter: Filter | undefined,
    /** An index whose bounds say all that the filter says. */
    private readonly exactIndex?: CollectionIndex,
  ) {
    super("FETCH", input);
    this.multikeyWhenPlanned = exactIndex?.multikey ?? false;
  }

  private readonly multikeyWhenPlanned: boolean;

  override describe(): Record<string, unknown> {
    return this.filter && !this.exactIndex ? { filter: filterDocument(this.filter.node) } : {};
  }

  override get done(): boolean {
    return super.done || this.input.done;
  }

  protected step(): boolean {
    const { input, collection, exactIndex } = this;
    // While the plan rested, an array may have come into the index, and with it documents its bounds are too wide for.
    const filter = exactIndex?.multikey === this.multikeyWhenPlanned ? undefined : this.filter;
    while (input.next()) {
      const document = collection.records.get(input.recordId);
      if (!document) continue;
      this.docsExamined++;
      if (filter && !filter.matches(document)) continue;
      this.document = document;
      this.recordId = input.recordId;
      return true;
    }
    return false;
  }
}

/** All input, sorted in memory; with a limit only the first so many are kept. */
export class SortStage extends PlanStage {
  private sorted: { document: Uint8Array; recordId: number }[] | undefined;
  private at = 0;
  private bytes = 0;

  constructor(
    override readonly input: PlanStage,
    private readonly sort: Sort,
    private readonly pattern: Uint8Array,
    private readonly limit: number,
  ) {
    super("SORT", input);
  }

  override get done(): boolean {
    return super.done || (this.sorted !== undefined && this.at >= this.sorted.length);
  }

  override describe(): Record<string, unknown> {
    return {
      sortPattern: this.pattern,
      memLimit: 104857600,
      ...(this.limit > 0 && { limitAmount: this.limit }),
      type: "simple",
    };
  }

  /** Bytes of the documents that were sorted. */
  get totalDataSizeSorted(): number {
    return this.bytes;
  }

  protected step(): boolean {
    this.sorted ??= this.readAll();
    const entry = this.sorted[this.at];
    if (!entry) return false;
    this.at++;
    this.document = entry.document;
    this.recordId = entry.recordId;
    return true;
  }

  private readAll(): { document: Uint8Array; recordId: number }[] {
    const { input, sort, limit } = this;
    const byKey = (a: { key: string }, b: { key: string }): number =>
      a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
    const most = limit > 0 ? Math.max(2 * limit, 1024) : Infinity;
    const entries: { key: string; document: Uint8Array; recordId: number }[] = [];
    while (input.next()) {
      const { document, recordId } = input;
      this.bytes += document.length;
      entries.push({ key: sort.key(document), document, recordId });
      if (entries.length >= most) {
        entries.sort(byKey);
        entries.length = limit;
      }
    }
    entries.sort(byKey);
    if (limit > 0 && entries.length > limit) entries.length = limit;
    // A cursor may rest here for minutes; the keys have done their work.
    return entries.map(({ document, recordId }) => ({ document, recordId }));
  }
}

/** Leaves out the first so many. */
export class Skip extends PlanStage {
  private left: number;

  constructor(
    override readonly input: PlanStage,
    private readonly amount: number,
  ) {
    super("SKIP", input);
    this.left = amount;
  }

  override get done(): boolean {
    return super.done || this.input.done;
  }

  override describe(): Record<string, unknown> {
    return { skipAmount: this.amount };
  }

  protected step(): boolean {
    while (this.left > 0) {
      if (!this.input.next()) return false;
      this.left--;
    }
    return this.input.next() && this.take(this.input);
  }
}

/** Ends after so many. */
export class Limit extends PlanStage {
  constructor(
    override readonly input: PlanStage,
    private readonly amount: number,
  ) {
    super("LIMIT", input);
  }

  override get done(): boolean {
    return super.done || this.returned >= this.amount || this.input.done;
  }

  override describe(): Record<string, unknown> {
    return { limitAmount: this.amount };
  }

  protected step(): boolean {
    return this.returned < this.amount && this.input.next() && this.take(this.input);
  }
}

/** Shapes documents. */
export class Projection extends PlanStage {
  constructor(
    override readonly input: PlanStage,
    private readonly project: (document: Uint8Array) => Uint8Array,
    private readonly spec: Uint8Array,
    name: "PROJECTION_SIMPLE" | "PROJECTION_DEFAULT",
  ) {
    super(name, input);
  }

  override get done(): boolean {
    return super.done || this.input.done;
  }

  override describe(): Record<string, unknown> {
    return { transformBy: this.spec };
  }

  protected step(): boolean {
    if (!this.input.next()) return false;
    this.document = this.project(this.input.document);
    this.recordId = this.input.recordId;
    return true;
  }
}
