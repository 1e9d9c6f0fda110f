/** What runs when a pipeline runs: sources that feed its stages, and the stages as a source themselves. */
import { EMPTY_DOCUMENT } from "../../bson/index.js";
import type { ParsedStage } from "../../query/index.js";
import { createStages, PipelineRunner, setMeta } from "../../query/index.js";
import type { DocumentSource } from "../cursors.js";
import type { PipelineRun } from "../pipelineHost.js";
import type { Interrupt } from "./interrupt.js";
import { PlanSource } from "./planSource.js";
import type { PlanStage } from "./planStage.js";

/** A plan whose documents know their record id. */
export class MetaSource extends PlanSource {
  constructor(private readonly plan: PlanStage) {
    super(plan);
  }

  override next(): Uint8Array | undefined {
    const stored = super.next();
    // Metadata belongs to this query: to a view of the document, not to the stored bytes that others read as well.
    const document = stored?.subarray(0);
    if (document && this.plan.recordId > 0) setMeta(document, { recordId: this.plan.recordId });
    return document;
  }
}

/** As many empty documents as a plan has records. */
export class CountSource implements DocumentSource {
  private left: number | undefined;

  constructor(private readonly plan: PlanStage) {}

  get done(): boolean {
    return this.left === 0;
  }

  next(): Uint8Array | undefined {
    const left = this.count();
    if (left === 0) return undefined;
    this.left = left - 1;
    return EMPTY_DOCUMENT;
  }

  private count(): number {
    if (this.left === undefined) {
      this.left = 0;
      while (this.plan.next()) this.left++;
    }
    return this.left;
  }

  // The scan is not made to rest: it is run to its end before.
  rest(): void {
    this.count();
  }

  resume(): void {}
}

/** The stages after a source, as a source themselves. */
export class PipelineSource implements DocumentSource {
  readonly runner: PipelineRunner;
  private ready: readonly Uint8Array[] = [];
  private at = 0;
  private finished = false;

  constructor(
    private readonly input: DocumentSource,
    stages: readonly ParsedStage[],
    private readonly run: PipelineRun,
  ) {
    this.runner = new PipelineRunner(createStages(stages), () => this.run.interrupt.step());
  }

  get done(): boolean {
    return this.finished && this.at >= this.ready.length;
  }

  next(): Uint8Array | undefined {
    for (;;) {
      if (this.at < this.ready.length) return this.ready[this.at++];
      if (this.finished) return undefined;
      this.run.interrupt.step();
      const document = this.runner.satisfied ? undefined : this.input.next();
      if (document) {
        this.runner.push(document);
      } else {
        this.runner.finish();
        this.finished = true;
      }
      this.ready = this.runner.take();
      this.at = 0;
    }
  }

  // Once the input has been read (a $group, a $sort), what happens to the collection no longer matters.
  rest(): void {
    if (!this.finished) this.input.rest();
  }

  resume(interrupt?: Interrupt): void {
    if (interrupt) this.run.interrupt = interrupt;
    if (!this.finished) this.input.resume(interrupt);
  }
}
