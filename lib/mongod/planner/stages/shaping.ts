/** The stages above the scans: they count off and shape. */
import { DocumentWriter, int64 } from "../../../bson/index.js";
import type { DocumentMeta } from "../../../query/index.js";
import { setMeta } from "../../../query/index.js";
import { ADVANCED, EOF, NEED_TIME, PassingStage, type PlanStage, type Progress } from "../planStage.js";

/** Leaves out the first so many. */
export class Skip extends PassingStage {
  private left: number;

  constructor(
    input: PlanStage,
    private readonly amount: number,
  ) {
    super("SKIP", input);
    this.left = amount;
  }

  override describe(): Record<string, unknown> {
    return { skipAmount: this.amount };
  }

  protected pass(input: PlanStage): Progress {
    if (this.left === 0) return this.take(input);
    this.left--;
    return NEED_TIME;
  }
}

/** Ends after so many. */
export class Limit extends PassingStage {
  constructor(
    input: PlanStage,
    private readonly amount: number,
  ) {
    super("LIMIT", input);
  }

  override get done(): boolean {
    return super.done || this.returned >= this.amount;
  }

  override describe(): Record<string, unknown> {
    return { limitAmount: this.amount };
  }

  protected override step(): Progress {
    return this.returned >= this.amount ? EOF : super.step();
  }

  protected pass(input: PlanStage): Progress {
    return this.take(input);
  }
}

/** Which of MongoDB's projection stages it is. */
export type ProjectionKind = "PROJECTION_SIMPLE" | "PROJECTION_COVERED" | "PROJECTION_DEFAULT";

/** Shapes documents. */
export class Projection extends PassingStage {
  /**
   * @param spec as explain shows it
   * @param meta makes what the projection may ask for by `$meta`; false where it doesn't
   */
  constructor(
    kind: ProjectionKind,
    input: PlanStage,
    private readonly project: (document: Uint8Array) => Uint8Array,
    private readonly spec: Uint8Array,
    private readonly meta: ((input: PlanStage) => DocumentMeta) | false = false,
  ) {
    super(kind, input);
  }

  override describe(): Record<string, unknown> {
    return { transformBy: this.spec };
  }

  protected pass(input: PlanStage): Progress {
    let { document } = input;
    if (this.meta) {
      // The stored document is everybody's: what is known of it in this query goes to a view of its own.
      document = document.subarray(0);
      setMeta(document, this.meta(input));
    }
    this.document = this.project(document);
    this.recordId = input.recordId;
    this.indexKey = input.indexKey;
    return ADVANCED;
  }
}

/** Adds `$recordId`, which MongoDB does by a projection too. */
export class AddRecordId extends PassingStage {
  private readonly transformBy: Uint8Array;

  /**
   * @param input the documents, shaped already where the query has a projection; explain shows both as one stage
   * @param spec the query's own projection
   */
  constructor(input: PlanStage, spec: Uint8Array) {
    super("PROJECTION_DEFAULT", input instanceof Projection ? input.input : input);
    this.shaped = input;
    const meta = new DocumentWriter().string("$meta", "recordId").finish();
    this.transformBy = new DocumentWriter().fieldsOf(spec).document("$recordId", meta).finish();
  }

  private readonly shaped: PlanStage;

  override describe(): Record<string, unknown> {
    return { transformBy: this.transformBy };
  }

  protected override step(): Progress {
    const progress = this.shaped.work();
    return progress === ADVANCED ? this.pass(this.shaped) : progress;
  }

  protected pass(input: PlanStage): Progress {
    const { recordId } = input;
    this.document = new DocumentWriter()
      .fieldsOf(input.document)
      .field("$recordId", int64(BigInt(recordId)))
      .finish();
    this.recordId = recordId;
    return ADVANCED;
  }
}

/** Gives the index key instead of the document; `{}` where no index was used. */
export class ReturnKey extends PassingStage {
  constructor(
    input: PlanStage,
    private readonly empty: Uint8Array,
  ) {
    super("RETURN_KEY", input);
  }

  protected pass(input: PlanStage): Progress {
    this.document = input.indexKey ?? this.empty;
    this.recordId = input.recordId;
    return ADVANCED;
  }
}

/** Marks a plan for an `$or` at the filter's root, whose branches were planned one by one. */
export class Subplan extends PassingStage {
  constructor(input: PlanStage) {
    super("SUBPLAN", input);
  }

  protected pass(input: PlanStage): Progress {
    return this.take(input);
  }
}
