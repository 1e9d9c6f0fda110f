/** Runs stages: over a list at once, or pushed from outside while the input arrives. */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { carryMeta } from "../meta.js";
import type { Emit, ParsedStage, Stage } from "./stage.js";
import { SortStage } from "./sort.js";

/** A stage to be run, with the one behind it where it does the work of both. */
export interface StagePair {
  readonly stage: ParsedStage;
  readonly absorbed?: ParsedStage;
  create(): Stage;
}

/** The stages of a pipeline as they are run: an `$unwind` of what a `$lookup` found is done by the `$lookup`. */
export function stagePairs(parsed: readonly ParsedStage[]): StagePair[] {
  const pairs: StagePair[] = [];
  for (let i = 0; i < parsed.length; i++) {
    const stage = parsed[i]!;
    const next = parsed[i + 1];
    const both = next && stage.absorb?.(next);
    if (both) {
      pairs.push({ stage, absorbed: next, create: both });
      i++;
    } else {
      pairs.push({ stage, create: () => stage.create() });
    }
  }
  return pairs;
}

/**
 * Runs of all stages of a pipeline. A `$limit` behind a `$sort` is told to it, so that it keeps only that many
 * documents. Where some stage asks for `$meta`, all stages hand metadata on.
 */
export function createStages(parsed: readonly ParsedStage[]): Stage[] {
  const pairs = stagePairs(parsed);
  const meta = parsed.some(({ usesMeta }) => usesMeta);
  return pairs.map((pair, i) => {
    const stage = pair.create();
    if (stage instanceof SortStage) {
      tellLimit(stage, pairs, i + 1);
      stage.keepsKeys = meta;
    }
    return meta ? carrying(stage) : stage;
  });
}

/** The stage, its output having the metadata of the document that it was made of. */
function carrying(stage: Stage): Stage {
  return {
    name: stage.name,
    get satisfied() {
      return stage.satisfied;
    },
    push(doc, emit) {
      stage.push(doc, (out) => {
        carryMeta(doc, out);
        return emit(out);
      });
    },
    finish: (emit) => stage.finish(emit),
    ...(stage.describe && { describe: () => stage.describe!() }),
  };
}

function tellLimit(sort: SortStage, pairs: readonly StagePair[], from: number): void {
  let skipped = 0;
  for (let i = from; i < pairs.length; i++) {
    const { name, count } = pairs[i]!.stage;
    if (name === "$skip") skipped += count!;
    else if (name === "$limit") {
      sort.keepFirst(skipped + count!);
      return;
    } else return;
  }
}

/**
 * Runs stages over documents.
 * @param step called for every document that a stage hands on: may end what takes too long by throwing
 */
export function runStages(
  stages: readonly Stage[],
  input: Iterable<Uint8Array>,
  step?: () => void,
): Uint8Array[] {
  const runner = new PipelineRunner(stages, step);
  if (!runner.satisfied) {
    for (const doc of input) {
      runner.push(doc);
      if (runner.satisfied) break;
    }
  }
  runner.finish();
  return runner.take();
}

/**
 * What one document, or the end of the input, may bring out at once: a stage hands on all it has before anybody takes
 * it. Three `$unwind` of an array of a thousand make a billion documents of one.
 */
const MAX_PENDING = 4_000_000;
const MAX_PENDING_BYTES = 1024 * 1024 * 1024;

function tooMuchAtOnce(): CommandError {
  return new CommandError(
    ErrorCode.ExceededMemoryLimit,
    `a pipeline can give ${MAX_PENDING} documents, ${MAX_PENDING_BYTES} bytes, at once and not more`,
  );
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
  /** Documents that each stage has handed on. */
  readonly emitted: number[];
  #output: Uint8Array[] = [];
  /** Bytes of the output that nobody has taken yet. */
  #bytes = 0;
  #finished = false;

  /** @param step called for every document that a stage hands on */
  constructor(
    stages: readonly Stage[],
    readonly step?: () => void,
  ) {
    this.#stages = stages;
    this.emitted = stages.map(() => 0);
    this.#emitters = stages.map((_, i) => this.#emitterOf(i));
  }

  /** Hands on to the stage behind: false once it wants no more. */
  #emitterOf(index: number): Emit {
    const next = this.#stages[index + 1];
    const { emitted, step } = this;
    if (next === undefined) {
      return (doc) => {
        step?.();
        emitted[index]!++;
        this.#bytes += doc.length;
        if (this.#bytes > MAX_PENDING_BYTES || this.#output.length >= MAX_PENDING) throw tooMuchAtOnce();
        this.#output.push(doc);
      };
    }
    return (doc) => {
      if (next.satisfied) return false;
      step?.();
      emitted[index]!++;
      next.push(doc, this.#emitters[index + 1]!);
      return !this.#satisfiedBehind(index);
    };
  }

  #satisfiedBehind(index: number): boolean {
    for (let i = index + 1; i < this.#stages.length; i++) if (this.#stages[i]!.satisfied) return true;
    return false;
  }

  /** The stages, in the order in which they run. */
  get stages(): readonly Stage[] {
    return this.#stages;
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
    this.#bytes = 0;
    return output;
  }

  /** More input cannot change the output. */
  get satisfied(): boolean {
    return this.#stages.some((stage) => stage.satisfied);
  }
}
