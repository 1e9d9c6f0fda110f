/**
 * Record ids in key order, from one stretch of an index or from bounds with gaps.
 *
 * A stretch is read from its first key to its last. Bounds with gaps are walked
 * key by key: the {@link BoundsChecker} says which key to keep, and where to
 * look up the next one.
 */
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import type { Filter } from "../../../query/index.js";
import { filterDocument, filterOf } from "../../../query/index.js";
import type { BTreeScan } from "../../storage/bTree.js";
import type { Collection } from "../../storage/collection.js";
import type { CollectionIndex, DocumentKeys, MoveWatcher } from "../../storage/collectionIndex.js";
import type { ScanAccess } from "../access.js";
import { BoundsChecker } from "../bounds/boundsChecker.js";
import { ABOVE, describeBounds, singleRange, type KeyRange } from "../bounds/keyIntervals.js";
import type { KeyDocuments } from "../covering.js";
import { fieldCodecs, indexCollation, multikeyPrefixes } from "../indexInfo.js";
import type { Interrupt } from "../interrupt.js";
import { describeRange } from "../minMax.js";
import { ADVANCED, EOF, NEED_TIME, PlanStage, UNFETCHED, type Progress } from "../planStage.js";
import { checkCollection } from "./collectionScan.js";

/** What an index scan gives beside record ids. */
export interface IndexScanOptions {
  /** Makes {@link PlanStage.indexKey}. */
  readonly keys?: KeyDocuments;
  /** Makes {@link PlanStage.document} out of the key: a covered plan. */
  readonly covered?: KeyDocuments;
}

/** Reads an index. */
export class IndexScan extends PlanStage implements MoveWatcher {
  private scan: BTreeScan | undefined;
  private readonly range: KeyRange | undefined;
  private readonly checker: BoundsChecker | undefined;
  private readonly keyFilter: Filter | undefined;
  /** Records given out already, where one record may have several keys. */
  private seen: Set<number> | undefined;
  private moves: Set<number> | undefined;
  private begun = false;
  private mustSeek = false;
  private seeks = 0;
  private dupsTested = 0;
  private dupsDropped = 0;

  constructor(
    private readonly collection: Collection,
    readonly access: ScanAccess,
    private interrupt: Interrupt,
    private readonly options: IndexScanOptions = {},
  ) {
    super("IXSCAN");
    const { index, bounds, backward, rawRange, keyFilter } = access;
    if (rawRange) this.range = rawRange;
    else if (bounds.every((intervals) => intervals.length > 0)) {
      this.range = singleRange(bounds, fieldCodecs(index));
      if (!this.range) this.checker = new BoundsChecker(bounds, index.spec.fields, backward);
    }
    this.keyFilter = keyFilter && filterOf(keyFilter);
  }

  override rest(): void {
    this.access.index.watchers.add(this);
  }

  override resume(interrupt?: Interrupt): void {
    const { index } = this.access;
    index.watchers.delete(this);
    if (interrupt) this.interrupt = interrupt;
    checkCollection(this.collection);
    checkIndex(index);
  }

  moved(id: number, from: DocumentKeys, to: DocumentKeys): void {
    const passed = (key: string): boolean => this.hasPassed(key, id);
    const old = typeof from === "string" ? [from] : from;
    const now = typeof to === "string" ? [to] : to;
    if (old.some((key) => this.isWithin(key) && passed(key)) && !now.every(passed))
      (this.moves ??= new Set()).add(id);
  }

  override describe(): Record<string, unknown> {
    const { index, bounds, backward, rawRange, keyFilter } = this.access;
    return {
      ...(keyFilter && { filter: filterDocument(keyFilter) }),
      ...describeIndexUse(index),
      direction: backward ? "backward" : "forward",
      ...(rawRange
        ? { indexBounds: describeRange(rawRange) }
        : describeBounds(bounds, index.spec.fields, backward)),
    };
  }

  override describeWork(): Record<string, unknown> {
    const { keysExamined, seeks, dupsTested, dupsDropped } = this;
    return { keysExamined, seeks, dupsTested, dupsDropped };
  }

  protected step(): Progress {
    if (!this.moveToNextKey()) return EOF;
    this.interrupt.step();
    this.keysExamined++;
    const { checker } = this;
    if (checker) {
      const state = checker.check((this.scan as BTreeScan).key);
      if (state === "done") return EOF;
      if (state === "seek") {
        this.mustSeek = true;
        return NEED_TIME;
      }
    }
    return this.accept();
  }

  /** The key is within bounds; is its record wanted? */
  private accept(): Progress {
    const { recordId, keyFilter } = this;
    if (this.access.index.multikey) {
      this.dupsTested++;
      this.seen ??= new Set();
      if (this.seen.has(recordId)) {
        this.dupsDropped++;
        return NEED_TIME;
      }
      this.seen.add(recordId);
    }
    if (this.moves?.has(recordId)) return NEED_TIME;
    const { keys, covered } = this.options;
    if (!keyFilter && !keys && !covered) return ADVANCED;
    const record = this.collection.records.get(recordId);
    if (!record || (keyFilter && !keyFilter.matches(record))) return NEED_TIME;
    if (keys) this.indexKey = keys.flat(record, this.scan?.key ?? "");
    this.document = covered ? covered.nested(record) : UNFETCHED;
    return ADVANCED;
  }

  /** Sets `recordId`; false at the end. */
  private moveToNextKey(): boolean {
    const { range } = this;
    const { index, backward } = this.access;
    if (!this.begun) {
      this.begun = true;
      if (range) {
        this.seeks++;
        this.scan = index.ordered.scan(range.from, range.to, backward);
      } else if (this.checker) {
        this.mustSeek = true;
      }
    }
    if (this.mustSeek) this.seek();
    const { scan } = this;
    if (!scan?.next()) return false;
    this.recordId = scan.id;
    return true;
  }

  private seek(): void {
    const { index, backward } = this.access;
    const { target } = this.checker as BoundsChecker;
    this.mustSeek = false;
    this.seeks++;
    this.scan = backward ? index.ordered.scan("", target, true) : index.ordered.scan(target, ABOVE);
  }

  /** Whether a key may have been given out. */
  private isWithin(key: string): boolean {
    const { range, checker } = this;
    return range ? range.from <= key && key < range.to : (checker?.contains(key) ?? false);
  }

  /** Whether the scan has gone by an entry. */
  private hasPassed(key: string, id: number): boolean {
    const { scan, range } = this;
    const { backward } = this.access;
    if (!scan || scan.id === -1) return false;
    if (range && !(range.from <= key && key < range.to)) return true;
    const at = scan.key;
    if (key === at) return backward ? id >= scan.id : id <= scan.id;
    return backward ? key > at : key < at;
  }
}

/**
 * @throws CommandError QueryPlanKilled (175)
 */
export function checkIndex(index: CollectionIndex): void {
  if (index.dropped) throw new CommandError(ErrorCode.QueryPlanKilled, `index '${index.spec.name}' dropped`);
}

/** The index fields that every index stage of an explain shows. */
export function describeIndexUse(index: CollectionIndex): Record<string, unknown> {
  const { spec } = index;
  const collation = indexCollation(index);
  return {
    keyPattern: spec.keyPattern,
    indexName: spec.name,
    ...(collation && { collation: collation.spec }),
    isMultiKey: index.multikey,
    // MongoDB doesn't track them for hashed indexes.
    ...(!spec.fields.some(({ kind }) => kind === "hashed") && {
      multiKeyPaths: Object.fromEntries(spec.fields.map(({ path }, i) => [path, multikeyPrefixes(index, i)])),
    }),
    isUnique: spec.unique,
    isSparse: spec.sparse,
    isPartial: spec.partialFilter !== undefined,
    indexVersion: 2,
  };
}
