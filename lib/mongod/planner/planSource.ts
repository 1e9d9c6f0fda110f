import type { DocumentSource } from "../cursors.js";
import type { Interrupt } from "./interrupt.js";
import type { PlanStage } from "./planStage.js";

/** A plan as the source of a cursor. */
export class PlanSource implements DocumentSource {
  constructor(private readonly root: PlanStage) {}

  get done(): boolean {
    return this.root.done;
  }

  next(): Uint8Array | undefined {
    return this.root.next() ? this.root.document : undefined;
  }

  rest(): void {
    this.root.rest();
  }

  resume(interrupt?: Interrupt): void {
    this.root.resume(interrupt);
  }
}

/** Documents made beforehand (`listIndexes`, `$collStats`) as the source of a cursor. */
export class ListSource implements DocumentSource {
  private at = 0;

  constructor(private readonly documents: readonly Uint8Array[]) {}

  get done(): boolean {
    return this.at >= this.documents.length;
  }

  next(): Uint8Array | undefined {
    return this.documents[this.at++];
  }

  rest(): void {}

  resume(): void {}
}
