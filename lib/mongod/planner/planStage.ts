/**
 * The stages of a query plan: a chain through which records are pulled one by one.
 *
 *     LIMIT ← PROJECTION ← FETCH ← IXSCAN
 *
 * A stage is asked for its next record and asks the one below it. Nothing runs
 * ahead: a find of 101 documents examines what it needs for 101 documents, and
 * a cursor is a plan at rest. Each stage counts what it did, and that is what
 * `explain` prints: the counts are true by construction.
 *
 * At rest the collection may change. A collection scan goes on after the last
 * record id, an index scan after its last key; both pass over what is gone. A
 * record that an update moved ahead of a resting index scan would be met twice:
 * the scan listens for such moves ({@link MoveWatcher}) and skips it.
 */
import type { Interrupt } from "./interrupt.js";

/** One stage of a plan. */
export abstract class PlanStage {
  /** The current record's document. Index scans leave it to FETCH. */
  document!: Uint8Array;
  /** The current record's id; 0 for documents that are no records. */
  recordId = 0;
  /** Results so far. */
  returned = 0;
  /** Calls so far. */
  works = 0;
  keysExamined = 0;
  docsExamined = 0;
  private ended = false;

  /**
   * @param name the stage's name in explain
   * @param input the stage it pulls from
   */
  constructor(
    readonly name: string,
    readonly input?: PlanStage,
  ) {}

  /** Further stages it pulls from, where it has more than one. */
  get inputs(): readonly PlanStage[] {
    return this.input ? [this.input] : [];
  }

  /** Moves to the next record; false at the end. */
  next(): boolean {
    if (this.ended) return false;
    this.works++;
    if (this.step()) {
      this.returned++;
      return true;
    }
    this.ended = true;
    return false;
  }

  /** Whether it is known, without looking, that nothing more comes. */
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

  /** What explain says about it beside its name and inputs. */
  describe(): Record<string, unknown> {
    return {};
  }

  protected abstract step(): boolean;

  /** Takes over the current record of the stage below. */
  protected take(input: PlanStage): true {
    this.document = input.document;
    this.recordId = input.recordId;
    return true;
  }
}
