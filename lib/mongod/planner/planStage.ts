/**
 * The stages of a query plan: a chain through which records are pulled one by one.
 *
 *     LIMIT ← PROJECTION ← FETCH ← IXSCAN
 *
 * As in MongoDB's classic engine a stage is *worked*: asked for one small step
 * of its task, in which it usually works the stage below it once. A step ends
 * in one of three ways:
 *
 *     ADVANCED     here is a record
 *     NEED_TIME    nothing yet: a document that does not match, one more for the sort
 *     EOF          there is nothing more
 *
 * So two plans can be run side by side, step by step, to see which gets on
 * better (multiPlan.ts), and `explain`'s works, advanced and needTime are not
 * estimates: they count these steps, and the other counts what the steps did.
 *
 * Nothing runs ahead: a find of 101 documents examines what it needs for 101
 * documents, and a cursor is a plan at rest. At rest the collection may change.
 * A collection scan goes on after the last record id, an index scan after its
 * last key; both pass over what is gone. A record that an update moved ahead of
 * a resting index scan would be met twice: the scan listens for such moves
 * ({@link MoveWatcher}) and skips it.
 */
import type { Interrupt } from "./interrupt.js";
import type { PlanningRecord } from "./planningRecord.js";

/** How a step of work ended. */
export const ADVANCED = 1;
export const NEED_TIME = 0;
export const EOF = -1;
export type Progress = typeof ADVANCED | typeof NEED_TIME | typeof EOF;

/** The document of a record of which only the index key is known yet. */
export const UNFETCHED = new Uint8Array(0);

/** One stage of a plan. */
export abstract class PlanStage {
  /** The current record's document; {@link UNFETCHED} below FETCH. */
  document: Uint8Array = UNFETCHED;
  /** The current record's id; 0 for documents that are no records. */
  recordId = 0;
  /** The index key that led to the current record, `{a: 1, "b.c": 2}`; only where the query asks for it. */
  indexKey: Uint8Array | undefined;
  /** Records given out: `advanced`. */
  returned = 0;
  /** Steps so far. */
  works = 0;
  keysExamined = 0;
  docsExamined = 0;
  /** How the plan was found; on a plan's root. */
  planning?: PlanningRecord;
  /** False for a scan that may go on after its end: a tailable one. */
  protected endsForGood = true;
  private ended = false;

  /**
   * @param name the stage's name in explain
   * @param input the stage it pulls from
   */
  constructor(
    readonly name: string,
    readonly input?: PlanStage,
  ) {}

  /** The stages it pulls from. */
  get inputs(): readonly PlanStage[] {
    return this.input ? [this.input] : [];
  }

  /** Steps without a result. */
  get needTime(): number {
    return this.works - this.returned - this.eofs;
  }

  private eofs = 0;

  /** One step. */
  work(): Progress {
    this.works++;
    if (this.ended) {
      this.eofs++;
      return EOF;
    }
    const progress = this.step();
    if (progress === ADVANCED) this.returned++;
    else if (progress === EOF) {
      this.ended = this.endsForGood;
      this.eofs++;
    }
    return progress;
  }

  /** Moves to the next record; false at the end. */
  next(): boolean {
    for (;;) {
      const progress = this.work();
      if (progress !== NEED_TIME) return progress === ADVANCED;
    }
  }

  /** Whether it is known, without a step, that nothing more comes. */
  get done(): boolean {
    return this.ended;
  }

  /** Told when the plan comes to rest between two batches. */
  rest(): void {
    for (const input of this.inputs) input.rest();
  }

  /**
   * Told when it goes on, or is given up.
   * @throws CommandError 175 when what it reads was dropped
   */
  resume(interrupt?: Interrupt): void {
    let failure: unknown;
    for (const input of this.inputs) {
      try {
        input.resume(interrupt);
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  /** What explain says about it beside its name and inputs: the filter first, then its own fields. */
  describe(): Record<string, unknown> {
    return {};
  }

  /** What explain adds after the plan has run. */
  describeWork(): Record<string, unknown> {
    return {};
  }

  protected abstract step(): Progress;

  /** Takes over the current record of the stage below. */
  protected take(input: PlanStage): typeof ADVANCED {
    this.document = input.document;
    this.recordId = input.recordId;
    this.indexKey = input.indexKey;
    return ADVANCED;
  }
}

/** A stage that hands on, one by one, what the stage below gives. */
export abstract class PassingStage extends PlanStage {
  constructor(
    name: string,
    override readonly input: PlanStage,
  ) {
    super(name, input);
  }

  override get done(): boolean {
    return super.done || this.input.done;
  }

  protected step(): Progress {
    if (this.input.done) return EOF;
    const progress = this.input.work();
    return progress === ADVANCED ? this.pass(this.input) : progress;
  }

  /** What becomes of a record from below. */
  protected abstract pass(input: PlanStage): Progress;
}
