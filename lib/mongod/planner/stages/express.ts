/**
 * The shortest plans: one equality, one record.
 *
 *     EXPRESS_IXSCAN             {_id: 7}, or {email: "x"} with a unique index   (since 8.0)
 *     EXPRESS_CLUSTERED_IXSCAN   the same in a clustered collection, which is not simulated
 *     IDHACK                     {_id: 7} where the query asks for more: returnKey, an expression in the
 *                                projection, a batchSize
 */
import { describeDocument } from "../../../bson/index.js";
import type { Collection } from "../../storage/collection.js";
import type { CollectionIndex } from "../../storage/collectionIndex.js";
import type { KeyDocuments } from "../covering.js";
import { ABOVE } from "../bounds/keyIntervals.js";
import { ADVANCED, EOF, PlanStage, type Progress } from "../planStage.js";
import { checkCollection } from "./collectionScan.js";
import { checkIndex } from "./indexScan.js";

/** A projection that an express plan does itself. */
export interface ExpressProjection {
  readonly spec: Uint8Array;
  readonly apply: (document: Uint8Array) => Uint8Array;
}

/** The first record under one key of an index. */
export class ExpressScan extends PlanStage {
  constructor(
    private readonly collection: Collection,
    readonly index: CollectionIndex,
    private readonly key: string,
    private readonly projection: ExpressProjection | undefined,
  ) {
    super("EXPRESS_IXSCAN");
  }

  override get done(): boolean {
    return super.done || this.returned > 0;
  }

  override resume(): void {
    checkCollection(this.collection);
    checkIndex(this.index);
  }

  override describe(): Record<string, unknown> {
    const { index, projection } = this;
    return {
      // 8.x prints the pattern as text here, and only here.
      keyPattern: describeDocument(index.spec.keyPattern),
      indexName: index.spec.name,
      ...(projection && { projection: projection.spec, projectionCovered: false }),
    };
  }

  override describeWork(): Record<string, unknown> {
    return { keysExamined: this.keysExamined, docsExamined: this.docsExamined };
  }

  protected step(): Progress {
    if (this.returned > 0) return EOF;
    const { index, key, projection } = this;
    const id = index.spec.fields.length === 1 ? index.find(key) : firstUnder(index, key);
    if (id === undefined) return EOF;
    this.keysExamined++;
    this.docsExamined++;
    const document = this.collection.records.get(id) as Uint8Array;
    this.document = projection ? projection.apply(document) : document;
    this.recordId = id;
    return ADVANCED;
  }
}

/** The first record under a key of an index's leading field. */
function firstUnder(index: CollectionIndex, key: string): number | undefined {
  const scan = index.ordered.scan(key, key + ABOVE);
  return scan.next() ? scan.id : undefined;
}

/** The record with one `_id`. */
export class IdHack extends PlanStage {
  constructor(
    private readonly collection: Collection,
    private readonly key: string,
    private readonly keys: KeyDocuments | undefined,
  ) {
    super("IDHACK");
  }

  override get done(): boolean {
    return super.done || this.returned > 0;
  }

  override resume(): void {
    checkCollection(this.collection);
  }

  override describeWork(): Record<string, unknown> {
    return { keysExamined: this.keysExamined, docsExamined: this.docsExamined };
  }

  protected step(): Progress {
    if (this.returned > 0) return EOF;
    const id = this.collection.idIndex.find(this.key);
    if (id === undefined) return EOF;
    this.keysExamined++;
    this.docsExamined++;
    this.document = this.collection.records.get(id) as Uint8Array;
    this.recordId = id;
    if (this.keys) this.indexKey = this.keys.flat(this.document, this.key);
    return ADVANCED;
  }
}
