import type { Filter } from "../../../query/index.js";
import { filterDocument } from "../../../query/index.js";
import type { Collection } from "../../storage/collection.js";
import type { CollectionIndex } from "../../storage/collectionIndex.js";
import { ADVANCED, NEED_TIME, PassingStage, UNFETCHED, type PlanStage, type Progress } from "../planStage.js";

/** What {@link Fetch} checks. */
export interface FetchFilters {
  /** What the bounds leave open. */
  readonly left?: Filter | undefined;
  /** All conditions of the query. */
  readonly whole?: Filter | undefined;
}

/** From record ids to documents, keeping those that match. */
export class Fetch extends PassingStage {
  private alreadyHasObj = 0;
  private readonly multikeyWhenPlanned: boolean;

  constructor(
    input: PlanStage,
    private readonly collection: Collection,
    private readonly filters: FetchFilters,
    /** The indexes whose bounds stand for the rest of the filter. */
    private readonly indexes: readonly CollectionIndex[],
  ) {
    super("FETCH", input);
    this.multikeyWhenPlanned = indexes.some(({ multikey }) => multikey);
  }

  private filter: Filter | undefined = undefined;
  private planned = false;

  override describe(): Record<string, unknown> {
    const { left } = this.filters;
    return left ? { filter: filterDocument(left.node) } : {};
  }

  override describeWork(): Record<string, unknown> {
    return { docsExamined: this.docsExamined, alreadyHasObj: this.alreadyHasObj };
  }

  override rest(): void {
    super.rest();
    this.planned = false;
  }

  protected pass(input: PlanStage): Progress {
    if (!this.planned) this.chooseFilter();
    const { filter } = this;
    this.recordId = input.recordId;
    this.indexKey = input.indexKey;
    let { document } = input;
    if (document !== UNFETCHED) {
      this.alreadyHasObj++;
    } else {
      const record = this.collection.records.get(input.recordId);
      if (!record) return NEED_TIME;
      this.docsExamined++;
      document = record;
    }
    if (filter && !filter.matches(document)) return NEED_TIME;
    this.document = document;
    return ADVANCED;
  }

  /** While the plan rested, an array may have come into an index, and with it documents its bounds are too wide for. */
  private chooseFilter(): void {
    this.planned = true;
    const { left, whole } = this.filters;
    const changed = !this.multikeyWhenPlanned && this.indexes.some(({ multikey }) => multikey);
    this.filter = changed ? whole : left;
  }
}
