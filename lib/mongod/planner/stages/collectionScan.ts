/** The stages that read no index. */
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import type { Filter } from "../../../query/index.js";
import { filterDocument } from "../../../query/index.js";
import type { Collection } from "../../storage/collection.js";
import type { Interrupt } from "../interrupt.js";
import { ADVANCED, EOF, NEED_TIME, PlanStage, type Progress } from "../planStage.js";

/** Why nothing can come. */
export type EofReason = "nonExistentNamespace" | "predicateEvalsToFalse";

/** Nothing at all. */
export class EofStage extends PlanStage {
  constructor(private readonly reason: EofReason) {
    super("EOF");
  }

  override get done(): boolean {
    return true;
  }

  override describe(): Record<string, unknown> {
    return { type: this.reason };
  }

  protected step(): Progress {
    return EOF;
  }
}

/** How a collection is scanned, beside its direction. */
export interface CollectionScanOptions {
  readonly backward: boolean;
  /** At its end the scan waits for what may still be inserted. */
  readonly tailable?: boolean;
}

/** Every record in insertion order, or in reverse. */
export class CollectionScan extends PlanStage {
  private position: number;
  private readonly backward: boolean;
  private readonly tailable: boolean;

  constructor(
    private readonly collection: Collection,
    private readonly filter: Filter | undefined,
    options: CollectionScanOptions,
    private interrupt: Interrupt,
  ) {
    super("COLLSCAN");
    this.backward = options.backward;
    this.tailable = options.tailable ?? false;
    this.endsForGood = !this.tailable;
    this.position = this.backward ? Infinity : 0;
  }

  override resume(interrupt?: Interrupt): void {
    if (interrupt) this.interrupt = interrupt;
    checkCollection(this.collection);
    // The oldest records of a capped collection give way to new ones; a reader who is overtaken has missed some.
    if (interrupt && this.collection.settings.capped && !this.done) this.checkPosition();
  }

  override describe(): Record<string, unknown> {
    return {
      ...(this.filter && { filter: filterDocument(this.filter.node) }),
      direction: this.backward ? "backward" : "forward",
    };
  }

  override describeWork(): Record<string, unknown> {
    return { docsExamined: this.docsExamined };
  }

  protected step(): Progress {
    const { filter, interrupt } = this;
    const { records } = this.collection;
    const id = this.backward ? records.before(this.position) : records.after(this.position);
    if (id === 0) return EOF;
    this.position = id;
    interrupt.step();
    const document = records.get(id) as Uint8Array;
    this.docsExamined++;
    if (filter && !filter.matches(document)) return NEED_TIME;
    this.document = document;
    this.recordId = id;
    return ADVANCED;
  }

  private checkPosition(): void {
    const { position } = this;
    if (position === 0 || position === Infinity) return; // not begun
    if (this.collection.records.get(position) !== undefined) return;
    throw new CommandError(
      ErrorCode.CappedPositionLost,
      `CollectionScan died due to failure to restore tailable cursor position. Last seen record id: RecordId(${position})`,
    );
  }
}

/**
 * @throws CommandError QueryPlanKilled (175)
 */
export function checkCollection(collection: Collection): void {
  if (collection.dropped)
    throw new CommandError(
      ErrorCode.QueryPlanKilled,
      `collection dropped. UUID ${uuidText(collection.uuid)}`,
    );
}

function uuidText(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
