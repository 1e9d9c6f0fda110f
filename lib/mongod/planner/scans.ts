/** The stages at the bottom of a plan: those that read the collection or an index. */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Filter } from "../../query/index.js";
import { filterDocument } from "../../query/index.js";
import type { BTreeScan } from "../storage/bTree.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex, DocumentKeys, MoveWatcher } from "../storage/collectionIndex.js";
import type { Interrupt } from "./interrupt.js";
import type { KeyRange } from "./keyRanges.js";
import { PlanStage } from "./planStage.js";

/** Nothing at all: the collection does not exist. */
export class EofStage extends PlanStage {
  constructor(private readonly reason: string) {
    super("EOF");
  }

  override get done(): boolean {
    return true;
  }

  override describe(): Record<string, unknown> {
    return { type: this.reason };
  }

  protected step(): boolean {
    return false;
  }
}

/** Every record in insertion order, or in reverse. */
export class CollectionScan extends PlanStage {
  constructor(
    private readonly collection: Collection,
    private readonly filter: Filter | undefined,
    private readonly backward: boolean,
    private interrupt: Interrupt,
  ) {
    super("COLLSCAN");
    this.position = backward ? Infinity : 0;
  }

  private position: number;

  override get done(): boolean {
    return super.done || this.following() === 0;
  }

  override resume(interrupt?: Interrupt): void {
    if (interrupt) this.interrupt = interrupt;
    checkCollection(this.collection);
  }

  override describe(): Record<string, unknown> {
    return {
      ...(this.filter && { filter: filterDocument(this.filter.node) }),
      direction: this.backward ? "backward" : "forward",
    };
  }

  private following(): number {
    const { records } = this.collection;
    return this.backward ? records.before(this.position) : records.after(this.position);
  }

  protected step(): boolean {
    const { collection, filter, interrupt } = this;
    for (;;) {
      const id = this.following();
      if (id === 0) return false;
      this.position = id;
      interrupt.step();
      const document = collection.records.get(id) as Uint8Array;
      this.docsExamined++;
      if (filter && !filter.matches(document)) continue;
      this.document = document;
      this.recordId = id;
      return true;
    }
  }
}

/** How an index is to be read. */
export interface IndexAccess {
  readonly index: CollectionIndex;
  readonly ranges: readonly KeyRange[];
  readonly backward: boolean;
  /** Checks fields that the ranges do not narrow; only for indexes that are not multikey. */
  readonly residual?: (document: Uint8Array) => boolean;
  /** What explain prints as `indexBounds`. */
  readonly describeBounds: (backward: boolean) => Record<string, unknown>;
}

/** Record ids in key order, from ranges of an index. */
export class IndexScan extends PlanStage implements MoveWatcher {
  private range = 0;
  private scan: BTreeScan | undefined;
  /** Records given out already, where one record may have several keys. */
  private seen: Set<number> | undefined;
  private moves: Set<number> | undefined;

  constructor(
    private readonly collection: Collection,
    readonly access: IndexAccess,
    private interrupt: Interrupt,
    name = "IXSCAN",
  ) {
    super(name);
  }

  override rest(): void {
    this.access.index.watchers.add(this);
  }

  override resume(interrupt?: Interrupt): void {
    const { index } = this.access;
    index.watchers.delete(this);
    if (interrupt) this.interrupt = interrupt;
    checkCollection(this.collection);
    if (index.dropped)
      throw new CommandError(ErrorCode.QueryPlanKilled, `index '${index.spec.name}' dropped`);
  }

  moved(id: number, from: DocumentKeys, to: DocumentKeys): void {
    const passed = (key: string): boolean => this.hasPassed(key, id);
    const old = typeof from === "string" ? [from] : from;
    const now = typeof to === "string" ? [to] : to;
    if (old.some(passed) && !now.every(passed)) (this.moves ??= new Set()).add(id);
  }

  override describe(): Record<string, unknown> {
    const { index, backward, describeBounds } = this.access;
    return {
      ...describeIndexUse(index),
      direction: backward ? "backward" : "forward",
      indexBounds: describeBounds(backward),
    };
  }

  protected step(): boolean {
    const { index, residual } = this.access;
    for (;;) {
      if (!this.nextEntry()) return false;
      this.interrupt.step();
      this.keysExamined++;
      const { recordId } = this;
      if (index.multikey) {
        this.seen ??= new Set();
        if (this.seen.has(recordId)) continue;
        this.seen.add(recordId);
      }
      if (this.moves?.has(recordId)) continue;
      if (residual && !index.multikey) {
        const document = this.collection.records.get(recordId);
        if (document && !residual(document)) continue;
      }
      return true;
    }
  }

  /** Sets `recordId` to the next entry within the ranges. */
  private nextEntry(): boolean {
    const { index, ranges, backward } = this.access;
    for (;;) {
      if (this.scan) {
        if (this.scan.next()) {
          this.recordId = this.scan.id;
          return true;
        }
        this.scan = undefined;
        this.range++;
      }
      const range = ranges[backward ? ranges.length - 1 - this.range : this.range];
      if (!range) return false;
      if (range.point !== undefined && index.pointLookup) {
        this.range++;
        const id = index.find(range.point);
        if (id === undefined) continue;
        this.recordId = id;
        return true;
      }
      this.scan = index.ordered.scan(range.from, range.to, backward);
    }
  }

  /** Whether the scan has gone by an entry that lay within its ranges. */
  private hasPassed(key: string, id: number): boolean {
    const { ranges, backward } = this.access;
    const at = ranges.findIndex((range) => range.from <= key && key < range.to);
    if (at === -1) return false;
    const turn = backward ? ranges.length - 1 - at : at;
    if (turn !== this.range) return turn < this.range;
    const { scan } = this;
    if (!scan || scan.id === -1) return false;
    if (key === scan.key) return backward ? id >= scan.id : id <= scan.id;
    return backward ? key > scan.key : key < scan.key;
  }
}

/** The index fields that every index stage of an explain shows. */
export function describeIndexUse(index: CollectionIndex): Record<string, unknown> {
  const multiKeyPaths = Object.fromEntries(index.spec.fields.map(({ path }) => [path, []]));
  return {
    keyPattern: index.spec.keyPattern,
    indexName: index.spec.name,
    isMultiKey: index.multikey,
    ...(index.multikey ? {} : { multiKeyPaths }),
    isUnique: index.spec.unique,
    isSparse: index.spec.sparse,
    isPartial: false,
    indexVersion: 2,
  };
}

/** Several index scans one after the other, each record once. */
export class OrStage extends PlanStage {
  private at = 0;
  private readonly seen = new Set<number>();

  constructor(private readonly scans: readonly IndexScan[]) {
    super("OR");
  }

  override get inputs(): readonly PlanStage[] {
    return this.scans;
  }

  protected step(): boolean {
    for (let scan = this.scans[this.at]; scan; scan = this.scans[++this.at]) {
      while (scan.next()) {
        if (this.seen.has(scan.recordId)) continue;
        this.seen.add(scan.recordId);
        this.recordId = scan.recordId;
        return true;
      }
    }
    return false;
  }
}

/** A record by its `_id`: the shortest plan there is. @since MongoDB 8.0 under this name */
export class ExpressScan extends PlanStage {
  constructor(
    private readonly collection: Collection,
    private readonly key: string,
  ) {
    super("EXPRESS_IXSCAN");
  }

  override get done(): boolean {
    return super.done || this.returned > 0;
  }

  override describe(): Record<string, unknown> {
    return { keyPattern: "{ _id: 1 }", indexName: "_id_" };
  }

  protected step(): boolean {
    if (this.returned > 0) return false;
    const id = this.collection.idIndex.find(this.key);
    if (id === undefined) return false;
    this.keysExamined++;
    this.docsExamined++;
    this.document = this.collection.records.get(id) as Uint8Array;
    this.recordId = id;
    return true;
  }
}

/**
 * @throws CommandError QueryPlanKilled (175)
 */
function checkCollection(collection: Collection): void {
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
