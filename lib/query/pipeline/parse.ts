/**
 * Reads pipelines: each stage document has one field, the stage's name, and
 * the table of stages (stages/index.ts) says what becomes of it and where it
 * may stand.
 *
 * A stage with pipelines inside (`$lookup`, `$facet`) gets a parser that knows
 * where they stand, so that the rules for them — no `$out` within a `$lookup`,
 * no `$facet` within a `$facet` — hold at any depth.
 */
import { fields } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import { allOf, ALWAYS_TRUE, type FilterNode } from "../filter/node.js";
import { usesMeta } from "../meta.js";
import { NOT_BUILT, STAGES, UPDATE_STAGES } from "./stages/index.js";
import type { ParsedStage, StageDefinition, SubPipelineParser, Within } from "./stage.js";

/** Most stages of one pipeline. */
const MAX_STAGES = 1000;
/** Pipelines within pipelines: so many levels at most. */
const MAX_DEPTH = 20;

/** Around which pipelines this one stands, the outermost first. */
type Surroundings = readonly Within[];

/**
 * Parses a pipeline and checks every stage.
 * @param stages stage documents, each with one field
 * @param options `let`, collation and clock for the expressions inside; the host for stages that need one
 * @throws CommandError 40324 for an unknown stage, 40323 for a stage of several fields, 40601 and 40602 for one in the
 *   wrong place, 7749501 for too many, 238 for stages that aren't simulated, and the stages' own codes
 */
export function parsePipeline(stages: readonly Uint8Array[], options: ExpressionOptions = {}): ParsedStage[] {
  return parseWithin(stages, options, []);
}

function parseWithin(
  stages: readonly Uint8Array[],
  options: ExpressionOptions,
  around: Surroundings,
): ParsedStage[] {
  if (stages.length > MAX_STAGES) {
    throw new CommandError(7749501, `Pipeline length must be no longer than ${MAX_STAGES} stages.`);
  }
  if (around.length > MAX_DEPTH) {
    throw new CommandError(
      ErrorCode.MaxSubPipelineDepthExceeded,
      `Maximum number of nested sub-pipelines exceeded. Limit is ${MAX_DEPTH}`,
    );
  }
  const inner: SubPipelineParser = (list, innerOptions, within) =>
    parseWithin(list, innerOptions, [...around, within]);
  const parsed = stages.map((raw): ParsedStage => {
    const list = fields(raw);
    if (list.length !== 1) {
      throw new CommandError(40323, "A pipeline stage specification object must contain exactly one field.");
    }
    const [name, spec] = list[0]!;
    const definition = STAGES.get(name);
    if (definition === undefined) throw unknownStage(name);
    checkSurroundings(name, definition, around);
    const parts = definition.parse(spec, options, name, inner);
    return { name, spec, raw, isSource: false, ...(usesMeta(raw) && { usesMeta: true }), ...parts };
  });
  parsed.forEach(({ name }, i) => checkPosition(name, i, parsed.length));
  return parsed;
}

function unknownStage(name: string): CommandError {
  if (NOT_BUILT.has(name)) return notSimulated(`stage ${name}`);
  return new CommandError(ErrorCode.UnrecognizedStage, `Unrecognized pipeline stage name: '${name}'`);
}

function checkSurroundings(name: string, { notWithin }: StageDefinition, around: Surroundings): void {
  const nearest = around.at(-1);
  if (nearest === "update" && !UPDATE_STAGES.has(name)) {
    throw new CommandError(ErrorCode.InvalidOptions, `${name} is not allowed to be used within an update`);
  }
  const refusing = notWithin?.find((stage) => around.includes(stage));
  if (refusing === undefined) return;
  if (refusing === "$facet") {
    const where = nearest === "$facet" ? name : `${name} inside of ${nearest}`;
    throw new CommandError(40600, `${where} is not allowed to be used within a $facet stage`);
  }
  const code = refusing === "$lookup" ? 51047 : 31441;
  throw new CommandError(code, `${name} is not allowed within a ${refusing}'s sub-pipeline`);
}

function checkPosition(name: string, index: number, length: number): void {
  const { position } = STAGES.get(name)!;
  if (position === "first" && index > 0) {
    throw new CommandError(40602, `${name} is only valid as the first stage in a pipeline`);
  }
  if (position === "last" && index < length - 1) {
    throw new CommandError(40601, `${name} can only be the final stage in the pipeline`);
  }
}

/** Whether a stage begins pipelines over no collection, `{aggregate: 1}`: `"only"` those, or `"also"`. */
export function collectionless(name: string): StageDefinition["collectionless"] {
  return STAGES.get(name)?.collectionless;
}

/**
 * The condition that every document must meet to be of any use to the
 * pipeline: its leading `$match` stages, also behind a `$sort`, which changes
 * no document. Routing and index choice go by it.
 */
export function leadingMatch(stages: readonly ParsedStage[]): FilterNode {
  const filters: FilterNode[] = [];
  for (const stage of stages) {
    if (stage.filter !== undefined) filters.push(stage.filter);
    else if (stage.name !== "$sort") break;
  }
  return filters.length === 0 ? ALWAYS_TRUE : allOf(filters);
}
