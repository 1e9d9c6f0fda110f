/**
 * `$facet`: several pipelines over the same input, each result an array of one document.
 *
 * Every document is pushed into each of the pipelines; nothing is kept of it
 * but what they keep. The one document that comes out may not pass 16 MiB when
 * it reaches a client; on its way there it may have more (100 MiB).
 */
import {
  BsonType,
  DocumentWriter,
  asDocument,
  describeValue,
  elements,
  fields,
} from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { pathParts } from "../../expression/fieldPath.js";
import { typeName } from "../../values/types.js";
import { createStages, PipelineRunner } from "../runner.js";
import type { Emit, NamedCollection, ParsedStage, Stage, StageParser } from "../stage.js";

/** Most bytes that the output document may hold. */
const MAX_OUTPUT_BYTES = 100 * 1024 * 1024;

interface Facet {
  readonly name: string;
  readonly stages: readonly ParsedStage[];
}

export const facet: StageParser = (spec, options, _, parse) => {
  if (spec.type !== BsonType.object || asDocument(spec).length === 5) {
    throw new CommandError(
      40169,
      `the $facet specification must be a non-empty object, but found: $facet: ${describeValue(spec)}`,
    );
  }
  const raw = fields(asDocument(spec)).map(([name, value]) => {
    if (name.includes(".")) {
      throw new CommandError(
        16412,
        "$facet pipeline names must follow the naming rules of field path expressions. :: caused by :: " +
          "FieldPath field names may not contain '.'. Consider using $getField or $setField.",
      );
    }
    pathParts(name);
    if (value.type !== BsonType.array) {
      throw new CommandError(40170, `arguments to $facet must be arrays, ${name} is type ${typeName(value)}`);
    }
    const stages = elements(asDocument(value)).map((stage) => {
      if (stage.type !== BsonType.object) {
        throw new CommandError(
          40171,
          `elements of arrays in $facet spec must be non-empty objects, ${name} argument contained an element ` +
            `of type ${typeName(stage)}: ${describeValue(stage)}`,
        );
      }
      return asDocument(stage);
    });
    return { name, stages };
  });
  const facets: Facet[] = raw.map(({ name, stages }) => ({ name, stages: parse(stages, options, "$facet") }));
  const inner = facets.flatMap(({ stages }) => stages);
  const reads = inner.flatMap((stage): readonly NamedCollection[] => stage.reads ?? []);
  return {
    ...(reads.length > 0 && { reads }),
    ...(inner.some(({ needsHost }) => needsHost) && { needsHost: true }),
    create: () => new FacetStage(facets),
  };
};

class FacetStage implements Stage {
  readonly name = "$facet";
  readonly #runners: { name: string; runner: PipelineRunner; output: Uint8Array[] }[];
  #bytes = 0;

  constructor(facets: readonly Facet[]) {
    this.#runners = facets.map(({ name, stages }) => ({
      name,
      runner: new PipelineRunner(createStages(stages)),
      output: [],
    }));
  }

  push(doc: Uint8Array): void {
    for (const facet of this.#runners) {
      const { runner } = facet;
      if (runner.satisfied) continue;
      runner.push(doc);
      this.#collect(facet);
    }
  }

  #collect(facet: { runner: PipelineRunner; output: Uint8Array[] }): void {
    for (const doc of facet.runner.take()) {
      this.#bytes += doc.length;
      facet.output.push(doc);
    }
    if (this.#bytes > MAX_OUTPUT_BYTES) {
      throw new CommandError(
        4031700,
        `document constructed by $facet is ${this.#bytes} bytes, which exceeds the limit of ${MAX_OUTPUT_BYTES} bytes`,
      );
    }
  }

  finish(emit: Emit): void {
    const writer = new DocumentWriter();
    for (const facet of this.#runners) {
      facet.runner.finish();
      this.#collect(facet);
      writer.arrayOf(facet.name, facet.output);
      facet.output = [];
    }
    emit(writer.finish());
  }

  /** All facets have enough. */
  get satisfied(): boolean {
    return this.#runners.length > 0 && this.#runners.every(({ runner }) => runner.satisfied);
  }
}
