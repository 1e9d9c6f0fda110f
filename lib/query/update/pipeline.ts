/**
 * Pipeline updates: `[{ $set: { total: { $add: ["$a", "$b"] } } }, { $unset: "a" }]`.
 *
 * The stages compute a new document, which takes the place of the old one as a
 * replacement does. Only stages that make one document of one are allowed.
 */
import {
  BsonType,
  DocumentWriter,
  asDocument,
  document,
  elements,
  fields,
  firstField,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { parsePipeline } from "../pipeline/parse.js";
import { runStages } from "../pipeline/runner.js";
import type { ParsedStage } from "../pipeline/stage.js";
import type { Update, UpdateOptions } from "./compile.js";
import { milliseconds } from "./context.js";
import { replace } from "./replacement.js";

const UPDATE_STAGES = new Set(["$set", "$addFields", "$unset", "$project", "$replaceRoot", "$replaceWith"]);

/** @throws CommandError 9 with arrayFilters, 72 for a stage that has no place here, and what the stages throw */
export function compilePipeline(update: RawValue, options: UpdateOptions): Update {
  if (options.arrayFilters !== undefined && options.arrayFilters.length > 0) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      "arrayFilters may not be specified for pipeline-style updates",
    );
  }
  const specs = elements(asDocument(update)).map((stage) => {
    if (stage.type === BsonType.object) return asDocument(stage);
    throw new CommandError(ErrorCode.TypeMismatch, "Each element of the 'pipeline' array must be an object");
  });
  const { collation, random } = options;
  const variables = withConstants(options.let, options.constants);
  const compile = (now: number): readonly ParsedStage[] =>
    parsePipeline(specs, {
      now: () => now,
      ...(variables && { let: variables }),
      ...(collation && { collation }),
      ...(random && { random }),
    });
  let compiled = { now: options.now?.() ?? 0, stages: compile(options.now?.() ?? 0) };
  for (const spec of specs) {
    const name = firstField(spec)![0];
    if (!UPDATE_STAGES.has(name))
      throw new CommandError(ErrorCode.InvalidOptions, `${name} is not allowed to be used within an update`);
  }
  return {
    kind: "pipeline",
    paths: [],
    touches: () => true,
    apply(doc, context) {
      const now = milliseconds(context.now);
      // $$NOW may have become a constant of the compiled stages.
      if (compiled.now !== now) compiled = { now, stages: compile(now) };
      const [result] = runStages(
        compiled.stages.map((stage) => stage.create()),
        [doc],
      );
      return replace(doc, result!);
    },
  };
}

/** The command's variables and the statement's constants, which may hide them and are no expressions. */
function withConstants(
  variables: Uint8Array | undefined,
  constants: Uint8Array | undefined,
): Uint8Array | undefined {
  if (constants === undefined) return variables;
  const writer = new DocumentWriter();
  const hidden = new Set<string>();
  for (const [name, value] of fields(constants)) {
    hidden.add(name);
    writer.field(name, document(new DocumentWriter().field("$literal", value).finish()));
  }
  for (const [name, value] of variables ? fields(variables) : [])
    if (!hidden.has(name)) writer.field(name, value);
  return writer.finish();
}
