/**
 * The router's half of an aggregation as a stream.
 *
 * Stages are pushed: a document goes in, none or several come out, and the end
 * of the input may bring out the rest (a `$group` gives nothing before it). The
 * same stages run inside a shard; only where documents come from differs.
 */
import type { Stage } from "../../query/index.js";
import { PipelineRunner } from "../../query/index.js";
import type { DocumentStream } from "./streams.js";

/** Runs stages over what arrives from another stream. */
export class PipelineStream implements DocumentStream {
  readonly #source: DocumentStream;
  readonly #runner: PipelineRunner;
  #out: Uint8Array[] = [];
  #position = 0;
  #finished = false;

  /** @param step called for every document that a stage hands on: may end what takes too long by throwing */
  constructor(source: DocumentStream, stages: Stage[], step?: () => void) {
    this.#source = source;
    this.#runner = new PipelineRunner(stages, step);
  }

  get ended(): boolean {
    return this.#finished && this.#position >= this.#out.length;
  }

  take(): Uint8Array | undefined {
    for (;;) {
      if (this.#position < this.#out.length) return this.#out[this.#position++];
      if (this.#finished) return undefined;
      const document = this.#runner.satisfied ? undefined : this.#source.take();
      if (document) this.#runner.push(document);
      else if (this.#runner.satisfied || this.#source.ended) this.#finish();
      else return undefined;
      this.#out = this.#runner.take();
      this.#position = 0;
    }
  }

  async more(): Promise<void> {
    await this.#source.more();
  }

  #finish(): void {
    this.#runner.finish();
    this.#finished = true;
  }
}
