/** Keywords of JSON Schema that combine schemas, and `enum`. */
import { BsonType, DocumentWriter, asDocument, elements, int32, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { typeName } from "../values/types.js";
import { annotations, specification, type Failures } from "./failureDocument.js";
import {
  malformed,
  matchesSchema,
  mismatch,
  parseSchema,
  schemaFailures,
  type Keyword,
  type KeywordArgument,
  type Schema,
} from "./jsonSchema.js";
import { unorderedKey } from "./unordered.js";

function schemaList({ name, value, root }: KeywordArgument): Schema[] {
  if (value.type !== BsonType.array) throw mismatch(name, "must be an array");
  const list = elements(asDocument(value));
  if (list.length === 0) {
    throw new CommandError(ErrorCode.BadValue, `$jsonSchema keyword '${name}' must be a non-empty array`);
  }
  return list.map((element) => {
    if (element.type === BsonType.object) return parseSchema(asDocument(element), root);
    throw mismatch(name, `must be an array of objects, but found an element of type ${typeName(element)}`);
  });
}

/** What is wrong by each of the schemas that the value doesn't satisfy. */
function unsatisfied(
  name: string,
  schemas: readonly Schema[],
  v: RawValue,
  failures: Failures,
): Uint8Array[] {
  const list = schemas.flatMap((schema, i) => {
    if (matchesSchema(schema, v)) return [];
    return annotations(new DocumentWriter().int32("index", i), schema)
      .arrayOf("details", schemaFailures(schema, v, failures))
      .finish();
  });
  return [failures.start(name).arrayOf("schemasNotSatisfied", list).finish()];
}

/** `allOf`: every schema holds. */
export function allOf(argument: KeywordArgument): Keyword {
  const schemas = schemaList(argument);
  return {
    matches: (v) => schemas.every((schema) => matchesSchema(schema, v)),
    failures: (v, failures) => unsatisfied(argument.name, schemas, v, failures),
  };
}

/** `anyOf`: at least one schema holds. */
export function anyOf(argument: KeywordArgument): Keyword {
  const schemas = schemaList(argument);
  return {
    matches: (v) => schemas.some((schema) => matchesSchema(schema, v)),
    failures: (v, failures) => unsatisfied(argument.name, schemas, v, failures),
  };
}

/** `oneOf`: exactly one. */
export function oneOf(argument: KeywordArgument): Keyword {
  const { name } = argument;
  const schemas = schemaList(argument);
  const matching = (v: RawValue) => schemas.flatMap((schema, i) => (matchesSchema(schema, v) ? [i] : []));
  return {
    matches: (v) => matching(v).length === 1,
    failures(v, failures) {
      const indexes = matching(v);
      if (indexes.length === 0) return unsatisfied(name, schemas, v, failures);
      return [
        failures
          .start(name)
          .string("reason", "more than one subschema matched")
          .values("matchingSchemaIndexes", indexes.map(int32))
          .finish(),
      ];
    },
  };
}

/** `not`: the schema does not hold. */
export function not({ name, value, root }: KeywordArgument): Keyword {
  if (value.type !== BsonType.object) {
    throw mismatch(name, `must be an object, but found an element of type ${typeName(value)}`);
  }
  const schema = parseSchema(asDocument(value), root);
  return {
    matches: (v) => !matchesSchema(schema, v),
    failures: (_, failures) => [failures.start(name).string("reason", "child expression matched").finish()],
  };
}

/** `enum`: one of some values; fields of objects in any order. */
export function enumeration({ name, value, root }: KeywordArgument): Keyword {
  if (value.type !== BsonType.array) {
    throw mismatch(name, `must be an array, but found an element of type ${typeName(value)}`);
  }
  const list = elements(asDocument(value));
  if (list.length === 0) throw malformed(`$jsonSchema keyword '${name}' cannot be an empty array`);
  const keys = new Set(list.map(unorderedKey));
  if (keys.size < list.length) {
    throw malformed(`$jsonSchema keyword '${name}' array cannot contain duplicate values.`);
  }
  // A whole document is an object: a list without one leaves nothing.
  const hopeless = root && !list.some(({ type }) => type === BsonType.object);
  return {
    matches: (v) => keys.has(unorderedKey(v)),
    failures(v, failures) {
      const specifiedAs = specification(name, value);
      if (!hopeless) return [failures.about(name, specifiedAs, "value was not found in enum", v).finish()];
      const writer = failures.start(name, specifiedAs);
      return [writer.string("reason", "expression always evaluates to false").finish()];
    },
  };
}
