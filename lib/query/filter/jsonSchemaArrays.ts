/** Keywords of JSON Schema about arrays. */
import { BsonType, DocumentWriter, asDocument, elements, isTruthy, type RawValue } from "../../bson/index.js";
import { typeName } from "../values/types.js";
import { annotations, specification } from "./failureDocument.js";
import { nonNegativeInteger } from "./integers.js";
import {
  matchesSchema,
  mismatch,
  schemaFailures,
  subschema,
  type Keyword,
  type KeywordArgument,
  type Schema,
} from "./jsonSchema.js";
import { unorderedKey } from "./unordered.js";

function itemsOf(v: RawValue): RawValue[] {
  return elements(asDocument(v));
}

/** `minItems`, `maxItems`. */
export function itemCount({ name, value }: KeywordArgument): Keyword {
  const limit = nonNegativeInteger(name, value);
  const holds = name === "minItems" ? (n: number) => n >= limit : (n: number) => n <= limit;
  return {
    matches: (v) => v.type !== BsonType.array || holds(itemsOf(v).length),
    failures: (v, failures) => [
      failures
        .about(name, specification(name, value), "array did not match specified length", v)
        .int32("numberOfItems", itemsOf(v).length)
        .finish(),
    ],
  };
}

/** `uniqueItems`: no two equal items, whatever the order of fields in objects. */
export function uniqueItems({ name, value }: KeywordArgument): Keyword | undefined {
  if (value.type !== BsonType.bool) throw mismatch(name, "must be a boolean");
  if (!isTruthy(value)) return undefined;
  return {
    matches: (v) => v.type !== BsonType.array || duplicateOf(v) === undefined,
    failures: (v, failures) => [
      failures
        .about(name, specification(name, value), "found a duplicate item", v)
        .field("duplicatedValue", duplicateOf(v)!)
        .finish(),
    ],
  };
}

function duplicateOf(array: RawValue): RawValue | undefined {
  const seen = new Set<string>();
  for (const item of itemsOf(array)) {
    const key = unorderedKey(item);
    if (seen.has(key)) return item;
    seen.add(key);
  }
  return undefined;
}

/** `items`: one schema for all items, or a list of schemas for the first ones. */
export function items({ name, value }: KeywordArgument): Keyword {
  if (value.type === BsonType.object) {
    return all(name, subschema(value), 0, "At least one item did not match the sub-schema");
  }
  if (value.type !== BsonType.array) {
    throw mismatch(name, `must be an array or an object, not ${typeName(value)}`);
  }
  const schemas = itemsOf(value).map((item) => {
    if (item.type === BsonType.object) return subschema(item);
    throw mismatch(
      name,
      `requires that each element of the array is an object, but found a ${typeName(item)}`,
    );
  });
  const fails = (list: readonly RawValue[]) => (schema: Schema, i: number) =>
    i < list.length && !matchesSchema(schema, list[i]!);
  return {
    matches: (v) => v.type !== BsonType.array || !schemas.some(fails(itemsOf(v))),
    failures(v, failures) {
      const list = itemsOf(v);
      const failed = fails(list);
      const details = schemas.flatMap((schema, i) =>
        failed(schema, i)
          ? new DocumentWriter()
              .int32("itemIndex", i)
              .arrayOf("details", schemaFailures(schema, list[i]!, failures))
              .finish()
          : [],
      );
      return [failures.start(name).arrayOf("details", details).finish()];
    },
  };
}

/** `additionalItems`: what may follow the items that a list of schemas is about. */
export function additionalItems({ name, value, siblings }: KeywordArgument): Keyword | undefined {
  const isFlag = value.type === BsonType.bool;
  if (!isFlag && value.type !== BsonType.object) {
    throw mismatch(name, `must be either an object or a boolean, but got a ${typeName(value)}`);
  }
  const schema = isFlag ? undefined : subschema(value);
  const listed = siblings.get("items");
  if (listed?.type !== BsonType.array) return undefined;
  const from = itemsOf(listed).length;
  if (schema !== undefined) {
    return all(name, schema, from, "At least one additional item did not match the sub-schema");
  }
  if (isTruthy(value)) return undefined;
  return {
    matches: (v) => v.type !== BsonType.array || itemsOf(v).length <= from,
    failures: (v, failures) => [
      failures
        .start(name, specification(name, value))
        .string("reason", "found additional items")
        .values("additionalItems", itemsOf(v).slice(from))
        .finish(),
    ],
  };
}

/** One schema for all items from an index on. The first that fails is reported. */
function all(name: string, schema: Schema, from: number, reason: string): Keyword {
  const firstFailing = (list: readonly RawValue[]) =>
    list.findIndex((item, i) => i >= from && !matchesSchema(schema, item));
  return {
    matches: (v) => v.type !== BsonType.array || firstFailing(itemsOf(v)) === -1,
    failures(v, failures) {
      const list = itemsOf(v);
      const index = firstFailing(list);
      return [
        annotations(failures.start(name), schema)
          .string("reason", reason)
          .int32("itemIndex", index)
          .arrayOf("details", schemaFailures(schema, list[index]!, failures))
          .finish(),
      ];
    },
  };
}
