/** Keywords of JSON Schema about objects. */
import {
  BsonType,
  DocumentWriter,
  FALSE,
  asDocument,
  asString,
  elements,
  fields,
  getField,
  isTruthy,
  string,
  topLevelNames,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { typeName } from "../values/types.js";
import { annotations, specification, type Failures } from "./failureDocument.js";
import { nonNegativeInteger } from "./integers.js";
import {
  malformed,
  matchesSchema,
  mismatch,
  schemaFailures,
  subschema,
  type Keyword,
  type KeywordArgument,
  type Schema,
} from "./jsonSchema.js";
import { compilePattern, type Pattern } from "./regex.js";

/** `properties`: a schema for each of some fields, where they exist. */
export function properties({ name, value }: KeywordArgument): Keyword {
  const schemas = propertySchemas(name, value);
  const failing = (v: RawValue) =>
    schemas.flatMap(({ property, schema }) => {
      const field = getField(asDocument(v), property);
      return field === undefined || matchesSchema(schema, field) ? [] : [{ property, schema, field }];
    });
  return {
    matches(v) {
      if (v.type !== BsonType.object) return true;
      const doc = asDocument(v);
      for (const { property, schema } of schemas) {
        const field = getField(doc, property);
        if (field !== undefined && !matchesSchema(schema, field)) return false;
      }
      return true;
    },
    failures: (v, failures) => [
      failures
        .start(name)
        .arrayOf(
          "propertiesNotSatisfied",
          failing(v).map(({ property, schema, field }) =>
            annotations(new DocumentWriter().string("propertyName", property), schema)
              .arrayOf("details", schemaFailures(schema, field, failures))
              .finish(),
          ),
        )
        .finish(),
    ],
  };
}

function propertySchemas(name: string, value: RawValue): Array<{ property: string; schema: Schema }> {
  if (value.type !== BsonType.object) throw mismatch(name, "must be an object");
  return fields(asDocument(value)).map(([property, nested]) => {
    if (nested.type === BsonType.object) return { property, schema: subschema(nested) };
    throw name === "properties"
      ? mismatchOf(`Nested schema for $jsonSchema property '${property}' must be an object`)
      : mismatch(name, `has property '${property}' which is not an object`);
  });
}

function mismatchOf(message: string): CommandError {
  return new CommandError(ErrorCode.TypeMismatch, message);
}

/**
 * `patternProperties` and `additionalProperties`, which MongoDB tests as one:
 * a schema for the fields whose name matches a pattern, and what holds for
 * those that neither a pattern nor `properties` names.
 */
export function allowedProperties({ name, siblings }: KeywordArgument): Keyword | undefined {
  const patternArgument = siblings.get("patternProperties");
  const others = siblings.get("additionalProperties");
  // Where both stand, the first one speaks for the other.
  if (name === "additionalProperties" && patternArgument !== undefined) return undefined;
  const patterns =
    patternArgument === undefined
      ? []
      : propertySchemas("patternProperties", patternArgument).map(({ property, schema }) => ({
          source: property,
          pattern: compilePattern(property, ""),
          schema,
        }));
  if (others !== undefined && others.type !== BsonType.bool && others.type !== BsonType.object) {
    throw mismatch("additionalProperties", "must be an object or a boolean");
  }
  const schema = others?.type === BsonType.object ? subschema(others) : undefined;
  const anyOther = schema === undefined && (others === undefined || isTruthy(others));
  const named = siblings.get("properties");
  const known = new Set(named?.type === BsonType.object ? topLevelNames(asDocument(named)) : []);
  return new AllowedProperties(known, patterns, schema, anyOther);
}

interface PatternSchema {
  readonly source: string;
  readonly pattern: Pattern;
  readonly schema: Schema;
}

class AllowedProperties implements Keyword {
  readonly #known: ReadonlySet<string>;
  readonly #patterns: readonly PatternSchema[];
  readonly #schema: Schema | undefined;
  readonly #anyOther: boolean;

  constructor(
    known: ReadonlySet<string>,
    patterns: readonly PatternSchema[],
    schema: Schema | undefined,
    anyOther: boolean,
  ) {
    this.#known = known;
    this.#patterns = patterns;
    this.#schema = schema;
    this.#anyOther = anyOther;
  }

  matches(v: RawValue): boolean {
    if (v.type !== BsonType.object) return true;
    return fields(asDocument(v)).every(
      ([name, value]) =>
        this.#patterns.every(({ pattern, schema }) => !pattern.test(name) || matchesSchema(schema, value)) &&
        (!this.#isOther(name) || this.#acceptsOther(value)),
    );
  }

  #isOther(name: string): boolean {
    return (
      !this.#anyOther && !this.#known.has(name) && !this.#patterns.some(({ pattern }) => pattern.test(name))
    );
  }

  #acceptsOther(value: RawValue): boolean {
    return this.#schema !== undefined && matchesSchema(this.#schema, value);
  }

  failures(v: RawValue, failures: Failures): Uint8Array[] {
    const list = fields(asDocument(v));
    const others = list.filter(([name, value]) => this.#isOther(name) && !this.#acceptsOther(value));
    const result = others.length === 0 ? [] : [this.#otherFailure(others, failures)];
    const details = this.#patterns.flatMap(({ source, pattern, schema }) => {
      const field = list.find(([name, value]) => pattern.test(name) && !matchesSchema(schema, value));
      if (field === undefined) return [];
      return annotations(new DocumentWriter().string("propertyName", field[0]), schema)
        .string("regexMatched", source)
        .arrayOf("details", schemaFailures(schema, field[1], failures))
        .finish();
    });
    if (details.length > 0)
      result.push(failures.start("patternProperties").arrayOf("details", details).finish());
    return result;
  }

  #otherFailure(others: ReadonlyArray<[string, RawValue]>, failures: Failures): Uint8Array {
    const keyword = "additionalProperties";
    if (this.#schema === undefined) {
      return failures
        .start(keyword, specification(keyword, FALSE))
        .values(
          keyword,
          others.map(([name]) => string(name)),
        )
        .finish();
    }
    const [name, value] = others[0]!;
    return annotations(failures.start(keyword), this.#schema)
      .string("reason", "at least one additional property did not match the subschema")
      .string("failingProperty", name)
      .arrayOf("details", schemaFailures(this.#schema, value, failures))
      .finish();
  }
}

/** `required`: fields that must exist. */
export function required({ name, value }: KeywordArgument): Keyword {
  const names = requiredNames(name, value);
  const missing = (v: RawValue) => names.filter((field) => getField(asDocument(v), field) === undefined);
  return {
    matches: (v) => v.type !== BsonType.object || missing(v).length === 0,
    failures: (v, failures) => [
      failures
        .start(name, specification(name, value))
        .values("missingProperties", missing(v).map(string))
        .finish(),
    ],
  };
}

function requiredNames(name: string, value: RawValue): string[] {
  if (value.type !== BsonType.array) {
    throw mismatch(name, `must be an array, but found an element of type ${typeName(value)}`);
  }
  const names = elements(asDocument(value)).map((element) => {
    if (element.type === BsonType.string) return asString(element);
    throw mismatch(name, `must be an array of strings, but found an element of type: ${typeName(element)}`);
  });
  if (names.length === 0) throw malformed(`$jsonSchema keyword '${name}' cannot be an empty array`);
  if (new Set(names).size < names.length) {
    throw malformed(`$jsonSchema keyword '${name}' array cannot contain duplicate values`);
  }
  return names.sort();
}

/** `minProperties`, `maxProperties`. */
export function propertyCount({ name, value }: KeywordArgument): Keyword {
  const limit = nonNegativeInteger(name, value);
  const holds = name === "minProperties" ? (n: number) => n >= limit : (n: number) => n <= limit;
  const count = (v: RawValue) => elements(asDocument(v)).length;
  return {
    matches: (v) => v.type !== BsonType.object || holds(count(v)),
    failures: (v, failures) => [
      failures
        .start(name, specification(name, value))
        .string("reason", "specified number of properties was not satisfied")
        .int32("numberOfProperties", count(v))
        .finish(),
    ],
  };
}

interface Dependency {
  readonly property: string;
  readonly names: readonly string[];
  readonly schema: Schema | undefined;
}

/** `dependencies`: fields, or a schema, that the presence of a field asks for. */
export function dependencies({ name, value }: KeywordArgument): Keyword {
  if (value.type !== BsonType.object) throw mismatch(name, "must be an object");
  const list = fields(asDocument(value)).map(([property, argument]) => dependency(property, argument));
  const holds = ({ property, names, schema }: Dependency, v: RawValue): boolean => {
    const doc = asDocument(v);
    if (getField(doc, property) === undefined) return true;
    return schema !== undefined
      ? matchesSchema(schema, v)
      : names.every((other) => getField(doc, other) !== undefined);
  };
  return {
    matches: (v) => v.type !== BsonType.object || list.every((one) => holds(one, v)),
    failures(v, failures) {
      const failing = list.filter((one) => !holds(one, v));
      const details = failing.map(({ property, names, schema }) => {
        const writer = new DocumentWriter().string("conditionalProperty", property);
        const missing = names.filter((other) => getField(asDocument(v), other) === undefined);
        return schema === undefined
          ? writer.values("missingProperties", missing.map(string)).finish()
          : writer.arrayOf("details", schemaFailures(schema, v, failures)).finish();
      });
      return [failures.start(name).arrayOf("failingDependencies", details).finish()];
    },
  };
}

function dependency(property: string, argument: RawValue): Dependency {
  if (argument.type === BsonType.object) return { property, names: [], schema: subschema(argument) };
  if (argument.type !== BsonType.array) {
    throw mismatchOf(
      `property '${property}' in $jsonSchema keyword 'dependencies' must be either an object or an array`,
    );
  }
  const names: string[] = [];
  for (const element of elements(asDocument(argument))) {
    if (element.type !== BsonType.string) {
      throw mismatchOf(
        `array '${property}' in $jsonSchema keyword 'dependencies' can only contain strings, but found element of type: ${typeName(element)}`,
      );
    }
    const other = asString(element);
    if (names.includes(other)) {
      throw malformed(
        `array '${property}' in $jsonSchema keyword 'dependencies' contains duplicate element: ${other}`,
      );
    }
    names.push(other);
  }
  if (names.length === 0) {
    throw malformed(`property '${property}' in $jsonSchema keyword 'dependencies' cannot be an empty array`);
  }
  return { property, names, schema: undefined };
}
