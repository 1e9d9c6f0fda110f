/** Runs stages: over a list at once, or pushed from outside while the input arrives. */
import type { Emit, ParsedStage, Stage } from "./stage.js";
import { SortStage } from "./sort.js";

/**
 * Runs of all stages of a pipeline, a `$limit` behind a `$sort` told to it, so
 * that it keeps only that many documents.
 */
export function createStages(parsed: readonly ParsedStage[]): Stage[] {
  const stages = parsed.map((stage) => stage.create());
  for (let i = 0; i < stages.length; i++) {
    const stage = stages[i]!;
    if (!(stage instanceof SortStage)) continue;
    let skipped = 0;
    for (let j = i + 1; j < parsed.length; j++) {
      const { name, count } = parsed[j]!;
      if (name === "$skip") skipped += count!;
      else if (name === "$limit") {
        stage.keepFirst(skipped + count!);
        break;
      } else break;
    }
  }
  return stages;
}

/** Runs stages over documents. */
export function runStages(stages: readonly Stage[], input: Iterable<Uint8Array>): Uint8Array[] {
  const runner = new PipelineRunner(stages);
  for (const doc of input) {
    runner.push(doc);
    if (runner.satisfied) break;
  }
  runner.finish();
  return runner.take();
}

/**
 * A running pipeline.
 * @example
 * const runner = new PipelineRunner(createStages(parsePipeline(stages)));
 * while (!runner.satisfied && (batch = await next())) for (const doc of batch) runner.push(doc);
 * runner.finish();
 * reply(runner.take());
 */
export class PipelineRunner {
  readonly #stages: readonly Stage[];
  readonly #emitters: Emit[];
  #output: Uint8Array[] = [];
  #finished = false;

  constructor(stages: readonly Stage[]) {
    this.#stages = stages;
    this.#emitters = stages.map((_, i) =>
      i === stages.length - 1
        ? (doc) => void this.#output.push(doc)
        : (doc) => {
            const next = this.#stages[i + 1]!;
            if (!next.satisfied) next.push(doc, this.#emitters[i + 1]!);
          },
    );
  }

  /** Takes one document of the input; call it only before {@link finish}. */
  push(doc: Uint8Array): void {
    const first = this.#stages[0];
    if (first === undefined) this.#output.push(doc);
    else if (!first.satisfied) first.push(doc, this.#emitters[0]!);
  }

  /** Says that the input is finished: blocking stages hand on what they hold. */
  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#stages.forEach((stage, i) => stage.finish(this.#emitters[i]!));
  }

  /** The output so far; each document is given out once. */
  take(): Uint8Array[] {
    const output = this.#output;
    this.#output = [];
    return output;
  }

  /** More input cannot change the output. */
  get satisfied(): boolean {
    return this.#stages.some((stage) => stage.satisfied);
  }
}
