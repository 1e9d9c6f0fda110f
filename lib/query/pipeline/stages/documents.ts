/** `$documents`: documents written down in the pipeline itself. */
import { BsonType, asDocument, describeValue, elements, type RawValue } from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { compileExpression } from "../../expression/compile.js";
import { expressionContext } from "../../expression/context.js";
import { typeName } from "../../values/types.js";
import { EMPTY_DOCUMENT } from "../../../bson/index.js";
import type { Emit, StageParser } from "../stage.js";

export const documents: StageParser = (spec, options) => {
  const expression = compileExpression(spec, options);
  const evaluate = (): RawValue[] => {
    const value = expression(expressionContext(EMPTY_DOCUMENT));
    if (value?.type !== BsonType.array) {
      throw new CommandError(5858203, `error during aggregation :: caused by :: an array is expected`);
    }
    return elements(asDocument(value));
  };
  if (spec.type !== BsonType.array) evaluate();
  return {
    isSource: true,
    create: () => ({
      name: "$documents",
      // Nobody has to feed it: at once it has what it gives.
      satisfied: true,
      push: () => undefined,
      finish(emit: Emit) {
        for (const value of evaluate()) {
          if (value.type !== BsonType.object) {
            throw new CommandError(
              40228,
              `'newRoot' expression  must evaluate to an object, but resulting value was: ${describeValue(value)}. ` +
                `Type of resulting value: '${typeName(value)}'. Input document: { _tempDocumentsField: ${describeValue(value)} }`,
            );
          }
          if (emit(asDocument(value)) === false) return;
        }
      },
    }),
  };
};
