/**
 * `$redact`: what each level of a document may show.
 *
 *     { $redact: { $cond: [{ $eq: ["$level", 5] }, "$$PRUNE", "$$DESCEND"] } }
 *
 * The expression is evaluated for the document, with `$$ROOT` as the whole and
 * `$$CURRENT` (what plain paths mean) as the level at hand: `$$PRUNE` leaves the
 * level out, `$$KEEP` leaves it whole, `$$DESCEND` keeps its scalars and asks
 * again for every embedded document, also those in arrays.
 */
import {
  array,
  asDocument,
  BsonType,
  describeValue,
  document,
  DocumentWriter,
  elements,
  forEachField,
  string,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { compileExpression } from "../../expression/compile.js";
import {
  expressionContext,
  type Expression,
  type ExpressionOptions,
  type ExternalVariable,
} from "../../expression/context.js";
import { streaming, type StageParser } from "../stage.js";

/** What the three variables stand for inside the expression: nothing that a document could hold. */
const VERDICTS = ["KEEP", "PRUNE", "DESCEND"] as const;
type Verdict = (typeof VERDICTS)[number];

export const redact: StageParser = (spec, options) => {
  // $$ROOT stays the whole document while plain paths start at the level at hand, so ROOT is bound like a variable.
  const root: ExternalVariable = { value: undefined };
  const variables = new Map<string, ExternalVariable>(options.variables);
  for (const name of VERDICTS) variables.set(name, { value: VALUES[name] });
  variables.set("ROOT", root);
  const inner: ExpressionOptions = { ...options, variables };
  const expression = compileExpression(spec, inner);
  return {
    create: () =>
      streaming("$redact", (doc, emit) => {
        root.value = document(doc);
        const shown = level(doc, expression);
        root.value = undefined;
        if (shown !== undefined) emit(shown);
      }),
  };
};

/** Told by identity: variables hand on the very value, so that no document can contain a verdict. */
const VALUES: Readonly<Record<Verdict, RawValue>> = {
  KEEP: { ...string("keep"), type: BsonType.symbol },
  PRUNE: { ...string("prune"), type: BsonType.symbol },
  DESCEND: { ...string("descend"), type: BsonType.symbol },
};

/** One level; undefined when it is pruned. */
function level(doc: Uint8Array, expression: Expression): Uint8Array | undefined {
  const verdict = expression(expressionContext(doc));
  const name = VERDICTS.find((one) => VALUES[one] === verdict);
  switch (name) {
    case "KEEP":
      return doc;
    case "PRUNE":
      return undefined;
    case "DESCEND":
      break;
    default:
      throw new CommandError(
        17053,
        "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and " +
          `$$PRUNE, but returned ${verdict === undefined ? "" : describeValue(verdict)}`,
      );
  }
  const writer = new DocumentWriter();
  forEachField(doc, (field, value) => {
    const shown = descend(value, expression);
    if (shown !== undefined) writer.field(field, shown);
  });
  return writer.finish();
}

/** Documents are asked about, arrays gone through, all else is kept. */
function descend(value: RawValue, expression: Expression): RawValue | undefined {
  if (value.type === BsonType.object) {
    const shown = level(asDocument(value), expression);
    return shown && document(shown);
  }
  if (value.type !== BsonType.array) return value;
  const kept: RawValue[] = [];
  for (const element of elements(asDocument(value))) {
    const shown = descend(element, expression);
    if (shown !== undefined) kept.push(shown);
  }
  return array(kept);
}
