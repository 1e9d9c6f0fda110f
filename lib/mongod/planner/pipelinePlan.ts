/**
 * Running an aggregation: what a plan can do is given to the plan.
 *
 *     [{$match: F}, {$sort: S}, {$skip: 10}, {$limit: 5}, {$group: …}]
 *      └────────── find(F).sort(S).skip(10).limit(5) ────┘ └─ stages ┘
 *
 * So a leading `$match` uses indexes and `$sort` with `$limit` keeps only what
 * is asked for. The rest runs as push stages of the query layer, fed one
 * document at a time, until they have something to give or want no more.
 */
import {
  asDocument,
  asNumber,
  BsonType,
  DocumentWriter,
  EMPTY_DOCUMENT,
  isNumeric,
} from "../../bson/index.js";
import type { ParsedStage } from "../../query/index.js";
import { createStages, PipelineRunner } from "../../query/index.js";
import type { DocumentSource } from "../cursors.js";
import type { Interrupt } from "./interrupt.js";
import type { QueryParts } from "./query.js";

/** A pipeline divided into a find and the stages after it. */
export interface SplitPipeline {
  readonly find: QueryParts;
  readonly rest: readonly ParsedStage[];
}

/** Takes the leading stages that a find can do. */
export function splitPipeline(stages: readonly ParsedStage[]): SplitPipeline {
  let at = 0;
  const filters: Uint8Array[] = [];
  const name = (): string | undefined => stages[at]?.name;
  const spec = (): ParsedStage["spec"] | undefined => stages[at]?.spec;
  while (name() === "$match" && spec()?.type === BsonType.object) {
    filters.push(asDocument((stages[at] as ParsedStage).spec));
    at++;
  }
  let sort: Uint8Array | undefined;
  if (name() === "$sort" && spec()?.type === BsonType.object) {
    sort = asDocument((stages[at] as ParsedStage).spec);
    at++;
  }
  const amount = (wanted: string): number | undefined => {
    const value = spec();
    if (name() !== wanted || !value || !isNumeric(value) || !(asNumber(value) >= 1)) return undefined;
    at++;
    return asNumber(value);
  };
  const skip = amount("$skip");
  const limit = amount("$limit");
  return {
    find: { filter: allOf(filters), sort, skip, limit },
    rest: stages.slice(at),
  };
}

function allOf(filters: readonly Uint8Array[]): Uint8Array {
  const [first] = filters;
  if (!first) return EMPTY_DOCUMENT;
  return filters.length === 1 ? first : new DocumentWriter().arrayOf("$and", filters).finish();
}

/** The stages after a source, as a source themselves. */
export class PipelineSource implements DocumentSource {
  private readonly runner: PipelineRunner;
  private ready: readonly Uint8Array[] = [];
  private at = 0;
  private finished = false;

  constructor(
    private readonly input: DocumentSource,
    stages: readonly ParsedStage[],
  ) {
    this.runner = new PipelineRunner(createStages(stages));
  }

  get done(): boolean {
    return this.finished && this.at >= this.ready.length;
  }

  next(): Uint8Array | undefined {
    for (;;) {
      if (this.at < this.ready.length) return this.ready[this.at++];
      if (this.finished) return undefined;
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
    if (!this.finished) this.input.resume(interrupt);
  }
}
