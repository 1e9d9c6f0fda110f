/**
 * `$sample`: so many documents by chance, none twice.
 *
 * The input is read once. A reservoir of the wanted size holds what was drawn
 * so far: document number n takes a place in it with probability size / n, and
 * pushes out another (Vitter's algorithm R). What comes out is in random order
 * as well, as from MongoDB, which sorts by a random key.
 */
import { asNumber, fields, isNumeric } from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import type { Emit, Stage, StageParser } from "../stage.js";
import { objectSpec } from "./spec.js";

export const sample: StageParser = (spec, options) => {
  const doc = objectSpec(spec, 28745, "the $sample stage specification must be an object");
  let size: number | undefined;
  for (const [name, value] of fields(doc)) {
    if (name !== "size") throw new CommandError(28748, `unrecognized option to $sample: ${name}`);
    if (!isNumeric(value)) throw new CommandError(28746, "size argument to $sample must be a number");
    size = Math.trunc(asNumber(value));
    if (!(size > 0)) throw new CommandError(28747, "size argument to $sample must be a positive integer");
  }
  if (size === undefined) throw new CommandError(28749, "$sample stage must specify a size");
  const wanted = size;
  const random = options.random ?? Math.random;
  return { create: () => new SampleStage(wanted, random) };
};

class SampleStage implements Stage {
  readonly name = "$sample";
  readonly satisfied = false;
  #drawn: Uint8Array[] = [];
  #seen = 0;

  constructor(
    readonly size: number,
    readonly random: () => number,
  ) {}

  push(doc: Uint8Array): void {
    this.#seen++;
    if (this.#drawn.length < this.size) {
      this.#drawn.push(doc);
      return;
    }
    const place = Math.floor(this.random() * this.#seen);
    if (place < this.size) this.#drawn[place] = doc;
  }

  finish(emit: Emit): void {
    const drawn = this.#drawn;
    this.#drawn = [];
    for (let i = drawn.length - 1; i > 0; i--) {
      const j = Math.floor(this.random() * (i + 1));
      [drawn[i], drawn[j]] = [drawn[j]!, drawn[i]!];
    }
    for (const doc of drawn) if (emit(doc) === false) return;
  }
}
